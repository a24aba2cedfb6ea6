"""Derived: cards, schedules, holds, and who is whose sibling, side by side: what is due is counted and picked here.

Only cards that a bank has today are in it. Counting 100,000 of them is a scan of one covering index.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from attncli.domain.vocabulary import APART_DAYS, LONGEST_WAIT_DAYS
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
# Each state by itself, so that the index of due dates gives the first ones without a look at the others.
_STEPS = " UNION ALL ".join(
    f"""SELECT * FROM (SELECT id, topic, rank & {_ASKED_MASK} AS asked, due_at_us FROM queue
        WHERE {_OPEN} AND state = '{state}' AND due_at_us <= :now ORDER BY due_at_us, id LIMIT :limit)"""
    for state in ("learning", "relearning")
)
_FIRST_STEPS = f"SELECT id, topic, asked FROM ({_STEPS}) ORDER BY due_at_us, id LIMIT :limit"
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
_STUDIED = f"theirs.review_day > :day - {APART_DAYS}"
_THEIR_DUE_DAY = "theirs.review_day + CAST(round(theirs.interval_days) AS INTEGER)"
_SIBLINGS_OF = """
    FROM sibling JOIN schedule AS theirs ON theirs.subject = sibling.other
    LEFT JOIN queue AS beside ON beside.id = sibling.other AND beside.suspended = 0
"""
_MEETINGS = f"""
    SELECT due.id, due.topic, :day - (mine.review_day + CAST(round(mine.interval_days) AS INTEGER)) AS late,
           mine.interval_days, sibling.other, {_STUDIED} OR theirs.state != 'review' AND beside.due_at_us < :day_end
           OR {_THEIR_DUE_DAY} <= :day - {LONGEST_WAIT_DAYS} AS comes
    FROM (SELECT id, topic FROM queue WHERE {_REVIEWS_DUE}
          AND due_at_us > :day_start - {24 * (LONGEST_WAIT_DAYS + 2) * _HOUR_US} LIMIT -1) AS due
    JOIN schedule AS mine ON mine.subject = due.id
    JOIN sibling ON sibling.subject = due.id
    JOIN schedule AS theirs ON theirs.subject = sibling.other
    LEFT JOIN queue AS beside ON beside.id = sibling.other AND beside.suspended = 0
    WHERE late < {LONGEST_WAIT_DAYS} AND ({_STUDIED} OR beside.state IS NOT NULL
          AND CASE theirs.state WHEN 'review' THEN {_THEIR_DUE_DAY} <= :day ELSE beside.due_at_us < :day_end END)
"""
# A challenge yields to its cards: it takes longest, and the learner chooses when.
_CHALLENGES_DUE = f"""
    SELECT id FROM challenge JOIN schedule AS mine ON mine.subject = id
    WHERE mine.review_day + CAST(round(mine.interval_days) AS INTEGER) <= :day AND NOT (
        mine.review_day + CAST(round(mine.interval_days) AS INTEGER) > :day - {LONGEST_WAIT_DAYS} AND EXISTS (
            SELECT 1 {_SIBLINGS_OF} WHERE sibling.subject = challenge.id
            AND ({_STUDIED} OR beside.id IS NOT NULL AND {_THEIR_DUE_DAY} <= :day)))
"""
_NEAR_UNSEEN = f"""
    SELECT sibling.other, coalesce({_STUDIED} OR beside.id IS NOT NULL AND {_THEIR_DUE_DAY} <= :day + {APART_DAYS}, 0)
    FROM sibling LEFT JOIN schedule AS theirs ON theirs.subject = sibling.other
    LEFT JOIN queue AS beside ON beside.id = sibling.other AND beside.suspended = 0
    WHERE sibling.subject = :id
