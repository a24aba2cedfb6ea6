"""Numeric cards: fresh parameters each time, and answers in any reasonable notation and unit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from attncli.domain.answer_tolerance import is_within
from attncli.domain.arithmetic import ComputeError, evaluate
from attncli.domain.card import NumericCard
from attncli.domain.text import Localised, filled
from attncli.domain.units import DIMENSIONS, KNOWN_UNITS, convert
from attncli.errors import Unfit
from attncli.practice.cards.marking import Marked
from attncli.words.marking_texts import BETWEEN_SENTENCES, RIGHT_NUMBER, THE_NUMBER, WRONG_NUMBER

Number = int | float
LONGEST = 200
_ANSWER = re.compile(
    r"(?P<value>(?:[\d.+*/^()_\-,\s]|(?<=[\d.])e(?=[+-]?\d))*[\d.)])\s*(?P<unit>[^\d]*)", re.IGNORECASE
)
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(?!\d)")
_SHORT_PLAIN = {"k": "K", "m": "M", "b": "billion", "bn": "billion", "t": "trillion"}


@dataclass(frozen=True, slots=True)
class DrawnSlip:
    """A usual mistake: the number it gives for the drawn parameters, in the unit of the answer."""

    value: Number
    says: Localised


@dataclass(frozen=True, slots=True)
class NumericTask:
    """A numeric card with its parameters drawn: the question as asked, and the number expected in `unit`."""

    card: str
    question: Localised
    expected: Number
    unit: str
    tolerance: str
    values: dict[str, str]
    slips: tuple[DrawnSlip, ...] = ()

    def fits(self, value: Number) -> bool:
        """Whether `value` (in `unit`) lies within the tolerance."""
        return is_within(value, self.expected, self.tolerance)

    def slip(self, value: Number) -> Localised | None:
        """What went wrong, where `value` (in `unit`) is what a usual mistake gives; the nearest of several."""
        near = [slip for slip in self.slips if is_within(value, slip.value, self.tolerance)]
        return min(near, key=lambda slip: abs(value - slip.value)).says if near else None


def draw(card: NumericCard, rng: Random) -> NumericTask:
    """Draws each parameter of `card` from its choices."""
    return task_of(card, {name: rng.choice(choices) for name, choices in card.parameters})


def task_of(card: NumericCard, chosen: Mapping[str, tuple[str, Number]]) -> NumericTask:
    """`card` with these parameters, each a (label, value) pair."""
    labels = {name: label for name, (label, _) in chosen.items()}
    values = {name: value for name, (_, value) in chosen.items()}

    def answer(formula: str) -> Number:
        return convert(evaluate(formula, values), card.compute_unit, card.unit)

    return NumericTask(
        card=card.id,
        question=Localised(filled(card.question.en, labels), filled(card.question.zh, labels)),
        expected=answer(card.compute),
        unit=card.unit,
        tolerance=card.tolerance.strip(),
        values=labels,
        slips=tuple(DrawnSlip(answer(slip.compute), slip.says) for slip in card.slips),
    )


def mark_numeric(task: NumericTask, text: str) -> Marked:
    """Marks what the learner typed: `1.5e3`, `3/4`, `48 GiB`, `1.2 TiB`, `1750亿`, full-width digits too.

    Raises Unfit that says how to write it if `text` is no number, or its unit measures something else; that is
    a slip of notation and not a wrong answer.
    """
    value = read_number(text, task.unit)
    expected = f"{shown(task.expected)} {task.unit}".strip()
    if task.fits(value):
        return Marked(True, RIGHT_NUMBER.format(expected=expected))
    given = f"{shown(value)} {task.unit}".strip()
    told = WRONG_NUMBER.format(expected=expected, tolerance=task.tolerance, given=given)
    return Marked(False, BETWEEN_SENTENCES.join([told, slip]) if (slip := task.slip(value)) else told)


def give_up(task: NumericTask) -> Marked:
    """No answer: wrong, and the number is told."""
    expected = f"{shown(task.expected)} {task.unit}".strip()
    return Marked(False, THE_NUMBER.format(expected=expected))


def read_number(text: str, unit: str) -> Number:
    """The number in `text`, converted to `unit`; a number without a unit is in `unit` already. Raises Unfit."""
    plain = unicodedata.normalize("NFKC", text).replace("×", "*").replace("−", "-").strip().lstrip("≈~= ")
    typed = text.strip()[:40]
    match = _ANSWER.fullmatch(plain) if len(plain) <= LONGEST else None
    if not match:
        said = f"“{typed}” is no number; write one such as 1.5, 1.5e3, 3/4 or {_example(unit)}"
        raise Unfit(said, "number", text=typed, example=_example(unit))
    try:
        value = evaluate(_arithmetic(match["value"]), {})
    except ComputeError as error:
        raise Unfit(f"“{typed}” cannot be read: {error.message}", "number-unread", text=typed) from None
    given = _unit(match["unit"].strip(), unit)
    try:
        return convert(value, given, unit) if given else value
    except ComputeError:
        asked, reason = (f"in {unit}", "unit") if unit else ("as a plain number", "unit-none")
        said = f"“{given[:20]}” does not fit here; the answer is asked for {asked}"
        raise Unfit(said, reason, given=given[:20], unit=unit) from None


def shown(value: Number) -> str:
    """A number as feedback writes it: whole ones with their digits grouped, others with six significant digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def _arithmetic(text: str) -> str:
    """Notation of people to that of `evaluate`; a comma only groups thousands."""
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if "," in text:
        raise ComputeError("a comma only separates groups of three digits; write a decimal point")
    return re.sub(r"(?<![\d.])0+(?=\d)", "", text.replace("^", "**").replace("_", ""))


def _unit(given: str, wanted: str) -> str:
    """The known unit that `given` names, empty for none; `B` after a plain number is a billion, after data a byte."""
    bare = given.removesuffix(".")
    if not bare:
        return ""
    if bare == wanted:
        return wanted
    if (wanted in DIMENSIONS["plain"]) and bare.lower() in _SHORT_PLAIN:
        return _SHORT_PLAIN[bare.lower()]
    top, slash, below = bare.partition("/")
    return "/".join(_known(part.strip()) for part in ((top, below) if slash else (top,)))


def _known(unit: str) -> str:
    if unit in KNOWN_UNITS:
        return unit
    alike = [known for known in KNOWN_UNITS if known.lower() == unit.lower()]
    return alike[0] if alike else unit


def _example(unit: str) -> str:
    return f"48 {unit}" if unit else "1750亿"
