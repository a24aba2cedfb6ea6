"""A sitting over what the plan for the interview has for today."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.practice.review import ReviewSitting
from attncli.practice.sittings.planned_cards import PlannedCards
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment, Waiting


class PlanSitting(ReviewSitting):
    """The cards of the plan in its order, due or not; steps that fall due in between come first, as in any review."""

    def __init__(self, workspace: Workspace, cards: Sequence[str]) -> None:
        self._cards = tuple(cards)
        super().__init__(workspace)

    def _planned(self, when: Moment) -> PlannedCards:
        schedules = self.workspace.store.schedules
        return PlannedCards(Waiting(card, "", schedules.get(card) is None) for card in self._cards)

    def _may_ask(self, waiting: Waiting, when: Moment) -> bool:
        """Not what was suspended or buried since, nor a new card that was learned elsewhere meanwhile."""
        if not self.workspace.store.queue.available(when, id=waiting.id):
            return False
        schedule = self.workspace.store.schedules.get(waiting.id)
        return schedule is None or schedule.review_day < when.day
