"""A card while it is asked: the answer as it is filled in, and its marking.

The app, the plain review and the assistant differ only in how they read an answer. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from attncli.domain.card import Card
from attncli.domain.log_row import Rating
from attncli.domain.parts import ALOUD, Answer, Entry, FindLine, Marked
from attncli.i18n import NOTHING, Lang, Localised, _

HARD_FROM = 0.5
"""The share of ticked points from which the rating hard is suggested."""


@dataclass(slots=True)
class Asked:
    """A card that is being asked: its draw, the answer as it is filled in, and after `submit` the marking."""

    card: Card
    entry: Entry
    answer: Answer
    ticked: set[int] = field(default_factory=set)
    opened: set[int] = field(default_factory=set)
    revealed: bool = False
    marked: Marked | None = None

    @staticmethod
    def of(card: Card, rng: Random) -> Asked:
        """Draw the values, or the order of options or items."""
        drawn = card.draw(rng)
        entry = drawn.entry()
        return Asked(drawn, entry, entry.start())

    @property
    def question(self) -> Localised:
        return self.card.wording

    @property
    def is_marked_automatically(self) -> bool:
        return self.entry != ALOUD

    @property
    def is_blank(self) -> bool:
        """True if nothing was answered: the learner wants to see the answer."""
        return self.answer.is_blank

    def rows(self, lang: Lang) -> list[str]:
        """Return the rows to choose from: options, items, or lines of code. Empty if the answer is typed or spoken."""
        return [row.text[lang] for row in self.entry.rows]

    def choose(self, places: Sequence[int]) -> None:
        """Answer with the rows at these places, counted from 0; with none, give up."""
        self.answer.places = list(places)

    def submit(self) -> None:
        """Mark the answer, reveal the right one. Raises InvalidInput for no number, UsageError for a partial order."""
        self.marked = self.card.mark(self.answer)
        self.revealed = True

    def lay_open(self) -> None:
        """Reveal the right answer without marking, for a learner who only reads the card."""
        self.revealed = True
        if isinstance(self.entry, FindLine):  # the line under the cursor is no answer
            self.answer = Answer()

    @property
    def right_answer(self) -> Localised:
        """The right answer in a sentence; empty for cards that are not marked."""
        marked = self.card.mark(Answer())
        return marked.detail if marked else NOTHING

    @property
    def told(self) -> tuple[Localised, Localised]:
        """(result, feedback); the result counts right blanks or options if there are several."""
        marked = self.marked
        if marked is None:
            return NOTHING, NOTHING
        right, total = sum(marked.parts), len(marked.parts)
        if marked.correct:
            return _("✓ Right"), marked.detail
        if self.is_blank:
            return _("no answer"), marked.detail
        if total > 1 and right:
            return _("~ Partly right: {right} of {total}", right=right, total=total), marked.detail
        return _("✗ Not right"), marked.detail

    @property
    def suggestion(self) -> Rating:
        """Good for a right answer or all points, hard for half of the points, otherwise again."""
        if self.marked is not None:
            return Rating.GOOD if self.marked.correct else Rating.AGAIN
        ticked, total = len(self.ticked), len(self.card.points)
        if ticked >= total:
            return Rating.GOOD
        return Rating.HARD if ticked / total >= HARD_FROM else Rating.AGAIN

    @property
    def points(self) -> list[int] | None:
        """The ticked points for the log; None for cards without points."""
        return sorted(self.ticked) if self.card.points and self.marked is None else None

    @property
    def correct(self) -> bool | None:
        return None if self.marked is None else self.marked.correct
