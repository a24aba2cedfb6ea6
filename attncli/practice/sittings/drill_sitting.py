"""A sitting beyond the schedule: cards of the learner's choice, each asked once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.rating import Rating
from attncli.domain.schedule import State
from attncli.practice.cards.choose_cards import Wish, chosen
from attncli.practice.review import RatedCard, ReviewSitting, SittingItem, SittingProgress
from attncli.practice.sittings.planned_cards import PlannedCards
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment, Waiting


class ChosenDrill(ReviewSitting):
    """Answers are reviews like any other, unless it is a cram: of that the log knows nothing, whatever is answered.

    Suspending and burying count in a cram too. Raises NothingFits if no card fits the wish.
    """

    def __init__(self, workspace: Workspace, wish: Wish, rng: Random) -> None:
        self.wish = wish
        self._chosen = [
            Waiting(card.id, card.topic, workspace.store.schedules.get(card.id) is None)
            for card in chosen(workspace, wish, rng)
        ]
        super().__init__(workspace)

    @property
    def is_recorded(self) -> bool:
        return not self.wish.cram

    def rate(self, rating: Rating, *, points: Sequence[int] | None = None, correct: bool | None = None) -> None:
        """Records the review of the current item, or keeps the rating for this sitting alone if it is a cram."""
        if self.is_recorded:
            super().rate(rating, points=points, correct=correct)
            return
        card, at = self._required().card.id, self.workspace.clock()
        self._answered.append(RatedCard(card, rating, None))
        self._settle(LogRow("", "", RowKind.REVIEW, card, at, 0))

    @property
    def progress(self) -> SittingProgress:
        new, seen = self._plan.new, self._plan.review
        if self.current is not None:
            is_new = self.current.state is State.NEW
            new, seen = new + is_new, seen + (not is_new)
        return SittingProgress(len(self._answered), new, 0, seen)

    def _planned(self, when: Moment) -> PlannedCards:
        return PlannedCards(self._chosen)

    def _take(self, when: Moment) -> Waiting | None:
        while self._plan:
            waiting = self._plan.take()
            if self.workspace.store.queue.available(when, id=waiting.id):
                return waiting
            self._passed_over.add(waiting.id)
        return None

    def _in_steps(self, ids: Collection[str], when: Moment) -> set[str]:
        """None: each card is asked once."""
        return set()

    def _put_back(self, item: SittingItem) -> None:
        self._plan.put_back(Waiting(item.card.id, item.card.topic, item.state is State.NEW))
