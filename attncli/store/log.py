"""The append-only log: the one table that is not derived from anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from attncli.domain.review import LogRow, RowKind
from attncli.errors import StoreError
from attncli.store.connection import Connection
from attncli.store.moments import microseconds, moment

COLUMNS = "id, machine, kind, subject, at_us, day, payload"
_STANDING = "NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)"

# A review without a rating is none.
_USABLE = "json_extract(payload, '$.rating') IN (1, 2, 3, 4)"


class Log:
    """Appends and reads rows. Rows of one machine are numbered in the order in which they were written there."""

    def __init__(self, connection: Connection, machine: str) -> None:
        self._connection = connection
        self.machine = machine

    def append(self, kind: RowKind, subject: str, at: datetime, day: int, payload: dict[str, Any]) -> LogRow:
        """Writes one row of this machine; inside a transaction."""
        row = LogRow(self._next_id(), self.machine, kind, subject, at, day, payload)
        self._insert([row])
        return row

    def merge(self, rows: Iterable[LogRow], conflict: Callable[[LogRow], None] | None = None) -> list[LogRow]:
        """Adds the rows that are not here yet, and gives them back; inside a transaction.

        A row that is here with another content is told to `conflict` and left as it is here; where nobody is told,
        StoreError is raised: one of the two logs was tampered with.
        """
        new = []
        for row in rows:
            known = self._connection.row(f"SELECT {COLUMNS} FROM log WHERE id = ?", (row.id,))
            if known is None:
                self._insert([row])
                new.append(row)
            elif row_of(known) != row:
                if conflict is None:
                    raise StoreError(f"row {row.id} of the log is not the one kept here; nothing was merged")
                conflict(row)
        return new

    def ids(self) -> set[str]:
        """The ids of all rows."""
        return {id for (id,) in self._connection.each("SELECT id FROM log")}

    def of_subjects(self, subjects: Sequence[str]) -> list[LogRow]:
        """All rows about these cards or challenges, in replay order."""
        marks = ", ".join("?" * len(subjects))
        sql = f"SELECT {COLUMNS} FROM log WHERE subject IN ({marks}) ORDER BY at_us, id"
        return [row_of(row) for row in self._connection.rows(sql, subjects)]

    def of_kind(self, kind: RowKind) -> list[LogRow]:
        """All rows of one kind, in replay order."""
        sql = f"SELECT {COLUMNS} FROM log WHERE kind = ? ORDER BY at_us, id"
        return [row_of(row) for row in self._connection.rows(sql, (kind,))]

    def by_subject(self) -> Iterator[tuple[str, list[LogRow]]]:
        """The whole log, one subject after the other, each in replay order; holds one subject at a time."""
        subject, rows = None, list[LogRow]()
        for raw in self._connection.each(f"SELECT {COLUMNS} FROM log ORDER BY subject, at_us, id"):
            row = row_of(raw)
            if rows and row.subject != subject:
                yield rows[0].subject, rows
                rows = []
            subject = row.subject
            rows.append(row)
        if rows:
            yield rows[0].subject, rows

    def everything(self) -> Iterator[LogRow]:
        """The whole log in replay order."""
        yield from map(row_of, self._connection.each(f"SELECT {COLUMNS} FROM log ORDER BY at_us, id"))

    def last_review_here(self) -> LogRow | None:
        """The review written last on this machine that was not undone."""
        here = f"kind = 'review' AND machine = ? AND {_USABLE} AND {_STANDING}"
        sql = f"SELECT {COLUMNS} FROM log WHERE {here} ORDER BY seq DESC LIMIT 1"
        row = self._connection.row(sql, (self.machine,))
        return row_of(row) if row else None

    def length(self) -> int:
        """The number of rows."""
        return int(self._connection.value("SELECT count(*) FROM log"))

    def standing_reviews(self, first_day: int = 0) -> Iterator[tuple[str, int, int]]:
        """(subject, study day, rating) of the reviews since `first_day` that were not undone, in replay order."""
        return self._connection.each(
            "SELECT subject, day, json_extract(payload, '$.rating') FROM log"
            f" WHERE kind = 'review' AND day >= ? AND {_USABLE} AND {_STANDING} ORDER BY at_us, id",
            (first_day,),
        )

    def reviews_by_day(self) -> dict[int, int]:
        """Study day → number of reviews that were not undone."""
        sql = f"SELECT day, count(*) FROM log WHERE kind = 'review' AND {_USABLE} AND {_STANDING} GROUP BY day"
        return dict(self._connection.rows(sql))

    def _next_id(self) -> str:
        """Unique over machines, and growing here: rows of one moment replay in the order they were written."""
        sql = (
            "SELECT printf('%012x', coalesce(max(seq), 0) + 1) || '-' || ? || '-' || lower(hex(randomblob(4))) FROM log"
        )
        return str(self._connection.value(sql, (self.machine,)))

    def _insert(self, rows: Iterable[LogRow]) -> None:
        self._connection.execute_many(
            f"INSERT INTO log ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((r.id, r.machine, r.kind, r.subject, microseconds(r.at), r.day, _json(r.payload)) for r in rows),
        )


def _json(payload: dict[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False, sort_keys=True)


def row_of(values: Any) -> LogRow:
    """The row that `COLUMNS` of the log hold. Raises ValueError if they hold none."""
    id, machine, kind, subject, at_us, day, payload = values
    return LogRow(id, machine, RowKind(kind), subject, moment(at_us), day, json.loads(payload))
