"""The shapes of bank files: pydantic models for each kind of card, the glossary, the ledger and a challenge's files.

Models only validate; documents stay the plain values that were read. Strict: nothing is converted, no key is ignored.
Rules that a shape cannot express (answers that compute, cycles, links) are in the `*_rules` modules.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, WithJsonSchema, create_model

from attncli.domain.card import LONGEST, PATTERN
from attncli.domain.vocabulary import CHECK_NAMES, Level

Id = Annotated[str, StringConstraints(pattern=PATTERN, max_length=LONGEST)]
Text = Annotated[str, StringConstraints(pattern=r"\S")]
Date = Annotated[str, StringConstraints(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
Errata = Annotated[str, StringConstraints(pattern=r"^E\d{2,3}$")]
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=40)]
NumberOrText = Annotated[Any, WithJsonSchema({"type": ["number", "string"]})]
Choices = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "number"}, "minItems": 1},
                {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1},
            ]
        }
    ),
]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class LocalisedText(Shape):
    en: Text
    zh: Text


class PitfallShape(LocalisedText):
    errata: Errata = ""


class SourceShape(Shape):
    id: Text
    where: Text = ""
    date: Date = ""


class NumberShape(Shape):
    says: Text
    says_zh: Text = ""
    compute: NumberOrText


class FollowUpShape(Shape):
    """The next question of an interviewer, with its answer; `card` is one that says more."""

    ask: LocalisedText
    answer: LocalisedText
    card: Id = ""


FollowUp = Annotated[
    Annotated[Id, Tag("<id>")] | Annotated[FollowUpShape, Tag("<question>")],
    Discriminator(lambda value: "<question>" if isinstance(value, dict) else "<id>"),
]
"""A card's id, or a question with its answer."""


class CardShape(Shape):
    """The keys of every kind."""

    id: Id
    kind: str
    level: Level
    core: bool = False
    question: LocalisedText
    short: LocalisedText | None = None
    explain: LocalisedText | None = None
    points: Annotated[list[LocalisedText], Field(min_length=1, max_length=7)] = []
    pitfalls: list[PitfallShape] = []
    follow_ups: list[FollowUp] = []
    sources: list[SourceShape] = []
    numbers: list[NumberShape] = []
    tags: list[Text] = []
    formerly: list[Id] = []
    as_of: Date = ""
    unverifiable: bool = False
    challenge: Id | Annotated[list[Id], Field(min_length=1)] = ""
    experiment: Id = ""


class QaShape(CardShape):
    kind: Literal["qa"]
    short: LocalisedText
    explain: LocalisedText
    points: Annotated[list[LocalisedText], Field(min_length=3, max_length=7)]


class OptionShape(Shape):
    text: LocalisedText
    correct: bool = False
    why_not: LocalisedText | None = None
    errata: Errata = ""


class ChoiceShape(CardShape):
    kind: Literal["choice"]
    options: Annotated[list[OptionShape], Field(min_length=3, max_length=5)]


class SlipShape(Shape):
    """A common mistake: the formula that it computes, and an explanation."""

    compute: NumberOrText
    says: LocalisedText


class NumericShape(CardShape):
    kind: Literal["numeric"]
    explain: LocalisedText
    parameters: dict[Name, Choices] = {}
    compute: NumberOrText
    compute_unit: str = ""
    unit: str
    tolerance: NumberOrText
    slips: list[SlipShape] = []


class BlankShape(Shape):
    answer: Text
    accept: list[Text] = []
    form: Literal["text", "algebra"] = "text"
    variables: list[Text] = []


class ClozeShape(CardShape):
    kind: Literal["cloze"]
    explain: LocalisedText
    blanks: Annotated[list[BlankShape], Field(min_length=1, max_length=8)]


class ItemShape(Shape):
    key: Name
    text: LocalisedText


