"""The order of cards in the queue, and how many of them fit the minutes of a day.

`attn due` loads this module: plain arithmetic only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from attncli.domain.vocabulary import LEVELS

T = TypeVar("T")

ASKED = {
    (True, "screen"): 4.0,
    (True, "onsite"): 3.0,
    (True, "research"): 2.5,
    (False, "screen"): 2.0,
    (False, "onsite"): 1.0,
    (False, "research"): 0.5,
}
"""How much interviewers ask a card, by (core, level), relative to a plain onsite card: a judgement, not measured."""
BEYOND = 0.25
"""The factor for a card above the level of the learner's interview; it puts such cards after all others."""
NEARBY = 10
"""The most places by which a card may be moved forward so that its kind differs from the previous one."""


def asked_weight(core: bool, level: str, up_to: str = "") -> float:
    """Return how often interviews of level `up_to` ask a card, as a weight; an unknown level counts as onsite."""
    asked = ASKED.get((core, level), ASKED[core, "onsite"])
    return asked * BEYOND if _is_beyond(level, up_to) else asked


def _is_beyond(level: str, up_to: str) -> bool:
    return up_to in LEVELS and level in LEVELS and LEVELS.index(level) > LEVELS.index(up_to)


@dataclass(frozen=True, slots=True)
class Unseen:
    """An unseen card with the properties that decide its order; `position` is its place in the file."""

    id: str
    topic: str
    core: bool
    level: str
    position: int
    kind: str = "qa"


def unseen_cards(rows: Iterable[tuple[str, str, bool, str, int, str]]) -> list[Unseen]:
    """Read rows of (id, topic, core, level, position, kind)."""
    return [Unseen(*row) for row in rows]


def introduction_order(cards: Iterable[Unseen], up_to: str = "") -> list[str]:
    """Return ids in the order in which cards are introduced: core cards first, kinds and topics mixed.

    Cards above level `up_to` come after all others.
    """
    parts: dict[tuple[bool, bool], list[Unseen]] = defaultdict(list)
    for card in cards:
        parts[_is_beyond(card.level, up_to), not card.core].append(card)
    return [card.id for key in sorted(parts) for card in mixed(parts[key])]


def asked_order(cards: Iterable[Unseen], up_to: str = "") -> list[str]:
    """Return ids in the order before an interview: cards asked most first, kinds and topics mixed among equals."""
    alike: dict[float, list[Unseen]] = defaultdict(list)
    for card in cards:
        alike[-asked_weight(card.core, card.level, up_to)].append(card)
    return [card.id for loss in sorted(alike) for card in mixed(alike[loss])]


