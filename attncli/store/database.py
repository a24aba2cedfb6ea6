"""The learner's database as a whole: opening, checking, copying."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attncli.errors import StoreError, StoreUnwritable, remedy_for
from attncli.store.connection import (
    APPLICATION_ID,
    BESIDE,
    FORMAT,
    Connection,
    damaged,
    make_folder,
    not_in_place,
    opened,
)

if TYPE_CHECKING:
    from attncli.domain.log_row import LogRow
    from attncli.store.bank_files import BankFiles
    from attncli.store.bank_index import BankIndex
    from attncli.store.log import Log
    from attncli.store.queue_table import Queue
    from attncli.store.schedule_table import Schedules
    from attncli.store.seen_cards import SeenCards

REOPENINGS = 3
FIRST_START_SECONDS = 60
"""An empty file that is no older is another program's that begins the database just now."""


class Database:
    """`log` is the truth; all else is derived from it and from the bank files.

    Each part is loaded when it is first used: `attn due` needs few of them, and every module costs it a millisecond.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.path = connection.path
        self._remarks: list[str] = []

    @cached_property
    def log(self) -> Log:
        from attncli.store.log import Log

        if not (machine := self._meta("machine")):
            raise damaged(self.path, "it does not say which machine it belongs to")
        return Log(self.connection, machine)

    @cached_property
    def schedules(self) -> Schedules:
        from attncli.store.schedule_table import Schedules

        return Schedules(self.connection)

    @cached_property
    def queue(self) -> Queue:
        from attncli.store.queue_table import Queue

        return Queue(self.connection)

    @cached_property
    def seen(self) -> SeenCards:
        from attncli.store.seen_cards import SeenCards

        return SeenCards(self.connection)

    @cached_property
    def files(self) -> BankFiles:
        from attncli.store.bank_files import BankFiles

        return BankFiles(self.connection)

    @cached_property
    def index(self) -> BankIndex:
        from attncli.store.bank_index import BankIndex

        return BankIndex(self.connection)

    @staticmethod
    def open(path: Path, before_migration: Callable[[Database], object] | None = None) -> Database:
        """Opens the database at `path`, creating it or, after a call of `before_migration`, migrating it where needed.

        Where nothing can be written (no space, no permission) it is opened for reading, see `unwritable`.
        Raises StoreError if it cannot be used (written by a newer program), StoreCorrupt if it is damaged.
        """
        try:
            return Database._open(path, before_migration)
        except StoreUnwritable as error:
            from attncli.store.read_only import connection_for_reading

            return Database(connection_for_reading(path, error))

    @staticmethod
    def _open(path: Path, before_migration: Callable[[Database], object] | None) -> Database:
        for _ in range(REOPENINGS):
            database = Database._open_once(path, before_migration)
            if database.connection.is_in_place():
                return database
            database.close()
        raise StoreError(f"the database {path} is replaced again and again; try again when that is done")

    @staticmethod
    def _open_once(path: Path, before_migration: Callable[[Database], object] | None) -> Database:
        make_folder(path.parent)
        remark, empty_since = _remark_on_new(path)
        connection = Connection(path)
        database, begun = Database(connection), False
        try:
            version = connection.value("PRAGMA user_version")
            if version == FORMAT and connection.value("PRAGMA application_id") == APPLICATION_ID:
                connection.use_write_ahead_log()
            else:
                begun = database._migrate(before_migration if 0 < version < FORMAT else None)
        except StoreError:
            connection.close()
            raise
        if begun and not (empty_since and path.stat().st_mtime - empty_since < FIRST_START_SECONDS):
            database._remarks += remark
        return database

    def _migrate(self, before: Callable[[Database], object] | None) -> bool:
        from attncli.store.migrations import migrate, refuse_strangers

        refuse_strangers(self.connection)
        if before:
            before(self)
        return migrate(self.connection)

    @property
    def unwritable(self) -> str:
        """Why nothing can be written; empty where that is possible."""
        return self.connection.unwritable

    @property
    def remarks(self) -> list[str]:
        """What a command that went well should say all the same, line by line."""
        count = len(self.log.damaged) if self._has_read_log else 0
        rows, them = ("row", "it") if count == 1 else ("rows", "them")
        said = f"left out {count} damaged {rows} of the log; `attn doctor` names {them}"
        return [*self._remarks, *([said] if count else [])]

    @property
    def has_new_rows(self) -> bool:
        """Whether rows were added to the log since it was opened."""
        return self._has_read_log and self.log.has_grown

    @property
    def _has_read_log(self) -> bool:
        return "log" in self.__dict__

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and durable once left."""
        return self.connection.transaction()

    def wait_at_most(self, milliseconds: int) -> None:
        """How long to wait for another process that is writing, before StoreBusy: a screen must not stand still."""
        self.connection.wait_at_most(milliseconds)

    @property
    def scheduling(self) -> str:
        """The settings under which the schedules were derived, empty if they were not yet."""
        return self._meta("scheduling") or ""

    def remember_scheduling(self, settings: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('scheduling', ?)", (settings,))

    def note(self, key: str) -> str:
        """What was noted under `key`, empty if nothing was."""
        return self._meta(key) or ""

    def keep_note(self, key: str, text: str) -> None:
        with self.transaction():
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, text))

    def problems(self) -> list[str]:
        """What is wrong in the file, its shape and the rows of the log; empty if it is whole."""
        from attncli.store.database_check import problems

        return problems(self.connection, self.log)

    def unmerged(self) -> list[Path]:
        """The damaged files beside this one whose rows were not all taken over."""
        from attncli.store.database_check import unmerged

        return unmerged(self.path, self.connection)

    def fill(
        self, rows: Iterable[tuple[int | None, LogRow]], aside: Iterable[Sequence[Any]], meta: Mapping[str, str]
    ) -> None:
        """Writes numbered rows, rows to set aside and what is known of the database into a new one."""
        from attncli.store.log import COLUMNS

        with self.transaction():
            self.connection.execute_many("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
            marks = ", ".join("?" * len(COLUMNS.split(", ")))
            self.connection.execute_many(f"INSERT INTO set_aside ({COLUMNS}) VALUES ({marks})", aside)
            self.log.fill(rows)

    def copy_to(self, path: Path) -> list[str]:
        """Writes a consistent copy to `path`, on disk when this returns, while others may go on writing here.

        What SQLite's check of the copy finds is given back: a damaged database makes a damaged copy.
        """
        from attncli.store.database_check import page_problems
        from attncli.store.disk_flush import put_in_place

        part = path.with_name(path.name + ".part")
        try:
            part.unlink(missing_ok=True)
            with opened(part) as copy:
                self.connection.backup_to(copy)
                if copy.value("PRAGMA journal_mode = DELETE") != "delete":
                    raise StoreUnwritable(f"cannot finish the copy {path}; free some disk space and try again")
                problems = page_problems(copy)
            put_in_place(part, path)
            return problems
        except OSError as error:
            remedy = remedy_for(error, "name another place")
            raise StoreError(f"cannot write {path} ({error.strerror}); {remedy}") from error
        finally:
            with suppress(OSError):
                for suffix in ("", *BESIDE):
                    part.with_name(part.name + suffix).unlink(missing_ok=True)

    def replace_by(self, other: Database, once_locked: Callable[[], None]) -> None:
        """Takes over the whole content of `other`, in one transaction; open programs see it at once.

        `once_locked` is called when nobody else can write here any more; if it raises, nothing is replaced.
        """

        def check() -> None:
            if not self.connection.is_in_place():
                raise not_in_place(self.path)
            once_locked()

        if self.unwritable:
            raise StoreUnwritable(self.unwritable)
        other.connection.backup_to(self.connection, check)
        self.__dict__.pop("log", None)

    def renew_machine(self) -> str:
        """Gives what is written here from now on the name of another machine; that name."""
        with self.transaction():
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('machine', lower(hex(randomblob(4))))")
        self.log.machine = str(self._meta("machine"))
        return self.log.machine

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _meta(self, key: str) -> str | None:
        value = self.connection.value("SELECT value FROM meta WHERE key = ?", (key,))
        return None if value is None else str(value)


def _remark_on_new(path: Path) -> tuple[list[str], float]:
    """What to say of a database that is begun anew where an earlier one left traces.

    Where an empty file is the only trace, also since when it is; otherwise 0.
    """
    size, since = -1, 0.0
    try:
        status = path.stat()
        size, since = status.st_size, status.st_mtime
    except FileNotFoundError:
        pass
    except OSError:
        return [], 0.0
    if size > 0 or path.with_name(path.name + "-wal").exists():
        return [], 0.0
    damaged_ones = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    copies = sorted(path.parent.glob("backups/*.db"))
    if size < 0 and not damaged_ones and not copies:
        return [], 0.0
    remedy = "; `attn doctor --rebuild` looks for its rows" if damaged_ones else ""
    remedy = f"; `attn restore {copies[-1]}` brings back an earlier one" if copies else remedy
    said = f"the database {path} was {'empty' if size == 0 else 'gone'}, so a new one was begun{remedy}"
    return [said], since if not (damaged_ones or copies) else 0.0
