"""The copies of the database that are kept without being asked for: one a study day, one before its shape changes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING

from attncli.errors import StoreError
from attncli.store import backups

if TYPE_CHECKING:
    from attncli.paths import Home
    from attncli.store.database import Database


def keep_daily_copy(store: Database, home: Home, day: int) -> None:
    """Keeps today's copy; where that cannot be (no room, no permission, damage) the ones of before stay."""
    with contextlib.suppress(StoreError, OSError):
        backups.keep_copy(store, home.backups, backups.DAILY, datetime.fromordinal(day))


def copy_before_migration(home: Home, clock: Callable[[], datetime]) -> Callable[[Database], None]:
    """What keeps a copy of a database in its old shape."""

    def keep(store: Database) -> None:
        with contextlib.suppress(StoreError, OSError):
            backups.keep_copy(store, home.backups, backups.BEFORE_MIGRATION, clock())

    return keep


def newest_copy(home: Home) -> date | None:
    """The day of the newest automatic copy."""
    found = backups.copies(home.backups)
    return date.fromisoformat(found[0].name[:10]) if found else None
