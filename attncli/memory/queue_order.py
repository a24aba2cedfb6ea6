"""In what order cards come: unseen ones over the topics and kinds, and unseen ones among reviews."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from attncli.domain.card import LEVELS

T = TypeVar("T")

ASKED = {
    (True, "screen"): 4.0,
    (True, "onsite"): 3.0,
    (True, "research"): 2.5,
    (False, "screen"): 2.0,
    (False, "onsite"): 1.0,
    (False, "research"): 0.5,
}
"""How much interviewers ask a card, by (core, level), next to one that is neither: a judgement, not a measurement."""


BEYOND = 0.25
"""What is left of that for a card above the level of the learner's interview; so it comes after all that are not."""


def asked_weight(core: bool, level: str, up_to: str = "") -> float:
    """How much a card is asked in interviews of level `up_to`; a level that this program does not know is onsite."""
    asked = ASKED.get((core, level), ASKED[core, "onsite"])
    return asked * BEYOND if _is_beyond(level, up_to) else asked


def _is_beyond(level: str, up_to: str) -> bool:
    return up_to in LEVELS and level in LEVELS and LEVELS.index(level) > LEVELS.index(up_to)


@dataclass(frozen=True, slots=True)
class Unseen:
    """What the order of introduction looks at; `position` is the card's place in its file."""

    id: str
    topic: str
    core: bool
    level: str
    position: int
    kind: str = "qa"


def unseen_cards(rows: Iterable[tuple[str, str, bool, str, int, str]]) -> list[Unseen]:
    """The rows (id, topic, core, level, position, kind) as what the order of introduction looks at."""
    return [Unseen(*row) for row in rows]


def introduction_order(cards: Iterable[Unseen], up_to: str = "") -> list[str]:
    """Ids in the order in which cards are introduced: core cards first, kinds and topics mixed in them.

    What is above level `up_to` comes after everything else.
    """
    parts: dict[tuple[bool, bool], list[Unseen]] = defaultdict(list)
    for card in cards:
        parts[_is_beyond(card.level, up_to), not card.core].append(card)
    return [card.id for key in sorted(parts) for card in mixed(parts[key])]


def asked_order(cards: Iterable[Unseen], up_to: str = "") -> list[str]:
    """Ids in the order before an interview: what is asked most first, kinds and topics mixed in what is asked alike."""
    alike: dict[float, list[Unseen]] = defaultdict(list)
    for card in cards:
        alike[-asked_weight(card.core, card.level, up_to)].append(card)
    return [card.id for loss in sorted(alike) for card in mixed(alike[loss])]


