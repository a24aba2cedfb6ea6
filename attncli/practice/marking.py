"""Ask a card and mark the answer, for every kind of card; numeric cards draw fresh parameters each time.

The app and the plain review differ only in how they read an answer. Nothing is recorded here, and randomness is an
argument.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from attncli.domain.arithmetic import DIMENSIONS, KNOWN_UNITS, ComputeError, algebra_equal, convert, evaluate, is_within
from attncli.domain.card import Blank, Card, ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard, QaCard
from attncli.domain.log_row import Rating
from attncli.domain.text import filled
from attncli.errors import InvalidInput, UsageError
from attncli.i18n import NOTHING, Lang, Localised, _, quoted

SHUFFLES = 20
HARD_FROM = 0.5
"""The share of ticked points from which the rating hard is suggested."""
Number = int | float
LONGEST = 200
"""Longest numeric answer, in characters."""
_ANSWER = re.compile(
    r"(?P<value>(?:[\d.+*/^()_\-,\s]|(?<=[\d.])e(?=[+-]?\d))*[\d.)])\s*(?P<unit>[^\d]*)", re.IGNORECASE
)
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(?!\d)")
_SHORT_PLAIN = {"k": "K", "m": "M", "b": "billion", "bn": "billion", "t": "trillion"}
_POWER = re.compile(r"\s*\*\*\s*")
_NAME = re.compile(r"\b[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Marked:
    """The result of marking: the feedback, and for several blanks or options which of them were right."""

    correct: bool
    detail: Localised = NOTHING
    parts: tuple[bool, ...] = ()


@dataclass(slots=True)
class Asked:
    """A card that is being asked: its draw, the answer as it is filled in, and after `submit` the marking."""

    card: Card
    question: Localised
    task: NumericTask | None = None
    option_order: list[int] = field(default_factory=list)
    chosen: set[int] = field(default_factory=set)
    item_order: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    line: int = 0
    ticked: set[int] = field(default_factory=set)
    opened: set[int] = field(default_factory=set)
    revealed: bool = False
    marked: Marked | None = None

    @staticmethod
    def of(card: Card, rng: Random) -> Asked:
        """Draw the parameters, or the order of options or items."""
        asked = Asked(card, card.exercise.question)
        match asked.exercise:
            case NumericCard() as exercise:
                asked.task = draw(exercise, rng)
                asked.question = asked.task.question
                asked.texts = [""]
            case ChoiceCard() as exercise:
                asked.option_order = shuffled_options(exercise, rng)
            case OrderingCard() as exercise:
                asked.item_order = shuffled_items(exercise, rng)
            case ClozeCard() as exercise:
                asked.texts = ["" for _ in exercise.blanks]
        return asked

    @property
    def exercise(self) -> Card:
        return self.card.exercise

    @property
    def is_marked_automatically(self) -> bool:
        return not isinstance(self.exercise, QaCard)

    @property
    def is_blank(self) -> bool:
        """True if nothing was answered: the learner wants to see the answer."""
        match self.exercise:
            case ChoiceCard():
                return not self.chosen
            case OrderingCard():
                return not self.item_order
            case DebugCard():
                return self.line == 0
        return bool(self.texts) and not any(text.strip() for text in self.texts)

    def rows(self, lang: Lang) -> list[str]:
        """Return the rows to choose from: options, items, or lines of code. Empty if the answer is typed or spoken."""
        match self.exercise:
            case ChoiceCard() as exercise:
                return [exercise.options[index].text[lang] for index in self.option_order]
            case OrderingCard() as exercise:
                return [exercise.texts[key][lang] for key in self.item_order]
            case DebugCard() as exercise:
                return exercise.code.rstrip().splitlines()
        return []

    @property
    def rows_wanted(self) -> int:
        """Count of the rows that an answer names; 0 for one or more."""
        match self.exercise:
            case ChoiceCard() as exercise:
                return 0 if exercise.multiple else 1
            case OrderingCard():
                return len(self.item_order)
        return 1

    def choose(self, places: Sequence[int]) -> None:
        """Answer with the rows at these places, counted from 0; with none, give up."""
        match self.exercise:
            case ChoiceCard():
                self.chosen = {self.option_order[place] for place in places}
            case OrderingCard():
                self.item_order = [self.item_order[place] for place in places]
            case DebugCard():
                self.line = places[0] + 1 if places else 0

    def submit(self) -> None:
        """Mark the answer, reveal the right one. Raises InvalidInput for no number, UsageError for a partial order."""
        self.marked = self._mark()
        self.revealed = True

    def lay_open(self) -> None:
        """Reveal the right answer without marking, to somebody who only reads the card."""
        self.revealed, self.line = True, 0

    @property
    def is_read(self) -> bool:
        """True if the answer is shown but none was given."""
        return self.revealed and self.marked is None

    @property
    def answer_told(self) -> Localised:
        """The right answer in a sentence; empty for cards whose options, items or answer section show it."""
        match self.exercise:
            case NumericCard() if self.task is not None:
                return give_up(self.task).detail
            case ClozeCard() as exercise:
                return mark_cloze(exercise, ["" for _ in exercise.blanks]).detail
            case DebugCard() as exercise:
                return mark_debug(exercise, 0).detail
        return NOTHING

    def _mark(self) -> Marked | None:
        match self.exercise:
            case NumericCard() if self.task is not None:
                return give_up(self.task) if self.is_blank else mark_numeric(self.task, self.texts[0])
            case ChoiceCard() as exercise:
                return mark_choice(exercise, self.chosen)
            case ClozeCard() as exercise:
                return mark_cloze(exercise, self.texts)
            case OrderingCard() as exercise:
                return give_up_ordering(exercise) if self.is_blank else mark_ordering(exercise, self.item_order)
            case DebugCard() as exercise:
                return mark_debug(exercise, self.line)
        return None

    @property
    def told(self) -> tuple[Localised, Localised]:
        """(result, feedback); the result counts right blanks or options if there are several."""
        marked = self.marked
        if marked is None:
            return NOTHING, NOTHING
        right, total = sum(marked.parts), len(marked.parts)
        exercise = self.exercise
        by_part = isinstance(exercise, ClozeCard) or (isinstance(exercise, ChoiceCard) and exercise.multiple)
        if marked.correct:
            return _("✓ Right"), marked.detail
        if self.is_blank:
            return _("no answer"), marked.detail
        if by_part and total > 1 and right:
            return _("~ Partly right: {right} of {total}", right=right, total=total), marked.detail
        return _("✗ Not right"), marked.detail

    @property
    def suggestion(self) -> Rating:
        return suggested_rating(self.marked, len(self.ticked), len(self.card.points))

    @property
    def points(self) -> list[int] | None:
        """The ticked points for the log; None for cards without points."""
        return sorted(self.ticked) if self.card.points and self.marked is None else None

    @property
    def correct(self) -> bool | None:
        return None if self.marked is None else self.marked.correct


Section = Literal[
    "answer",
    "points",
    "explain",
    "pitfalls",
    "unverifiable",
    "challenge",
    "experiment",
    "follow-ups",
    "as-of",
    "sources",
]


def sections(card: Card) -> list[Section]:
    """Return the sections behind the question that `card` has, in the order in which they are shown."""
    found: dict[Section, object] = {
        "answer": card.answer,
        "points": card.points,
        "explain": card.explain,
        "pitfalls": card.pitfalls,
        "unverifiable": card.unverifiable,
        "challenge": card.challenges,
        "experiment": card.experiment,
        "follow-ups": card.follow_ups,
        "as-of": card.as_of,
        "sources": card.sources,
    }
    return [section for section, content in found.items() if content]


# Marking by kind


def suggested_rating(marked: Marked | None, ticked: int, total: int) -> Rating:
    """Suggest good for a right answer or all points, hard for half of the points, otherwise again."""
    if marked is not None:
        return Rating.GOOD if marked.correct else Rating.AGAIN
    if ticked >= total:
        return Rating.GOOD
    return Rating.HARD if ticked / total >= HARD_FROM else Rating.AGAIN


def shuffled_options(card: ChoiceCard, rng: Random) -> list[int]:
    """Return the indices of the options in a random order."""
    return rng.sample(range(len(card.options)), len(card.options))


def mark_choice(card: ChoiceCard, chosen: Collection[int]) -> Marked:
    """Mark right if exactly the correct options (indices into `card.options`) were `chosen`; `parts` is one per
    option.
    """
    parts = tuple(option.correct == (index in chosen) for index, option in enumerate(card.options))
    if all(parts):
        return Marked(True, parts=parts)
    remarks = [_about_option(card, index) for index, right in enumerate(parts) if not right]
    return Marked(False, quoted(" ").join(remarks), parts)


def _about_option(card: ChoiceCard, index: int) -> Localised:
    option = card.options[index]
    if option.correct:
        return _("“{option}” is right.", option=option.text)
    return _("“{option}”: {why}", option=option.text, why=option.why_not or _("it is wrong."))


def mark_cloze(card: ClozeCard, answers: Sequence[str]) -> Marked:
    """Mark right if every blank is; `parts` is one per blank. Raises UsageError for another number of answers."""
    if len(answers) != len(card.blanks):
        raise UsageError(
            _(
                "{id} has {blanks} blanks, but {answers} answers were given",
                id=card.id,
                blanks=len(card.blanks),
                answers=len(answers),
            )
        )
    parts = tuple(_fits(blank, answer) for blank, answer in zip(card.blanks, answers, strict=True))
    if all(parts):
        return Marked(True, parts=parts)
    expected = [
        quoted(f"{number}. {blank.answer}")
        for number, (blank, right) in enumerate(zip(card.blanks, parts, strict=True), 1)
        if not right
    ]
    return Marked(False, _("Expected: {blanks}", blanks=_("; ").join(expected)), parts)


def _fits(blank: Blank, answer: str) -> bool:
    if _bare(answer) in {_bare(text) for text in (blank.answer, *blank.accept)}:
        return True
    if blank.form != "algebra":
        return False
    return bool(answer.strip()) and algebra_equal(blank.answer, answer, blank.variables)


def _bare(text: str) -> str:
    """Return text without case, spaces and full-width forms."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def shuffled_items(card: OrderingCard, rng: Random) -> list[str]:
    """Return the item keys in a random order that is not a right one, if one is found in SHUFFLES tries."""
    keys = list(card.texts)
    for _attempt in range(SHUFFLES):
        rng.shuffle(keys)
        if not mark_ordering(card, keys).correct:
            break
    return keys


