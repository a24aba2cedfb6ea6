"""The learner's data as a whole: the history, which is the truth, and `cache.db`, which is derived and may be deleted.

The cache mirrors the rows of the history, and stores data derived from them and from the bank files. For each file of
the history it stores the length of the part that was read, and a fingerprint of the end of that part. The rest of a
file that grew is read; after any other mismatch the cache is rebuilt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from attncli.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreUnwritable
from attncli.i18n import NOTHING, Localised, _
from attncli.store.connection import Connection, damaged, microseconds
from attncli.store.history import Damage, History, Writer, in_words, read
from attncli.store.index import BankFiles, BankIndex
from attncli.store.schedules import Queue, Schedules

if TYPE_CHECKING:
    from attncli.domain.log_row import LogRow
    from attncli.store.log import Log

Clock = Callable[[], datetime]

# The tables of the cache. Changing them needs a new VERSION: older caches are rebuilt, never migrated.
VERSION = 10
TABLES = """
CREATE TABLE entry (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, machine TEXT, kind TEXT, subject TEXT,
    at_us INTEGER, day INTEGER, payload TEXT, waits INTEGER) STRICT;
CREATE INDEX entry_machine ON entry (machine);
CREATE INDEX entry_subject ON entry (subject, at_us, id);
CREATE INDEX entry_kind_day ON entry (kind, day);
CREATE INDEX entry_waits ON entry (waits, at_us);
CREATE INDEX entry_undone ON entry (json_extract(payload, '$.row')) WHERE kind = 'undo';
CREATE VIEW log AS SELECT seq, id, machine, kind, subject, at_us, day, payload FROM entry WHERE +waits = 0;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE schedule (subject TEXT PRIMARY KEY, state TEXT, stability_days REAL, difficulty REAL, step INTEGER,
    reviewed_at_us INTEGER, review_day INTEGER, due_at_us INTEGER , due_day INTEGER, interval_days REAL,
    repetitions INTEGER, lapses INTEGER , introduced_day INTEGER, last_row TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX schedule_introduced ON schedule (introduced_day);
CREATE TABLE hold (subject TEXT PRIMARY KEY, suspended INTEGER, buried_day INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE bank_file (path TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, problems TEXT ) STRICT,
    WITHOUT ROWID;
CREATE TABLE topic (id TEXT, file TEXT REFERENCES bank_file (path) ON DELETE CASCADE, title_en TEXT, title_zh TEXT,
    PRIMARY KEY (id, file)) STRICT, WITHOUT ROWID;
CREATE TABLE card (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, topic TEXT, kind TEXT, level TEXT, core INTEGER,
    must_know INTEGER, question_en TEXT, question_zh TEXT, document TEXT, hash TEXT, position INTEGER,
    file TEXT REFERENCES bank_file (path) ON DELETE CASCADE) STRICT;
CREATE INDEX card_topic ON card (topic);
CREATE INDEX card_file ON card (file);
CREATE TABLE former (id TEXT PRIMARY KEY, card TEXT REFERENCES card (id) ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE INDEX former_card ON former (card);
CREATE VIRTUAL TABLE card_text USING fts5 (question, body, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE challenge (id TEXT PRIMARY KEY, track TEXT, level INTEGER, document TEXT NOT NULL,
    file TEXT REFERENCES bank_file (path) ON DELETE CASCADE) STRICT, WITHOUT ROWID;
CREATE TABLE queue (id TEXT PRIMARY KEY, topic TEXT, kind TEXT, rank INTEGER, state TEXT,
    due_at_us INTEGER, suspended INTEGER, buried_at_us INTEGER, stability_days REAL, review_day INTEGER,
    due_day INTEGER, lapses INTEGER, last_rating INTEGER, last_correct ANY, last_points ANY) STRICT, WITHOUT ROWID;
CREATE TABLE sibling (subject TEXT, other TEXT, PRIMARY KEY (subject, other)) STRICT, WITHOUT ROWID;
CREATE TABLE history_file (name TEXT PRIMARY KEY, size INTEGER, lines INTEGER, number INTEGER,
    tail INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE damage (file TEXT, line INTEGER, reason TEXT, PRIMARY KEY (file, line)) STRICT, WITHOUT ROWID;
CREATE TABLE stale (subject TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
"""

TODAY = "today"
"""The key under which today's list is stored."""
TAIL_BYTES, NEVER_US = 4096, 2**61
TOLERATED_LEAD_US = 24 * 3_600_000_000
"""Clocks of two machines may differ by so much; rows further ahead wait."""
_WRONGLY = "WHERE waits = 1 AND at_us <= ?1 OR waits = 0 AND at_us > ?1"
"""Rows that wait although their time has come, or that count too early because the clock was set back."""


class ReadSoFar(NamedTuple):
    """The part of a history file that the cache mirrors: its size, lines, last number, and a CRC of its last bytes."""

    size: int = 0
    lines: int = 0
    number: int = 0
    tail: int = 0


class Database(AbstractContextManager["Database"]):
    """`log` mirrors the history; all else is derived from it and from the bank files.

    `unwritable` is the reason why nothing can be written; `remarks` are messages after a successful command.
    """

    def __init__(
        self, connection: Connection, history: History, clock: Clock | None, at: datetime | None, unwritable: Localised
    ) -> None:
        self.connection = connection
        self.history = history
        self.unwritable = unwritable
        self.remarks: list[Localised] = []
        self._clock, self._counted_us = clock, 0 if at is None else microseconds(at)
        self.schedules, self.queue = Schedules(connection), Queue(connection)
        self.files, self.index = BankFiles(connection), BankIndex(connection)

    @cached_property
    def log(self) -> Log:
        from attncli.store.log import Log  # not loaded by `attn due`

        return Log(self.connection, self.history, self._until_us)

    @classmethod
    def open(cls, path: Path, clock: Clock | None = None, at: datetime | None = None) -> Database:
        """Open the cache at `path`, rebuilt if it cannot be used, and read new rows of the history beside it.

        Rows that are more than a day ahead of `clock` and `at` wait; without a clock none does. If nothing can be
        written, the cache is in memory, see `unwritable`. Raises StoreError.
        """
        unwritable: Localised = NOTHING
        try:
            connection = _opened(path)
        except StoreUnwritable as error:
            if not path.parent.is_dir():
                raise
            connection, unwritable = _opened(Path(":memory:")), error.message
        for is_last in (False, True):
            database = cls(connection, History(path.parent), clock, at, unwritable)
            try:
                database.catch_up()
                break
            except BaseException as error:
                database.close()
                if is_last or not isinstance(error, StoreCorrupt):
                    raise
                connection = _opened(path)
        return database

    def catch_up(self) -> None:
        """Mirror rows that other processes or machines added, and count waiting rows whose time has come."""
        known = {name: (so_far.size, so_far.tail) for name, so_far in self._read_so_far().items()}
        if {path.name: (size, _tail(path, size)) for path, size in self.history.sizes().items()} != known:
            with self.connection.transaction():
                self._catch_up(self.history.sizes())
        until_us = (self._until_us(),)
        if self.connection.value(f"SELECT 1 FROM entry {_WRONGLY} LIMIT 1", until_us):
            with self.connection.transaction():
                self.connection.execute(f"INSERT OR IGNORE INTO stale SELECT subject FROM entry {_WRONGLY}", until_us)
                self.connection.execute(f"UPDATE entry SET waits = NOT waits {_WRONGLY}", until_us)

    def count_until(self, at: datetime) -> None:
        """Count rows up to `at` as if it were now. The effect lasts while this database is open."""
        self._counted_us = max(self._counted_us, microseconds(at))

    def _until_us(self) -> int:
        now_us = NEVER_US if self._clock is None else microseconds(self._clock())
        return max(now_us, self._counted_us) + TOLERATED_LEAD_US

    def _catch_up(self, sizes: dict[Path, int]) -> None:
        known = self._read_so_far()
        pairs = [(path, size, known[path.name]) for path, size in sizes.items() if path.name in known]
        grew = (had.size <= size and had.tail == _tail(path, had.size) for path, size, had in pairs)
        fits = len(pairs) == len(known) and all(grew)
        if not fits:
            self._forget()
        for path in sizes:
            self._mirror(path, known.get(path.name, ReadSoFar()) if fits else ReadSoFar())
        has = self._read_so_far()
        for name, had in known.items():
            so_far = has.get(name, ReadSoFar())
            if had.number > so_far.number:
                path = self.history.folder / name
                lost = _("row {number} and all later rows are missing", number=so_far.number + 1)
                self._note(Damage(path, so_far.lines + 1, lost))
                self.remarks.append(_("{path} has lost rows; restore a backup with `attn restore FILE`", path=path))

    def _forget(self) -> None:
        """Empty the mirror and the data derived from it; all of it is derived again."""
        for table in ("entry", "history_file", "damage", "schedule", "hold", "stale"):
            self.connection.execute(f"DELETE FROM {table}")
        self.keep_note("scheduling", "")
        self.keep_note(TODAY, "")

    def _mirror(self, path: Path, so_far: ReadSoFar) -> None:
        """Read a file from the end of the part that the cache mirrors."""
        size, lines, number, _ = so_far
        rows: list[LogRow] = []
        for found in read(path, size, lines, number):
            if isinstance(found, Damage):
                with suppress(StoreError):
                    self.history.set_aside(found)
                self._note(found)
            else:
                rows.append(found.row)
                size, lines, number = found.end, found.line, found.number
        new = self.log.mirror(rows)
        self.connection.execute_many("INSERT OR IGNORE INTO stale VALUES (?)", ((row.subject,) for row in new))
        values = (path.name, size, lines, number, _tail(path, size))
        self.connection.execute("INSERT OR REPLACE INTO history_file VALUES (?, ?, ?, ?, ?)", values)

    def _note(self, damage: Damage) -> None:
        values = (damage.file.name, damage.line, json.dumps([damage.reason.en, damage.reason.zh]))
        self.connection.execute("INSERT OR REPLACE INTO damage VALUES (?, ?, ?)", values)

    def _read_so_far(self) -> dict[str, ReadSoFar]:
        return {name: ReadSoFar(*values) for name, *values in self.connection.rows("SELECT * FROM history_file")}

    def stale_subjects(self) -> list[str]:
        """Return the subjects whose rows have changed and whose schedules were not derived since."""
        return self.connection.column("SELECT subject FROM stale")

    def none_is_stale(self) -> None:
        """Record that the schedules of all subjects were derived; call inside a transaction."""
        self.connection.execute("DELETE FROM stale")

    # Writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all rows that are added inside, or none; they are on disk when the block has ended."""
        written: list[Path] = []
        try:
            with self.connection.transaction():
                with ExitStack() as stack:

                    def start() -> Writer:
                        self.require_writable()
                        return stack.enter_context(self.history.writing())

                    self.log.writing = start
                    try:
                        yield
                    finally:
                        self.log.writing, paths = None, self.log.written()
                written = [path for path in paths if path.exists()]
                for path in written:
                    self._mirror(path, self._read_so_far().get(path.name, ReadSoFar()))
        except StoreError as error:
            if not written:
                raise
            self._remark(error)

    def require_writable(self) -> None:
        """Raise StoreUnwritable if nothing can be recorded."""
        if self.unwritable:
            raise StoreUnwritable(self.unwritable)

    @contextmanager
    def following(self) -> Iterator[None]:
        """Update the cache with rows already on disk; if that fails, the next opening reads them from there."""
        try:
            yield
        except (StoreFull, StoreUnwritable) as error:
            self._remark(error)

    def _remark(self, error: StoreError) -> None:
        self.remarks.append(_("your answers are saved, but not shown yet: {message}", message=error.message))

    def note(self, key: str) -> str:
        """Return the value stored under `key`, empty if there is none."""
        return self.connection.value("SELECT value FROM meta WHERE key = ?", (key,)) or ""

    def keep_note(self, key: str, text: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, text))

    def newest_row(self) -> int:
        """Return the sequence number of the row that was read last, 0 if there is none."""
        return self.connection.value("SELECT max(seq) FROM entry") or 0

    def has_rows_since(self, at: datetime) -> bool:
        """Return True if any counting row is from `at` or later."""
        return bool(self.connection.value("SELECT 1 FROM entry WHERE waits = 0 AND at_us >= ?", (microseconds(at),)))

    def has_past_changed(self, since: int, day_start: datetime) -> bool:
        """Return True if rows after `since` are of days before `day_start`, or a tag, fit, undo or unsuspend."""
        sql = "SELECT 1 FROM entry WHERE seq > ? AND (at_us < ? OR kind IN ('tag', 'fit', 'undo', 'unsuspend')) LIMIT 1"
        return bool(self.connection.value(sql, (since, microseconds(day_start))))

    def damages(self) -> list[Localised]:
        """Read the whole history; return each line that cannot be used, with file, line and reason."""
        found = [one.text() for path in self.history.files() for one in read(path) if isinstance(one, Damage)]
        for file, line, reason in self.connection.rows("SELECT file, line, reason FROM damage ORDER BY file, line"):
            found.append(Damage(self.history.folder / file, line, Localised(*json.loads(reason))).text())
        return list(dict.fromkeys(found))

    def replace_history(self, rows: Iterable[LogRow], keep: Callable[[], object]) -> None:
        """Replace the history by these rows under a new machine id, after `keep()`; other processes wait meanwhile."""
        replaced = False
        try:
            with self.connection.transaction():
                self._catch_up(self.history.sizes())
                keep()
                self.history.replace_by(rows)
                replaced = True
                self._forget()
            self.catch_up()
        except StoreError as error:
            if not replaced:
                raise
            self.connection.is_damaged = True  # rebuild it: it still has rows that were removed on purpose
            self._remark(error)

    def close(self) -> None:
        """Close the cache, and remove a damaged one: the next opening rebuilds it."""
        self.connection.close()
        if self.connection.is_damaged and not self.unwritable:
            with suppress(StoreUnwritable):
                remove_cache(self.connection.path)

    def __exit__(self, *_: object) -> None:
        self.close()


def _tail(path: Path, size: int) -> int:
    """Return the CRC of the last bytes of a file's first `size` bytes."""
    with path.open("rb") as file:
        file.seek(max(0, size - TAIL_BYTES))
        return crc32(file.read(min(size, TAIL_BYTES)))


def _opened(path: Path) -> Connection:
    """Open a cache; rebuild one that is damaged or of another version. Raises StoreError."""
    with in_words(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.with_name(f"{path.name}-wal").exists() and not path.exists():  # in this order: another may start meanwhile
        remove_cache(path)  # SQLite creates no database beside a leftover -wal file
    try:
        return _sound(Connection(path))
    except StoreCorrupt:
        remove_cache(path)
        return _sound(Connection(path))


def _sound(connection: Connection) -> Connection:
    """Return the connection to a cache of this version, made if it is empty. Raises StoreCorrupt for any other."""
    try:
        if connection.value("PRAGMA user_version") == 0:
            _create(connection)
        if (found := connection.value("PRAGMA user_version")) != VERSION:
            raise damaged(connection.path, _("it has the format {found}", found=found))
        connection.value("SELECT count(*) FROM meta")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: Connection) -> None:
    """Make the tables in an empty file; if several processes start at once, only one does. Raises StoreCorrupt."""
    with suppress(StoreBusy):  # SQLite does not wait for another process that sets the mode now
        connection.execute("PRAGMA journal_mode = WAL")  # so that readers need not wait for a writer
    with connection.transaction():
        if connection.value("PRAGMA user_version") == VERSION:
            return
        for statement in filter(str.strip, TABLES.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def remove_cache(path: Path) -> None:
    """Delete the cache; the next opening rebuilds it. Raises StoreUnwritable."""
    with in_words(path):
        for suffix in ("", "-wal", "-shm", "-journal"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
