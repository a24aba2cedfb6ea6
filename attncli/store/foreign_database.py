"""The log rows of a database file from elsewhere: a backup, or the file of another machine.

Nothing but rows is taken, and each is checked as an imported line is. The file itself is only read: what SQLite has to
do to see the reviews in its write-ahead log, it does to a copy.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from attncli.domain import log_row
from attncli.domain.log_row import LONGEST_LINE, LogRow, row_of_document
from attncli.errors import StoreCorrupt, StoreError, UsageError, remedy_for
from attncli.store.connection import APPLICATION_ID, FORMAT, Connection, opened
from attncli.store.log import checksum
from attncli.store.moments import moment

COLUMNS = ("id", "machine", "kind", "subject", "at_us", "day", "payload")
# Text comes as bytes: a flipped bit may have made it no text.
_READ = tuple(name if name in ("at_us", "day") else f"CAST({name} AS BLOB)" for name in COLUMNS)
WORKSHOP = ".attn-work-"
ANOTHER = "give a file that `attn backup` wrote"
COPY_ATTEMPTS = 5
LEFT_BEHIND_SECONDS = 3600


@dataclass(slots=True)
class ForeignRows:
    """The rows that can be used, in the order in which they were written, and what was wrong with the others."""

    rows: list[LogRow] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def foreign_rows(file: Path, folder: Path) -> ForeignRows:
    """The log rows in the database `file`, which is copied to `folder`, a private one, to be read.

    Raises UsageError where it is no database of this program, or a damaged one; StoreError where there is no room.
    """
    copy = _copied(file, folder)
    try:
        with opened(copy) as connection:
            return _read(connection, file)
    except StoreCorrupt as error:
        raise UsageError(f"{file} is damaged, or no database at all; {ANOTHER}") from error


def _read(connection: Connection, file: Path) -> ForeignRows:
    try:
        connection.distrust()
        _refuse_others(connection, file)
        return _rows(connection)
    except StoreError as error:
        raise UsageError(f"{file} is damaged, its log cannot be read; {ANOTHER}") from error


@contextmanager
def workshop(folder: Path) -> Iterator[Path]:
    """A private folder in `folder` that is gone afterwards; what killed programs left of theirs is removed."""
    try:
        own = Path(mkdtemp(prefix=f"{WORKSHOP}{os.getpid()}-", dir=folder))
    except OSError as error:
        remedy = remedy_for(error, "make it writable")
        raise StoreError(f"cannot write to {folder} ({error.strerror}); {remedy}") from error
    try:
        for other in folder.glob(f"{WORKSHOP}*"):
            if other != own and _is_left_behind(other, own):
                shutil.rmtree(other, ignore_errors=True)
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _is_left_behind(other: Path, own: Path) -> bool:
    """Whether whoever made `other` is gone."""
    try:
        if own.stat().st_mtime - other.stat().st_mtime > LEFT_BEHIND_SECONDS:
            return True
        process = int(other.name.removeprefix(WORKSHOP).partition("-")[0])
    except (OSError, ValueError):
        return False
    if os.name != "posix" or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _copied(file: Path, folder: Path) -> Path:
    """A copy of the database with what belongs to it, taken while nobody wrote."""
    copy, journal = folder / "copy.db", file.with_name(file.name + "-journal")
    if journal.is_file() and journal.stat().st_size:
        raise UsageError(f"{file} was copied while it was being written: {journal.name} lies beside it; {ANOTHER}")
    for _ in range(COPY_ATTEMPTS):
        before = _stamps(file)
        with suppress(FileNotFoundError):
            for suffix in ("", "-wal"):
                _copy(file.with_name(file.name + suffix), copy.with_name(copy.name + suffix), missing_ok=bool(suffix))
        if _stamps(file) == before and before[0] is not None:
            return copy
    raise UsageError(f"{file} changes all the time; close what writes to it, or copy it with `attn backup`")


def _stamps(file: Path) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for suffix in ("", "-wal"):
        try:
            status = file.with_name(file.name + suffix).stat()
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
        except OSError as error:
            raise UsageError(f"cannot read {file} ({error.strerror}); check its permissions") from error
    return found


def _copy(file: Path, copy: Path, missing_ok: bool) -> None:
    copy.unlink(missing_ok=True)
    try:
        source = file.open("rb")
    except FileNotFoundError:
        if missing_ok:
            return
        raise
    except OSError as error:
        raise UsageError(f"cannot read {file} ({error.strerror}); check what it is and its permissions") from error
    with source:
        try:
            with copy.open("xb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            remedy = remedy_for(error, "make its folder writable")
            raise StoreError(f"cannot copy {file} to {copy.parent} ({error.strerror}); {remedy}") from error


def _refuse_others(connection: Connection, file: Path) -> None:
    application, version = (connection.value(f"PRAGMA {name}") for name in ("application_id", "user_version"))
    if application != APPLICATION_ID or version < 1:
        raise UsageError(f"{file} is no database of attn; {ANOTHER}")
    if version > FORMAT:
        raise UsageError(
            f"{file} was written by a newer attn (format {version}, this one knows {FORMAT}); install the newer one"
        )
    kind, sql = connection.row("SELECT type, sql FROM sqlite_schema WHERE name = 'log'") or ("", "")
    is_plain = kind == "table" and "VIRTUAL" not in str(sql).upper().split("(")[0]
    if not is_plain or not _plain_columns(connection).issuperset(COLUMNS):
        raise UsageError(f"{file} has no log of reviews; {ANOTHER}")


def _rows(connection: Connection) -> ForeignRows:
    found = ForeignRows()
    checksum = "checksum" if "checksum" in _plain_columns(connection) else "NULL"
    sql = f"SELECT {', '.join(_READ)}, {checksum} FROM log NOT INDEXED ORDER BY rowid"
    for values in connection.each(sql):
        try:
            found.rows.append(_row(*values))
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            name = values[0].decode(errors="replace") if isinstance(values[0], bytes) else str(values[0])
            found.refused.append(f"row {name[:100]}: {error}")
    return found


def _row(
    id: bytes, machine: bytes, kind: bytes, subject: bytes, at_us: int, day: int, payload: bytes, check: int | None
) -> LogRow:
    if type(at_us) is not int or type(day) is not int:
        raise ValueError("at or day is no whole number")
    if len(payload) > LONGEST_LINE:
        raise ValueError("payload: too long")
    if check is not None and checksum(id, machine, kind, subject, at_us, day, payload) != check:
        raise ValueError("it is damaged, its checksum does not fit")
    document = {
        "id": id.decode(),
        "machine": machine.decode(),
        "kind": kind.decode(),
        "subject": subject.decode(),
        "at": moment(at_us).isoformat(),
        "day": day,
        "payload": log_row.parse(payload.decode()),
    }
    return row_of_document(document)


def _plain_columns(connection: Connection) -> set[str]:
    return {name for _, name, *_, hidden in connection.rows("PRAGMA table_xinfo(log)") if hidden == 0}