def mark_ordering(card: OrderingCard, keys: Sequence[str]) -> Marked:
    """Mark right if no pair of `before` is broken; `parts` is one per pair.

    Raises UsageError if `keys` are not exactly the items.
    """
    texts = card.texts
    if sorted(keys) != sorted(texts):
        raise UsageError(_("{id} expects each of {names} once", id=card.id, names=", ".join(texts)))
    place = {key: index for index, key in enumerate(keys)}
    parts = tuple(place[first] < place[second] for first, second in card.before)
    if all(parts):
        return Marked(True, parts=parts)
    first, second = card.before[parts.index(False)]
    return Marked(False, _("“{first}” comes before “{second}”.", first=texts[first], second=texts[second]), parts)


def right_order(card: OrderingCard) -> list[str]:
    """Return one of the right orders: the items as the card lists them, as far as the pairs allow."""
    left = list(card.texts)
    order: list[str] = []
    while left:
        free = [key for key in left if not any(second == key and first in left for first, second in card.before)]
        order.append(free[0] if free else left[0])
        left.remove(order[-1])
    return order


def give_up_ordering(card: OrderingCard) -> Marked:
    """Mark as wrong without an answer; the feedback is one right order."""
    texts = card.texts
    return Marked(False, quoted(" → ").join(texts[key] for key in right_order(card)))


