"""What is summed over all seen cards: their recall by topic, the weak ones, and what comes due on which day.

Each is one scan of a narrow index: a hundred thousand cards take some hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from attncli.errors import StoreError
from attncli.store.connection import Connection
from attncli.store.log import LastReview, last_review
from attncli.store.moments import microseconds

_RECALL = "pow(1 + :factor * max(0, :day - review_day) / stability_days, :exponent)"
_SEEN = "FROM queue WHERE stability_days IS NOT NULL"


class RecallCurve(NamedTuple):
    """The forgetting curve (1 + factor · t/S)^exponent, and the study day that recall is asked for."""

    factor: float
    exponent: float
    day: int

    def values(self) -> dict[str, float]:
        return {"factor": self.factor, "exponent": self.exponent, "day": self.day}


class SeenInTopic(NamedTuple):
    """How many cards of a topic were seen, and the sums of their recall and of their lapses."""

    topic: str
    seen: int
    recall: float
    lapses: int


class WeakInTopic(NamedTuple):
    """A weak card."""

    topic: str
    id: str
    recall: float
    lapses: int


class DueByThen(NamedTuple):
    """A card that comes due."""

    id: str
    recall: float


class PerhapsWeak(NamedTuple):
    """A seen card and what its last review told."""

    id: str
    recall: float
    lapses: int
    review_day: int
    last: LastReview | None


class SeenCards:
    """Reads the queue's table, which has each card that a bank has today beside what is remembered of it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        try:
            connection.value("SELECT pow(1.0, 1.0)")
        except StoreError:
            # An SQLite built without its mathematical functions.
            connection.define("pow", 2, pow)

    def by_topic(self, curve: RecallCurve) -> list[SeenInTopic]:
        """Every topic of which a card was seen."""
        sql = f"SELECT topic, count(*), total({_RECALL}), sum(lapses) {_SEEN} GROUP BY topic"
        return [SeenInTopic(*row) for row in self._connection.rows_while_unchanged(sql, curve.values())]

    def weakest(self, curve: RecallCurve, recall: float, lapses: int, limit: int) -> list[WeakInTopic]:
        """The first `limit` cards of each topic below this recall or with so many lapses, the least recalled first."""
        sql = f"""
            SELECT topic, id, recall, lapses FROM (
                SELECT topic, id, recall, lapses,
                       row_number() OVER (PARTITION BY topic ORDER BY round(recall, 4), lapses DESC, id) AS place
                FROM (SELECT topic, id, {_RECALL} AS recall, lapses {_SEEN})
                WHERE recall < :least OR lapses >= :most
            ) WHERE place <= :limit ORDER BY topic, place"""
        values = {**curve.values(), "least": recall, "most": lapses, "limit": limit}
        return [WeakInTopic(*row) for row in self._connection.rows_while_unchanged(sql, values)]

    def due_by_then(self, curve: RecallCurve) -> list[DueByThen]:
        """The seen cards that come due by the day that is asked for, the least recalled first."""
        sql = f"SELECT id, {_RECALL} AS recall {_SEEN} AND due_day <= :day ORDER BY recall, id"
        return [DueByThen(*row) for row in self._connection.rows(sql, curve.values())]

    def perhaps_weak(self, curve: RecallCurve, recall: float, lapses: int) -> list[PerhapsWeak]:
        """The cards below this recall, with so many lapses, or at whose last review something may have been missed."""
        sql = f"""
            SELECT id, recall, lapses, review_day, last_rating, last_points, last_correct FROM (
                SELECT id, {_RECALL} AS recall, lapses, review_day, last_rating, last_points, last_correct {_SEEN}
            ) WHERE recall < :least OR lapses >= :most OR last_rating = 1 OR last_correct = 0
            OR (last_points IS NOT NULL AND last_points <> '[]')"""
        values = {**curve.values(), "least": recall, "most": lapses}
        return [
            PerhapsWeak(id, found_recall, found_lapses, day, last_review(rating, points, correct) if rating else None)
            for id, found_recall, found_lapses, day, rating, points, correct in self._connection.rows(sql, values)
        ]

    def due_by_day(self, today: int, ends: Sequence[datetime]) -> list[int]:
        """How many cards come due on today and each later study day; `ends` says when those days are over.

        What was due before counts for today; suspended cards do not count.
        """
        counts = [0] * len(ends)
        reviews = (
            f"SELECT max(due_day - :today, 0) AS ahead, count(*) {_SEEN} AND suspended = 0 AND state = 'review'"
            " AND due_day < :today + :days GROUP BY ahead"
        )
        for ahead, count in self._connection.rows_while_unchanged(reviews, {"today": today, "days": len(ends)}):
            counts[ahead] += count
        steps = (
            "SELECT count(*) FROM queue WHERE suspended = 0 AND state IN ('learning', 'relearning')"
            " AND due_at_us >= ? AND due_at_us < ?"
        )
        start_us = -(2**62)
        for ahead, end in enumerate(ends):
            end_us = microseconds(end)
            ((count,),) = self._connection.rows_while_unchanged(steps, (start_us, end_us))
            counts[ahead] += count
            start_us = end_us
        return counts
