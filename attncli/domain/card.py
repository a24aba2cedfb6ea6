"""Cards: one dataclass for each kind, built from a document that the bank has validated."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from attncli.domain.text import Localised, example_labels, filled

Kind = Literal["qa", "choice", "numeric", "cloze", "ordering", "debug"]
Level = Literal["screen", "onsite", "research"]
KINDS: tuple[Kind, ...] = ("qa", "choice", "numeric", "cloze", "ordering", "debug")
LEVELS: tuple[Level, ...] = ("screen", "onsite", "research")

Document = Mapping[str, Any]

FROM_ANKI = "from-anki"
"""The tag of a card that `attn import anki` made."""
BLANK = "____"
"""What a cloze card leaves out, in its question."""


@dataclass(frozen=True, slots=True)
class Pitfall:
    """What candidates say and should not; `errata` is its id in the list of common errors, or empty."""

    says: Localised
    errata: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement can be looked up: `arxiv:1706.03762`, `doi:…`, `url:…`; `where` a section or equation."""

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
    """What an interviewer asks next: a question with its answer, a card that is worth asking, or both.

    Without a question of its own it asks what `card` asks; `card` is empty where no card says more.
    """

    card: str
    ask: Localised | None = None
    answer: Localised | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What every kind of card has. `as_of` is when its facts were true: `2026-06`, or empty where they do not age."""

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
        """The question as lists show it, where nothing is drawn."""
        return self.question


@dataclass(frozen=True, slots=True, kw_only=True)
class QaCard(Card):
    """Asked aloud, answered aloud, self-rated against `points`."""

    kind = "qa"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a choice card; a wrong one says why not."""

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
    """A usual mistake in a numeric card: what it computes (as `compute` of the card does), and what went wrong."""

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
    """Items to be put in order; `before` holds the pairs (i, j) of item keys in which i must come before j."""

    kind = "ordering"
    items: tuple[tuple[str, Localised], ...]
    before: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCard(Card):
    """At most 15 lines with a mistake: which line (1-based; any of `lines` counts), and what is its symptom?"""

    kind = "debug"
    code: str
    lines: tuple[int, ...]
    symptom: Localised
    fix: Localised | None = None
    wrong: str = ""


def card_of(document: Document) -> Card:
    """The card that a validated document (see `attncli.bank.schema`) describes."""
    build = _BUILDERS[document["kind"]]
    return build(document, _common(document))


def _text(document: Document, key: str) -> Localised | None:
    value = document.get(key)
    return Localised.of(value) if value else None


def _common(document: Document) -> dict[str, Any]:
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
        "challenges": _listed(document.get("challenge")),
        "experiment": document.get("experiment") or "",
    }


def _listed(named: Any) -> tuple[str, ...]:
    """One name, or a list of them."""
    return tuple(named) if isinstance(named, list) else (named,) if named else ()


def follow_ups_of(document: Document) -> tuple[FollowUp, ...]:
    """What a validated card or challenge says is asked next."""
    return tuple(_follow_up(entry) for entry in document.get("follow_ups") or ())


def sources_of(document: Document) -> tuple[Source, ...]:
    """Where a validated card or challenge can be looked up."""
    return tuple(Source(s["id"], s.get("where") or "", s.get("date") or "") for s in document.get("sources") or ())


def _follow_up(entry: str | Document) -> FollowUp:
    if isinstance(entry, str):
        return FollowUp(entry)
    return FollowUp(entry.get("card") or "", Localised.of(entry["ask"]), Localised.of(entry["answer"]))


def _qa(document: Document, common: dict[str, Any]) -> Card:
    return QaCard(**common)


def _choice(document: Document, common: dict[str, Any]) -> Card:
    options = tuple(
        Option(Localised.of(o["text"]), bool(o.get("correct")), _text(o, "why_not"), o.get("errata") or "")
        for o in document["options"]
    )
    return ChoiceCard(**common, options=options)


def _numeric(document: Document, common: dict[str, Any]) -> Card:
    parameters = tuple(
        (name, tuple((str(label), value) for label, value in choices))
        for name, choices in document.get("parameters") or ()
    )
    return NumericCard(
        **common,
        parameters=parameters,
        compute=document["compute"],
        compute_unit=document.get("compute_unit") or document.get("unit") or "",
        unit=document.get("unit") or "",
        tolerance=document["tolerance"],
        slips=tuple(Slip(slip["compute"], Localised.of(slip["says"])) for slip in document.get("slips") or ()),
    )


def _cloze(document: Document, common: dict[str, Any]) -> Card:
    blanks = tuple(
        Blank(b["answer"], tuple(b.get("accept") or ()), b.get("form") or "text", tuple(b.get("variables") or ()))
        for b in document["blanks"]
    )
    return ClozeCard(**common, blanks=blanks)


def _ordering(document: Document, common: dict[str, Any]) -> Card:
    items = tuple((item["key"], Localised.of(item["text"])) for item in document["items"])
    return OrderingCard(**common, items=items, before=tuple((a, b) for a, b in document["before"]))


def _debug(document: Document, common: dict[str, Any]) -> Card:
    return DebugCard(
        **common,
        code=document["code"],
        lines=tuple(document["lines"]),
        symptom=Localised.of(document["symptom"]),
        fix=_text(document, "fix"),
        wrong=document.get("wrong") or "",
    )


_BUILDERS = {
    "qa": _qa,
    "choice": _choice,
    "numeric": _numeric,
    "cloze": _cloze,
    "ordering": _ordering,
    "debug": _debug,
}


# How many days siblings (a card, its challenges, its follow-ups) are kept apart, and which of them waits.
#
# They give each other away. Nothing of this is kept: it follows from the schedules and the day, and no due date moves.
# Of siblings that are due together the one that has waited longest comes; the others wait until none of theirs was
# studied that day or the day before. A week late nothing waits any more: with two days every fiftieth card of the
# bundled bank meets a sibling all the same, with a week every thousandth, and a card is a quarter of a day late in the
# mean either way.

APART_DAYS = 2
"""Siblings are kept so many days apart."""
LONGEST_WAIT_DAYS = 7
"""Nothing waits for a sibling that is so many days late."""


class Meeting(NamedTuple):
    """A review that is due beside a sibling; `comes` if that one was studied just now or comes today in any case.

    Otherwise the sibling is a due review as well, and one of the two is to wait.
    """

    card: str
    topic: str
    days_late: int
    interval_days: float
    sibling: str
    comes: bool


def waiting(meetings: Iterable[Meeting]) -> dict[str, str]:
    """Card → topic of those that wait today."""
    met: dict[str, list[Meeting]] = defaultdict(list)
    for meeting in meetings:
        met[meeting.card].append(meeting)
    stands, waits = set[str](), dict[str, str]()
    for card in sorted(met, key=lambda card: (-met[card][0].days_late, met[card][0].interval_days, card)):
        if any(meeting.comes or meeting.sibling in stands for meeting in met[card]):
            waits[card] = met[card][0].topic
        else:
            stands.add(card)
    return waits


# What cards, topics and challenges may be called.

PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
LONGEST = 60

_IDENTIFIER = re.compile(PATTERN.removesuffix("$") + r"\Z")


def is_identifier(name: str, longest: int = LONGEST) -> bool:
    """Whether a name is of lower-case letters, digits and single hyphens."""
    return len(name) <= longest and _IDENTIFIER.match(name) is not None


# How many seeds there are: a seed is drawn below these, and typed to have the same again.

STREAMS = 2**31
"""Streams of inputs for a grading, rounds of repairs."""
SITTINGS = 1_000_000
"""Quizzes and interviews: short enough to be told to somebody."""
