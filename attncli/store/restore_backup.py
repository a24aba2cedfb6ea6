"""`attn restore`: the log rows of a backup, in a database of this program's own making."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from attncli.domain.log_row import LogRow
from attncli.errors import StoreCorrupt, StoreError, StoreUnwritable, UsageError, remedy_for
from attncli.paths import free_name
from attncli.store.backups import BEFORE_RESTORE, keep_copy
from attncli.store.connection import BESIDE, make_folder
from attncli.store.database import Database
from attncli.store.database_check import DAMAGED
from attncli.store.disk_flush import flush
from attncli.store.exclusive_lock import held_alone
from attncli.store.foreign_database import ForeignRows, foreign_rows, workshop
from attncli.store.rescue import name_of_damaged, require_whole, swap


@dataclass(frozen=True, slots=True)
class Restored:
    """How many rows were taken over, and which were not.

    `kept` is a copy of what was there before, None if that was nothing; `missing` says how many of its rows the backup
    does not have, None if it was too damaged to tell.
    """

    rows: int
    refused: tuple[str, ...]
    kept: Path | None = None
    missing: int | None = 0


def restore_database(path: Path, backup: Path, copies: Path, now: datetime) -> Restored:
    """Replaces the database `path` by the log of the file `backup`; a copy of what was there goes to `copies`.

    Only rows that an import would take come over, into a new database with a name of its own: no page, trigger or
    setting of the backup. Raises UsageError if the backup cannot be used, StoreError if something cannot be written;
    then nothing is changed.
    """
    make_folder(path.parent)
    with workshop(path.parent) as room:
        try:
            found = foreign_rows(backup, room)
        except UsageError as error:
            raise UsageError(f"{error.message}; nothing was restored") from error
        rows, refused = _fill(room / "fresh.db", found)
        _remove_leftovers(path)
        try:
            kept, missing = _replace(path, room / "fresh.db", copies, now)
        except StoreCorrupt:
            kept, missing = _displace(path, room / "fresh.db", rows), None
        return Restored(rows, refused, kept, missing)


def _fill(fresh: Path, found: ForeignRows) -> tuple[int, tuple[str, ...]]:
    """Makes a new database with the rows; how many, and what is wrong with those that are not in it."""
    refused = list(found.refused)

    def conflict(row: LogRow) -> None:
        refused.append(f"row {row.id}: it is there twice with different content")

    with Database.open(fresh) as database:
        with database.transaction():
            database.log.merge(found.rows, conflict)
        return database.log.length(), tuple(refused)


def _replace(path: Path, fresh: Path, copies: Path, now: datetime) -> tuple[Path | None, int | None]:
    """Where a copy of what was there is, and how many of its rows are not in `fresh`; one step for everybody else.

    Raises StoreCorrupt if what is there is no database any more.
    """
    kept: list[tuple[Path | None, int | None]] = []

    def keep() -> None:
        try:
            with Database.open(path) as before:
                there = before.log.ids()
                copy = keep_copy(before, copies, BEFORE_RESTORE, now) if there else None
                kept.append((copy, len(there - ids)))
        except StoreCorrupt:
            kept.append((_copied_as_it_is(path), None))

    with Database.open(path) as live, Database.open(fresh) as source:
        ids = source.log.ids()
        live.replace_by(source, keep)
    return kept[0]


def _copied_as_it_is(path: Path) -> Path:
    """A copy of a damaged database, byte by byte; its name."""
    kept = free_name(path, DAMAGED)
    try:
        for suffix in ("", "-wal"):
            file = path.with_name(path.name + suffix)
            if file.exists():
                shutil.copyfile(file, kept.with_name(kept.name + suffix))
                flush(kept.with_name(kept.name + suffix))
    except OSError as error:
        remedy = remedy_for(error, "make its folder writable")
        raise StoreError(f"cannot write {kept} ({error.strerror}); {remedy}") from error
    return kept


def _displace(path: Path, fresh: Path, rows: int) -> Path:
    """Puts `fresh` where the damaged database `path` was, which gets another name; that name.

    Raises StoreError if another program has the damaged one open.
    """
    with held_alone(path) as file:
        try:
            flush(fresh)
            require_whole(fresh, rows)
            kept = name_of_damaged(path)
            swap(path, fresh, kept, file)
        except OSError as error:
            remedy = remedy_for(error, "make its folder writable")
            raise StoreUnwritable(f"cannot replace {path} ({error.strerror}); {remedy}") from error
    return kept


def _remove_leftovers(path: Path) -> None:
    """Restores of earlier versions that were killed left a copy beside the database."""
    for suffix in ("", *BESIDE):
        with suppress(OSError):
            path.with_name(f"{path.name}.restoring{suffix}").unlink(missing_ok=True)
