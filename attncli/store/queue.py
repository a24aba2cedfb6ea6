"""Derived: cards, schedules and holds side by side, indexed for counting and picking what is due.

Only cards that a bank has today are in it. Counting 100,000 of them is a scan of one covering index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from attncli.store.connection import Connection
from attncli.store.moments import microseconds, moment

# What the last review told; a damaged row tells nothing.
_TOLD = (
    "CASE WHEN json_valid(log.payload) AND json_type(log.payload, '$.{key}') IN ({types})"
    " THEN json_extract(log.payload, '$.{key}') END"
)
_LAST_TOLD = ", ".join(
    _TOLD.format(key=key, types=types)
    for key, types in (("rating", "'integer'"), ("correct", "'true', 'false'"), ("points", "'array'"))
)
_JOINED = f"""
    SELECT card.id, card.topic, {{rank}}, coalesce(schedule.state, 'new'), coalesce(schedule.due_at_us, 0),
           coalesce(hold.suspended, 0), coalesce(hold.buried_day, 0), schedule.stability_days, schedule.review_day,
           schedule.review_day + CAST(round(schedule.interval_days) AS INTEGER), schedule.lapses, {_LAST_TOLD}
    FROM card LEFT JOIN schedule ON schedule.subject = card.id LEFT JOIN hold ON hold.subject = card.id
    LEFT JOIN log ON log.id = schedule.last_row
