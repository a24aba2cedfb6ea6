"""Marking, and the rating that it suggests. Pure: randomness comes in as an argument, nothing is recorded."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

from attncli.domain.card import Blank, ChoiceCard, ClozeCard, DebugCard, OrderingCard
from attncli.domain.rating import Rating
from attncli.domain.text import NOTHING, Localised, quoted
from attncli.errors import UsageError
from attncli.words import marking_texts

SHUFFLES = 20
HARD_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Marked:
    """The verdict, what to tell the learner, and for several blanks or options which of them were right."""

    correct: bool
    detail: Localised = NOTHING
    parts: tuple[bool, ...] = ()


def suggested_rating(marked: Marked | None, ticked: int, total: int) -> Rating:
    """A right answer or all points suggest good, half of the points hard, anything less again."""
    if marked is not None:
        return Rating.GOOD if marked.correct else Rating.AGAIN
    if ticked >= total:
        return Rating.GOOD
    return Rating.HARD if ticked / total >= HARD_FROM else Rating.AGAIN


def shuffled_options(card: ChoiceCard, rng: Random) -> list[int]:
    """The indices of the options in the order in which they are shown."""
    return rng.sample(range(len(card.options)), len(card.options))


def mark_choice(card: ChoiceCard, chosen: Collection[int]) -> Marked:
    """Right if exactly the correct options (indices into `card.options`) were `chosen`; `parts` is one per option."""
    parts = tuple(option.correct == (index in chosen) for index, option in enumerate(card.options))
    if all(parts):
        return Marked(True, parts=parts)
    remarks = [_about_option(card, index) for index, right in enumerate(parts) if not right]
    return Marked(False, marking_texts.BETWEEN_REMARKS.join(remarks), parts)


def _about_option(card: ChoiceCard, index: int) -> Localised:
    option = card.options[index]
    if option.correct:
        return marking_texts.IS_RIGHT.format(option=option.text)
    return marking_texts.IS_WRONG.format(option=option.text, why=option.why_not or marking_texts.NO_REASON)


def mark_cloze(card: ClozeCard, answers: Sequence[str]) -> Marked:
    """Right if every blank is; `parts` is one per blank. Raises UsageError for another number of answers."""
    if len(answers) != len(card.blanks):
        raise UsageError(f"{card.id} has {len(card.blanks)} blanks, but {len(answers)} answers were given")
    parts = tuple(_fits(blank, answer) for blank, answer in zip(card.blanks, answers, strict=True))
    if all(parts):
        return Marked(True, parts=parts)
    wanted = [
        quoted(f"{number}. {blank.answer}")
        for number, (blank, right) in enumerate(zip(card.blanks, parts, strict=True), 1)
        if not right
    ]
    return Marked(False, marking_texts.WANTED.format(blanks=marking_texts.BETWEEN_BLANKS.join(wanted)), parts)


def _fits(blank: Blank, answer: str) -> bool:
    if _bare(answer) in {_bare(text) for text in (blank.answer, *blank.accept)}:
        return True
    if blank.form != "algebra":
        return False
    from attncli.domain.algebra import algebra_equal

    return bool(answer.strip()) and algebra_equal(blank.answer, answer, blank.variables)


def _bare(text: str) -> str:
    """Text without case, spaces and full-width forms."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def shuffled_items(card: OrderingCard, rng: Random) -> list[str]:
    """The item keys in an order to start from; not a right one, unless every order found is right."""
    keys = [key for key, _ in card.items]
    for _ in range(SHUFFLES):
        rng.shuffle(keys)
        if not mark_ordering(card, keys).correct:
            break
    return keys


def mark_ordering(card: OrderingCard, keys: Sequence[str]) -> Marked:
    """Right if no pair of `before` is broken; `parts` is one per pair.

    Raises UsageError if `keys` are not exactly the items.
    """
    texts = dict(card.items)
    if sorted(keys) != sorted(texts):
        raise UsageError(f"{card.id} wants each of {', '.join(texts)} once")
    place = {key: index for index, key in enumerate(keys)}
    parts = tuple(place[first] < place[second] for first, second in card.before)
    if all(parts):
        return Marked(True, parts=parts)
    first, second = card.before[parts.index(False)]
    return Marked(False, marking_texts.COMES_BEFORE.format(first=texts[first], second=texts[second]), parts)


def right_order(card: OrderingCard) -> list[str]:
    """One of the right orders: the items as the card lists them, as far as the pairs allow."""
    left = [key for key, _ in card.items]
    order: list[str] = []
    while left:
        free = [key for key in left if not any(second == key and first in left for first, second in card.before)]
        order.append(free[0] if free else left[0])
        left.remove(order[-1])
    return order


def give_up_ordering(card: OrderingCard) -> Marked:
    """No answer: wrong, and one right order is told."""
    texts = dict(card.items)
    return Marked(False, marking_texts.BETWEEN_ITEMS.join(texts[key] for key in right_order(card)))


def mark_debug(card: DebugCard, line: int) -> Marked:
    """Right if `line` (1-based) is one of those with the mistake."""
    lines = marking_texts.BETWEEN_LINES.join(quoted(str(number)) for number in card.lines)
    told = marking_texts.LINE.format(lines=lines, symptom=card.symptom)
    return Marked(line in card.lines, told + marking_texts.FIX.format(fix=card.fix) if card.fix else told)