def mark_debug(card: DebugCard, line: int) -> Marked:
    """Mark right if `line` (1-based) is one of those with the mistake."""
    lines = _(" or ").join(quoted(str(number)) for number in card.lines)
    detail = _("Line {lines}: {symptom}", lines=lines, symptom=card.symptom)
    return Marked(line in card.lines, detail + _(" Fix: {fix}", fix=card.fix) if card.fix else detail)


# Numeric cards


@dataclass(frozen=True, slots=True)
class DrawnSlip:
    """A usual mistake: the number it gives for the drawn parameters, in the unit of the answer."""

    value: Number
    says: Localised


@dataclass(frozen=True, slots=True)
class NumericTask:
    """A numeric card with its parameters drawn: the question, and the number expected in `unit`."""

    card: str
    question: Localised
    expected: Number
    unit: str
    tolerance: str
    values: dict[str, str]
    slips: tuple[DrawnSlip, ...] = ()

    def fits(self, value: Number) -> bool:
        """Return True if `value` (in `unit`) lies within the tolerance."""
        return is_within(value, self.expected, self.tolerance)

    def slip(self, value: Number) -> Localised | None:
        """Return the explanation of the usual mistake that gives `value` (in `unit`), the nearest of several."""
        near = [slip for slip in self.slips if is_within(value, slip.value, self.tolerance)]
        return min(near, key=lambda slip: abs(value - slip.value)).says if near else None


def draw(card: NumericCard, rng: Random) -> NumericTask:
    """Draw each parameter of `card` from its choices."""
    return task_of(card, {name: rng.choice(choices) for name, choices in card.parameters})