"""
ORDERED_FOR = "ordered_for"
"""The note of the database that says for which level its new cards are in order."""
_HOUR_US = 3_600_000_000
# A rank holds two places, so that one index serves both: in the order of introduction, and below that in the order of
# what is asked most, which is the one before an interview.
_ASKED_BITS = 20
_ASKED_MASK = (1 << _ASKED_BITS) - 1
# A study day's number follows the zone it was counted in, which the learner may have left since: whether a bury lies in
# the present study day is asked of its moment, and only where the numbers are near.
_BURIED = f"""(buried_day BETWEEN :day - 1 AND :day + 2 AND EXISTS (
    SELECT 1 FROM log WHERE kind = 'bury' AND at_us >= :day_start AND at_us < :day_end + {24 * _HOUR_US}
    AND subject IN (SELECT queue.id UNION ALL SELECT former.id FROM former WHERE former.card = queue.id)
    AND NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo' AND json_extract(u.payload, '$.row') = log.id)))"""
_OPEN = f"suspended = 0 AND NOT {_BURIED} AND (:topic IS NULL OR topic = :topic)"
_STEPS_DUE = f"{_OPEN} AND state IN ('learning', 'relearning') AND due_at_us <= :now"
# A review is due on a study day, not at a moment: so many days after the last one, though a day may have 23 or 25 hours
# and the zone may be another. Only where that can matter is the day looked at.
_DUE_DAY = "review_day + CAST(round(interval_days) AS INTEGER)"
_REVIEWS_DUE = f"""{_OPEN} AND state = 'review' AND due_at_us < :day_end + {30 * _HOUR_US} AND (
    due_at_us < :day_end - {30 * _HOUR_US}
    OR due_day <= :day)"""
# In the last pass before an interview every seen card comes once more, each on its own day, unless reviewed since.
_PASS_DAY = f":interview_day - 1 - (rank & {_ASKED_MASK}) % :pass_days"
_PASSED = f"review_day >= {_PASS_DAY}"
_REVIEWS_IN_PASS = f"""{_OPEN} AND state = 'review' AND (
    (due_at_us < :day_end + {30 * _HOUR_US} AND due_day <= :day)
    OR ({_PASS_DAY} <= :day AND NOT {_PASSED}))"""
_UNSEEN = f"{_OPEN} AND state = 'new'"


@dataclass(frozen=True)
class Moment:
    """Now, as the queue needs it: the moment, its study day, and when that day begins and ends.

    In the last pass before an interview `pass_days` says how many days it has; otherwise it is 0.
    """

    now: datetime
    day: int
    day_start: datetime
    day_end: datetime
    interview_day: int = 0
    pass_days: int = 0

    def values(self, topic: str | None) -> dict[str, object]:
        return {
            "now": microseconds(self.now),
            "day": self.day,
            "day_start": microseconds(self.day_start),
            "day_end": microseconds(self.day_end),
            "topic": topic,
            "interview_day": self.interview_day,
            "pass_days": self.pass_days,
        }

    @property
    def new_first(self) -> str:
        """What unseen cards are ordered by."""
        return f"rank & {_ASKED_MASK}" if self.interview_day else "rank"

    @property
    def reviews_due(self) -> str:
        """The condition for a review to be due; the index of due dates serves the one without a last pass."""
        return _REVIEWS_IN_PASS if self.pass_days else _REVIEWS_DUE


class Waiting(NamedTuple):
    """One card in the queue; `asked` is its place in the order of what is asked most."""

    id: str
    topic: str
    is_new: bool
    asked: int = 0


class Queue:
    """Counts and picks. A review is due from the start of the study day it is due on, a step from its due time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def refresh(self, ids: Iterable[str]) -> None:
        """Takes over what changed for these cards; an id that no bank has leaves the queue."""
        for id in ids:
            rank = self._connection.value("SELECT rank FROM queue WHERE id = ?", (id,)) or 0
            self._connection.execute("DELETE FROM queue WHERE id = ?", (id,))
            self._connection.execute(f"INSERT INTO queue {_JOINED.format(rank='?')} WHERE card.id = ?", (rank, id))

    def rebuild(self, introduction_order: Sequence[str], asked_order: Sequence[str]) -> None:
        """Makes the whole queue anew; unseen cards will come in `introduction_order`, before an interview as asked."""
        self._connection.execute("DELETE FROM queue")
        self._connection.execute(f"INSERT INTO queue {_JOINED.format(rank='0')}")
        self._connection.execute_many(
            "UPDATE queue SET rank = ? WHERE id = ?",
            ((rank, id) for id, rank in _ranks(introduction_order, asked_order)),
        )

    def count_learning(self, when: Moment, topic: str | None = None) -> dict[str, int]:
        """Topic → number of cards with a learning or relearning step due."""
        return self._by_topic(_STEPS_DUE, when, topic)

    def count_reviews(self, when: Moment, topic: str | None = None) -> dict[str, int]:
        """Topic → number of reviews due."""
        return self._by_topic(when.reviews_due, when, topic)

    def count_unseen(self, when: Moment, limit: int) -> dict[str, int]:
        """Topic → how many of the next `limit` unseen cards it has."""
        next_ones = f"SELECT topic FROM queue WHERE {_UNSEEN} ORDER BY {when.new_first} LIMIT :limit"
        sql = f"SELECT topic, count(*) FROM ({next_ones}) GROUP BY topic"
        return dict(self._connection.rows(sql, {**when.values(None), "limit": limit}))

    def count_challenges(self, when: Moment) -> int:
        """How many solved challenges are due again."""
        sql = f"SELECT count(*) FROM challenge JOIN schedule ON subject = id WHERE {_DUE_DAY} <= ?"
        return int(self._connection.value(sql, (when.day,)))

    def introduced(self, day: int) -> int:
        """How many cards were first reviewed on study day `day`."""
        sql = "SELECT count(*) FROM schedule JOIN queue ON queue.id = schedule.subject WHERE introduced_day = ?"
        return int(self._connection.value(sql, (day,)))

    def unseen(self, when: Moment, limit: int, topic: str | None = None) -> list[Waiting]:
        """The next `limit` unseen cards in the order of introduction."""
        return self._waiting(f"{_UNSEEN} ORDER BY {when.new_first} LIMIT :limit", when, topic, limit)

    def learning(self, when: Moment, topic: str | None = None) -> list[Waiting]:
        """Steps that are due, the longest-waiting first."""
        return self._waiting(f"{_STEPS_DUE} ORDER BY due_at_us, id LIMIT :limit", when, topic)

    def reviews(self, when: Moment, topic: str | None = None) -> list[Waiting]:
        """Reviews that are due, the longest-waiting first."""
        return self._waiting(f"{when.reviews_due} ORDER BY due_at_us, id LIMIT :limit", when, topic)

    def is_open(self, id: str, when: Moment) -> bool:
        """Whether this card is unseen or due now, and neither suspended nor buried."""
        condition = f"({_STEPS_DUE}) OR ({when.reviews_due}) OR ({_UNSEEN})"
        sql = f"SELECT 1 FROM queue WHERE id = :id AND ({condition})"
        return bool(self._connection.value(sql, {**when.values(None), "id": id}))

    def available(self, when: Moment, topic: str | None = None, id: str | None = None) -> set[str]:
        """The cards that are neither suspended nor buried, due or not, or this one alone if it is."""
        sql = f"SELECT id FROM queue WHERE {_OPEN} AND (:id IS NULL OR id = :id)"
        return {found for (found,) in self._connection.rows(sql, {**when.values(topic), "id": id})}

    def count_seen(self) -> int:
        """How many cards were learned and are not suspended."""
        return int(self._connection.value("SELECT count(*) FROM queue WHERE suspended = 0 AND state = 'review'"))

    def suspended(self) -> set[str]:
        """The cards that are out of the queue for good."""
        return {id for (id,) in self._connection.rows("SELECT id FROM queue WHERE suspended = 1")}

    def next_step(self, when: Moment) -> datetime | None:
        """When the first step falls due that is not due now."""
        sql = f"SELECT min(due_at_us) FROM queue WHERE {_OPEN} AND state IN ('learning', 'relearning')"
        found = self._connection.value(f"{sql} AND due_at_us > :now", when.values(None))
        return None if found is None else moment(found)

    def next_review_day(self, when: Moment) -> int | None:
        """The first study day after this one on which a review is due."""
        due = f"(SELECT {_DUE_DAY} FROM schedule WHERE subject = queue.id)"
        sql = f"SELECT min({due}) FROM queue WHERE suspended = 0 AND state = 'review' AND {due} > :day"
        found = self._connection.value(sql, when.values(None))
        return None if found is None else int(found)

    def _by_topic(self, condition: str, when: Moment, topic: str | None) -> dict[str, int]:
        sql = f"SELECT topic, count(*) FROM queue WHERE {condition} GROUP BY topic"
        return dict(self._connection.rows(sql, when.values(topic)))

    def _waiting(self, condition: str, when: Moment, topic: str | None, limit: int = -1) -> list[Waiting]:
        sql = f"SELECT id, topic, state = 'new', rank & {_ASKED_MASK} FROM queue WHERE {condition}"
        rows = self._connection.rows(sql, {**when.values(topic), "limit": limit})
        return [Waiting(id, topic, bool(is_new), asked) for id, topic, is_new, asked in rows]


def _ranks(introduction_order: Sequence[str], asked_order: Sequence[str]) -> Iterator[tuple[str, int]]:
    asked = {id: min(place, _ASKED_MASK) for place, id in enumerate(asked_order)}
    for place, id in enumerate(introduction_order):
        yield id, place << _ASKED_BITS | asked[id]
