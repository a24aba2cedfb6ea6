"""Cards: one dataclass for each kind, as bank files write it; the bank checks the limits of the fields with pydantic.

The index keeps a card as plain data. `card_of` builds it again, without pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import repeat
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from attncli.domain.text import example_labels, filled
from attncli.domain.vocabulary import Kind, Level, Limits, WrittenAs
from attncli.i18n import Localised, Text, quoted

Document = Mapping[str, Any]

FROM_ANKI = "from-anki"
"""The tag of a card that `attn import anki` made."""
BLANK = "____"
"""A blank in the question of a cloze card."""

PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""Names of cards, topics and challenges: lower-case letters, digits and single hyphens."""
LONGEST = 60

Id = Annotated[str, Limits(pattern=PATTERN, max_length=LONGEST)]
Name = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=40)]
Date = Annotated[str, Limits(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
Errata = Annotated[str, Limits(pattern=r"^E\d{2,3}$")]
Flag = Annotated[bool, Limits(strict=True)]
_NUMBER_OR_TEXT = WrittenAs(schema={"type": ["number", "string"]})
Formula = Annotated[str, _NUMBER_OR_TEXT]
Choices = Annotated[
    tuple[tuple[str, float | int], ...],
    WrittenAs(
        schema={
            "anyOf": [
                {"type": "array", "items": {"type": "number"}, "minItems": 1},
                {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1},
            ]
        }
    ),
]


class IdOrQuestion:
    """A follow-up is written as the id of a card, or as a question with its answer."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "tagged-union",
            "choices": {"<id>": handler.generate_schema(Id), "<question>": handler(source)},
            "discriminator": lambda value: "<question>" if isinstance(value, dict) else "<id>",
        }


@dataclass(frozen=True, slots=True)
class Pitfall(Localised):
    """A wrong statement that candidates make; `errata` is its id in the list of common errors, or empty."""

    errata: Errata = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A reference for a statement: `id` is `arxiv:1706.03762`, `doi:…`, `url:…`; `where` a section or equation."""

    id: Text
    where: Text = ""
    date: Date = ""

    @property
    def text(self) -> str:
        """`arXiv:1706.03762 §3.2.1 (2017-06)`."""
        scheme, _, rest = self.id.partition(":")
        scheme = {"arxiv": "arXiv", "isbn": "ISBN"}.get(scheme, scheme)
        name = rest if scheme == "url" else f"{scheme}:{rest}"
        return " ".join(part for part in (name, self.where, self.date and f"({self.date})") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in the text of a card, and the formula that gives it."""

    says: Text
    says_zh: Text = ""
    compute: Annotated[Any, _NUMBER_OR_TEXT]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The next question of an interviewer: a question with its answer, a card that is worth asking, or both.

    Without `ask` the question is that of `card`; `card` is empty where no card says more.
    """

    ask: Annotated[Localised | None, WrittenAs(Localised)]
    answer: Annotated[Localised | None, WrittenAs(Localised)]
    card: Id = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The fields of every kind. `as_of` is when its facts were true: `2026-06`, or empty where they do not age.

    `lead` is said in the first 30 seconds, `short` goes on from there. `formula` is one to know by heart (LaTeX).
    Nearly every interview asks a `must_know`, which has a formula or, where there is none, a `fact` of one line.
    A card of the bundled bank has the fields in `needed`, and at least so many entries as `fewest` says.
    """

    kind: ClassVar[Kind]
    needed: ClassVar[tuple[str, ...]] = ("explain",)
    fewest: ClassVar[Mapping[str, int]] = {"points": 1}

    id: Id
    topic: str
    level: Level
    core: Flag = False
    question: Localised
    short: Localised | None = None
    explain: Localised | None = None
    points: Annotated[tuple[Localised, ...], Limits(max_length=7)] = ()
    pitfalls: tuple[Pitfall, ...] = ()
    follow_ups: tuple[Annotated[FollowUp, IdOrQuestion()], ...] = ()
    sources: tuple[Source, ...] = ()
    numbers: tuple[Number, ...] = ()
    tags: tuple[Text, ...] = ()
    formerly: tuple[Id, ...] = ()
    as_of: Date = ""
    unverifiable: Flag = False
    challenge: Id | Annotated[tuple[Id, ...], Limits(min_length=1)] = ""
    experiment: Id = ""
    lead: Localised | None = None
    formula: Text = ""
    fact: Localised | None = None
    must_know: Flag = False

    @property
    def exercise(self) -> Card:
        """The card that is asked, marked and printed in place of this one: by default itself.

        A kind that is a variant of another one, such as a choice between two options, returns a card of that kind.
        """
        return self

    @property
    def answer(self) -> Localised | None:
        """The answer said aloud: the lead and what follows it, as paragraphs."""
        return quoted("\n\n").join([self.lead, self.short]) if self.lead and self.short else self.lead or self.short

    @property
    def challenges(self) -> tuple[str, ...]:
        """The challenges that go with the card."""
        return (self.challenge,) if isinstance(self.challenge, str) and self.challenge else tuple(self.challenge)

    @property
    def listed(self) -> Localised:
        """The question for lists, where no values are drawn."""
        return self.question


@dataclass(frozen=True, slots=True, kw_only=True)
class QaCard(Card):
    """Asked aloud, answered aloud, self-rated against `points`."""

    kind = "qa"
    needed = ("short", "explain", "points")
    fewest: ClassVar = {"points": 3}
    short: Localised


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a choice card; a wrong one says why not."""

    text: Localised
    correct: Flag = False
    why_not: Localised | None = None
    errata: Errata = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCard(Card):
    """One or several options are right."""

    kind = "choice"
    needed = ()
    fewest: ClassVar = {**Card.fewest, "options": 3}
    options: Annotated[tuple[Option, ...], Limits(min_length=2, max_length=5)]

    @property
    def multiple(self) -> bool:
        return sum(option.correct for option in self.options) > 1


@dataclass(frozen=True, slots=True)
class Slip:
    """A common mistake in a numeric card: the formula that it computes, and an explanation."""

    compute: Formula
    says: Localised


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericCard(Card):
    """A number computed from parameters that are drawn afresh each time.

    `parameters` maps a name to its choices, each a (label, value) pair; `{{name}}` in the question shows the label.
    `compute` is an arithmetic expression over the names, in `compute_unit`, or where that is empty in `unit`, in which
    the answer is asked for. `tolerance` is relative when it ends in `%`, absolute otherwise.
    """

    kind = "numeric"
    parameters: Annotated[tuple[tuple[str, Choices], ...], WrittenAs(dict[Name, Choices])] = ()
    compute: Formula
    compute_unit: str = ""
    unit: str
    tolerance: Formula
    slips: tuple[Slip, ...] = ()

    @property
    def computed_in(self) -> str:
        """The unit in which `compute` gives the answer."""
        return self.compute_unit or self.unit

    @property
    def listed(self) -> Localised:
        """The question with the first value of each parameter."""
        labels = example_labels(self.parameters)
        return Localised(filled(self.question.en, labels), filled(self.question.zh, labels))


@dataclass(frozen=True, slots=True)
class Blank:
    """One blank of a cloze card.

    `form` "algebra" accepts every expression equal to `answer` in the named `variables`; "text" compares words.
    `accept` lists further answers that count as right.
    """

    answer: Text
    accept: tuple[Text, ...] = ()
    form: Literal["text", "algebra"] = "text"
    variables: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeCard(Card):
    """`____` in the question marks a blank, in order, in both languages."""

    kind = "cloze"
    blanks: Annotated[tuple[Blank, ...], Limits(min_length=1, max_length=8)]


@dataclass(frozen=True, slots=True)
class Item:
    """An item to put in order."""

    key: Name
    text: Localised


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingCard(Card):
    """Items to put in order; `before` holds the pairs (i, j) of item keys in which i must come before j."""

    kind = "ordering"
    items: Annotated[tuple[Item, ...], Limits(min_length=2, max_length=12)]
    before: Annotated[tuple[Annotated[tuple[Name, ...], Limits(min_length=2, max_length=2)], ...], Limits(min_length=1)]

    @property
    def texts(self) -> dict[str, Localised]:
        """The text of each item, by its key."""
        return {item.key: item.text for item in self.items}


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCard(Card):
    """At most 15 lines of code with a mistake: find its line (from 1; any of `lines` counts) and its symptom."""

    kind = "debug"
    code: Text
    lines: Annotated[tuple[Annotated[int, Limits(ge=1, strict=True)], ...], Limits(min_length=1)]
    symptom: Localised
    fix: Localised | None = None
    wrong: Annotated[str, Limits(pattern=r"^[a-z0-9-]+/[a-z0-9_-]+$")] = ""


CARDS: dict[str, type[Card]] = {
    card.kind: card for card in (QaCard, ChoiceCard, NumericCard, ClozeCard, OrderingCard, DebugCard)
}


def card_of(document: Document) -> Card:
    """Build a card from its validated document. Raises KeyError for an unknown kind."""
    card: Card = build(CARDS[document["kind"]], document)
    return card


def build(form: Any, value: Any) -> Any:
    """Build a value of type `form`, a dataclass or the type of a field, from validated plain data."""
    forms = (form, *get_args(form))
    if isinstance(value, dict) and form is not Any:
        shape: Any = next(filter(is_dataclass, forms))
        return shape(**{name: build(each, value[name]) for name, each in types_of(shape).items() if name in value})
    if isinstance(value, list) and form is not Any:
        items = get_args(next(each for each in forms if get_origin(each) is tuple))
        return tuple(map(build, repeat(items[0]) if items[-1] is Ellipsis else items, value))
    return FollowUp(None, None, value) if form is FollowUp else value


@cache
def types_of(shape: Any, with_limits: bool = False) -> dict[str, Any]:
    """Return the type of each field of a dataclass."""
    types = get_type_hints(shape, include_extras=with_limits)
    return {field.name: types[field.name] for field in fields(shape)}


def is_identifier(name: str, longest: int = LONGEST) -> bool:
    """Return True if a name is of lower-case letters, digits and single hyphens."""
    return len(name) <= longest and re.fullmatch(PATTERN, name) is not None
