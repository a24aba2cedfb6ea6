"""A card while it is being asked: what was drawn for it, what was given, how that was marked. No widgets here."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.rating import Rating
from attncli.domain.text import Localised
from attncli.practice.drill import suggest, suggest_marked
from attncli.practice.marking import (
    Marked,
    mark_choice,
    mark_cloze,
    mark_debug,
    mark_ordering,
    shuffled_items,
    shuffled_options,
)
from attncli.practice.numeric_answer import NumericTask, draw, give_up, mark_numeric


@dataclass(slots=True)
class Asked:
    """`given` fields are filled by the answer widgets; `submit` marks them and reveals the answer."""

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
        return isinstance(self.card, DebugCard) and self.line == 0

    def submit(self) -> None:
        """Marks what was given and reveals the answer. Raises UsageError for a number that cannot be read."""
        self.marked = self._mark()
        self.revealed = True

    def _mark(self) -> Marked | None:
        card = self.card
        if isinstance(card, NumericCard) and self.task is not None:
            return give_up(self.task) if self.is_blank else mark_numeric(self.task, self.texts[0])
        if isinstance(card, ChoiceCard):
            return mark_choice(card, self.chosen)
        if isinstance(card, ClozeCard):
            return mark_cloze(card, self.texts)
        if isinstance(card, OrderingCard):
            return mark_ordering(card, self.item_order)
        if isinstance(card, DebugCard):
            return mark_debug(card, self.line)
        return None

    @property
    def suggestion(self) -> Rating:
        """What the ticked points, or the marking, suggest."""
        if self.marked is not None:
            return suggest_marked(self.marked.correct)
        return suggest(len(self.ticked), len(self.card.points))

    @property
    def points(self) -> list[int] | None:
        """The ticked points for the log; None for cards without points."""
        return sorted(self.ticked) if self.card.points and self.marked is None else None

    @property
    def correct(self) -> bool | None:
        return None if self.marked is None else self.marked.correct
