"""Which cards are weak: what is likely forgotten today, what lapsed often, and what the last review did not get."""

from __future__ import annotations

from attncli.domain.rating import Rating
from attncli.memory.forgetting import recall_on
from attncli.practice.workspace import Workspace
from attncli.store.log import LastReview
from attncli.store.queue import Moment

WEAK_LAPSES = 3
WEAK_RECALL = 0.7


def is_weak(lapses: int, recall: float, missed: bool = False) -> bool:
    """Forgotten three times or more, less than 70 % likely to be recalled today, or missed at its last review.

    `attn stats` and the summary, which look at schedules alone, leave `missed` out.
    """
    return missed or lapses >= WEAK_LAPSES or recall < WEAK_RECALL


def has_missed(last: LastReview, points: int) -> bool:
    """Whether a review missed something of a card with so many points.

    It was rated again or marked wrong, or some points were ticked and others not. Who ticks none and rates good does
    not tick at all: that says nothing.
    """
    some = last.points is not None and 0 < len(last.points) < points
    return last.rating == Rating.AGAIN or last.correct is False or some


def weak_cards(workspace: Workspace, when: Moment) -> list[str]:
    """The ids of the weak cards among those seen: what was missed first, then the least likely to be recalled."""
    index, decay = workspace.store.index, workspace.policy.decay
    renamed = index.renames()
    last = {renamed.get(id, id): review for id, review in workspace.store.log.last_reviews().items()}
    found = []
    for id, schedule in workspace.store.schedules.all():
        if (document := index.card(id)) is None:
            continue
        missed = id in last and has_missed(last[id], len(document.get("points") or ()))
        recall = recall_on(schedule, when.day, decay)
        if is_weak(schedule.lapses, recall, missed):
            found.append((not missed, recall, -schedule.lapses, id))
    return [id for *_, id in sorted(found)]
