"""Choosing cards beyond the schedule: what the learner wishes for, what fits it, and a draw from that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from attncli.domain.card import LEVELS, Kind, Level
from attncli.errors import NothingFits
from attncli.practice.cards.weakness import weak_cards
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

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
