"""What the bank is to hold: the reviewed list of card ids, challenges and experiments in `planned.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attncli.bank.yaml_reader import parse, read_text

PLANNED = "planned.yaml"


@dataclass(frozen=True, slots=True)
class PlannedCard:
    """Kind, level and standing that a card is to have."""

    kind: str
    level: str
    core: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """Ids that may be linked to before they exist."""

    cards: Mapping[str, PlannedCard] = field(default_factory=dict)
    challenges: frozenset[str] = frozenset()
    experiments: frozenset[str] = frozenset()

    @property
    def topics(self) -> frozenset[str]:
        return frozenset(identity.rpartition("-")[0] for identity in self.cards)


def load_planned(folder: Path) -> Planned:
    """The list of a bank folder; a folder without one plans nothing."""
    path = folder / PLANNED
    if not path.is_file():
        return Planned()
    value = parse(str(path), read_text(path)).value
    return Planned(
        cards={identity: _planned_card(words.split()) for identity, words in value["cards"].items()},
        challenges=frozenset(value["challenges"]),
        experiments=frozenset(value["experiments"]),
    )


def _planned_card(words: list[str]) -> PlannedCard:
    return PlannedCard(kind=words[0], level=words[1], core="core" in words[2:])
