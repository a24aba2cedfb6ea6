"""Schedules, the queue of cards, and sums over seen cards: tables derived from the history and the bank files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.domain.vocabulary import APART_DAYS, LONGEST_WAIT_DAYS, Meeting
from attncli.store.connection import Connection, microseconds, moment

if TYPE_CHECKING:
    from attncli.domain.log_row import LastReview, Schedule

_COLUMNS = (
    "state, stability_days, difficulty, step, reviewed_at_us, review_day, due_at_us, interval_days, repetitions, "
    "lapses, introduced_day"
)


class Schedules:
    """The schedule and the hold of every subject: a card or a challenge."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, subject: str) -> Schedule | None:
        """Return the schedule of a subject; None if it was never reviewed."""
        row = self._connection.row(f"SELECT {_COLUMNS} FROM schedule WHERE subject = ?", (subject,))
        return _schedule(row) if row else None

    def last_row(self, subject: str) -> str:
        """Return the id of the log row folded in last, empty if there is none."""
        return self._connection.value("SELECT last_row FROM schedule WHERE subject = ?", (subject,)) or ""

    def all(self) -> Iterator[tuple[str, Schedule]]:
        """Yield each subject with its schedule."""
        for subject, *values in self._connection.each(f"SELECT subject, {_COLUMNS} FROM schedule"):
            yield subject, _schedule(values)

    def latest_cards(self, limit: int) -> list[tuple[str, str, str]]:
        """Return (card, topic, kind) of the cards that were reviewed last, the latest first."""
        sql = "SELECT id, topic, kind FROM schedule JOIN queue ON id = subject ORDER BY reviewed_at_us DESC, id LIMIT ?"
        return self._connection.rows(sql, (limit,))

    def put(self, subject: str, schedule: Schedule | None, last_row: str) -> None:
        """Replace the schedule of `subject`, with the id of the log row folded in last; None removes it."""
        if schedule is None:
            self._connection.execute("DELETE FROM schedule WHERE subject = ?", (subject,))
        else:
            sql = f"REPLACE INTO schedule (subject, last_row, due_day, {_COLUMNS}) VALUES ({'?, ' * 13}?)"
            values = (_stored(getattr(schedule, field.name)) for field in fields(schedule))
            self._connection.execute(sql, (subject, last_row, schedule.due_day, *values))

    def hold(self, subject: str) -> tuple[bool, int]:
        """Return (suspended, day for which it is buried or 0)."""
        row = self._connection.row("SELECT suspended, buried_day FROM hold WHERE subject = ?", (subject,))
        return (bool(row[0]), row[1]) if row else (False, 0)

    def put_hold(self, subject: str, suspended: bool, buried_day: int) -> None:
        """Replace the hold of `subject`."""
        self._connection.execute("DELETE FROM hold WHERE subject = ?", (subject,))
        if suspended or buried_day:
            self._connection.execute("INSERT INTO hold VALUES (?, ?, ?)", (subject, int(suspended), buried_day))

    def clear(self) -> None:
        """Remove all schedules and holds."""
        self._connection.execute("DELETE FROM schedule")
        self._connection.execute("DELETE FROM hold")


def _stored(value: object) -> object:
    return microseconds(value) if isinstance(value, datetime) else value


def _schedule(row: Any) -> Schedule:
    from attncli.domain.log_row import Schedule, State

    state, stability, difficulty, step, reviewed_at_us, day, due_at_us, *rest = row
    return Schedule(State(state), stability, difficulty, step, moment(reviewed_at_us), day, moment(due_at_us), *rest)


# The queue


