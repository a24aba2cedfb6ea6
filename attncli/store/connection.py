"""The only place that touches sqlite3: pragmas, transactions, and errors turned into words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import thread_time
from typing import Any

from attncli.errors import (
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRemoved,
    StoreReplaced,
    StoreUnwritable,
    remedy_at_home,
    remedy_for,
)

APPLICATION_ID = 0x6174746E  # "attn"
FORMAT = 4
"""The shape of the database that this program writes: the number of steps in `migrations`."""
MAGIC = b"SQLite format 3\x00"
BESIDE = ("-wal", "-shm", "-journal")
"""The files that SQLite may keep beside a database."""
BUSY_TIMEOUT_MS = 20_000
MOST_REFUSALS = 3
STEPS_BETWEEN_LOOKS = 1000
"""SQLite's virtual machine takes so many steps, some 50 µs, before the clock is looked at."""
LARGEST_FOREIGN_VALUE = 16 * 1024 * 1024
Values = Sequence[Any] | Mapping[str, Any]


# SQLite makes room for its shared memory in steps of 4096 bytes. Where a file system's blocks are smaller, parts of it
# have none yet, and writing to them on a full disk kills the process.
SHARED_MEMORY_STEP_BYTES = 4096
SHARED_MEMORY_ROOM_BYTES = 256 * 1024


class Connection:
    """A connection to `path` whose every failure is a StoreError that says what to do.

    `unwritable` says why nothing can be written; it is empty where that is possible.
    """

    def __init__(self, path: Path, readable: sqlite3.Connection | None = None, unwritable: str = "") -> None:
        self.path = path
        self.unwritable = unwritable
        self._file = _identity(path)
        self._kept: dict[tuple[str, tuple[Any, ...]], tuple[Any, ...]] = {}
        self._kept_version: tuple[int, int] | None = None
        if readable is not None:
            self._sqlite = readable
            return
        _require_room(path)
        with self.words():
            self._sqlite = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        try:
            self._prepare()
        except StoreError:
            self.close()
            raise

    def _prepare(self) -> None:
        opened = _identity(self.path)
        if self._file is not None and self._file != opened:
            raise not_in_place(self.path)
        self._file = opened
        self.execute("PRAGMA foreign_keys = ON")
        self.execute("PRAGMA synchronous = FULL")

    def use_write_ahead_log(self) -> None:
        """Lets readers and a writer work at once; a file stays in this mode."""
        if self.value("PRAGMA journal_mode") != "wal":
            self.execute("PRAGMA journal_mode = WAL")

    def define(self, name: str, arguments: int, function: Callable[..., int]) -> None:
        """Makes a Python function callable in SQL on this connection."""
        with self.words():
            self._sqlite.create_function(name, arguments, function, deterministic=True)

    def wait_at_most(self, milliseconds: int) -> None:
        """How long to wait for another process that is writing, before StoreBusy."""
        self.execute(f"PRAGMA busy_timeout = {milliseconds}")

    def execute(self, sql: str, values: Values = ()) -> int:
        """Runs one statement; the number of rows it changed."""
        with self.words():
            return self._sqlite.execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        with self.words():
            self._sqlite.executemany(sql, rows)

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        with self.words():
            return self._sqlite.execute(sql, values).fetchall()

    def rows_while_unchanged(self, sql: str, values: Values = ()) -> Sequence[Any]:
        """`rows`, kept until a row is changed here, or anything by another process: for sums over all cards."""
        with self.words():
            if self._sqlite.in_transaction:
                return self.rows(sql, values)
            version = self._sqlite.total_changes, self.value("PRAGMA data_version")
        if version != self._kept_version:
            self._kept.clear()
            self._kept_version = version
        key = sql, tuple(values.items() if isinstance(values, Mapping) else values)
        if key not in self._kept:
            self._kept[key] = tuple(self.rows(sql, values))
        return self._kept[key]

    def each(self, sql: str, values: Values = ()) -> Iterator[Any]:
        """Rows one by one, for results that should not be held at once."""
        with self.words():
            cursor = self._sqlite.execute(sql, values)
            while batch := cursor.fetchmany(1000):
                yield from batch

    def row(self, sql: str, values: Values = ()) -> Any:
        """The first row, or None."""
        with self.words():
            return self._sqlite.execute(sql, values).fetchone()

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.row(sql, values)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and on disk when left. Taken at once for writing, so that what is read in it still holds.

        Raises StoreReplaced or StoreRemoved instead of recording anything in a file that is not at `path` any more.
        """
        if self.unwritable:
            raise StoreUnwritable(self.unwritable)
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            if not self.is_in_place():
                raise not_in_place(self.path)
            self.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in it is of one moment, though others are writing."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self._roll_back()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Raise InvalidInput once the reading inside takes more than `seconds` of this thread's processor time."""
        end = thread_time() + seconds
        self._sqlite.set_progress_handler(lambda: thread_time() > end, STEPS_BETWEEN_LOOKS)
        try:
            yield
        except StoreError as error:
            if getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
                raise
            raise InvalidInput("the search takes too long; use fewer words", "search-time") from error
        finally:
            self._sqlite.set_progress_handler(None, 0)

    def try_writing(self) -> None:
        """Raises the StoreError that a write would, and writes nothing."""
        self.execute("BEGIN IMMEDIATE")
        try:
            self.execute("UPDATE meta SET value = value")
        finally:
            self._roll_back()

    def is_in_place(self) -> bool:
        """Whether the open file is still the one at `path`."""
        return _identity(self.path) == self._file

    @property
    def in_transaction(self) -> bool:
        return self._sqlite.in_transaction

    def backup_to(self, other: Connection, once_locked: Callable[[], None] | None = None) -> None:
        """Replaces `other`'s content by this one's, in one transaction there.

        `once_locked` is called when nobody else can write there any more, and nothing is written yet for anybody to
        see; if it raises, nothing is.
        """
        with self.words(), other.words():
            if once_locked is None:
                self._sqlite.backup(other._sqlite)
            else:
                self._sqlite.backup(other._sqlite, pages=1, progress=_Watch(once_locked))
        other._kept_version = None  # SQLite does not count this among its changes

    def distrust(self) -> None:
        """For a file from elsewhere: its schema calls nothing that has effects, and no value is larger than 16 MiB."""
        self.execute("PRAGMA trusted_schema = OFF")
        self.execute("PRAGMA cell_size_check = ON")
        self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_FOREIGN_VALUE)

    def close(self) -> None:
        with self.words():
            self._sqlite.close()

    def _roll_back(self) -> None:
        if self._sqlite.in_transaction:
            with self.words():
                self._sqlite.execute("ROLLBACK")

    @contextmanager
    def words(self) -> Iterator[None]:
        """sqlite3's errors become the ones of this program."""
        try:
            yield
        except sqlite3.Error as error:
            raise error_in_words(error, self.path) from error


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """A connection that is closed again."""
    connection = Connection(path)
    try:
        yield connection
    finally:
        connection.close()


