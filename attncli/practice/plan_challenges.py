"""Challenges in the plan: a quarter of the minutes, due ones first, then those that core cards lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from attncli.domain.log_row import RowKind
from attncli.domain.rungs import RUNGS
from attncli.memory.last_pass import LONGEST_PASS_DAYS
from attncli.memory.replay import standing
from attncli.practice.challenges import ChallengeStanding, standings
from attncli.practice.workspace import Workspace

CHALLENGE_SHARE = 0.25
FIRST_MINUTES, AGAIN_MINUTES = 25.0, 12.0
"""What solving a challenge takes to begin with, and solving it again."""
LONGEST_MINUTES, PRIOR_SOLVED = 90.0, 3


@dataclass(frozen=True, slots=True)
class ChallengeDay:
    """The challenges of one day, and the minutes that they take."""

    ids: tuple[str, ...]
    minutes: float


@dataclass(frozen=True, slots=True)
class PlannedChallenges:
    """Day → its challenges; `left_out` counts those that stay unsolved."""

    days: Mapping[int, ChallengeDay]
    left_out: int

    def minutes_on(self, day: int) -> float:
        found = self.days.get(day)
        return found.minutes if found else 0.0


def plan_challenges(
    workspace: Workspace, minutes: Mapping[int, float], weights: Mapping[str, float], at: datetime | None = None
) -> PlannedChallenges:
    """A challenge on each day by which a quarter of the minutes have added up to one; no new one in the last pass."""
    listed = standings(workspace)
    due = [found for found in listed if found.schedule is not None]
    due.sort(key=lambda found: found.schedule.due_day if found.schedule else 0)
    new = [found for found in listed if found.standing not in RUNGS]
    new.sort(key=lambda found: -_asked(found, weights))
    first, again = _usual_minutes(workspace)
    days: dict[int, ChallengeDay] = {}
    saved, last = 0.0, max(minutes, default=0)
    for day, has in sorted(minutes.items()):
        saved += has * CHALLENGE_SHARE
        passing = last - day < min(LONGEST_PASS_DAYS, len(minutes) // 3)
        is_due = bool(due) and due[0].schedule is not None and due[0].schedule.due_day <= day
        takes = again if is_due else first
        if takes <= min(saved, has) and (is_due or (new and not passing)):
            found = due.pop(0) if is_due else new.pop(0)
            days[day] = ChallengeDay((found.challenge.id,), takes)
            saved -= takes
    return PlannedChallenges(days, len(new))


def _asked(found: ChallengeStanding, weights: Mapping[str, float]) -> float:
    return sum(weights.get(card, 0.0) for card in found.challenge.cards)


def _usual_minutes(workspace: Workspace) -> tuple[float, float]:
    """(a first time, again): the median from start to acceptance in the log, drawn towards what is usual."""
    log = workspace.store.log
    rows = standing([row for kind in (RowKind.START, RowKind.ATTEMPT, RowKind.UNDO) for row in log.of_kind(kind)])
    started: dict[str, datetime] = {}
    took = []
    for row in rows:
        if row.kind is RowKind.START:
            started[row.subject] = row.at
        elif row.reached in RUNGS and row.subject in started:
            minutes = (row.at - started.pop(row.subject)) / timedelta(minutes=1)
            took += [minutes] if 0 < minutes <= LONGEST_MINUTES else []
    known = median(took) if took else FIRST_MINUTES
    first = (len(took) * known + PRIOR_SOLVED * FIRST_MINUTES) / (len(took) + PRIOR_SOLVED)
    return first, first * AGAIN_MINUTES / FIRST_MINUTES
