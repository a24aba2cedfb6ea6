"""The kinds of cards, one class each: it draws values, marks an answer, and yields its parts as plain data.

To add a kind, add a class here and a name in `vocabulary.py`; `bank/card_rules.py` may have rules for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Annotated, ClassVar, Literal, Self

from attncli.domain.arithmetic import Number, algebra_equal, convert, evaluate, is_within, number_text, read_number
from attncli.domain.card import NUMBER_OR_TEXT, Card, Document, Errata, Flag, Name, build
from attncli.domain.parts import (
    Answer,
    Arrange,
    Choose,
    Code,
    Entry,
    Fill,
    FindLine,
    Marked,
    Paragraph,
    Part,
    Row,
    Rows,
)
from attncli.domain.text import code_span, filled
from attncli.domain.vocabulary import Limits, WrittenAs
from attncli.errors import UsageError
from attncli.i18n import NOTHING, Localised, Text, _, quoted

BLANK = "____"
"""A blank in the question of a cloze card."""
SHUFFLES = 20
ALTERNATIVES_SHOWN = 3
_POWER = re.compile(r"\s*\*\*\s*")
_NAME = re.compile(r"\b[A-Za-z_]\w*")

Formula = Annotated[str, NUMBER_OR_TEXT]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class QaCard(Card):
    """A question that is answered aloud and self-rated against `points`."""

    kind = "qa"
    needed = ("short", "explain", "points")
    fewest: ClassVar = {"points": 3}
    short: Localised


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a choice card; a wrong one has the reason."""

    text: Localised
    correct: Flag = False
    why_not: Localised | None = None
    errata: Errata = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceCard(Card):
    """A choice of one or several right options, in a drawn order."""

    kind = "choice"
    needed = ()
    fewest: ClassVar = {**Card.fewest, "options": 3}
    options: Annotated[tuple[Option, ...], Limits(min_length=2, max_length=5)]

    @property
    def multiple(self) -> bool:
        return sum(option.correct for option in self.options) > 1

    def draw(self, rng: Random) -> Self:
        return replace(self, drawn=tuple(rng.sample(range(len(self.options)), len(self.options))))

    def entry(self) -> Entry:
        return Choose(self._rows, several=self.multiple)

    def mark(self, answer: Answer) -> Marked:
        """Mark right if exactly the correct options were chosen."""
        chosen = {self._order[place] for place in answer.places}
        parts = tuple(option.correct == (index in chosen) for index, option in enumerate(self.options))
        wrong = (option for option, right in zip(self.options, parts, strict=True) if not right)
        return Marked(all(parts), quoted(" ").join(map(_about_option, wrong)), parts if self.multiple else ())

    def solution(self) -> Iterable[Part]:
        return [Rows(self._rows)]

    @property
    def _order(self) -> Sequence[int]:
        return self.drawn or range(len(self.options))

    @property
    def _rows(self) -> tuple[Row, ...]:
        options = (self.options[index] for index in self._order)
        return tuple(Row(option.text, option.correct, option.why_not) for option in options)


def _about_option(option: Option) -> Localised:
    if option.correct:
        return _("“{option}” is right.", option=option.text)
    return _("“{option}”: {why}", option=option.text, why=option.why_not or _("it is wrong."))