ORDERED_FOR = "ordered_for"
"""The key under which the level of the order of unseen cards is stored."""
_DAY_US = 24 * 3_600_000_000
_NAMES = "SELECT card.id UNION ALL SELECT former.id FROM former WHERE former.card = card.id"
_QUEUED = f"""
    SELECT card.id, topic, card.kind, ?, coalesce(state, 'new'), coalesce(due_at_us, 0), coalesce(suspended, 0), (
               SELECT max(at_us) FROM log WHERE kind = 'bury' AND day = hold.buried_day
               AND subject IN ({_NAMES}) AND NOT EXISTS (SELECT 1 FROM log u WHERE u.kind = 'undo'
                   AND json_extract(u.payload, '$.row') = log.id AND u.subject IN ({_NAMES}))
           ), stability_days, review_day, due_day, lapses, json_extract(last.payload, '$.rating'),
           json_extract(last.payload, '$.correct'), json_extract(last.payload, '$.points')
    FROM card LEFT JOIN schedule ON schedule.subject = card.id LEFT JOIN hold ON hold.subject = card.id
    LEFT JOIN log AS last ON last.id = last_row
"""
# A bury is compared by its moment: the number of a study day depends on the time zone, and the learner may travel. Its
# moment may lie a little ahead of the clock.
_OPEN = f"""suspended = 0 AND (:topic IS NULL OR topic = :topic) AND (
    buried_at_us IS NULL OR buried_at_us < :day_start OR buried_at_us >= :day_end + {_DAY_US})"""
_STEP = "state IN ('learning', 'relearning')"
_STEP_DUE = f"{_STEP} AND due_at_us <= :now"
_REVIEW_DUE = "state = 'review' AND due_day <= :day"
_UNSEEN = "state = 'new'"
# How slowly recall falls: its slope after t days is nearly 1 / (S + F·t), with the F of the published forgetting curve.
_SLOWNESS = "stability_days + 0.98 * (:day - review_day)"
_STUDIED = f"theirs.review_day > :day - {APART_DAYS}"
# A sibling is near if it was studied just now, or is not suspended and due within `ahead` days.
_NEAR = f"""({_STUDIED} OR theirs.due_day <= :day + :ahead
    AND EXISTS (SELECT 1 FROM queue WHERE id = theirs.subject AND suspended = 0))"""
_SIBLINGS = "sibling LEFT JOIN schedule AS theirs ON theirs.subject = other"
_MEETINGS = f"""
    SELECT id, topic, :day - mine.due_day, mine.due_day - mine.review_day, other,
           {_STUDIED} OR theirs.state <> 'review' OR theirs.due_day <= :day - {LONGEST_WAIT_DAYS}
    FROM (SELECT * FROM queue WHERE {_OPEN} AND {_REVIEW_DUE} AND due_day > :day - {LONGEST_WAIT_DAYS}) AS mine
    JOIN {_SIBLINGS} WHERE sibling.subject = mine.id AND {_NEAR}
"""
# A challenge yields to its cards: it takes longest, and the learner chooses when.
_CHALLENGES_DUE = f"""
    SELECT id FROM challenge JOIN schedule AS mine ON mine.subject = id WHERE mine.due_day <= :day AND (
        mine.due_day <= :day - {LONGEST_WAIT_DAYS}
        OR NOT EXISTS (SELECT 1 FROM {_SIBLINGS} WHERE sibling.subject = challenge.id AND {_NEAR}))
"""
# Links of cards and challenges to each other, in both directions, under current and former ids.
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
# The forgetting curve starts at 1 after any rating, but a card that was forgotten today is not known today.
_SEEN = """(SELECT *, CASE WHEN review_day >= :day AND (last_rating = 1 OR last_correct = 0) THEN 0.0
    ELSE pow(1 + :factor * max(0, :day - review_day) / stability_days, :exponent) END AS recall
    FROM queue WHERE stability_days IS NOT NULL)"""


class Moment(NamedTuple):
    """Now, its study day, and the start and end of that day."""

    now: datetime
    day: int
    day_start: datetime
    day_end: datetime

    def values(self, **more: object) -> dict[str, object]:
        """Return the parameters of a query on the queue: this moment, no topic, and `more`."""
        return {**{key: _stored(value) for key, value in self._asdict().items()}, "topic": None, **more}


class Waiting(NamedTuple):
    """One card in the queue."""

    id: str
    topic: str
    is_new: bool
    kind: str = ""


class RecallCurve(NamedTuple):
    """The forgetting curve (1 + factor · t/S)^exponent, and the study day for which recall is computed."""

    factor: float
    exponent: float
    day: int


