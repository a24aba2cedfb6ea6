"""The learner's database as a whole: opening, checking, copying."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from attncli.errors import StoreError, UsageError
from attncli.store.connection import Connection

if TYPE_CHECKING:
    from attncli.store.bank_files import BankFiles
    from attncli.store.bank_index import BankIndex
    from attncli.store.log import Log
    from attncli.store.queue import Queue
    from attncli.store.schedules import Schedules

FORMAT = 1
"""The shape of the database that this program writes: the number of steps in `migrations`."""


class Database:
    """`log` is the truth; all else is derived from it and from the bank files.

    Each part is loaded when it is first used: `attn due` needs few of them, and every module costs it a millisecond.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.path = connection.path

    @cached_property
    def log(self) -> Log:
        from attncli.store.log import Log

        return Log(self._connection, str(self._meta("machine")))

    @cached_property
    def schedules(self) -> Schedules:
        from attncli.store.schedules import Schedules

        return Schedules(self._connection)

    @cached_property
    def queue(self) -> Queue:
        from attncli.store.queue import Queue

        return Queue(self._connection)

    @cached_property
    def files(self) -> BankFiles:
        from attncli.store.bank_files import BankFiles

        return BankFiles(self._connection)

    @cached_property
    def index(self) -> BankIndex:
        from attncli.store.bank_index import BankIndex

        return BankIndex(self._connection)

    @staticmethod
    def open(path: Path) -> Database:
        """Opens the database at `path`, creating or migrating it where needed.

        Raises StoreError if it cannot be used (no space, no permission, written by a newer program), StoreCorrupt if
        it is damaged.
        """
        _make_folder(path.parent)
        connection = Connection(path)
        try:
            _bring_into_shape(connection)
            return Database(connection)
        except StoreError:
            connection.close()
            raise

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and durable once left."""
        return self._connection.transaction()

    def wait_at_most(self, milliseconds: int) -> None:
        """How long to wait for another process that is writing, before StoreBusy: a screen must not stand still."""
        self._connection.wait_at_most(milliseconds)

    @property
    def scheduling(self) -> str:
        """The settings under which the schedules were derived, empty if they were not yet."""
        return self._meta("scheduling") or ""

    def remember_scheduling(self, settings: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('scheduling', ?)", (settings,))

    def problems(self) -> list[str]:
        """What SQLite's own check finds; empty if the file is whole."""
        said = [text for (text,) in self._connection.rows("PRAGMA integrity_check")]
        dangling = self._connection.rows("PRAGMA foreign_key_check")
        return [text for text in said if text != "ok"] + [f"dangling reference in {row[0]}" for row in dangling]

    def copy_to(self, path: Path) -> None:
        """Writes a consistent copy to the new file `path`, while others may go on writing here."""
        part = path.with_name(path.name + ".part")
        try:
            part.unlink(missing_ok=True)
            with opened(part) as copy:
                self._connection.backup_to(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            part.replace(path)
        except OSError as error:
            raise StoreError(f"cannot write {path} ({error.strerror}); name another place") from error
        finally:
            part.unlink(missing_ok=True)

    def replace_by(self, path: Path) -> None:
        """Replaces everything by the content of the backup `path`.

        The backup itself is not touched. Raises UsageError if that file is no whole database of this program.
        """
        from shutil import copyfile

        copy = self.path.with_name(self.path.name + ".restoring")
        try:
            copyfile(path, copy)
            with opened(copy) as source:
                if not source.value("PRAGMA user_version"):
                    raise StoreError("it is empty, or another program's")
                _bring_into_shape(source)
                if (check := source.value("PRAGMA integrity_check")) != "ok":
                    raise UsageError(f"the backup {path} is damaged ({check}); nothing was restored")
                source.backup_to(self._connection)
        except OSError as error:
            raise UsageError(f"cannot read the backup {path} ({error.strerror}); nothing was restored") from error
        except StoreError as error:
            raise UsageError(f"{path} is no backup that can be used; nothing was restored ({error.message})") from error
        finally:
            copy.unlink(missing_ok=True)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _meta(self, key: str) -> str | None:
        value = self._connection.value("SELECT value FROM meta WHERE key = ?", (key,))
        return None if value is None else str(value)


@contextmanager
def opened(path: Path) -> Iterator[Connection]:
    """A connection that is closed again."""
    connection = Connection(path)
    try:
        yield connection
    finally:
        connection.close()


def _bring_into_shape(connection: Connection) -> None:
    if connection.value("PRAGMA user_version") != FORMAT:
        from attncli.store.migrations import migrate

        migrate(connection)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot create {folder} ({error.strerror}); make it writable, or name another folder with --home"
        ) from error
