"""Which cards are weak: what is likely forgotten, what lapsed often, and what was missed last time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from attncli.domain.rating import Rating
from attncli.memory.forgetting_curve import curve_factor, recall_on
from attncli.practice.mock_log import missed_then
from attncli.practice.workspace import Workspace
from attncli.store.log import LastReview
from attncli.store.queue_table import Moment
from attncli.store.seen_cards import PerhapsWeak, RecallCurve

WEAK_LAPSES = 3
WEAK_RECALL = 0.7


def is_weak(lapses: int, recall: float, missed: bool = False) -> bool:
    """Forgotten three times or more, less than 70 % likely to be recalled today, or missed at its last review.

    `attn stats`, which looks at schedules alone, leaves `missed` out.
    """
    return missed or lapses >= WEAK_LAPSES or recall < WEAK_RECALL


def has_missed(last: LastReview, points: int) -> bool:
    """Whether a review missed something of a card with so many points.

    It was rated again or marked wrong, or some points were ticked and others not. Who ticks none and rates good does
    not tick at all: that says nothing.
    """
    some = last.points is not None and 0 < len(last.points) < points
    return _was_forgotten(last) or some


def _was_forgotten(last: LastReview) -> bool:
    return last.rating == Rating.AGAIN or last.correct is False


@dataclass(frozen=True, slots=True)
class Weakness:
    """A weak card and what makes it one; `points_missed` are indices into its points.

    `recall` is the probability that it is recalled on the day that was asked for, and 0 where it was forgotten on that
    very day: the forgetting curve begins at 1 whatever the rating was.
    """

    card: str
    recall: float
    lapses: int
    missed: bool
    points_missed: tuple[int, ...] = ()


def weaknesses(workspace: Workspace, when: Moment) -> list[Weakness]:
    """The weak cards among those seen: what was missed first, then the least likely to be recalled.

    What a mock interview found missing counts until the card is reviewed.
    """
    found: dict[str, Weakness] = {}
    for seen in workspace.store.seen.perhaps_weak(curve_on(workspace, when), WEAK_RECALL, WEAK_LAPSES):
        last, points = seen.last, _points(workspace, seen)
        missed = last is not None and has_missed(last, points)
        is_forgotten = last is not None and seen.review_day >= when.day and _was_forgotten(last)
        recall = 0.0 if is_forgotten else seen.recall
        if is_weak(seen.lapses, recall, missed):
            left = _points_missed(last.points, points) if last else ()
            found[seen.id] = Weakness(seen.id, recall, seen.lapses, missed, left)
    found |= {weak.card: weak for weak in _missed_in_interviews(workspace, when, found)}
    return sorted(found.values(), key=lambda weak: (not weak.missed, weak.recall, -weak.lapses, weak.card))


def _missed_in_interviews(workspace: Workspace, when: Moment, weak: Mapping[str, Weakness]) -> Iterator[Weakness]:
    """The seen cards of which something was missed in an interview after their last review."""
    for id, then in missed_then(workspace).items():
        schedule, document = workspace.store.schedules.get(id), workspace.store.index.card(id)
        if schedule is not None and document is not None and then.at > schedule.reviewed_at:
            recall = weak[id].recall if id in weak else recall_on(schedule, when.day, workspace.policy.decay)
            left = _points_missed(then.made, len(document.get("points") or ()))
            yield Weakness(id, recall, schedule.lapses, True, left)


def weak_cards(workspace: Workspace, when: Moment) -> list[str]:
    """The ids of the weak cards, the weakest first, with those that were missed in an interview and never reviewed."""
    index, schedules = workspace.store.index, workspace.store.schedules
    unseen = [id for id in missed_then(workspace) if schedules.get(id) is None and index.card(id) is not None]
    return [*sorted(unseen), *(weak.card for weak in weaknesses(workspace, when))]


def curve_on(workspace: Workspace, when: Moment) -> RecallCurve:
    """How recall falls with this learner's weights, asked for the study day of `when`."""
    decay = workspace.policy.decay
    return RecallCurve(curve_factor(decay), -decay, when.day)


def _points(workspace: Workspace, seen: PerhapsWeak) -> int:
    """How many points the card has; asked for only where some were ticked."""
    if seen.last is None or not seen.last.points:
        return 0
    document = workspace.store.index.card(seen.id)
    return len((document or {}).get("points") or ())


def _points_missed(ticked: Collection[int] | None, points: int) -> tuple[int, ...]:
    """The points that were not ticked where some were."""
    return tuple(number for number in range(points) if number not in ticked) if ticked else ()
