"""Asking a card: what was drawn for it, what was given, how that was marked, what is told of it and suggested.

The app and the plain review differ in how they read an answer alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.rating import Rating
from attncli.domain.text import NOTHING, Localised
from attncli.practice.cards.marking import (
    Marked,
    give_up_ordering,
    mark_choice,
    mark_cloze,
    mark_debug,
    mark_ordering,
    shuffled_items,
    shuffled_options,
    suggested_rating,
)
from attncli.practice.marking import NumericTask, draw, give_up, mark_numeric
from attncli.words.marking_texts import HEADS


@dataclass(slots=True)
class Asked:
    """The fields of the answer are filled while it is given; `submit` marks them and reveals what is right."""

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
        """Draws the parameters or the order of options and items afresh."""
        asked = Asked(card, card.question)
        if isinstance(card, NumericCard):
            asked.task = draw(card, rng)
            asked.question = asked.task.question
            asked.texts = [""]
        elif isinstance(card, ChoiceCard):
            asked.option_order = shuffled_options(card, rng)
        elif isinstance(card, OrderingCard):
            asked.item_order = shuffled_items(card, rng)
        elif isinstance(card, ClozeCard):
            asked.texts = ["" for _ in card.blanks]
        return asked

    @property
    def is_marked_automatically(self) -> bool:
        return self.card.kind != "qa"

    @property
    def is_blank(self) -> bool:
        """Nothing was answered: the learner wants to see the answer."""
        if isinstance(self.card, ChoiceCard):
            return not self.chosen
        if isinstance(self.card, (NumericCard, ClozeCard)):
            return not any(text.strip() for text in self.texts)
        if isinstance(self.card, OrderingCard):
            return not self.item_order
        return isinstance(self.card, DebugCard) and self.line == 0

    def submit(self) -> None:
        """Marks what was given and reveals the answer. Raises UsageError for no number, or no order of all."""
        self.marked = self._mark()
        self.revealed = True

    def lay_open(self) -> None:
        """Reveals the answer to one who only reads the card: nothing was given, and nothing is marked."""
        self.revealed, self.line = True, 0

    @property
    def is_read(self) -> bool:
        """Whether the card lies open without having been answered."""
        return self.revealed and self.marked is None

    @property
    def answer_told(self) -> Localised:
        """What is right, in a sentence; nothing for cards whose options, items or own answer tell it."""
        card = self.card
        if isinstance(card, NumericCard) and self.task is not None:
            return give_up(self.task).detail
        if isinstance(card, ClozeCard):
            return mark_cloze(card, ["" for _ in card.blanks]).detail
        return mark_debug(card, 0).detail if isinstance(card, DebugCard) else NOTHING

    def _mark(self) -> Marked | None:
        card = self.card
        if isinstance(card, NumericCard) and self.task is not None:
            return give_up(self.task) if self.is_blank else mark_numeric(self.task, self.texts[0])
        if isinstance(card, ChoiceCard):
            return mark_choice(card, self.chosen)
        if isinstance(card, ClozeCard):
            return mark_cloze(card, self.texts)
        if isinstance(card, OrderingCard):
            return give_up_ordering(card) if self.is_blank else mark_ordering(card, self.item_order)
        if isinstance(card, DebugCard):
            return mark_debug(card, self.line)
        return None

    @property
    def told(self) -> tuple[Localised, Localised]:
        """The verdict, counted by blanks or options where several are asked for, and what marking says besides."""
        marked = self.marked
        if marked is None:
            return NOTHING, NOTHING
        right, total = sum(marked.parts), len(marked.parts)
        by_part = isinstance(self.card, ClozeCard) or (isinstance(self.card, ChoiceCard) and self.card.multiple)
        key = "right" if marked.correct else "no-answer" if self.is_blank else "wrong"
        if key == "wrong" and by_part and total > 1 and right:
            key = "partly"
        return HEADS[key].format(right=right, total=total), marked.detail

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
