"""Dated copies of the database that the program keeps by itself, each whole and on disk before it counts.

`2026-11-22-daily.db` is the copy of a day, `2026-11-22-081503-before-restore.db` one that was taken before a step that
cannot be taken back. The newest of each reason stay, and of the daily ones the newest of some earlier weeks too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from attncli.errors import StoreCorrupt, StoreError
from attncli.store.connection import make_folder
from attncli.store.database import Database

DAILY = "daily"
BEFORE_MIGRATION = "before-migration"
BEFORE_RESTORE = "before-restore"
REASONS = (DAILY, BEFORE_MIGRATION, BEFORE_RESTORE)

DAILY_KEPT = 7
WEEKLY_KEPT = 4
OTHERS_KEPT = 5
# A copy is taken only where this many times its size is free: the reviews of tomorrow need the room more.
FREE_SPACE_FACTOR = 4

_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-(\d{6}))?(?:-(\d+))?-(" + "|".join(REASONS) + r")\.db")


def keep_copy(database: Database, folder: Path, reason: str, now: datetime) -> Path:
    """Puts a verified copy of `database` into `folder` and removes those that are no longer needed; the new file.

    Raises StoreError if there is no room or the folder cannot be written, StoreCorrupt if the database is not whole;
    then the copies of before are all there still.
    """
    make_folder(folder, "make its parent writable")
    _require_room(database, folder)
    path = _free_name(folder, reason, now)
    problems = database.copy_to(path)
    if problems:
        path.unlink(missing_ok=True)
        raise StoreCorrupt(f"the database {database.path} is damaged ({problems[0]}); run `attn doctor --rebuild`")
    prune(folder)
    return path


def daily_copy(folder: Path, day: date) -> Path:
    """Where the copy of the study day `day` is, or will be."""
    return folder / f"{day.isoformat()}-{DAILY}.db"


def copies(folder: Path, *reasons: str) -> list[Path]:
    """The copies in `folder`, of `reasons` if some are given, the newest first."""
    found = [(match, path) for path in _files(folder) if (match := _NAME.fullmatch(path.name))]
    wanted = [(match, path) for match, path in found if not reasons or match[4] in reasons]
    return [path for match, path in sorted(wanted, key=lambda pair: _moment(pair[0]), reverse=True)]


def since_last_restore(folder: Path) -> list[Path]:
    """The copies whose rows may be missed, the newest first: those from before a restore were given up with it."""
    wanted = []
    for path in copies(folder):
        if path.stem.endswith(BEFORE_RESTORE):
            break
        wanted.append(path)
    return wanted


def prune(folder: Path) -> None:
    """Removes the copies that are no longer needed, and what a killed copy left behind."""
    for reason in REASONS:
        kept = set(_kept_daily(copies(folder, reason)) if reason == DAILY else copies(folder, reason)[:OTHERS_KEPT])
        for path in copies(folder, reason):
            if path not in kept:
                path.unlink(missing_ok=True)
    for path in _files(folder):
        name, part, _ = path.name.partition(".part")
        if part and _NAME.fullmatch(name):
            path.unlink(missing_ok=True)


def _kept_daily(newest_first: list[Path]) -> Iterable[Path]:
    weeks: dict[tuple[int, int], Path] = {}
    for path in newest_first[DAILY_KEPT:]:
        year, week, _ = date.fromisoformat(path.name[:10]).isocalendar()
        weeks.setdefault((year, week), path)
    return [*newest_first[:DAILY_KEPT], *list(weeks.values())[:WEEKLY_KEPT]]


def _free_name(folder: Path, reason: str, now: datetime) -> Path:
    if reason == DAILY:
        return daily_copy(folder, now.date())
    stamp, number = f"{now.astimezone(UTC):%Y-%m-%d-%H%M%S}", 1
    path = folder / f"{stamp}-{reason}.db"
    while path.exists():
        number += 1
        path = folder / f"{stamp}-{number}-{reason}.db"
    return path


def _moment(match: re.Match[str]) -> tuple[str, str, int]:
    return match[1], match[2] or "", int(match[3] or 1)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _require_room(database: Database, folder: Path) -> None:
    from shutil import disk_usage

    size, free = database.path.stat().st_size, disk_usage(folder).free
    if free < FREE_SPACE_FACTOR * size:
        raise StoreError(f"no copy was kept in {folder}: only {free // 2**20} MiB are free; free some disk space")
