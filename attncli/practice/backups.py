"""Automatic copies of the history.

`2026-11-22-daily.jsonl` is the copy of a day, `2026-11-22-081503-before-restore.jsonl` was made before a restore, which
cannot be undone. The newest copies of each kind are kept, and the newest daily copy of each of some earlier weeks.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from attncli.domain.log_row import LogRow
from attncli.errors import StoreError, unwritable
from attncli.i18n import _
from attncli.paths import free_name, write_whole
from attncli.store.history import encoded

DAILY, BEFORE_RESTORE = "daily", "before-restore"
DAILY_KEPT, WEEKLY_KEPT, OTHERS_KEPT = 7, 4, 5
FREE_SPACE_FACTOR = 4
"""A copy is made only if so many times its size is free: the next reviews need the space more."""
_NAME = re.compile(rf"(\d{{4}}-\d{{2}}-\d{{2}})(?:-(\d{{6}})(?:-\d+)?)?-({DAILY}|{BEFORE_RESTORE})\.jsonl")


def write_copy(rows: Iterable[LogRow], path: Path) -> int:
    """Write rows to `path` as a complete history file; return their number. Raises StoreError."""
    try:
        return write_whole(path, (encoded(number, row).decode() for number, row in enumerate(rows, 1)))
    except OSError as error:
        raise StoreError(unwritable(path, error, _("choose another location"))) from error


def keep_copy(rows: Iterable[LogRow], size: int, folder: Path, reason: str, now: datetime) -> Path:
    """Put a copy of the history, about `size` bytes, into `folder`; remove older ones. Raises StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(unwritable(folder, error, _("make its parent folder writable"))) from error
    free = shutil.disk_usage(folder).free
    if free < FREE_SPACE_FACTOR * size:
        raise StoreError(
            _(
                "cannot keep a copy in {folder}: only {free} MiB left; free some disk space",
                folder=folder,
                free=free // 2**20,
            )
        )
    stamp = now.date().isoformat() if reason == DAILY else f"{now.astimezone(UTC):%Y-%m-%d-%H%M%S}"
    path = folder / f"{stamp}-{reason}.jsonl"
    if reason != DAILY and path.exists():
        path = free_name(path, f"{stamp}-{{number}}-{reason}{{suffix}}")
    write_copy(rows, path)
    _prune(folder)
    return path


def daily_copy(folder: Path, day: date) -> Path:
    """Return the path of the copy of study day `day`, which need not exist yet."""
    return folder / f"{day.isoformat()}-{DAILY}.jsonl"


def copies(folder: Path, reason: str = "") -> list[Path]:
    """Return the copies in `folder`, the newest first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)) and reason in ("", match[3])]
    return sorted(found, key=lambda path: path.name, reverse=True)


def _prune(folder: Path) -> None:
    kept = set(copies(folder, BEFORE_RESTORE)[:OTHERS_KEPT])
    daily, weeks = copies(folder, DAILY), dict[tuple[int, int], Path]()
    for path in daily[DAILY_KEPT:]:
        year, week, _ = date.fromisoformat(path.name[:10]).isocalendar()
        weeks.setdefault((year, week), path)
    kept |= {*daily[:DAILY_KEPT], *list(weeks.values())[:WEEKLY_KEPT]}
    for path in copies(folder):
        if path not in kept:
            path.unlink(missing_ok=True)
