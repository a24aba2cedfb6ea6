"""What is due now: how many new cards a day brings, which reviews fit the minutes of the day, which wait."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from attncli.config import WEEKDAYS, Settings, is_set
from attncli.domain.card import KINDS, LEVELS, Kind, Level, Meeting, waiting
from attncli.domain.log_row import Rating
from attncli.errors import ConfigInvalid, EnvironmentFailure, NothingFits
from attncli.memory.replay import Annotation, is_leech
from attncli.memory.scheduler import curve_factor, recall_on
from attncli.practice.mock_log import missed_then
from attncli.practice.record import annotated_cards
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary
from attncli.store.log import LastReview
from attncli.store.queue_table import Moment, Waiting
from attncli.store.seen_cards import PerhapsWeak, RecallCurve

if TYPE_CHECKING:
    from attncli.memory.queue_order import DayMinutes


@dataclass(frozen=True)
class DueCounts:
    """`new` is what today's quota still brings; `topics` sums to `due`; `challenges` is apart.

    `left_out` counts due reviews that do not fit the minutes of today: they stay due.
    """

    new: int
    learning: int
    review: int
    challenges: int
    topics: dict[str, int]
    left_out: int = 0

    @property
    def due(self) -> int:
        return self.new + self.learning + self.review

    def document(self) -> dict[str, Any]:
        """What `attn due --json` prints."""
        return {
            "due": self.due,
            "new": self.new,
            "learning": self.learning,
            "review": self.review,
            "challenges": self.challenges,
            "topics": self.topics,
        }


def due_counts(workspace: Workspace, at: datetime | None = None) -> DueCounts:
    """Counts what is due at `at` (now)."""
    when = workspace.moment(at)
    queue = workspace.store.queue
    learning = queue.count_learning(when)
    room = room_today(workspace, when)
    reviews, left_out = _review_counts(workspace, when, room)
    unseen = queue.count_unseen(when, new_quota(workspace, when, sum(reviews.values()), room))
    return DueCounts(
        new=sum(unseen.values()),
        learning=sum(learning.values()),
        review=sum(reviews.values()),
        challenges=len(queue.challenges_due(when)),
        topics={
            topic: learning.get(topic, 0) + reviews.get(topic, 0) + unseen.get(topic, 0)
            for topic in sorted({*learning, *reviews, *unseen})
        },
        left_out=left_out,
    )


def _review_counts(workspace: Workspace, when: Moment, room: DayMinutes | None) -> tuple[dict[str, int], int]:
    """(topic → reviews in today's queue, how many are left out because they do not fit the minutes)."""
    counts = workspace.store.queue.count_reviews(when)
    for topic in held_apart(workspace, when).values():
        counts[topic] -= 1
    total = sum(counts.values())
    if room is not None and total > room.reviews:
        counts = dict.fromkeys(counts, 0)
        for waiting in reviews_today(workspace, when, room):
            counts[waiting.topic] += 1
    return {topic: count for topic, count in counts.items() if count}, total - sum(counts.values())


def reviews_today(workspace: Workspace, when: Moment, room: DayMinutes | None) -> list[Waiting]:
    """The due reviews but for those that siblings hold up, the longest-waiting first.

    Of more than fit `room` those come that lose most recall if they wait, the most urgent first.
    """
    queue, apart = workspace.store.queue, held_apart(workspace, when)
    if room is None:
        return [waiting for waiting in queue.reviews(when) if waiting.id not in apart]
    most_urgent = queue.reviews_by_loss(when, room.reviews + len(apart))
    return [waiting for waiting in most_urgent if waiting.id not in apart][: room.reviews]


def held_apart(workspace: Workspace, when: Moment) -> dict[str, str]:
    """Card → topic of the due reviews that wait, because a card or challenge that gives them away is too near."""
    if not (meetings := workspace.store.queue.meetings(when)):
        return {}
    return waiting(Meeting(*meeting) for meeting in meetings)


def room_today(workspace: Workspace, when: Moment) -> DayMinutes | None:
    """What the minutes of this day still hold; None where they are not set, or the plan for an interview has them."""
    if when.interview_day or not minutes_are_set(workspace):
        return None
    from attncli.memory.queue_order import DayMinutes, Studied
    from attncli.store.review_seconds import seconds_by_novelty, spent_on

    connection = workspace.store.connection
    before = seconds_by_novelty(connection, when.day - PACE_DAYS, when.day - 1)
    learned, reviewed = (Studied(*before.get(is_new, ())) for is_new in (True, False))
    spent, untimed = spent_on(connection, when.day)
    steps = sum(workspace.store.queue.count_learning(when).values())
    return DayMinutes.of(minutes_of(workspace.settings, when.day), spent, untimed + steps, learned, reviewed)


def minutes_are_set(workspace: Workspace) -> bool:
    """Whether the learner chose the minutes; a file that was broken since it was read limits nothing."""
    try:
        return is_set(workspace.home.config, "minutes_per_day")
    except (ConfigInvalid, EnvironmentFailure):
        return False


PACE_DAYS = 28
"""How far back the log is asked how long a card takes."""


def new_quota(workspace: Workspace, when: Moment, reviews_due: int, room: DayMinutes | None) -> int:
    """How many more unseen cards this study day may bring.

    Before an interview new cards fill the minutes that reviews, due or done today, leave; otherwise there are at most
    `new_per_day`, and where minutes are set, no more than fit `room` beside the reviews.
    """
    introduced = workspace.store.queue.introduced(when.day)
    if when.interview_day:
        from attncli.memory.queue_order import new_cards_in

        reviews = reviews_due + workspace.store.log.review_days.known_on(when.day)
        return new_cards_in(minutes_of(workspace.settings, when.day), reviews, introduced)
    quota = max(0, workspace.settings.new_per_day - introduced)
    return quota if room is None else min(quota, room.new_beside(reviews_due))


def minutes_of(settings: Settings, day: int) -> float:
    """The minutes that a study day has, fewer on easy days."""
    percent = dict(settings.easy_days).get(WEEKDAYS[(day - 1) % 7], 100)
    return settings.minutes_per_day * percent / 100


# Choosing cards beyond the schedule: what the learner wishes for, what fits it, and a draw from that.

DRILL_COUNT = 20


@dataclass(frozen=True, slots=True)
class Wish:
    """At most `count` cards; None leaves open. With `cram` nothing is recorded of what is answered."""

    topic: str | None = None
    kind: Kind | None = None
    level: Level | None = None
    weak: bool = False
    count: int = DRILL_COUNT
    cram: bool = False


def level_wished(workspace: Workspace) -> Level | None:
    """The level that is set for the interview, with which choosing begins; None leaves it open."""
    return level_of(workspace.settings.level)


def level_of(choice: str) -> Level | None:
    """The level of this name; None for any."""
    return next((level for level in LEVELS if level == choice), None)


def fitting(workspace: Workspace, wish: Wish) -> list[CardSummary]:
    """Every card that fits, the weakest first if weak ones are wished for; none that is suspended or buried.

    Raises NotFound for an unknown topic.
    """
    when = workspace.moment()
    topic = None if wish.topic is None else workspace.library.topic(wish.topic).id
    available = workspace.store.queue.available(when, topic)
    found = [
        card
        for card in workspace.store.index.list_cards(topic)
        if card.id in available and wish.kind in (None, card.kind) and wish.level in (None, card.level)
    ]
    if not wish.weak:
        return found
    rank = {id: place for place, id in enumerate(weak_cards(workspace, when))}
    return sorted((card for card in found if card.id in rank), key=lambda card: rank[card.id])


def chosen(workspace: Workspace, wish: Wish, rng: Random) -> list[CardSummary]:
    """As many as are wished for: of weak ones the weakest, otherwise drawn at random. Raises NothingFits."""
    found = require_fitting(workspace, wish)
    return found[: wish.count] if wish.weak else rng.sample(found, min(wish.count, len(found)))


def require_fitting(workspace: Workspace, wish: Wish) -> list[CardSummary]:
    """`fitting`, but no card is an error: NothingFits, which says what to drop."""
    if found := fitting(workspace, wish):
        return found
    raise NothingFits(_asked(wish), without(workspace, wish))


def without(workspace: Workspace, wish: Wish) -> dict[str, int]:
    """How many cards would fit if one condition were dropped, for each that would help."""
    relaxed = {
        "weak": replace(wish, weak=False),
        "kind": replace(wish, kind=None),
        "level": replace(wish, level=None),
        "topic": replace(wish, topic=None),
    }
    counts = {name: len(fitting(workspace, other)) for name, other in relaxed.items() if other != wish}
    return {name: count for name, count in counts.items() if count}


def _asked(wish: Wish) -> list[str]:
    named = [f"--{name} {value}" for name in ("topic", "kind", "level") if (value := getattr(wish, name))]
    return [*named, *(["--weak"] if wish.weak else [])]


# Which cards are weak: what is likely forgotten, what lapsed often, and what was missed last time.

WEAK_LAPSES = 3
WEAK_RECALL = 0.7


def is_weak(lapses: int, recall: float, missed: bool = False) -> bool:
    """Forgotten three times or more, less than 70 % likely to be recalled today, or missed at its last review.

    `attn stats`, which looks at schedules alone, leaves `missed` out.
    """
    return missed or lapses >= WEAK_LAPSES or recall < WEAK_RECALL


def has_missed(last: LastReview, points: int) -> bool:
    """Whether a review missed something of a card with so many points.

    It was rated again or marked wrong, or some points were ticked and others not. Who ticks none and rates good does
    not tick at all: that says nothing.
    """
    some = last.points is not None and 0 < len(last.points) < points
    return _was_forgotten(last) or some


def _was_forgotten(last: LastReview) -> bool:
    return last.rating == Rating.AGAIN or last.correct is False


@dataclass(frozen=True, slots=True)
class Weakness:
    """A weak card and what makes it one; `points_missed` are indices into its points.

    `recall` is the probability that it is recalled on the day that was asked for, and 0 where it was forgotten on that
    very day: the forgetting curve begins at 1 whatever the rating was.
    """

    card: str
    recall: float
    lapses: int
    missed: bool
    points_missed: tuple[int, ...] = ()


def weaknesses(workspace: Workspace, when: Moment) -> list[Weakness]:
    """The weak cards among those seen: what was missed first, then the least likely to be recalled.

    What a mock interview found missing counts until the card is reviewed.
    """
    found: dict[str, Weakness] = {}
    for seen in workspace.store.seen.perhaps_weak(curve_on(workspace, when), WEAK_RECALL, WEAK_LAPSES):
        last, points = seen.last, _points(workspace, seen)
        missed = last is not None and has_missed(last, points)
        is_forgotten = last is not None and seen.review_day >= when.day and _was_forgotten(last)
        recall = 0.0 if is_forgotten else seen.recall
        if is_weak(seen.lapses, recall, missed):
            left = _points_missed(last.points, points) if last else ()
            found[seen.id] = Weakness(seen.id, recall, seen.lapses, missed, left)
    found |= {weak.card: weak for weak in _missed_in_interviews(workspace, when, found)}
    return sorted(found.values(), key=lambda weak: (not weak.missed, weak.recall, -weak.lapses, weak.card))


def _missed_in_interviews(workspace: Workspace, when: Moment, weak: Mapping[str, Weakness]) -> Iterator[Weakness]:
    """The seen cards of which something was missed in an interview after their last review."""
    for id, then in missed_then(workspace).items():
        schedule, document = workspace.store.schedules.get(id), workspace.store.index.card(id)
        if schedule is not None and document is not None and then.at > schedule.reviewed_at:
            recall = weak[id].recall if id in weak else recall_on(schedule, when.day, workspace.policy.decay)
            left = _points_missed(then.made, len(document.get("points") or ()))
            yield Weakness(id, recall, schedule.lapses, True, left)


def weak_cards(workspace: Workspace, when: Moment) -> list[str]:
    """The ids of the weak cards, the weakest first, with those that were missed in an interview and never reviewed."""
    index, schedules = workspace.store.index, workspace.store.schedules
    unseen = [id for id in missed_then(workspace) if schedules.get(id) is None and index.card(id) is not None]
    return [*sorted(unseen), *(weak.card for weak in weaknesses(workspace, when))]


def curve_on(workspace: Workspace, when: Moment) -> RecallCurve:
    """How recall falls with this learner's weights, asked for the study day of `when`."""
    decay = workspace.policy.decay
    return RecallCurve(curve_factor(decay), -decay, when.day)


def _points(workspace: Workspace, seen: PerhapsWeak) -> int:
    """How many points the card has; asked for only where some were ticked."""
    if seen.last is None or not seen.last.points:
        return 0
    document = workspace.store.index.card(seen.id)
    return len((document or {}).get("points") or ())


def _points_missed(ticked: Collection[int] | None, points: int) -> tuple[int, ...]:
    """The points that were not ticked where some were."""
    return tuple(number for number in range(points) if number not in ticked) if ticked else ()


# Which cards a line of search means: words as `search` finds them, and filters such as `#tag` and `is:leech`.

STATES = ("new", "seen", "due", "suspended", "buried", "leech", "weak", "own", "flagged", "noted")
"""What `is:` knows."""


@dataclass(frozen=True, slots=True)
class FoundCards:
    """The cards, the best first, of `count` that there are; `annotations` of those that have one; `unknown` are filters
    that mean nothing."""

    cards: list[CardSummary]
    count: int
    annotations: dict[str, Annotation]
    unknown: tuple[str, ...]


def browse(workspace: Workspace, line: str, most: int | None = None) -> FoundCards:
    """The cards that have all the words and fit all the filters, `most` of them at most; a filter that means nothing
    narrows nothing."""
    return _Browse(workspace).find(line, most)


class _Browse:
    """One look at the cards; what a filter needs is read where the line has one."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.moment = workspace.moment()

    @cached_property
    def annotations(self) -> dict[str, Annotation]:
        return annotated_cards(self.workspace)

    def find(self, line: str, most: int | None) -> FoundCards:
        words, filters, unknown = list[str](), list[Callable[[CardSummary], bool]](), list[str]()
        for word in normalize("NFC", line).split():
            fits = self._filter(word)
            if fits is not None:
                filters.append(fits)
            else:
                (unknown if word.lower().startswith(("is:", "kind:", "level:", "topic:")) else words).append(word)
        library = self.workspace.library
        if most is not None and not words and not filters:
            return FoundCards(library.first_cards(most), library.count_cards(), self.annotations, tuple(unknown))
        cards = [card for card in library.cards(" ".join(words)) if all(fits(card) for fits in filters)]
        return FoundCards(cards[:most], len(cards), self.annotations, tuple(unknown))

    def _filter(self, word: str) -> Callable[[CardSummary], bool] | None:
        name, _, value = word.lower().partition(":")
        if word.startswith("#") and len(word) > 1:
            tagged = {id for id, said in self.annotations.items() if word[1:].lower() in said.tags}
            return lambda card: card.id in tagged
        if name == "kind" and value in KINDS:
            return lambda card: card.kind == value
        if name == "level" and value in LEVELS:
            return lambda card: card.level == value
        if name == "topic" and value in {topic.id for topic in self.workspace.library.topics()}:
            return lambda card: card.topic == value
        if name == "is" and value in STATES:
            ids = set(self._in_state(value))
            return lambda card: card.id in ids
        return None

    def _in_state(self, state: str) -> Iterable[str]:
        store = self.workspace.store
        match state:
            case "due":
                waiting = [store.queue.learning(self.moment), reviews_today(self.workspace, self.moment, None)]
                return [card.id for cards in waiting for card in cards]
            case "weak":
                return weak_cards(self.workspace, self.moment)
            case "flagged":
                return [id for id, said in self.annotations.items() if said.flagged]
            case "noted":
                return [id for id, said in self.annotations.items() if said.note]
            case "leech":
                return [id for id, schedule in store.schedules.all() if is_leech(schedule)]
            case "seen":
                return [id for id, _ in store.schedules.all()]
            case "new":
                return {*store.index.card_ids()} - {id for id, _ in store.schedules.all()}
        return [id for id in store.index.card_ids() if self._is_kept(state, id)]

    def _is_kept(self, state: str, id: str) -> bool:
        if state == "own":
            return Path(self.workspace.store.index.owner(id)).is_relative_to(self.workspace.home.banks)
        suspended, buried_day = self.workspace.store.schedules.hold(id)
        return suspended if state == "suspended" else buried_day == self.moment.day