@dataclass(frozen=True, slots=True)
class Slip:
    """A common mistake in a numeric card: the formula that it computes, and an explanation."""

    compute: Formula
    says: Localised


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericCard(Card):
    """A number to compute from parameters, which are drawn anew each time.

    `parameters` maps a name to its choices, each a (label, value) pair; `{{name}}` in the question shows the label.
    `compute` is an arithmetic expression over the names; its unit is `compute_unit`, or `unit` if that is empty. The
    answer is asked for in `unit`. `tolerance` is relative when it ends in `%`, absolute otherwise.
    """

    kind = "numeric"
    presumed: ClassVar = {"unit": "", "tolerance": "1%"}
    parameters: Annotated[tuple[tuple[str, Choices], ...], WrittenAs(dict[Name, Choices])] = ()
    compute: Formula
    compute_unit: str = ""
    unit: str
    tolerance: Formula
    slips: tuple[Slip, ...] = ()

    def draw(self, rng: Random) -> Self:
        return replace(self, drawn=tuple(rng.choice(range(len(choices))) for _name, choices in self.parameters))

    @property
    def wording(self) -> Localised:
        labels = {name: label for name, (label, _value) in self._chosen.items()}
        return Localised(filled(self.question.en, labels), filled(self.question.zh, labels))

    def entry(self) -> Entry:
        return Fill(is_number=True, unit=self.unit)

    @property
    def expected(self) -> Number:
        """The answer, in `unit`."""
        return self._computed(self.compute)

    def mark(self, answer: Answer) -> Marked:
        """Mark a typed answer; `read_number` documents the accepted forms and the errors."""
        expected = self._with_unit(self.expected)
        if answer.is_blank:
            return Marked(False, _("The answer is {expected}.", expected=expected))
        value = read_number(answer.texts[0], self.unit)
        if self._fits(value, self.expected):
            return Marked(True, _("{expected}.", expected=expected))
        detail = _(
            "Expected {expected} (±{tolerance}); you entered {given}.",
            expected=expected,
            tolerance=self.tolerance,
            given=self._with_unit(value),
        )
        slip = self._slip(value)
        return Marked(False, _("{result} {mistake}", result=detail, mistake=slip) if slip else detail)

    def solution(self) -> Iterator[Part]:
        """Yield the answer, the steps to it, and the numbers that common mistakes give."""
        *steps, result = self.steps
        yield Paragraph(_("{expected} (±{tolerance})", expected=f"**{result}**", tolerance=self.tolerance))
        yield Code(quoted("\n".join([*steps[:1], *(f"  = {step}" for step in [*steps[1:], result])])))
        slips = ((self._computed(slip.compute), slip.says) for slip in self.slips)
        if rows := tuple(
            Row(_("Not {number}: {why}", number=f"{value:.6g} {self.unit}".strip(), why=says))
            for value, says in slips
            if not self._fits(value, self.expected)
        ):
            yield Rows(rows)

    def definition(self) -> Iterator[Part]:
        """Yield the formula, the choices of each parameter, and the formulas of common mistakes."""
        computed_in = self.compute_unit or self.unit
        yield Paragraph(quoted(f"`{self.compute}` {computed_in} → {self.unit or '1'} ± {self.tolerance}"))
        labels = ((name, ", ".join(label for label, _value in choices)) for name, choices in self.parameters)
        if rows := tuple(Row(quoted(f"*{name}*: {listed}")) for name, listed in labels):
            yield Rows(rows)
        if self.slips:
            yield Paragraph(_("Common mistakes") + quoted(":"))
            yield Rows(tuple(Row(quoted(f"`{slip.compute}` — ") + slip.says) for slip in self.slips))

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the solution: the formula, the formula with the drawn values, the answer."""
        values = {name: value for name, (_label, value) in self._chosen.items()}
        formula = _NAME.sub(lambda name: _operand(values[name[0]]) if name[0] in values else name[0], self.compute)
        steps = [_typeset(self.compute), _typeset(formula)]
        if self.compute_unit and self.compute_unit != self.unit:
            steps.append(f"{number_text(evaluate(self.compute, values))} {self.compute_unit}")
        return tuple(dict.fromkeys([*steps, self._with_unit(self.expected)]))

    @property
    def _chosen(self) -> dict[str, tuple[str, Number]]:
        drawn = self.drawn or (0,) * len(self.parameters)
        return {name: choices[index] for (name, choices), index in zip(self.parameters, drawn, strict=True)}

    def _computed(self, formula: str) -> Number:
        values = {name: value for name, (_label, value) in self._chosen.items()}
        return convert(evaluate(formula, values), self.compute_unit or self.unit, self.unit)

    def _fits(self, value: Number, right: Number) -> bool:
        return is_within(value, right, self.tolerance)

    def _slip(self, value: Number) -> Localised | None:
        """Return the explanation of the slip whose result is nearest to `value` (in `unit`), None if none fits."""
        slips = [(self._computed(slip.compute), slip.says) for slip in self.slips]
        near = [(abs(value - other), says) for other, says in slips if self._fits(value, other)]
        return min(near, key=lambda found: found[0])[1] if near else None

    def _with_unit(self, value: Number) -> str:
        return f"{number_text(value)} {self.unit}".strip()


def _operand(value: float) -> str:
    plain = f"{value:.15g}"
    return f"({plain})" if value < 0 else plain


def _typeset(formula: str) -> str:
    return " ".join(_POWER.sub("^", formula).replace("*", "×").split())


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

    def fits(self, text: str) -> bool:
        """Return True if a typed text counts as right; case, spaces and full-width forms do not matter."""
        if _bare(text) in map(_bare, (self.answer, *self.accept)):
            return True
        return self.form == "algebra" and bool(text.strip()) and algebra_equal(self.answer, text, self.variables)

    @property
    def shown(self) -> Localised:
        """The answer as Markdown, with a few of the accepted alternatives."""
        answer, *others = (code_span(" ".join(text.split())) for text in (self.answer, *self.accept))
        others = others[:ALTERNATIVES_SHOWN]
        return _("{answer} (also {others})", answer=answer, others=", ".join(others)) if others else quoted(answer)


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeCard(Card):
    """`____` in the question marks a blank, in order, in both languages."""

    kind = "cloze"
    blanks: Annotated[tuple[Blank, ...], Limits(min_length=1, max_length=8)]

    def entry(self) -> Entry:
        return Fill(fields=len(self.blanks))

    def mark(self, answer: Answer) -> Marked:
        """Mark right if every blank is right."""
        texts = answer.texts or [""] * len(self.blanks)
        parts = tuple(blank.fits(text) for blank, text in zip(self.blanks, texts, strict=True))
        if all(parts):
            return Marked(True, parts=parts)
        wrong = [f"{n}. {self.blanks[n - 1].answer}" for n, right in enumerate(parts, 1) if not right]
        return Marked(False, _("Expected: {blanks}", blanks=_("; ").join(map(quoted, wrong))), parts)

    def solution(self) -> Iterable[Part]:
        if len(self.blanks) == 1:
            return [Paragraph(self.blanks[0].shown)]
        return [Rows(tuple(Row(blank.shown) for blank in self.blanks), ordered=True)]


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

    def draw(self, rng: Random) -> Self:
        """Draw a wrong order, if one is found within SHUFFLES tries."""
        order = list(range(len(self.items)))
        for _attempt in range(SHUFFLES):
            rng.shuffle(order)
            if self._broken([self.items[index].key for index in order]):
                break
        return replace(self, drawn=tuple(order))

    def entry(self) -> Entry:
        keys = [item.key for item in self._shown]
        rows = tuple(Row(item.text) for item in self._shown)
        return Arrange(rows, tuple(keys.index(item.key) for item in self._right_order()))

    def mark(self, answer: Answer) -> Marked:
        """Mark right if no pair of `before` is broken. Raises UsageError unless each place occurs once."""
        if answer.is_blank:
            return Marked(False, quoted(" → ").join(item.text for item in self._right_order()))
        if sorted(answer.places) != list(range(len(self.items))):
            names = ", ".join(item.key for item in self.items)
            raise UsageError(_("{id} expects each of {names} once", id=self.id, names=names))
        if not (broken := self._broken([self._shown[place].key for place in answer.places])):
            return Marked(True)
        first, second = broken[0]
        return Marked(
            False, _("“{first}” comes before “{second}”.", first=self._text(first), second=self._text(second))
        )

    def solution(self) -> Iterator[Part]:
        """Yield a right order; if there are others, also the pairs that all of them keep."""
        items = self._right_order()
        order = Rows(tuple(Row(item.text) for item in items), ordered=True)
        if all((first.key, second.key) in self.before for first, second in pairwise(items)):
            yield order
            return
        yield from (Paragraph(_("One right order:")), order, Paragraph(_("Required order:")))
        yield Rows(tuple(Row(quoted(" → ").join(map(self._text, pair))) for pair in self.before))

    @property
    def _shown(self) -> tuple[Item, ...]:
        return tuple(self.items[index] for index in self.drawn) or self.items

    def _text(self, key: str) -> Localised:
        return next(item.text for item in self.items if item.key == key)

    def _broken(self, keys: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the pairs whose second item comes first."""
        return [pair for pair in self.before if keys.index(pair[0]) > keys.index(pair[1])]

    def _right_order(self) -> list[Item]:
        """Return a right order that follows the card's own order as far as the pairs allow."""
        left, order = list(self.items), list[Item]()
        while left:
            keys = {item.key for item in left}
            held = {second for first, second in self.before if first in keys}
            order.append(next(item for item in left if item.key not in held))
            left.remove(order[-1])
        return order


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugCard(Card):
    """At most 15 lines of code with a mistake: find its line (from 1; any of `lines` counts) and its symptom."""

    kind = "debug"
    code: Text
    lines: Annotated[tuple[Annotated[int, Limits(ge=1, strict=True)], ...], Limits(min_length=1)]
    symptom: Localised
    fix: Localised | None = None
    wrong: Annotated[str, Limits(pattern=r"^[a-z0-9-]+/[a-z0-9_-]+$")] = ""

    def entry(self) -> Entry:
        lines = self.code.rstrip().splitlines()
        return FindLine(tuple(Row(quoted(line), n in self.lines) for n, line in enumerate(lines, 1)))

    def mark(self, answer: Answer) -> Marked:
        """Mark right if the line is one with the mistake."""
        detail = self._diagnosis(NOTHING)
        detail = detail + _(" Fix: {fix}", fix=self.fix) if self.fix else detail
        return Marked(any(place + 1 in self.lines for place in answer.places), detail)

    def solution(self) -> Iterator[Part]:
        yield Paragraph(self._diagnosis(quoted("**")))
        if self.fix:
            yield Paragraph(_("Fixed:"))
            yield Code(self.fix, "python")

    def _diagnosis(self, mark: Localised) -> Localised:
        lines = _(" or ").join(quoted(f"{number}") for number in self.lines)
        return _("Line {lines}: {symptom}", lines=mark + lines + mark, symptom=self.symptom)


CARDS: dict[str, type[Card]] = {
    card.kind: card for card in (QaCard, ChoiceCard, NumericCard, ClozeCard, OrderingCard, DebugCard)
}


def card_of(document: Document) -> Card:
    """Build a card from its validated document. Raises KeyError for an unknown kind."""
    card: Card = build(CARDS[document["kind"]], document)
    return card