def mixed(cards: Iterable[Unseen]) -> list[Unseen]:
    """Spread every kind evenly over the whole order; within a kind, sort by level and spread topics evenly."""
    kinds: dict[str, dict[int, dict[str, list[Unseen]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for card in sorted(cards, key=lambda card: (card.position, card.id)):
        level = LEVELS.index(card.level) if card.level in LEVELS else 0
        kinds[card.kind][level][card.topic].append(card)
    lanes = [_over_topics(kinds[kind]) for kind in sorted(kinds)]
    *rarer, most = sorted(lanes, key=len) or [[]]
    others = reduce(lambda before, lane: spread(lane, before), rarer, list[Unseen]())
    return spread(most, others, first_leads=True)


def _over_topics(levels: Mapping[int, Mapping[str, Sequence[Unseen]]]) -> list[Unseen]:
    cards = list[Unseen]()
    for level in sorted(levels):
        topics = levels[level]
        cards += spread(*(topics[topic] for topic in sorted(topics, key=lambda topic: (-len(topics[topic]), topic))))
    return cards


def spread(*lanes: Sequence[T], first_leads: bool = False) -> list[T]:
    """Merge lanes, each spread evenly over the whole in its own order; the earlier lane wins ties.

    With `first_leads` the first lane begins, and the others are between its items.
    """
    placed = [
        ((index + (0.5 if rank or not first_leads else 0.0)) / len(lane), rank, item)
        for rank, lane in enumerate(lanes)
        for index, item in enumerate(lane)
    ]
    return [item for _, _, item in sorted(placed, key=lambda entry: entry[:2])]


class Traits(NamedTuple):
    """The properties of a card on which `interleaved` depends."""

    topic: str
    kind: str
    is_new: bool


def interleaved(cards: Sequence[T], traits_of: Callable[[T], Traits]) -> list[T]:
    """Reorder cards as little as possible, so that neighbours differ in topic and, if possible, in kind.

    The next card is the first of another topic, or one of the next few that is equally new and also of another kind.
    A topic with more than half of the remaining cards comes first, since it could not be split later.
    """
    lanes: dict[str, list[_Placed[T]]] = defaultdict(list)
    for place, card in reversed(list(enumerate(cards))):
        traits = traits_of(card)
        lanes[traits.topic].append(_Placed(place, traits, card))
    order: list[_Placed[T]] = []
    while lanes:
        topic, back = _next_place(lanes, len(cards) - len(order), order[-1].traits if order else Traits("", "", False))
        order.append(lanes[topic].pop(back))
        if not lanes[topic]:
            del lanes[topic]
    return [placed.card for placed in order]


@dataclass(frozen=True, slots=True)
class _Placed(Generic[T]):
    place: int
    traits: Traits
    card: T


def _next_place(lanes: Mapping[str, Sequence[_Placed[T]]], left: int, last: Traits) -> tuple[str, int]:
    """Return (topic, negative index in its lane) of the next card; each lane is in reverse order."""
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


# The minutes of a day

LEARN_SECONDS, REVIEW_SECONDS = 60.0, 15.0
"""The time for learning a new card with its steps, and for a review, while nothing is known of the learner."""
FIRST_WEEKS_REVIEWS = 3
"""The reviews of a new card in its first weeks; a day must have room for them, or the queue would grow."""
AVERAGES_UNTIL, HALF_OWN = 50, 300
"""Up to the first number of reviews only published averages count; HALF_OWN more give the learner's own half."""
QUICKEST, SLOWEST = 2.0, 300.0
"""A card shown for a shorter or longer time (seconds) was clicked through, or left open."""
LONGEST_PASS_DAYS = 7
"""The last pass before an interview starts at most so many days before it."""


def fitting(seconds: float, due: int, learn_seconds: float, review_seconds: float) -> tuple[int, int]:
    """Return how many of the `due` reviews fit the seconds, and how many new cards fit beside these."""
    reviews = min(due, max(0, int(seconds // review_seconds)))
    left = seconds - reviews * review_seconds
    return reviews, max(0, int(left // (learn_seconds + FIRST_WEEKS_REVIEWS * review_seconds)))


def pass_days(seen_seconds: float, seconds_a_day: float) -> int:
    """Return the length of the last pass in days: the time for all seen cards, at most 7 days."""
    if seen_seconds >= LONGEST_PASS_DAYS * seconds_a_day:
        return LONGEST_PASS_DAYS
    return max(1, ceil(seen_seconds / seconds_a_day))


def own_share(seen: int) -> float:
    """Return the weight (0…1) of the learner's `seen` reviews against published averages.

    It starts at 0 and grows slowly, so that one session hardly moves a forecast.
    """
    counted = max(0, seen - AVERAGES_UNTIL)
    return counted / (counted + HALF_OWN)


def usual_seconds(seen: Sequence[float], prior_seconds: float) -> float:
    """Return the median of the seconds of single cards, mixed with `prior_seconds`.

    A card shown for under 2 s or over 5 min counts as `prior_seconds`.
    """
    from statistics import median  # not loaded by `attn due`

    credible = [seconds if QUICKEST <= seconds < SLOWEST else prior_seconds for seconds in seen]
    return prior_seconds + own_share(len(seen)) * (median(credible or [prior_seconds]) - prior_seconds)