"""
# How slowly recall falls: its slope after t days is nearly 1 / (S + F·t), with the F of the published forgetting curve.
_SLOWNESS = "(SELECT stability_days + 0.98 * (:day - review_day) FROM schedule WHERE subject = queue.id)"
# Links of cards and challenges to each other, whichever names the other and under whatever name.
_LINKED = """
    INSERT INTO sibling WITH subject (id, document) AS (
        SELECT id, document FROM card UNION ALL SELECT id, document FROM challenge
    ), link (id, other) AS (
        SELECT subject.id, CASE entry.type WHEN 'object' THEN json_extract(entry.value, '$.card') ELSE entry.value END
        FROM subject, json_each(document, '$.follow_ups') AS entry
        UNION SELECT challenge.id, entry.value FROM challenge, json_each(document, '$.cards') AS entry
        UNION SELECT card.id, entry.value FROM card, json_each(document, '$.challenge') AS entry
    ), renamed (id, other) AS (
        SELECT link.id, coalesce(former.card, link.other) FROM link
        LEFT JOIN former ON former.id = link.other AND link.other NOT IN (SELECT id FROM card)
    ), known (id, other) AS (
        SELECT * FROM renamed WHERE id != other AND other IN (SELECT id FROM subject)
    ) SELECT id, other FROM known UNION SELECT other, id FROM known