class Queue:
    """The cards of the bank, and the recall of those seen.

    A review is due from the start of its study day, a step from its due time.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def refresh(self, ids: Iterable[str]) -> None:
        """Update the queue for these cards; an id that no bank has is removed."""
        for id in ids:
            rank = self._connection.value("SELECT rank FROM queue WHERE id = ?", (id,)) or 0
            self._connection.execute("DELETE FROM queue WHERE id = ?", (id,))
            self._connection.execute(f"INSERT INTO queue {_QUEUED} WHERE card.id = ?", (rank, id))

    def rebuild(self, introduction_order: Sequence[str]) -> None:
        """Rebuild the queue; unseen cards come in `introduction_order`."""
        self._connection.execute("DELETE FROM queue")
        self._connection.execute(f"INSERT INTO queue {_QUEUED}", (0,))
        self._connection.execute_many("UPDATE queue SET rank = ? WHERE id = ?", enumerate(introduction_order))
        self._connection.execute("DELETE FROM sibling")
        self._connection.execute(_LINKED)

    def learning(self, when: Moment, topic: str | None = None) -> list[Waiting]:
        """Return the steps that are due, the longest-waiting first."""
        return list(self._waiting(_STEP_DUE, "due_at_us", when.values(topic=topic)))

    def reviews(self, when: Moment, by_loss: bool = False) -> list[Waiting]:
        """Return the due reviews, the longest-waiting first, or those that lose most recall by waiting another day."""
        return list(self._waiting(_REVIEW_DUE, _SLOWNESS if by_loss else "due_at_us", when.values()))

    def unseen(self, when: Moment, limit: int, first: Collection[str] = ()) -> list[Waiting]:
        """Return the next `limit` unseen cards in order, those in `first` before all others.

        A card that a sibling is too near to is left out.
        """
        found: dict[str, Waiting] = {}
        siblings_of = f"SELECT other, coalesce({_NEAR}, 0) FROM {_SIBLINGS} WHERE sibling.subject = :id"
        order = "id IN (SELECT value FROM json_each(:first)) DESC, rank"
        for card in self._waiting(_UNSEEN, order, when.values(first=json.dumps(sorted(first)))):
            if len(found) >= limit:
                break
            siblings = self._connection.rows(siblings_of, when.values(id=card.id, ahead=APART_DAYS))
            if not any(is_near or other in found for other, is_near in siblings):
                found[card.id] = card
        return list(found.values())

    def _waiting(self, condition: str, order: str, values: dict[str, object]) -> Iterator[Waiting]:
        sql = f"SELECT id, topic, {_UNSEEN}, kind FROM queue WHERE {_OPEN} AND {condition} ORDER BY {order}, id"
        for id, topic, is_new, kind in self._connection.each(sql, values):
            yield Waiting(id, topic, bool(is_new), kind)

    def meetings(self, when: Moment) -> list[Meeting]:
        """Return each due review that has a sibling nearby in time."""
        return [Meeting(*row) for row in self._connection.rows(_MEETINGS, when.values(ahead=0))]

    def challenges_due(self, when: Moment) -> set[str]:
        """Return the solved challenges that are due again."""
        return {id for (id,) in self._connection.rows(_CHALLENGES_DUE, when.values(ahead=0))}

    def still_open(self, ids: Sequence[str], when: Moment, topic: str | None = None) -> list[Waiting]:
        """Return those of these cards, in their order, that were not answered today and are not suspended or buried."""
        sql = f"""SELECT queue.id, topic, {_UNSEEN}, kind FROM json_each(:ids) AS listed JOIN queue ON queue.id = value
            WHERE {_OPEN} AND state IN ('new', 'review') AND NOT EXISTS (
                SELECT 1 FROM schedule WHERE subject = queue.id AND reviewed_at_us >= :day_start) ORDER BY listed.key"""
        rows = self._connection.rows(sql, when.values(ids=json.dumps(ids), topic=topic))
        return [Waiting(id, topic, bool(is_new), kind) for id, topic, is_new, kind in rows]

    def solved_today(self, ids: Collection[str], when: Moment) -> set[str]:
        """Return those of these challenges that were solved today."""
        sql = """SELECT subject FROM schedule WHERE reviewed_at_us >= :day_start
            AND subject IN (SELECT value FROM json_each(:ids))"""
        return {id for (id,) in self._connection.rows(sql, when.values(ids=json.dumps(sorted(ids))))}

    def available(self, when: Moment, topic: str | None = None) -> set[str]:
        """Return the cards that are neither suspended nor buried, due or not."""
        return {id for (id,) in self._connection.rows(f"SELECT id FROM queue WHERE {_OPEN}", when.values(topic=topic))}

    def suspended(self) -> set[str]:
        """Return the suspended cards."""
        return {id for (id,) in self._connection.rows("SELECT id FROM queue WHERE suspended = 1")}

    def count_unseen(self, when: Moment) -> int:
        """Count the unseen cards that are neither suspended nor buried, with a sibling near or not."""
        return int(self._connection.value(f"SELECT count(*) FROM queue WHERE {_OPEN} AND {_UNSEEN}", when.values()))

    def introduced(self, day: int) -> int:
        """Count the cards that were first reviewed on study day `day`."""
        sql = "SELECT count(*) FROM schedule JOIN queue ON queue.id = schedule.subject WHERE introduced_day = ?"
        return int(self._connection.value(sql, (day,)))

    def next_step(self, when: Moment) -> datetime | None:
        """Return the due time of the first step that is not due yet."""
        sql = f"SELECT min(due_at_us) FROM queue WHERE {_OPEN} AND {_STEP} AND due_at_us > :now"
        found = self._connection.value(sql, when.values())
        return None if found is None else moment(found)

    def next_review_day(self, when: Moment) -> int | None:
        """Return the first study day after this one on which a review is due."""
        sql = "SELECT min(due_day) FROM queue WHERE suspended = 0 AND state = 'review' AND due_day > ?"
        return self._connection.value(sql, (when.day,)) or None

    # Seen cards, with their probability of recall

    def by_topic(self, curve: RecallCurve) -> dict[str, tuple[int, float, int]]:
        """Return topic → (seen cards, sum of their recall, sum of their lapses)."""
        sql = f"SELECT topic, count(*), total(recall), sum(lapses) FROM {_SEEN} GROUP BY topic"
        return {topic: (seen, recall, lapses) for topic, seen, recall, lapses in self._rows(sql, curve)}

    def perhaps_weak(
        self, curve: RecallCurve, recall: float, lapses: int
    ) -> Iterator[tuple[str, float, int, LastReview]]:
        """Yield (card, recall, lapses, content of the last review) of weak cards and those perhaps missed."""
        from attncli.store.log import last_review

        missed = "last_rating = 1 OR last_correct = 0 OR last_points <> '[]'"
        sql = f"""SELECT id, recall, lapses, last_rating, last_points, last_correct FROM {_SEEN}
            WHERE recall < :least OR lapses >= :most OR {missed}"""
        for *memory, rating, points, correct in self._rows(sql, curve, least=recall, most=lapses):
            yield *memory, last_review(rating, points, correct)

    def recalled(self, curve: RecallCurve, cards: Sequence[str], least: float) -> int:
        """Count those of `cards` that were seen and are recalled with at least this probability."""
        sql = f"SELECT count(*) FROM {_SEEN} WHERE recall >= :least AND id IN (SELECT value FROM json_each(:cards))"
        return self._connection.value(sql, {**curve._asdict(), "least": least, "cards": json.dumps(cards)}) or 0

    def due_by_then(self, curve: RecallCurve) -> list[tuple[float, str]]:
        """Return (recall, card) of the cards that come due by the day of the curve, the least recalled first."""
        return self._rows(f"SELECT recall, id FROM {_SEEN} WHERE due_day <= :day ORDER BY recall, id", curve)

    def due_days(self) -> tuple[list[int], list[datetime]]:
        """Return the due days of all reviews, and the due times of all steps, without suspended cards."""
        reviews = self._connection.rows("SELECT due_day FROM queue WHERE suspended = 0 AND state = 'review'")
        steps = self._connection.rows(f"SELECT due_at_us FROM queue WHERE suspended = 0 AND {_STEP}")
        return [day for (day,) in reviews], [moment(at_us) for (at_us,) in steps]

    def _rows(self, sql: str, curve: RecallCurve, **values: float) -> list[Any]:
        return self._connection.rows(sql, {**curve._asdict(), **values})