class _Watch:
    """Told after each page of a backup; the first one that was copied means that the other side is locked."""

    def __init__(self, once_locked: Callable[[], None]) -> None:
        self._once_locked: Callable[[], None] | None = once_locked
        self._refused = 0

    def __call__(self, status: int, remaining: int, total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            self._refused += 1
            if self._refused >= MOST_REFUSALS:
                raise sqlite3.OperationalError("database is locked")
        elif self._once_locked is not None:
            now, self._once_locked = self._once_locked, None
            now()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at `path`, whatever its content."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def not_in_place(path: Path) -> StoreRemoved | StoreReplaced:
    """The error of an open database whose name no file bears any more, or another one."""
    if not path.exists():
        return StoreRemoved(
            f"the database {path} was removed while attn was open; nothing was recorded; "
            "put it back, or close attn and bring back a copy with `attn restore FILE`"
        )
    return StoreReplaced(
        f"the database {path} was replaced while attn was open; nothing was recorded; close attn and start it again"
    )


HOME_REMEDY = "make it writable, or name another folder with --home"


def make_folder(folder: Path, remedy: str = HOME_REMEDY) -> None:
    """The folder a database stands in, its owner's alone. Raises StoreError with `remedy` where there can be none."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        remedy = remedy_at_home(error, remedy) if remedy == HOME_REMEDY else remedy_for(error, remedy)
        raise StoreError(f"cannot create {folder} ({error.strerror}); {remedy}") from error


def _require_room(path: Path) -> None:
    if not hasattr(os, "statvfs"):
        return
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return
    if disk.f_frsize < SHARED_MEMORY_STEP_BYTES and disk.f_bavail * disk.f_frsize < SHARED_MEMORY_ROOM_BYTES:
        raise StoreFull(f"cannot use the database {path} (disk is full); free some disk space and try again")


_REMEDIES: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (("full", "disk i/o", "too big"), StoreFull, "free some disk space and try again"),
    (
        ("readonly", "read-only", "unable to open", "permission"),
        StoreUnwritable,
        "make its folder writable, or name another with --home",
    ),
    (("locked", "busy"), StoreBusy, "another attn is writing to it; try again when that one is done"),
)
_DAMAGE = (
    "not a database",
    "malformed",
    "corrupt",
    "no such table",
    "no such column",
    "no such module",
    "constraint failed",
    "could not decode",
    "unsupported file format",
)


def error_in_words(error: sqlite3.Error, path: Path) -> StoreError:
    """The StoreError for what sqlite3 said about `path`."""
    said = str(error)
    if any(sign in said.lower() for sign in _DAMAGE) or ("readonly" in said and _is_writable(path)):
        return damaged(path, said)
    for signs, kind, remedy in _REMEDIES:
        if any(sign in said.lower() for sign in signs):
            remedy = _remedy_at(path, remedy) if kind is StoreUnwritable else remedy
            return kind(f"cannot use the database {path} ({said}); {remedy}")
    return StoreError(f"the database {path} failed ({said}); `attn doctor` checks it")


def _remedy_at(path: Path, otherwise: str) -> str:
    """Return what helps where SQLite, which does not say why, cannot open `path`."""
    try:
        if path.is_dir():
            return "move that folder away"
        path.parent.stat()
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return remedy_at_home(error, otherwise)
    return otherwise


def _is_writable(path: Path) -> bool:
    """Whether the system lets us write: then it is the file's own damaged header that does not."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def damaged(path: Path, reason: str) -> StoreCorrupt:
    """The error of a damaged database, with what helps."""
    return StoreCorrupt(
        f"the database {path} is damaged ({reason}); run `attn doctor --rebuild` to save what can be read, "
        "or `attn restore FILE` with a backup"
    )
