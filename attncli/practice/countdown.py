"""How far away the interview is, and how much of what is asked is ready for that day as things stand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from attncli.memory.forecast import expected_recall, thirds_as_now
from attncli.practice.plan_basis import plan_basis
from attncli.practice.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Countdown:
    """`recall` of what is asked on the day (weighed as the plan does) if nothing more is done, with its interval."""

    date: str
    days_left: int
    recall: float
    low: float
    high: float


def countdown(workspace: Workspace, at: datetime | None = None) -> Countdown | None:
    """Of the interview that is set; None without one that lies ahead."""
    interview = workspace.settings.interview
    today = date.fromordinal(workspace.moment(at).day)
    if interview is None or interview < today:
        return None
    day = max(interview.toordinal(), today.toordinal() + 1)
    basis = plan_basis(workspace, day)
    weights = {item.id: item.weight for item in basis.items}
    found = expected_recall(weights, thirds_as_now(basis.items, basis.curves), basis.outlook)
    told = (round(share, 4) for share in (found.recall, found.low, found.high))
    return Countdown(interview.isoformat(), (interview - today).days, *told)
