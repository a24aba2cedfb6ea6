"""Saving the log out of a damaged file: everything that can still be read goes into a new database.

The new one is built beside the damaged one, checked, and then takes its name in one step. Until then nothing is
changed, whatever happens; the damaged file stays as `progress.db.damaged-1`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile, copyfileobj
from typing import Any, BinaryIO

from attncli.errors import StoreCorrupt, StoreError, StoreUnwritable, remedy_for
from attncli.paths import flush_folder, free_name
from attncli.store.backups import since_last_restore
from attncli.store.connection import BESIDE, Connection, opened
from attncli.store.database import Database
from attncli.store.database_check import DAMAGED, MERGED, damaged_files
from attncli.store.disk_flush import flush
from attncli.store.exclusive_lock import held_alone
from attncli.store.log import RAW
from attncli.store.page_scan import FoundRows, is_cut_short, scan
from attncli.store.read_only import connection_as_it_lies
from attncli.store.wal import committed_pages

UNREADABLE = "unreadable"
# What looks like a row with a number far beyond the last one is chance.
_NEAR = 1000


@dataclass(frozen=True, slots=True)
class Rescued:
    """How many rows were saved, how many are known to be lost, and where the damaged file is kept.

    Of a file that is cut short nobody can say how many rows were beyond its end.
    """

    rows: int
    lost: int
    kept: Path
    is_cut_short: bool = False


@dataclass(slots=True)
class _Remains:
    """What SQLite itself can still say of a damaged database."""

    meta: dict[str, str] = field(default_factory=dict)
    set_aside: list[tuple[Any, ...]] = field(default_factory=list)
    last_number: int = 0


def rescue(path: Path, backups: Path | None = None) -> Rescued:
    """Replaces the damaged database `path` by one with all rows that can be found in it.

    Rows that lie in other damaged files beside it or in `backups` are taken too. Raises StoreError if another attn has
    it open or there is no room for the new one; then nothing is changed.
    """
    path = path.resolve()
    fresh = path.with_name(path.name + ".rescuing")
    remains = _remains(path)
    with held_alone(path) as file:
        try:
            _remove(fresh)
            content = file.read()
            found = _scanned(content, path)
            others = damaged_files(path)
            for other in others:
                found.add_missing(_rows_of_damaged(other, path, file))
            add_from_backups(found, remains.last_number, backups)
            kept = name_of_damaged(path)
            remains.meta |= {MERGED + name: "" for name in {kept.name, *(other.name for other in others)}}
            lost = _fill(fresh, found, remains)
            swap(path, fresh, kept, file)
        except OSError as error:
            remedy = remedy_for(error, "make its folder writable")
            raise StoreUnwritable(f"cannot save the rows of {path} ({error.strerror}); {remedy}") from error
        finally:
            _remove(fresh)
    return Rescued(len(found.rows), lost, kept, is_cut_short(content))


def rows_in(path: Path) -> FoundRows:
    """All rows of the log that the database `path` and its write-ahead log hold, damaged or not."""
    try:
        return _scanned(path.read_bytes(), path)
    except OSError:
        return FoundRows()


def add_from_backups(found: FoundRows, last_number: int, backups: Path | None) -> None:
    """Takes over what `found` lacks from the automatic copies: from the newest, and from older ones while rows miss."""
    for count, copy in enumerate(since_last_restore(backups) if backups else []):
        if count and not found.gaps(last_number):
            return
        found.add_missing(rows_in(copy))


def _remains(path: Path) -> _Remains:
    """Moves the write-ahead log into the file, as every closing does, and asks SQLite for what is not in the log."""
    found = _Remains()
    try:
        with opened(path) as connection:
            _ask(connection, found)
    except StoreError:
        return found
    return found


def _ask(connection: Connection, found: _Remains) -> None:
    try:
        found.meta = dict(connection.rows("SELECT key, value FROM meta WHERE key <> 'format'"))
        found.last_number = int(connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'log'") or 0)
        found.set_aside = connection.rows(f"SELECT {RAW} FROM set_aside ORDER BY number")
    finally:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _scanned(content: bytes, path: Path) -> FoundRows:
    """The rows in `content` as the write-ahead log beside `path` has changed it."""
    try:
        log = committed_pages(path.with_name(path.name + "-wal").read_bytes())
    except OSError:
        return scan(content)
    return scan(log.what_counts_of(content), log.pages)


def _rows_of_damaged(other: Path, path: Path, file: BinaryIO) -> FoundRows:
    if not other.samefile(path):
        return rows_in(other)
    file.seek(0)
    return _scanned(file.read(), other)


def _fill(fresh: Path, found: FoundRows, remains: _Remains) -> int:
    """Writes the new database; how many rows are lost that were not lost before."""
    numbers = {number for number in found.numbers.values() if number}
    last = max([remains.last_number, *numbers, 0])
    torn = [raw for number, raw in sorted(found.damaged.items()) if number not in numbers and number <= last + _NEAR]
    aside = [*torn, *(raw for raw in remains.set_aside if raw[0] not in numbers and raw[0] not in found.damaged)]
    unread = max(0, found.gaps(last) - len({raw[0] for raw in aside if raw[0] <= last}))
    lost = max(0, unread - int(remains.meta.get(UNREADABLE, "0")))
    meta = {**remains.meta, UNREADABLE: str(unread), "scheduling": ""}
    if "machine" not in meta and (machine := found.machine):
        meta["machine"] = machine
    with Database.open(fresh) as database:
        database.fill(found.in_order(), aside, meta)
    flush(fresh)
    require_whole(fresh, len(found.rows))
    return lost


def require_whole(fresh: Path, rows: int) -> None:
    """Reads the new file by itself: on a full disk its content may be in its write-ahead log still."""
    try:
        with Database(connection_as_it_lies(fresh)) as database:
            wrong, kept = database.problems(), database.log.length()
    except StoreCorrupt as error:
        wrong, kept = [str(error.__cause__ or error)], 0
    if wrong or kept != rows:
        reason = wrong[0] if wrong else f"{kept} of {rows} rows"
        raise StoreUnwritable(f"there is no room for {fresh} ({reason}); free some disk space and try again")


def swap(path: Path, fresh: Path, kept: Path, file: BinaryIO) -> None:
    """Gives `fresh` the name `path`. At every moment a whole file stands there, and every row in one that is read."""
    _keep(path, kept, file)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        _keep(log, kept.with_name(kept.name + "-wal"))
    flush_folder(path.parent)
    for suffix in BESIDE:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    if sys.platform == "win32":
        file.close()
    fresh.replace(path)
    flush_folder(path.parent)


def _keep(path: Path, kept: Path, file: BinaryIO | None = None) -> None:
    if kept.exists():
        return
    try:
        os.link(path, kept)
    except OSError:
        _copy(file, kept) if file else copyfile(path, kept)
        flush(kept)


def _copy(file: BinaryIO, kept: Path) -> None:
    """Copies through the open file: closing another one would give up the lock on it."""
    file.seek(0)
    with kept.open("wb") as copy:
        copyfileobj(file, copy)


def name_of_damaged(path: Path) -> Path:
    """A new name, or the one that a killed rescue has already given to this very file."""
    for other in damaged_files(path):
        if other.samefile(path):
            return other
    return free_name(path, DAMAGED)


def _remove(path: Path) -> None:
    for suffix in ("", *BESIDE):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
