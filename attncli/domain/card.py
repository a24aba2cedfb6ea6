"""The common fields of all cards, in the form of bank files; the bank checks their limits with pydantic.

The index stores cards as plain data; `build` turns them back into dataclasses, without pydantic. The kinds of cards are
in `card_kinds.py`.
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
    """Form of a follow-up in a bank file: a card id, or a question with its answer."""

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
        """Format the source, e.g. `arXiv:1706.03762 §3.2.1 (2017-06)`."""
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
    """An interviewer's next question: a question with its answer, a card, or both.

    Without `ask`, the question of `card` is asked; `card` is empty if no card covers it.
    """

    ask: Annotated[Localised | None, WrittenAs(Localised)]
    answer: Annotated[Localised | None, WrittenAs(Localised)]
    card: Id = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The fields of every kind. `as_of` is the month of its facts (`2026-06`), or empty if they do not age.

    `lead` is the answer's first 30 seconds, `short` the rest. `formula` is to be known by heart (LaTeX). Nearly every
    interview asks a `must_know`, which has a `formula` or else a one-line `fact`. Cards of the bundled bank have all
    fields in `needed`, and at least as many entries as `fewest` requires. A learner's own card may omit the keys of
    `presumed`, which has their defaults.

    `drawn` has the drawn indices into its values or rows; it is in no file. Each kind of card is a subclass, which
    overrides the methods below to draw, mark, and yield its parts.
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
        """The spoken answer: `lead` and `short`, as paragraphs."""
        return quoted("\n\n").join([self.lead, self.short]) if self.lead and self.short else self.lead or self.short

    @property
    def challenges(self) -> tuple[str, ...]:
        """The challenges that go with the card."""
        return (self.challenge,) if isinstance(self.challenge, str) and self.challenge else tuple(self.challenge)

    @property
    def wording(self) -> Localised:
        """The question with the drawn values, or with the first ones before a draw."""
        return self.question

    def draw(self, rng: Random) -> Self:
        """Return the card with newly drawn values, or a new order of its rows."""
        return self

    def entry(self) -> Entry:
        """Return the way to answer the card."""
        return ALOUD

    def mark(self, answer: Answer) -> Marked | None:
        """Mark an answer; an empty one gives up and gets the right one. Returns None if the learner compares.

        Raises UsageError for an unreadable answer, which does not count as wrong.
        """
        return None

    def solution(self) -> Iterable[Part]:
        """Return the parts of the solution, shown before `answer` and `explain`."""
        return ()

    def definition(self) -> Iterable[Part]:
        """Return the solution that is valid for every draw."""
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
    """Return True if a name consists of lower-case letters, digits and single hyphens."""
    return len(name) <= longest and re.fullmatch(PATTERN, name) is not None
