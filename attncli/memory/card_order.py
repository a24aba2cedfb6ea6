"""In what order cards come: unseen ones over the topics, and unseen ones among reviews."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

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


def asked_weight(core: bool, level: str) -> float:
    """How much a card is asked; one of a level that this program does not know counts as onsite."""
    return ASKED.get((core, level), ASKED[core, "onsite"])


@dataclass(frozen=True, slots=True)
class Unseen:
    """What the order of introduction looks at; `position` is the card's place in its file."""

    id: str
    topic: str
    core: bool
    level: str
    position: int


def unseen_cards(rows: Iterable[tuple[str, str, bool, str, int]]) -> list[Unseen]:
    """The rows (id, topic, core, level, position) as what the order of introduction looks at."""
    return [Unseen(*row) for row in rows]


def introduction_order(cards: Iterable[Unseen]) -> list[str]:
    """Ids in the order in which cards are introduced: core cards first, then by level; topics take turns."""
    lanes: dict[tuple[bool, str], list[Unseen]] = defaultdict(list)
    for card in cards:
        lanes[not card.core, card.topic].append(card)
    for lane in lanes.values():
        lane.sort(key=lambda card: (LEVELS.index(card.level) if card.level in LEVELS else 0, card.position, card.id))
    core = [lanes[key] for key in sorted(lanes) if not key[0]]
    rest = [lanes[key] for key in sorted(lanes) if key[0]]
    return [card.id for card in chain(take_turns(core), take_turns(rest))]


def asked_order(cards: Iterable[Unseen]) -> list[str]:
    """Ids in the order before an interview: what is asked most first; topics take turns among what is asked alike."""
    lanes: dict[tuple[float, str], list[Unseen]] = defaultdict(list)
    for card in cards:
        lanes[-asked_weight(card.core, card.level), card.topic].append(card)
    alike: dict[float, list[list[Unseen]]] = defaultdict(list)
    for key in sorted(lanes):
        alike[key[0]].append(sorted(lanes[key], key=lambda card: (card.position, card.id)))
    return [card.id for card in chain.from_iterable(take_turns(topics) for topics in alike.values())]


def take_turns(lanes: Iterable[Sequence[T]]) -> list[T]:
    """One from each lane, then the second of each, and so on."""
    lanes = list(lanes)
    longest = max((len(lane) for lane in lanes), default=0)
    return [lane[turn] for turn in range(longest) for lane in lanes if turn < len(lane)]


def spread(main: Sequence[T], others: Sequence[T]) -> list[T]:
    """`others` put evenly between `main`, both in their own order."""
    placed = [
        ((index + 0.5) / len(lane), rank, item)
        for rank, lane in enumerate((main, others))
        for index, item in enumerate(lane)
    ]
    return [item for _, _, item in sorted(placed, key=lambda entry: entry[:2])]
