"""The shapes of bank files: the classes of cards as they are written, the glossary, a challenge's files.

pydantic only validates; documents stay the plain values that were read. Nothing is converted, no key is ignored.
Rules that a shape cannot express (answers that compute, cycles, links) are in the `*_rules` modules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, TypeAdapter

from attncli.domain.card import Card, Id, types_of
from attncli.domain.card_kinds import CARDS
from attncli.domain.challenge import Challenge
from attncli.domain.vocabulary import Limits
from attncli.i18n import Localised, Text


class Shape:
    """A mapping of a bank file: a key that is not a field is an error."""

    __pydantic_config__ = ConfigDict(extra="forbid")


class LooseShape:
    """A mapping in which other keys are ignored."""

    __pydantic_config__ = ConfigDict(extra="ignore")


@cache
def adapter(shape: type) -> TypeAdapter[Any]:
    """Return the validator of a dataclass."""
    return TypeAdapter(shape)


def card_shape(card: type[Card], own: bool = False) -> type:
    """Return the class of a card as a bank file writes it: with its kind, without the topic, which the file names.

    A learner's `own` card need not explain its answer. `Card` itself is used for an unknown kind.
    """
    found: list[tuple[str, Any, Any]] = [("kind", Any if card is Card else Literal[card.kind], field())]
    for name, form, default in _fields(card, "topic", "drawn"):
        needed = not own and name in card.needed
        if needed and NoneType in get_args(form):
            form = get_args(form)[0]
        if not own and name in card.fewest:
            form = Annotated[form, Limits(min_length=card.fewest[name])]
        found.append((name, form, field() if needed else default))
    found[:2] = found[1::-1]
    return make_dataclass(card.__name__, found, bases=(LooseShape if card is Card else Shape,), kw_only=True)


def _fields(shape: Any, *left_out: str) -> list[tuple[str, Any, Any]]:
    """Return the name, type and default of each field."""
    types = types_of(shape, with_limits=True)
    return [
        (each.name, types[each.name], field(default=each.default))
        for each in fields(shape)
        if each.name not in left_out
    ]


SHAPES = {kind: card_shape(card) for kind, card in CARDS.items()}
OWN_SHAPES = {kind: card_shape(card, own=True) for kind, card in CARDS.items()}
UNKNOWN_KIND = card_shape(Card)
"""The common keys, to check a card whose kind is unknown."""
CHALLENGE_SHAPE = make_dataclass(
    "Challenge", _fields(Challenge, "id", "track", "mistakes", "folder"), bases=(Shape,), kw_only=True
)
"""`impl/<track>/<id>/challenge.yaml`; the folders name its track and id."""


@dataclass(kw_only=True)
class TopicShape(Shape):
    """A bank file: its topic, licence, title and cards."""

    topic: Id
    licence: Text = ""
    title: Localised | None = None
    cards: list[Any]


@dataclass(kw_only=True)
class TermShape(Shape):
    """One term: its form in each language, other words to find it by, and words that cards must avoid."""

    en: Text
    zh: Text
    abbreviation: Text = ""
    also_en: list[Text] = field(default_factory=list)
    also_zh: list[Text] = field(default_factory=list)
    avoid_en: list[Text] = field(default_factory=list)
    avoid_zh: list[Text] = field(default_factory=list)
    note: Localised | None = None


@dataclass(kw_only=True)
class GlossaryShape(Shape):
    licence: Text = ""
    terms: list[TermShape]


@dataclass(kw_only=True)
class RepairShape(Shape):
    """A mistake to plant: lines of the reference and their replacement, which may be empty."""

    wrong: Id
    find: Text
    replace: str


@dataclass(kw_only=True)
class RepairsShape(Shape):
    """`repairs.yaml` beside a `challenge.yaml`."""

    repairs: list[RepairShape]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a bank file, for editors."""
    shapes = (TopicShape, *SHAPES.values())
    _, schema = TypeAdapter.json_schemas((each.__name__, "validation", adapter(each)) for each in shapes)
    topic = schema["$defs"].pop("TopicShape")
    topic["properties"]["cards"] = {
        "type": "array",
        "items": {"oneOf": [{"$ref": f"#/$defs/{each.__name__}"} for each in SHAPES.values()]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A topic of an attncli question bank",
        **{key: value for key, value in topic.items() if key != "title"},
        "$defs": schema["$defs"],
    }