def mixed(cards: Iterable[Unseen]) -> list[Unseen]:
    """Every kind in equal shares from the first card to the last, each by level and evenly over its topics."""
    kinds: dict[str, dict[int, dict[str, list[Unseen]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for card in sorted(cards, key=lambda card: (card.position, card.id)):
        level = LEVELS.index(card.level) if card.level in LEVELS else 0
        kinds[card.kind][level][card.topic].append(card)
    lanes = [_over_topics(kinds[kind]) for kind in sorted(kinds)]
    *rarer, most = sorted(lanes, key=len) or [[]]
    return leading(most, reduce(lambda before, lane: spread(lane, before), rarer, list[Unseen]()))


def _over_topics(levels: Mapping[int, Mapping[str, Sequence[Unseen]]]) -> list[Unseen]:
    found = list[Unseen]()
    for level in sorted(levels):
        topics = levels[level]
        found += spread(*(topics[topic] for topic in sorted(topics, key=lambda topic: (-len(topics[topic]), topic))))
    return found


def spread(*lanes: Sequence[T]) -> list[T]:
    """The lanes as one, each put evenly over the whole of it in its own order; where two meet, the first leads."""
    placed = [
        ((index + 0.5) / len(lane), rank, item) for rank, lane in enumerate(lanes) for index, item in enumerate(lane)
    ]
    return [item for _, _, item in sorted(placed, key=lambda entry: entry[:2])]


def leading(main: Sequence[T], others: Sequence[T]) -> list[T]:
    """`others` put evenly between `main`, which begins."""
    placed = [(index / len(main), 0, item) for index, item in enumerate(main)]
    placed += [((index + 0.5) / len(others), 1, item) for index, item in enumerate(others)]
    return [item for _, _, item in sorted(placed, key=lambda entry: entry[:2])]


NEARBY = 10
"""How many places a card may be brought forward so that it is of another kind than the one before it."""


class Traits(NamedTuple):
    """What `interleaved` looks at."""

    topic: str
    kind: str
    is_new: bool


def interleaved(cards: Sequence[T], traits_of: Callable[[T], Traits]) -> list[T]:
    """`cards` in their order, but neighbours of different topics wherever that can be, and of different kinds.

    What comes next is the first card of another topic than the last one, or one of the next few, equally new or not,
    that is of another kind too; a topic that makes up more than half of the rest comes at once: later it could not be
    split.
    """
    lanes: dict[str, list[_Placed[T]]] = defaultdict(list)
    for place, card in reversed(list(enumerate(cards))):
        traits = traits_of(card)
        lanes[traits.topic].append(_Placed(place, traits, card))
    order: list[_Placed[T]] = []
    while lanes:
        topic, back = _next_place(lanes, len(cards) - len(order), order[-1].traits if order else NOTHING)
        order.append(lanes[topic].pop(back))
        if not lanes[topic]:
            del lanes[topic]
    return [placed.card for placed in order]


NOTHING = Traits("", "", False)


@dataclass(frozen=True, slots=True)
class _Placed(Generic[T]):
    place: int
    traits: Traits
    card: T


def _next_place(lanes: Mapping[str, Sequence[_Placed[T]]], left: int, last: Traits) -> tuple[str, int]:
    """(topic, index from the end) of the card that comes next; a lane has its first card at its end."""
    open_topics = [topic for topic in lanes if topic != last.topic] or list(lanes)
    open_topics = [topic for topic in open_topics if 2 * len(lanes[topic]) > left] or open_topics
    first = min((lanes[topic][-1] for topic in open_topics), key=lambda placed: placed.place)
    if first.traits.kind != last.kind:
        return first.traits.topic, -1
    others = [
        (placed.place, topic, -back)
        for topic in open_topics
        for back, placed in enumerate(reversed(lanes[topic][-NEARBY:]), 1)
        if placed.place - first.place <= NEARBY
        and placed.traits.kind != last.kind
        and placed.traits.is_new == first.traits.is_new
    ]
    _, topic, back = min(others, default=(0, first.traits.topic, -1))
    return topic, back


# What fits the minutes of a study day without an interview ahead: reviews first, new cards in what is left.
#
# Loaded by `attn due` only for those who have set `minutes_per_day`: plain arithmetic.

FIRST_WEEKS_REVIEWS = 3
"""So many reviews a new card brings in its first weeks. Room is kept for them, so that learning it is no debt."""


@dataclass(frozen=True, slots=True)
class Studied:
    """How many cards were learned or reviewed (each counted once a day), and the seconds that they took."""

    cards: int = 0
    seconds: float = 0.0

    def usual(self, prior_seconds: float) -> float:
        """Seconds for one card: the mean, drawn towards `prior_seconds`."""
        return towards_usual(self.seconds, self.cards, prior_seconds)


@dataclass(frozen=True, slots=True)
class DayMinutes:
    """What is left of a day: `seconds_left` may be below zero. The other two are what one card takes this learner."""

    seconds_left: float
    learn_seconds: float
    review_seconds: float

    @staticmethod
    def of(minutes: float, spent_seconds: float, untimed: int, learned: Studied, reviewed: Studied) -> DayMinutes:
        """What is left of `minutes` after `spent_seconds`, and so many reviews and steps whose time is not known."""
        learn, review = learned.usual(LEARN_SECONDS), reviewed.usual(REVIEW_SECONDS)
        return DayMinutes(minutes * 60 - spent_seconds - untimed * review, learn, review)

    @property
    def reviews(self) -> int:
        """How many reviews fit."""
        return max(0, int(self.seconds_left // self.review_seconds))

    def new_beside(self, reviews: int) -> int:
        """How many new cards fit beside so many reviews."""
        left = self.seconds_left - reviews * self.review_seconds
        return max(0, int(left // (self.learn_seconds + FIRST_WEEKS_REVIEWS * self.review_seconds)))


# What the review queue needs of the plan for an interview: plain arithmetic, because `attn due` loads it.
#
# The plan itself is in `plan_day`. Due dates stay as they are; a card counts as due besides once its day of the last
# pass has come and it was not reviewed since.

LONGEST_PASS_DAYS = 7


def pass_days(seen_seconds: float, seconds_a_day: float) -> int:
    """How many days before the interview the last pass begins: as many as all seen cards take, a week at most."""
    if seen_seconds >= LONGEST_PASS_DAYS * seconds_a_day:
        return LONGEST_PASS_DAYS
    return max(1, ceil(seen_seconds / seconds_a_day))


def new_cards_in(minutes: float, reviews: int, introduced: int) -> int:
    """How many more new cards fit the minutes of a day beside its reviews, after so many new ones."""
    left = minutes * 60 - reviews * REVIEW_SECONDS - introduced * LEARN_SECONDS
    return max(0, int(left // LEARN_SECONDS))


# How long a card takes this learner, from their own log and, while that is short, from what is usual.

LEARN_SECONDS, REVIEW_SECONDS = 60.0, 15.0
"""What learning a new card takes with its steps, and a review, where nothing is known of the learner."""
PRIOR_CARDS = 10
"""How many cards of the learner's own weigh as much as what is usual."""


def usual_seconds(seen: Sequence[float], prior_seconds: float) -> float:
    """The median of what single cards took, drawn towards `prior_seconds`."""
    from statistics import median  # `attn due` needs the mean alone, and this costs it milliseconds

    return towards_usual(len(seen) * (median(seen) if seen else prior_seconds), len(seen), prior_seconds)


def towards_usual(seconds: float, cards: int, prior_seconds: float) -> float:
    """What each of so many cards took that took `seconds` together, as if `PRIOR_CARDS` more had taken the prior."""
    return (seconds + PRIOR_CARDS * prior_seconds) / (cards + PRIOR_CARDS)
