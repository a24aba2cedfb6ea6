"""Derived: the schedule of every reviewed subject, and who is kept out of the queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from attncli.domain.log_row import Schedule, State
from attncli.store.connection import Connection
from attncli.store.moments import microseconds, moment

_COLUMNS = (
    "state, stability_days, difficulty, step, reviewed_at_us, review_day, due_at_us, interval_days, repetitions, "
    "lapses, introduced_day"
)


class ReviewedCard(NamedTuple):
    """A card of a bank that was reviewed."""

    id: str
    topic: str
    kind: str


class Schedules:
    """Reads and replaces the derived schedule rows; `last_row` is the id of the log row that was folded in last."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, subject: str) -> Schedule | None:
        row = self._connection.row(f"SELECT {_COLUMNS} FROM schedule WHERE subject = ?", (subject,))
        return _schedule(row) if row else None

    def last_row(self, subject: str) -> str:
        """The id of the log row folded in last, empty if there is none."""
        return self._connection.value("SELECT last_row FROM schedule WHERE subject = ?", (subject,)) or ""

    def all(self) -> Iterator[tuple[str, Schedule]]:
        for subject, *values in self._connection.each(f"SELECT subject, {_COLUMNS} FROM schedule"):
            yield subject, _schedule(values)

    def repetitions(self) -> list[tuple[str, int]]:
        """How often each subject was reviewed."""
        return [
            (subject, count) for subject, count in self._connection.rows("SELECT subject, repetitions FROM schedule")
        ]

    def latest_cards(self, limit: int) -> list[ReviewedCard]:
        """The cards that were reviewed last, the latest first."""
        rows = self._connection.rows_while_unchanged(
            "SELECT card.id, card.topic, card.kind FROM schedule JOIN card ON card.id = schedule.subject"
            " ORDER BY reviewed_at_us DESC, card.id LIMIT ?",
            (limit,),
        )
        return [ReviewedCard(*row) for row in rows]

    def put(self, subject: str, schedule: Schedule | None, last_row: str) -> None:
        """Replaces the schedule of `subject`; None removes it."""
        if schedule is None:
            self._connection.execute("DELETE FROM schedule WHERE subject = ?", (subject,))
            return
        self._connection.execute(
            f"INSERT OR REPLACE INTO schedule (subject, {_COLUMNS}, last_row)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (subject, *_values(schedule), last_row),
        )

    def hold(self, subject: str) -> tuple[bool, int]:
        """(suspended, day for which it is buried or 0)."""
        row = self._connection.row("SELECT suspended, buried_day FROM hold WHERE subject = ?", (subject,))
        return (bool(row[0]), row[1]) if row else (False, 0)

    def put_hold(self, subject: str, suspended: bool, buried_day: int) -> None:
        if not suspended and not buried_day:
            self._connection.execute("DELETE FROM hold WHERE subject = ?", (subject,))
            return
        self._connection.execute(
            "INSERT OR REPLACE INTO hold (subject, suspended, buried_day) VALUES (?, ?, ?)",
            (subject, int(suspended), buried_day),
        )

    def clear(self) -> None:
        self._connection.execute("DELETE FROM schedule")
        self._connection.execute("DELETE FROM hold")


def _values(schedule: Schedule) -> tuple[Any, ...]:
    return (
        schedule.state,
        schedule.stability_days,
        schedule.difficulty,
        schedule.step,
        microseconds(schedule.reviewed_at),
        schedule.review_day,
        microseconds(schedule.due_at),
        schedule.interval_days,
        schedule.repetitions,
        schedule.lapses,
        schedule.introduced_day,
    )


def _schedule(row: Any) -> Schedule:
    state, stability, difficulty, step, reviewed_at_us, day, due_at_us, interval, repetitions, lapses, introduced = row
    return Schedule(
        state=State(state),
        stability_days=stability,
        difficulty=difficulty,
        step=step,
        reviewed_at=moment(reviewed_at_us),
        review_day=day,
        due_at=moment(due_at_us),
        interval_days=interval,
        repetitions=repetitions,
        lapses=lapses,
        introduced_day=introduced,
    )
