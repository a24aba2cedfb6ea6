"""The fields that all cards have, as bank files write them; the bank checks their limits with pydantic.

The index keeps a card as plain data, of which `build` makes the dataclass again, without pydantic.
The kinds of cards are in `card_kinds.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import repeat
from random import Random
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from attncli.domain.parts import ALOUD, Answer, Entry, Marked, Part
from attncli.domain.vocabulary import Kind, Level, Limits, WrittenAs
from attncli.i18n import Localised, Text, quoted

Document = Mapping[str, Any]

FROM_ANKI = "from-anki"
"""The tag of a card that `attn import anki` made."""

PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""Names of cards, topics and challenges: lower-case letters, digits and single hyphens."""
LONGEST = 60

Id = Annotated[str, Limits(pattern=PATTERN, max_length=LONGEST)]
Name = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=40)]
Date = Annotated[str, Limits(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$")]
Errata = Annotated[str, Limits(pattern=r"^E\d{2,3}$")]
Flag = Annotated[bool, Limits(strict=True)]
NUMBER_OR_TEXT = WrittenAs(schema={"type": ["number", "string"]})


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
    compute: Annotated[Any, NUMBER_OR_TEXT]


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
    A card of the bundled bank has the fields in `needed`, and at least so many entries as `fewest` says. A learner's
    own card may leave out the keys in `presumed`, which have their values then.

    `drawn` is what was drawn for the card, as indices into its values or rows; no file has it. A kind of card is a
    subclass. It draws, marks, and yields its parts by the methods below.
    """

    kind: ClassVar[Kind]
    needed: ClassVar[tuple[str, ...]] = ("explain",)
    fewest: ClassVar[Mapping[str, int]] = {"points": 1}
    presumed: ClassVar[Mapping[str, str]] = {}

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
    drawn: tuple[int, ...] = ()

    @property
    def answer(self) -> Localised | None:
        """The answer said aloud: the lead and what follows it, as paragraphs."""
        return quoted("\n\n").join([self.lead, self.short]) if self.lead and self.short else self.lead or self.short

    @property
    def challenges(self) -> tuple[str, ...]:
        """The challenges that go with the card."""
        return (self.challenge,) if isinstance(self.challenge, str) and self.challenge else tuple(self.challenge)

    @property
    def wording(self) -> Localised:
        """The question with the values that were drawn, else with the first ones."""
        return self.question

    def draw(self, rng: Random) -> Self:
        """Return the card with values, or an order of its rows, that are drawn anew."""
        return self

    def entry(self) -> Entry:
        """Return how the card is answered."""
        return ALOUD

    def mark(self, answer: Answer) -> Marked | None:
        """Mark an answer; without one give up, and the feedback is the right one. None if the learner compares.

        Raises UsageError for an answer that cannot be read: it is not wrong.
        """
        return None

    def solution(self) -> Iterable[Part]:
        """Return what is printed as the answer, before `answer` and `explain`."""
        return ()

    def definition(self) -> Iterable[Part]:
        """Return the solution for every draw."""
        return self.solution()


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
