"""The append-only log: the one table that is not derived from anything. Logs merge here, by row id (`Log.merge`)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreError
from attncli.store.connection import Connection
from attncli.store.moments import microseconds, moment
from attncli.store.review_days import ReviewDays

COLUMNS = "seq, id, machine, kind, subject, at_us, day, payload, checksum"
_TEXT = frozenset({"id", "machine", "kind", "subject", "payload"})
# Text comes as bytes: a flipped bit may have made it no text.
RAW = ", ".join(f"CAST({name} AS BLOB)" if name in _TEXT else name for name in COLUMNS.split(", "))
_RATING = "CASE WHEN json_valid(payload) THEN json_extract(payload, '$.rating') END"
# A review without a rating is none.
_USABLE = f"{_RATING} BETWEEN 1 AND 4"
_STANDING = "NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)"


TRIED_ROWS = 100


class RowDamaged(ValueError):
    """What stands in the file is not what was written."""


class LastReview(NamedTuple):
    """What is known of a review besides its moment: the ticked points, the verdict of marking; None where not told."""

    rating: int
    points: list[int] | None
    correct: bool | None


class DamagedRow(NamedTuple):
    """A row that is left out of everything: its number, and what can still be read of its id and subject."""

    number: int
    id: str
    subject: str

    def __str__(self) -> str:
        return f"row {self.number} of the log is damaged (id {self.id or '?'}, about {self.subject or '?'})"


class Log:
    """Appends and reads rows. Rows of one machine are numbered in the order in which they were written there.

    A row whose checksum does not fit is left out of whatever is read and remembered in `damaged`, by its number.
    """

    def __init__(self, connection: Connection, machine: str) -> None:
        self._connection = connection
        self.machine = machine
        self.damaged: dict[int, DamagedRow] = {}
        self.has_grown = False
        self.review_days = ReviewDays(connection)

    def append(self, kind: RowKind, subject: str, at: datetime, day: int, payload: dict[str, Any]) -> LogRow:
        """Writes one row of this machine; inside a transaction."""
        row = LogRow(self._next_id(), self.machine, kind, subject, at, day, payload)
        self._touch(row)
        self._insert([row])
        self.review_days.settle()
        return row

    def merge(self, rows: Iterable[LogRow], conflict: Callable[[LogRow], None] | None = None) -> list[LogRow]:
        """Adds the rows that are not here yet, and gives them back; inside a transaction.

        A row that is damaged here is set aside for the one that comes. A row that is here with another content is told
        to `conflict` and left as it is here; where nobody is told, StoreError is raised: one of the two logs was
        tampered with.
        """
        new = []
        for row in rows:
            known = self._connection.row(f"SELECT {RAW} FROM log WHERE id = ?", (row.id,))
            if known is not None and (kept := self._sound(known)) is not None:
                if kept != row and conflict is None:
                    raise StoreError(f"row {row.id} of the log is not the one kept here; nothing was merged")
                if kept != row and conflict is not None:
                    conflict(row)
                continue
            self._touch(row)
            if known is not None:
                self.set_aside([known[0]])
            self._insert([row])
            new.append(row)
        self.review_days.settle()
        return new

    def newest_number(self) -> int:
        """The number of the row that was added last, 0 where there is none."""
        return int(self._connection.value("SELECT max(seq) FROM log") or 0)

    def ids(self) -> set[str]:
        """The ids of all rows."""
        return {id for (id,) in self._connection.each("SELECT id FROM log")}

    def put_back(self, number: int, row: LogRow) -> bool:
        """Adds a row under the number that it had, or a new one if that is taken; False if the row is here already."""
        if self._connection.value("SELECT 1 FROM log WHERE id = ?", (row.id,)):
            return False
        free = number > 0 and not self._connection.value("SELECT 1 FROM log WHERE seq = ?", (number,))
        self._connection.execute(_INSERT, (number if free else None, *_values(row)))
        return True

    def fill(self, rows: Iterable[tuple[int | None, LogRow]]) -> None:
        """Adds rows under their numbers to an empty log."""
        self._connection.execute_many(_INSERT, ((number, *_values(row)) for number, row in rows))

    def set_aside(self, numbers: Iterable[int]) -> None:
        """Moves rows, as they are, to where nothing reads them; inside a transaction."""
        for number in numbers:
            self._connection.execute(
                f"INSERT INTO set_aside ({COLUMNS}) SELECT {COLUMNS} FROM log WHERE seq = ?", (number,)
            )
            self._connection.execute("DELETE FROM log WHERE seq = ?", (number,))
            self.damaged.pop(number, None)

    def set_aside_count(self) -> int:
        """How many damaged rows were set aside."""
        return int(self._connection.value("SELECT count(*) FROM set_aside"))

    def sweep(self) -> list[DamagedRow]:
        """Reads every row in the order of the file; those that are damaged."""
        for raw in self._connection.each(f"SELECT {RAW} FROM log NOT INDEXED ORDER BY seq"):
            self._sound(raw)
        return [self.damaged[number] for number in sorted(self.damaged)]

    def _sound(self, raw: Any) -> LogRow | None:
        try:
            return row_of(raw)
        except RowDamaged:
            self.damaged[raw[0]] = DamagedRow(raw[0], _legible(raw[1]), _legible(raw[4]))
            return None

    def _sound_rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[LogRow]:
        for raw in self._connection.each(sql, values):
            row = self._sound(raw)
            if row is not None:
                yield row

    def of_subjects(self, subjects: Sequence[str]) -> list[LogRow]:
        """All rows about these cards or challenges, in replay order."""
        sql = f"SELECT {RAW} FROM log WHERE subject IN ({_marks(subjects)}) ORDER BY at_us, id"
        return list(self._sound_rows(sql, subjects))

    def of_kind(self, kind: RowKind) -> list[LogRow]:
        """All rows of one kind, in replay order."""
        return list(self._sound_rows(f"SELECT {RAW} FROM log WHERE kind = ? ORDER BY at_us, id", (kind,)))

    def by_subject(self) -> Iterator[tuple[str, list[LogRow]]]:
        """The whole log, one subject after the other, each in replay order; holds one subject at a time."""
        subject, rows = None, list[LogRow]()
        for row in self._sound_rows(f"SELECT {RAW} FROM log ORDER BY subject, at_us, id"):
            if rows and row.subject != subject:
                yield rows[0].subject, rows
                rows = []
            subject = row.subject
            rows.append(row)
        if rows:
            yield rows[0].subject, rows

    def everything(self) -> Iterator[LogRow]:
        """The whole log in replay order."""
        yield from self._sound_rows(f"SELECT {RAW} FROM log ORDER BY at_us, id")

    def last_here(self, kinds: Collection[RowKind]) -> LogRow | None:
        """The row of these kinds that was written last on this machine and not undone."""
        here = f"+kind IN ({_marks(kinds)}) AND machine = ? AND {_STANDING}"
        return self._last(f"{here} ORDER BY seq DESC", (*kinds, self.machine))

    def last_id(self, kind: RowKind, subjects: Sequence[str]) -> str:
        """The id of the last usable row of a kind about these subjects in replay order, even undone; empty if none."""
        about = f"kind = ? AND subject IN ({_marks(subjects)})"
        last = self._last(f"{about} ORDER BY at_us DESC, id DESC", (kind, *subjects))
        return last.id if last else ""

    def fits(self) -> list[LogRow]:
        """The last fits that were not undone, in replay order; a hundred at most."""
        last = f"kind = 'fit' AND {_STANDING} ORDER BY at_us DESC, id DESC LIMIT {TRIED_ROWS}"
        return list(self._sound_rows(f"SELECT {RAW} FROM log WHERE {last}"))[::-1]

    def last_moment(self, subjects: Sequence[str], kinds: Collection[RowKind], until: datetime) -> datetime | None:
        """The latest stamp of a row of these kinds about these subjects, up to `until`."""
        about = f"subject IN ({_marks(subjects)}) AND kind IN ({_marks(kinds)}) AND at_us <= ?"
        last = self._last(f"{about} ORDER BY at_us DESC", (*subjects, *kinds, microseconds(until)))
        return last.at if last else None

    def ids_after(self, subjects: Sequence[str], kinds: Collection[RowKind], at: datetime) -> list[str]:
        """The rows of these kinds about these subjects that are stamped later than `at`, in replay order."""
        about = f"subject IN ({_marks(subjects)}) AND kind IN ({_marks(kinds)}) AND at_us > ?"
        sql = f"SELECT {RAW} FROM log WHERE {about} ORDER BY at_us, id"
        return [row.id for row in self._sound_rows(sql, (*subjects, *kinds, microseconds(at)))]

    def subjects_after(self, kind: RowKind, at: datetime) -> list[str]:
        """What the rows of a kind that are stamped later than `at` are about."""
        sql = f"SELECT {RAW} FROM log WHERE kind = ? AND day >= ? AND at_us > ?"
        rows = self._sound_rows(sql, (kind, at.toordinal() - 2, microseconds(at)))
        return sorted({row.subject for row in rows})

    def _last(self, rest: str, values: Sequence[Any]) -> LogRow | None:
        """The first row in this order that is sound and says something, if one of the first hundred does."""
        rows = self._sound_rows(f"SELECT {RAW} FROM log WHERE {rest} LIMIT {TRIED_ROWS}", values)
        return next((row for row in rows if row.is_usable), None)

    def last_number(self) -> int:
        """The number of the row that was written last, 0 if there is none."""
        return int(self._connection.value("SELECT coalesce(max(seq), 0) FROM log"))

    def rows_until(self, number: int) -> int:
        """How many rows have this number or a lower one."""
        return int(self._connection.value("SELECT count(*) FROM log WHERE seq <= ?", (number,)))

    def since(self, number: int) -> Iterator[LogRow]:
        """The rows with higher numbers, in the order in which they came."""
        yield from self._sound_rows(f"SELECT {RAW} FROM log WHERE seq > ? ORDER BY seq", (number,))

    def length(self) -> int:
        """The number of rows."""
        return int(self._connection.value("SELECT count(*) FROM log"))

    def reviews_of(self, subjects: Sequence[str]) -> list[tuple[int, int]]:
        """(study day, rating) of the reviews of these that were not undone, in replay order."""
        about = f"subject IN ({_marks(subjects)}) AND kind = 'review' AND {_USABLE} AND {_STANDING}"
        sql = f"SELECT day, {_RATING} FROM log WHERE {about} ORDER BY at_us, id"
        return [(day, rating) for day, rating in self._connection.rows(sql, subjects)]

    def recent_elapsed_ms(self, limit: int) -> list[int]:
        """How long the last reviews took, where that was told; the newest first."""
        told = "CASE WHEN json_valid(payload) THEN json_extract(payload, '$.elapsed_ms') END"
        sql = f"SELECT {told} FROM log NOT INDEXED WHERE kind = 'review' ORDER BY seq DESC LIMIT ?"
        return [ms for (ms,) in self._connection.rows(sql, (limit,)) if isinstance(ms, int) and ms > 0]

    def standing_of_kind(self, kind: RowKind) -> list[LogRow]:
        """The rows of one kind that were not undone, in replay order."""
        sql = f"SELECT {RAW} FROM log WHERE kind = ? AND {_STANDING} ORDER BY at_us, id"
        return list(self._sound_rows(sql, (kind,)))

    def _next_id(self) -> str:
        """Unique over machines, and growing here: rows of one moment replay in the order they were written."""
        sql = (
            "SELECT printf('%012x', coalesce(max(seq), 0) + 1) || '-' || ? || '-' || lower(hex(randomblob(4))) FROM log"
        )
        return str(self._connection.value(sql, (self.machine,)))

    def _touch(self, row: LogRow) -> None:
        """Before a row is written: whose reviews it changes."""
        if row.kind is RowKind.REVIEW:
            self.review_days.touch(row.subject)
        elif row.kind is RowKind.UNDO:
            sql = "SELECT subject FROM log WHERE id = ? AND kind = 'review'"
            if subject := self._connection.value(sql, (row.takes_back,)):
                self.review_days.touch(subject)

    def _insert(self, rows: Iterable[LogRow]) -> None:
        self._connection.execute_many(_INSERT, ((None, *_values(row)) for row in rows))
        self.has_grown = True


_INSERT = f"INSERT INTO log ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _values(row: LogRow) -> tuple[Any, ...]:
    at_us, payload = microseconds(row.at), json.dumps(row.payload, ensure_ascii=False, sort_keys=True)
    id, machine, kind, subject = (part.encode() for part in (row.id, row.machine, row.kind, row.subject))
    check = checksum(id, machine, kind, subject, at_us, row.day, payload.encode())
    return row.id, row.machine, row.kind, row.subject, at_us, row.day, payload, check


def checksum(id: bytes, machine: bytes, kind: bytes, subject: bytes, at_us: int, day: int, payload: bytes) -> int:
    """The CRC-32 of what a row says; its number in this file is not part of that."""
    return zlib.crc32(b"\n".join((id, machine, kind, subject, b"%d\n%d" % (at_us, day), payload)))


def row_of(raw: Sequence[Any]) -> LogRow:
    """The row that `RAW` holds. Raises RowDamaged if it is not the one that was written."""
    _, id, machine, kind, subject, at_us, day, payload, check = raw
    try:
        if checksum(id, machine, kind, subject, at_us, day, payload) != check:
            raise RowDamaged("its checksum does not fit")
        return LogRow(
            id.decode(),
            machine.decode(),
            RowKind(kind.decode()),
            subject.decode(),
            moment(at_us),
            day,
            json.loads(payload.decode()),
        )
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise RowDamaged(str(error)) from error


def last_review(rating: int, points: Any, correct: Any) -> LastReview:
    """The same of what SQLite extracts: an array comes as its JSON, a truth value as 1 or 0."""
    ticked = json.loads(points) if isinstance(points, str) and points.startswith("[") else None
    return LastReview(rating, ticked, bool(correct) if correct in (0, 1) else None)


def _legible(text: Any) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else ""


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
