"""Derived: how many reviews each study day had, and how many of them recalled. Kept as rows come, made anew on demand.

So that nobody needs to read the whole log to count it.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from attncli.store.connection import Connection

# A day's first review of a card that was seen on an earlier day says something about memory; the rest does not.
_COUNTS = """
    SELECT day, count(*), coalesce(sum(before < day AND rating > 1), 0), coalesce(sum(before < day AND rating = 1), 0)
    FROM (
        SELECT day, CASE WHEN json_valid(payload) THEN json_extract(payload, '$.rating') END AS rating,
               lag(day) OVER (PARTITION BY subject ORDER BY at_us, id) AS before
        FROM log WHERE {subject} kind = 'review'
        AND CASE WHEN json_valid(payload) THEN json_extract(payload, '$.rating') END BETWEEN 1 AND 4
        AND NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)
    ) GROUP BY day
"""
_ADD = """
    INSERT INTO review_day VALUES (?, ?, ?, ?) ON CONFLICT (day) DO UPDATE SET
    reviews = reviews + excluded.reviews, recalled = recalled + excluded.recalled,
    forgotten = forgotten + excluded.forgotten
"""
COUNT_ALL = f"INSERT INTO review_day {_COUNTS.format(subject='')};"


class ReviewDay(NamedTuple):
    """A study day's reviews; `recalled` and `forgotten` count those of cards that were seen on an earlier day."""

    day: int
    reviews: int
    recalled: int
    forgotten: int


class ReviewDays:
    """`touch` a subject before its rows change, `settle` when they have; in one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._before: dict[str, Counter[tuple[int, int]]] = {}

    def all(self) -> list[ReviewDay]:
        """Every day that had a review, in order."""
        sql = "SELECT day, reviews, recalled, forgotten FROM review_day WHERE reviews > 0 ORDER BY day"
        return [ReviewDay(*row) for row in self._connection.rows(sql)]

    def known_on(self, day: int) -> int:
        """How many cards that were seen on an earlier day were reviewed on study day `day`."""
        return int(
            self._connection.value(
                "SELECT coalesce(sum(recalled + forgotten), 0) FROM review_day WHERE day = ?", (day,)
            )
        )

    def touch(self, subject: str) -> None:
        if subject not in self._before:
            self._before[subject] = self._counted(subject)

    def settle(self) -> None:
        touched, self._before = self._before, {}
        changes = Counter[tuple[int, int]]()
        for subject, before in touched.items():
            changes.update(self._counted(subject))
            changes.subtract(before)
        days = sorted({day for (day, _), change in changes.items() if change})
        self._connection.execute_many(_ADD, ((day, *(changes[day, column] for column in range(3))) for day in days))

    def rebuild(self) -> None:
        """Counts the whole log anew; in a transaction."""
        self._connection.execute("DELETE FROM review_day")
        self._connection.execute(COUNT_ALL)

    def _counted(self, subject: str) -> Counter[tuple[int, int]]:
        rows = self._connection.rows(_COUNTS.format(subject="subject = ? AND"), (subject,))
        return Counter({(day, column): count for day, *counts in rows for column, count in enumerate(counts)})
