"""What today asks of the learner: minutes of it, and where nothing is due, why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from attncli.practice.queue import DueCounts, minutes_are_set
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment

Reason = Literal["empty", "suspended", "limit", "minutes", "off", "buried", "waiting"]


@dataclass(frozen=True, slots=True)
class Standstill:
    """Why nothing is due. `next_at` is when something is, None if nothing will be by itself.

    `unseen` cards are open to be learned; `introduced` were today, of `new_per_day`, or of what the minutes hold.
    """

    cards: int
    suspended: int
    buried: int
    unseen: int
    introduced: int
    new_per_day: int
    by_minutes: bool
    next_at: datetime | None

    @property
    def reason(self) -> Reason:
        """The one that the learner can do something about, if there is one."""
        if not self.cards:
            return "empty"
        if self.suspended == self.cards:
            return "suspended"
        if self.unseen:
            return "minutes" if self.by_minutes else "limit" if self.new_per_day else "off"
        return "buried" if self.buried else "waiting"


def standstill(workspace: Workspace) -> Standstill:
    """What there is to say where nothing is due now."""
    when, queue = workspace.moment(), workspace.store.queue
    cards, suspended = sum(topic.cards for topic in workspace.library.topics()), len(queue.suspended())
    unseen = queue.all_unseen(when)
    buried = cards - suspended - len(queue.available(when))
    introduced, new_per_day = queue.introduced(when.day), workspace.settings.new_per_day
    is_held_by_minutes = introduced < new_per_day and minutes_are_set(workspace)
    brings_new = bool(when.interview_day) or new_per_day > 0
    return Standstill(
        cards=cards,
        suspended=suspended,
        buried=buried,
        unseen=unseen,
        introduced=introduced,
        new_per_day=new_per_day,
        by_minutes=bool(when.interview_day) or is_held_by_minutes,
        next_at=_next_at(workspace, when, tomorrow=bool(buried or (unseen and brings_new))),
    )


def _next_at(workspace: Workspace, when: Moment, tomorrow: bool) -> datetime | None:
    """When the next step or review is due; a day begins with new and buried cards, if it has some."""
    day = workspace.store.queue.next_review_day(when)
    coming = [
        workspace.store.queue.next_step(when),
        None if day is None else workspace.calendar.starts_at(day),
        when.day_end if tomorrow else None,
    ]
    return min((moment for moment in coming if moment is not None), default=None)


class Pace:
    """How long this learner takes for what is due: as the plan counts, by their own log.

    Made whole by `read_on`, which is called until it says that nothing is left. Of very many `cards` that would take
    too long to read: what is usual is told.
    """

    def __init__(self, workspace: Workspace, cards: int) -> None:
        from attncli.practice.plan_basis import MANY_CARDS, Habits, habit_reader

        self._read_from = _log_read(workspace)
        self._reader = None if cards > MANY_CARDS else habit_reader(workspace)
        self._habits = Habits() if self._reader is None else self._reader.habits
        self.is_whole = self._reader is None

    def read_on(self, cards: int) -> bool:
        """Whether something is left after these cards."""
        self.is_whole = self.is_whole or self._reader is None or not self._reader.read_on(cards)
        return not self.is_whole

    def holds_for(self, workspace: Workspace) -> bool:
        """Whether it is whole, and the log and the scheduling are still those that it was read from."""
        return self.is_whole and self._read_from == _log_read(workspace)

    def minutes(self, due: DueCounts) -> float:
        return (due.new * self._habits.learning() + (due.learning + due.review) * self._habits.reviewing()) / 60


def _log_read(workspace: Workspace) -> tuple[object, ...]:
    return workspace.store.log.newest_number(), workspace.policy.parameters