def task_of(card: NumericCard, chosen: Mapping[str, tuple[str, Number]]) -> NumericTask:
    """Build the task for these parameters, each a (label, value) pair."""
    labels = {name: label for name, (label, _value) in chosen.items()}
    values = {name: value for name, (_label, value) in chosen.items()}

    def answer(formula: str) -> Number:
        return convert(evaluate(formula, values), card.computed_in, card.unit)

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
    """Mark a typed answer: `1.5e3`, `3/4`, `48 GiB`, `1.2 TiB`, `1750亿`, full-width digits too.

    Raises InvalidInput, which says how to write it, if `text` is not a number or its unit measures something else:
    that is a slip of notation, not a wrong answer.
    """
    value = read_number(text, task.unit)
    expected = f"{shown(task.expected)} {task.unit}".strip()
    if task.fits(value):
        return Marked(True, _("{expected}.", expected=expected))
    given = f"{shown(value)} {task.unit}".strip()
    detail = _(
        "Expected {expected} (±{tolerance}); you entered {given}.",
        expected=expected,
        tolerance=task.tolerance,
        given=given,
    )
    slip = task.slip(value)
    return Marked(False, _("{result} {mistake}", result=detail, mistake=slip) if slip else detail)


def give_up(task: NumericTask) -> Marked:
    """Mark as wrong without an answer; the feedback is the number."""
    expected = f"{shown(task.expected)} {task.unit}".strip()
    return Marked(False, _("The answer is {expected}.", expected=expected))


def read_number(text: str, unit: str) -> Number:
    """Parse `text` and convert it to `unit`; a number without a unit is in `unit` already. Raises InvalidInput."""
    plain = unicodedata.normalize("NFKC", text).replace("×", "*").replace("−", "-").strip().lstrip("≈~= ")
    typed = text.strip()[:40]
    match = _ANSWER.fullmatch(plain) if len(plain) <= LONGEST else None
    if not match:
        example = f"48 {unit}" if unit else "1750亿"
        message = _(
            "“{typed}” is not a number; enter one, e.g. 1.5, 1.5e3, 3/4 or {example}", typed=typed, example=example
        )
        raise InvalidInput(message, "number", text=typed, example=example)
    try:
        value = evaluate(_arithmetic(match["value"]), {})
    except ComputeError as error:
        raise InvalidInput(
            _("cannot read “{typed}”: {message}", typed=typed, message=error.message), "number-unread", text=typed
        ) from None
    given = _unit(match["unit"].strip(), unit)
    try:
        return convert(value, given, unit) if given else value
    except ComputeError:
        given = given[:20]
        if unit:
            message = _("wrong unit “{given}”; answer in {unit}", given=given, unit=unit)
        else:
            message = _("unexpected unit “{given}”; enter a plain number", given=given)
        raise InvalidInput(message, "unit" if unit else "unit-none", given=given, unit=unit) from None


def shown(value: Number) -> str:
    """Format a number for feedback: whole numbers with digit groups, others with six significant digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def _arithmetic(text: str) -> str:
    """Convert common notation to that of `evaluate`; a comma only groups thousands."""
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if "," in text:
        raise ComputeError(_("a comma only separates thousands; use a decimal point"))
    return re.sub(r"(?<![\d.])0+(?=\d)", "", text.replace("^", "**").replace("_", ""))


def _unit(given: str, expected: str) -> str:
    """Return the known unit that `given` names, empty for none. `B` after a plain number is a billion, after data a
    byte.
    """
    bare = given.removesuffix(".")
    if not bare:
        return ""
    if bare == expected:
        return expected
    if expected in DIMENSIONS["plain"] and bare.lower() in _SHORT_PLAIN:
        return _SHORT_PLAIN[bare.lower()]
    return "/".join(_known(part.strip()) for part in bare.split("/", 1))


def _known(unit: str) -> str:
    if unit in KNOWN_UNITS:
        return unit
    alike = [known for known in KNOWN_UNITS if known.lower() == unit.lower()]
    return alike[0] if alike else unit


@dataclass(frozen=True, slots=True)
class WorkedNumber:
    """A task with the numbers that lists show too, and the steps from them to the answer."""

    task: NumericTask
    steps: tuple[str, ...]


def worked(card: NumericCard) -> WorkedNumber:
    """Work `card` through with the first value of each parameter, as `Card.listed` asks it."""
    chosen = {name: choices[0] for name, choices in card.parameters}
    task = task_of(card, chosen)
    values = {name: value for name, (_label, value) in chosen.items()}
    formula = _NAME.sub(lambda name: _operand(values[name[0]]) if name[0] in values else name[0], card.compute)
    steps = [_typeset(card.compute), _typeset(formula)]
    computed = evaluate(card.compute, values)
    if card.computed_in != card.unit:
        steps.append(f"{shown(computed)} {card.computed_in}".strip())
    steps.append(f"{shown(task.expected)} {card.unit}".strip())
    return WorkedNumber(task, tuple(dict.fromkeys(steps)))


def _operand(value: float) -> str:
    plain = f"{value:.15g}"
    return f"({plain})" if value < 0 else plain


def _typeset(formula: str) -> str:
    return " ".join(_POWER.sub("^", formula).replace("*", "×").split())