class OrderingShape(CardShape):
    kind: Literal["ordering"]
    explain: LocalisedText
    items: Annotated[list[ItemShape], Field(min_length=2, max_length=12)]
    before: Annotated[list[Annotated[list[Name], Field(min_length=2, max_length=2)]], Field(min_length=1)]


class DebugShape(CardShape):
    kind: Literal["debug"]
    explain: LocalisedText
    code: Text
    lines: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
    symptom: LocalisedText
    fix: LocalisedText | None = None
    wrong: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9_-]+$")] = ""


SHAPES: dict[str, type[CardShape]] = {
    "qa": QaShape,
    "choice": ChoiceShape,
    "numeric": NumericShape,
    "cloze": ClozeShape,
    "ordering": OrderingShape,
    "debug": DebugShape,
}


def _own(shape: type[CardShape]) -> type[CardShape]:
    """Return the shape of a learner's own card, which need not explain its answer."""
    fields: dict[str, Any] = {
        "explain": (LocalisedText | None, None),
        "points": (Annotated[list[LocalisedText], Field(max_length=7)], []),
    }
    if shape is ChoiceShape:
        fields["options"] = (Annotated[list[OptionShape], Field(min_length=2, max_length=5)], ...)
    return create_model(f"Own{shape.__name__}", __base__=shape, **fields)


OWN_SHAPES: dict[str, type[CardShape]] = {kind: _own(shape) for kind, shape in SHAPES.items()}


class UnknownKindShape(CardShape):
    """The common keys, to check a card whose kind is unknown."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    kind: Any = None


class TopicShape(Shape):
    """A bank file around its cards."""

    topic: Id
    licence: Text = ""
    title: LocalisedText | None = None
    cards: list[Any]


class TermShape(Shape):
    """One term: its form in each language, other words to find it by, and words that cards must avoid."""

    en: Text
    zh: Text
    abbreviation: Text = ""
    also_en: list[Text] = []
    also_zh: list[Text] = []
    avoid_en: list[Text] = []
    avoid_zh: list[Text] = []
    note: LocalisedText | None = None


class GlossaryShape(Shape):
    licence: Text = ""
    terms: list[TermShape]


class ReadingShape(Shape):
    """One reading of a card by somebody who had not written it: hashes of the texts, and how they were checked."""

    date: Date
    en: Hash
    zh: Hash
    checked: Text


class LedgerShape(Shape):
    cards: dict[Id, ReadingShape]


class ChallengeShape(Shape):
    """`impl/<track>/<id>/challenge.yaml`; the folders name its track and id."""

    level: Annotated[int, Field(ge=1, le=5)]
    version: Annotated[int, Field(ge=1)] = 1
    title: LocalisedText
    entry: Annotated[list[Name], Field(min_length=1)]
    statement: LocalisedText
    hardened: LocalisedText | None = None
    hints: Annotated[list[LocalisedText], Field(min_length=1)]
    required: Annotated[list[Literal[CHECK_NAMES]], Field(min_length=1)]  # type: ignore[valid-type]
    badges: list[Literal[CHECK_NAMES]] = []  # type: ignore[valid-type]
    forbidden: list[Text] = []
    kernel: bool = False
    cards: list[Id] = []
    follow_ups: list[FollowUpShape] = []
    sources: list[SourceShape] = []


class RepairShape(Shape):
    """A mistake to plant: lines of the reference and their replacement, which may be empty."""

    wrong: Id
    find: Text
    replace: str


class RepairsShape(Shape):
    """`repairs.yaml` beside a `challenge.yaml`."""

    repairs: list[RepairShape]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a bank file, for editors."""
    from pydantic.json_schema import models_json_schema

    models = [(model, "validation") for model in (TopicShape, *SHAPES.values())]
    _, schema = models_json_schema(models, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    topic = schema["$defs"].pop("TopicShape")
    topic["properties"]["cards"] = {
        "type": "array",
        "items": {"oneOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in SHAPES.values()]},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A topic of an attncli question bank",
        **{key: value for key, value in topic.items() if key != "title"},
        "$defs": schema["$defs"],
    }
