"""What is due now: how many new cards a day brings, which reviews fit the minutes of the day, which wait."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attncli.config import WEEKDAYS, Settings, is_set
from attncli.domain.siblings import Meeting, waiting
from attncli.errors import ConfigInvalid, EnvironmentFailure
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment, Waiting

if TYPE_CHECKING:
    from attncli.memory.minutes_per_day import DayMinutes


@dataclass(frozen=True)
class DueCounts:
    """`new` is what today's quota still brings; `topics` sums to `due`; `challenges` is apart.

    `left_out` counts due reviews that do not fit the minutes of today: they stay due.
    """

    new: int
    learning: int
    review: int
    challenges: int
    topics: dict[str, int]
    left_out: int = 0

    @property
    def due(self) -> int:
        return self.new + self.learning + self.review

    def document(self) -> dict[str, Any]:
        """What `attn due --json` prints."""
        return {
            "due": self.due,
            "new": self.new,
            "learning": self.learning,
            "review": self.review,
            "challenges": self.challenges,
            "topics": self.topics,
        }


def due_counts(workspace: Workspace, at: datetime | None = None) -> DueCounts:
    """Counts what is due at `at` (now)."""
    when = workspace.moment(at)
    queue = workspace.store.queue
    learning = queue.count_learning(when)
    room = room_today(workspace, when)
    reviews, left_out = _review_counts(workspace, when, room)
    unseen = queue.count_unseen(when, new_quota(workspace, when, sum(reviews.values()), room))
    return DueCounts(
        new=sum(unseen.values()),
        learning=sum(learning.values()),
        review=sum(reviews.values()),
        challenges=len(queue.challenges_due(when)),
        topics={
            topic: learning.get(topic, 0) + reviews.get(topic, 0) + unseen.get(topic, 0)
            for topic in sorted({*learning, *reviews, *unseen})
        },
        left_out=left_out,
    )


def _review_counts(workspace: Workspace, when: Moment, room: DayMinutes | None) -> tuple[dict[str, int], int]:
    """(topic → reviews in today's queue, how many are left out because they do not fit the minutes)."""
    counts = workspace.store.queue.count_reviews(when)
    for topic in held_apart(workspace, when).values():
        counts[topic] -= 1
    total = sum(counts.values())
    if room is not None and total > room.reviews:
        counts = dict.fromkeys(counts, 0)
        for waiting in reviews_today(workspace, when, room):
            counts[waiting.topic] += 1
    return {topic: count for topic, count in counts.items() if count}, total - sum(counts.values())


def reviews_today(workspace: Workspace, when: Moment, room: DayMinutes | None) -> list[Waiting]:
    """The due reviews but for those that siblings hold up, the longest-waiting first.

    Of more than fit `room` those come that lose most recall if they wait, the most urgent first.
    """
    queue, apart = workspace.store.queue, held_apart(workspace, when)
    if room is None:
        return [waiting for waiting in queue.reviews(when) if waiting.id not in apart]
    most_urgent = queue.reviews_by_loss(when, room.reviews + len(apart))
    return [waiting for waiting in most_urgent if waiting.id not in apart][: room.reviews]


def held_apart(workspace: Workspace, when: Moment) -> dict[str, str]:
    """Card → topic of the due reviews that wait, because a card or challenge that gives them away is too near."""
    if not (meetings := workspace.store.queue.meetings(when)):
        return {}
    return waiting(Meeting(*meeting) for meeting in meetings)


def room_today(workspace: Workspace, when: Moment) -> DayMinutes | None:
    """What the minutes of this day still hold; None where they are not set, or the plan for an interview has them."""
    if when.interview_day or not minutes_are_set(workspace):
        return None
    from attncli.memory.minutes_per_day import DayMinutes, Studied
    from attncli.store.review_seconds import seconds_by_novelty, spent_on

    connection = workspace.store.connection
    before = seconds_by_novelty(connection, when.day - PACE_DAYS, when.day - 1)
    learned, reviewed = (Studied(*before.get(is_new, ())) for is_new in (True, False))
    spent, untimed = spent_on(connection, when.day)
    steps = sum(workspace.store.queue.count_learning(when).values())
    return DayMinutes.of(minutes_of(workspace.settings, when.day), spent, untimed + steps, learned, reviewed)


def minutes_are_set(workspace: Workspace) -> bool:
    """Whether the learner chose the minutes; a file that was broken since it was read limits nothing."""
    try:
        return is_set(workspace.home.config, "minutes_per_day")
    except (ConfigInvalid, EnvironmentFailure):
        return False


PACE_DAYS = 28
"""How far back the log is asked how long a card takes."""


def new_quota(workspace: Workspace, when: Moment, reviews_due: int, room: DayMinutes | None) -> int:
    """How many more unseen cards this study day may bring.

    Before an interview new cards fill the minutes that reviews, due or done today, leave; otherwise there are at most
    `new_per_day`, and where minutes are set, no more than fit `room` beside the reviews.
    """
    introduced = workspace.store.queue.introduced(when.day)
    if when.interview_day:
        from attncli.memory.last_pass import new_cards_in

        reviews = reviews_due + workspace.store.log.review_days.known_on(when.day)
        return new_cards_in(minutes_of(workspace.settings, when.day), reviews, introduced)
    quota = max(0, workspace.settings.new_per_day - introduced)
    return quota if room is None else min(quota, room.new_beside(reviews_due))


def minutes_of(settings: Settings, day: int) -> float:
    """The minutes that a study day has, fewer on easy days."""
    percent = dict(settings.easy_days).get(WEEKDAYS[(day - 1) % 7], 100)
    return settings.minutes_per_day * percent / 100
