"""Cards: one dataclass for each kind, built from a document that the bank has validated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from attncli.domain.text import Localised, example_labels, filled
from attncli.domain.vocabulary import Kind, Level

Document = Mapping[str, Any]

FROM_ANKI = "from-anki"
"""The tag of a card that `attn import anki` made."""
BLANK = "____"
"""A blank in the question of a cloze card."""

PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
"""Names of cards, topics and challenges: lower-case letters, digits and single hyphens."""
LONGEST = 60


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A wrong statement that candidates make; `errata` is its id in the list of common errors, or empty."""

    says: Localised
    errata: str


@dataclass(frozen=True, slots=True)
class Source:
    """A reference for a statement: `id` is `arxiv:1706.03762`, `doi:…`, `url:…`; `where` a section or equation."""

    id: str
    where: str
    date: str

    @property
    def text(self) -> str:
        """`arXiv:1706.03762 §3.2.1 (2017-06)`."""
        scheme, _, rest = self.id.partition(":")
        scheme = {"arxiv": "arXiv", "isbn": "ISBN"}.get(scheme, scheme)
        name = rest if scheme == "url" else f"{scheme}:{rest}"
        return " ".join(part for part in (name, self.where, self.date and f"({self.date})") if part)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The next question of an interviewer: a question with its answer, a card that is worth asking, or both.

    Without `ask` the question is that of `card`; `card` is empty where no card says more.
    """

    card: str
    ask: Localised | None = None
    answer: Localised | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The fields of every kind. `as_of` is when its facts were true: `2026-06`, or empty where they do not age."""

    kind: ClassVar[Kind]

    id: str
    topic: str
    level: Level
    core: bool
    question: Localised
    short: Localised | None = None
    explain: Localised | None = None
    points: tuple[Localised, ...] = ()
    pitfalls: tuple[Pitfall, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    sources: tuple[Source, ...] = ()
    tags: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    as_of: str = ""
    unverifiable: bool = False
    challenges: tuple[str, ...] = ()
    experiment: str = ""

    @property
    def listed(self) -> Localised:
        """The question for lists, where no values are drawn."""
        return self.question


@dataclass(frozen=True, slots=True, kw_only=True)
class QaCard(Card):
    """Asked aloud, answered aloud, self-rated against `points`."""

    kind = "qa"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a choice card; a wrong one says why not."""

    text: Localised
    correct: bool
    why_not: Localised | None
    errata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCard(Card):
    """One or several options are right."""

    kind = "choice"
    options: tuple[Option, ...]

    @property
    def multiple(self) -> bool:
        return sum(option.correct for option in self.options) > 1


@dataclass(frozen=True, slots=True)
class Slip:
    """A common mistake in a numeric card: the formula that it computes, and an explanation."""

    compute: str
    says: Localised


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericCard(Card):
    """A number computed from parameters that are drawn afresh each time.

    `parameters` maps a name to its choices, each a (label, value) pair; `{{name}}` in the question shows the label.
    `compute` is an arithmetic expression over the names, in `compute_unit`; the answer is asked for in `unit`.
    `tolerance` is relative when it ends in `%`, absolute otherwise.
    """

    kind = "numeric"
    parameters: tuple[tuple[str, tuple[tuple[str, float | int], ...]], ...]
    compute: str
    compute_unit: str
    unit: str
    tolerance: str
    slips: tuple[Slip, ...] = ()

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

    answer: str
    accept: tuple[str, ...]
    form: Literal["algebra", "text"]
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeCard(Card):
    """`____` in the question marks a blank, in order, in both languages."""

    kind = "cloze"
    blanks: tuple[Blank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingCard(Card):
    """Items to put in order; `before` holds the pairs (i, j) of item keys in which i must come before j."""

    kind = "ordering"
    items: tuple[tuple[str, Localised], ...]
    before: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCard(Card):
    """At most 15 lines of code with a mistake: find its line (from 1; any of `lines` counts) and its symptom."""

    kind = "debug"
    code: str
    lines: tuple[int, ...]
    symptom: Localised
    fix: Localised | None = None
    wrong: str = ""


def card_of(document: Document) -> Card:
    """Build the card that a validated document (see `attncli.bank.schema`) describes."""
    common = _common(document)
    match document["kind"]:
        case "qa":
            return QaCard(**common)
        case "choice":
            return ChoiceCard(**common, options=tuple(map(_option, document["options"])))
        case "numeric":
            return NumericCard(
                **common,
                parameters=tuple(
                    (name, tuple((str(label), value) for label, value in choices))
                    for name, choices in document.get("parameters") or ()
                ),
                compute=document["compute"],
                compute_unit=document.get("compute_unit") or document.get("unit") or "",
                unit=document.get("unit") or "",
                tolerance=document["tolerance"],
                slips=tuple(Slip(slip["compute"], Localised.of(slip["says"])) for slip in document.get("slips") or ()),
            )
        case "cloze":
            return ClozeCard(**common, blanks=tuple(map(_blank, document["blanks"])))
        case "ordering":
            items = tuple((item["key"], Localised.of(item["text"])) for item in document["items"])
            return OrderingCard(**common, items=items, before=tuple((a, b) for a, b in document["before"]))
        case "debug":
            return DebugCard(
                **common,
                code=document["code"],
                lines=tuple(document["lines"]),
                symptom=Localised.of(document["symptom"]),
                fix=_text(document, "fix"),
                wrong=document.get("wrong") or "",
            )
        case unknown:
            raise KeyError(unknown)


def follow_ups_of(document: Document) -> tuple[FollowUp, ...]:
    """Return the follow-ups of a validated card or challenge."""
    return tuple(
        FollowUp(entry)
        if isinstance(entry, str)
        else FollowUp(entry.get("card") or "", Localised.of(entry["ask"]), Localised.of(entry["answer"]))
        for entry in document.get("follow_ups") or ()
    )


def sources_of(document: Document) -> tuple[Source, ...]:
    """Return the sources of a validated card or challenge."""
    return tuple(Source(s["id"], s.get("where") or "", s.get("date") or "") for s in document.get("sources") or ())


def _common(document: Document) -> dict[str, Any]:
    challenges = document.get("challenge") or ()
    return {
        "id": document["id"],
        "topic": document["topic"],
        "level": document["level"],
        "core": bool(document.get("core")),
        "question": Localised.of(document["question"]),
        "short": _text(document, "short"),
        "explain": _text(document, "explain"),
        "points": tuple(Localised.of(point) for point in document.get("points") or ()),
        "pitfalls": tuple(Pitfall(Localised.of(p), p.get("errata") or "") for p in document.get("pitfalls") or ()),
        "follow_ups": follow_ups_of(document),
        "sources": sources_of(document),
        "tags": tuple(document.get("tags") or ()),
        "formerly": tuple(document.get("formerly") or ()),
        "as_of": document.get("as_of") or "",
        "unverifiable": bool(document.get("unverifiable")),
        "challenges": (challenges,) if isinstance(challenges, str) else tuple(challenges),
        "experiment": document.get("experiment") or "",
    }


def _option(option: Document) -> Option:
    return Option(
        Localised.of(option["text"]),
        bool(option.get("correct")),
        _text(option, "why_not"),
        option.get("errata") or "",
    )


def _blank(blank: Document) -> Blank:
    return Blank(
        blank["answer"],
        tuple(blank.get("accept") or ()),
        blank.get("form") or "text",
        tuple(blank.get("variables") or ()),
    )


def _text(document: Document, key: str) -> Localised | None:
    value = document.get(key)
    return Localised.of(value) if value else None


def is_identifier(name: str, longest: int = LONGEST) -> bool:
    """Return True if a name is of lower-case letters, digits and single hyphens."""
    return len(name) <= longest and re.fullmatch(PATTERN, name) is not None