"""


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

    def values_of_day(self) -> dict[str, object]:
        """The same without the moment, for what holds on the whole study day."""
        values = self.values(None)
        del values["now"]
        return values

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
        self._connection.execute("DELETE FROM sibling")
        self._connection.execute(_LINKED)
        self._connection.execute_many(
            "UPDATE queue SET rank = ? WHERE id = ?",
            ((rank, id) for id, rank in _ranks(introduction_order, asked_order)),
        )

    def count_learning(self, when: Moment) -> dict[str, int]:
        """Topic → number of cards with a learning or relearning step due."""
        return self._by_topic(_STEPS_DUE, when)

    def count_reviews(self, when: Moment) -> dict[str, int]:
        """Topic → number of reviews due."""
        sql = f"SELECT topic, count(*) FROM queue WHERE {when.reviews_due} GROUP BY topic"
        return dict(self._connection.rows_while_unchanged(sql, when.values_of_day()))

    def count_unseen(self, when: Moment, limit: int) -> dict[str, int]:
        """Topic → how many of the next `limit` unseen cards it has."""
        counts: dict[str, int] = {}
        for waiting in self.unseen(when, limit):
            counts[waiting.topic] = counts.get(waiting.topic, 0) + 1
        return counts

    def all_unseen(self, when: Moment) -> int:
        """How many cards have never been reviewed and are open, whatever stands near them."""
        return sum(self._by_topic(_UNSEEN, when).values())

    def challenges_due(self, when: Moment) -> set[str]:
        """The solved challenges that are due again."""
        return {id for (id,) in self._connection.rows(_CHALLENGES_DUE, when.values(None))}

    def introduced(self, day: int) -> int:
        """How many cards were first reviewed on study day `day`."""
        sql = "SELECT count(*) FROM schedule JOIN queue ON queue.id = schedule.subject WHERE introduced_day = ?"
        return int(self._connection.value(sql, (day,)))

    def unseen(self, when: Moment, limit: int, topic: str | None = None) -> list[Waiting]:
        """The next `limit` unseen cards in the order of introduction, without those that a sibling is too near to.

        Before an interview those come too where the others do not fill the limit.
        """
        found, held = self._unseen_apart(when, limit, topic, looked_at=3 * limit)
        if len(found) < limit:
            found, held = self._unseen_apart(when, limit, topic, looked_at=-1)
        filling = held[: limit - len(found)] if when.interview_day else []
        return [*found, *filling]

    def _unseen_apart(
        self, when: Moment, limit: int, topic: str | None, looked_at: int
    ) -> tuple[list[Waiting], list[Waiting]]:
        """(at most `limit` of the next unseen cards that no sibling is near to, those passed over on the way)."""
        found: dict[str, Waiting] = {}
        held: list[Waiting] = []
        condition = f"{_UNSEEN} ORDER BY {when.new_first} LIMIT {looked_at}"
        for waiting in self._waiting(condition, when, topic) if limit > 0 else ():
            if self._near_sibling(waiting.id, when, found):
                held.append(waiting)
            else:
                found[waiting.id] = waiting
            if len(found) == limit:
                break
        return list(found.values()), held

    def _near_sibling(self, id: str, when: Moment, chosen: Container[str]) -> bool:
        rows = self._connection.rows(_NEAR_UNSEEN, {**when.values(None), "id": id})
        return any(is_near or other in chosen for other, is_near in rows)

    def meetings(self, when: Moment) -> list[tuple[str, str, int, float, str, bool]]:
        """(card, topic, days late, interval in days, sibling, whether that comes anyway) of due reviews with siblings.

        None in the last pass before an interview, when every card comes once more.
        """
        if when.pass_days:
            return []
        rows = self._connection.rows_while_unchanged(_MEETINGS, when.values_of_day())
        return [(*row[:5], bool(row[5])) for row in rows]

    def learning(self, when: Moment, topic: str | None = None, limit: int = -1) -> list[Waiting]:
        """Steps that are due, the longest-waiting first, so many at most."""
        rows = self._connection.rows(_FIRST_STEPS, {**when.values(topic), "limit": limit})
        return [Waiting(id, topic, False, asked) for id, topic, asked in rows]

    def count_steps(self, when: Moment, topic: str | None = None) -> int:
        """How many steps are due."""
        return int(self._connection.value(f"SELECT count(*) FROM queue WHERE {_STEPS_DUE}", when.values(topic)))

    def steps_among(self, ids: Iterable[str], when: Moment, topic: str | None = None) -> set[str]:
        """Those of these cards that have a step due."""
        import json

        # CROSS: from the ids to the queue; the other way around all steps are gone through.
        sql = f"SELECT queue.id FROM json_each(:ids) AS asked CROSS JOIN queue ON queue.id = value WHERE {_STEPS_DUE}"
        found = self._connection.rows(sql, {**when.values(topic), "ids": json.dumps(list(ids))})
        return {id for (id,) in found}

    def reviews(self, when: Moment) -> list[Waiting]:
        """Reviews that are due, the longest-waiting first."""
        return self._waiting(f"{when.reviews_due} ORDER BY due_at_us, id", when, None)

    def reviews_by_loss(self, when: Moment, limit: int) -> list[Waiting]:
        """The `limit` due reviews whose recall falls most if they wait a day, the most urgent first."""
        return self._waiting(f"{when.reviews_due} ORDER BY {_SLOWNESS}, id LIMIT {limit}", when, None)

    def kinds(self, ids: Sequence[str]) -> dict[str, str]:
        """Id → kind of these cards."""
        import json

        sql = "SELECT card.id, kind FROM json_each(?) JOIN card ON card.id = value"
        return dict(self._connection.rows(sql, (json.dumps(ids),)))

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

    def _by_topic(self, condition: str, when: Moment) -> dict[str, int]:
        sql = f"SELECT topic, count(*) FROM queue WHERE {condition} GROUP BY topic"
        return dict(self._connection.rows(sql, when.values(None)))

    def _waiting(self, condition: str, when: Moment, topic: str | None) -> list[Waiting]:
        sql = f"SELECT id, topic, state = 'new', rank & {_ASKED_MASK} FROM queue WHERE {condition}"
        rows = self._connection.rows(sql, when.values(topic))
        return [Waiting(id, topic, bool(is_new), asked) for id, topic, is_new, asked in rows]


def _ranks(introduction_order: Sequence[str], asked_order: Sequence[str]) -> Iterator[tuple[str, int]]:
    asked = {id: min(place, _ASKED_MASK) for place, id in enumerate(asked_order)}
    for place, id in enumerate(introduction_order):
        yield id, place << _ASKED_BITS | asked[id]
