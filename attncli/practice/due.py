"""What is due now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from attncli.config import WEEKDAYS, Settings
from attncli.practice.workspace import Workspace
from attncli.store.queue import Moment, Waiting


@dataclass(frozen=True)
class DueCounts:
    """`new` is what today's quota still brings; `topics` sums to `due`; `challenges` is apart."""

    new: int
    learning: int
    review: int
    challenges: int
    topics: dict[str, int]

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
    reviews = queue.count_reviews(when)
    for topic in held_apart(workspace, when).values():
        reviews[topic] -= 1
    unseen = queue.count_unseen(when, new_quota(workspace, when, sum(reviews.values())))
    return DueCounts(
        new=sum(unseen.values()),
        learning=sum(learning.values()),
        review=sum(reviews.values()),
        challenges=len(queue.challenges_due(when)),
        topics={
            topic: learning.get(topic, 0) + reviews.get(topic, 0) + unseen.get(topic, 0)
            for topic in sorted({*learning, *unseen, *(topic for topic, count in reviews.items() if count)})
        },
    )


def reviews_today(workspace: Workspace, when: Moment, topic: str | None = None) -> list[Waiting]:
    """The due reviews that today's queue has, the longest-waiting first."""
    apart = held_apart(workspace, when)
    return [waiting for waiting in workspace.store.queue.reviews(when, topic) if waiting.id not in apart]


def held_apart(workspace: Workspace, when: Moment) -> dict[str, str]:
    """Card → topic of the due reviews that wait, because a card or challenge that gives them away is too near."""
    if not (meetings := workspace.store.queue.meetings(when)):
        return {}
    from attncli.memory.siblings import Meeting, waiting

    return waiting(Meeting(*meeting) for meeting in meetings)


def new_quota(workspace: Workspace, when: Moment, reviews_due: int) -> int:
    """How many more unseen cards this study day may bring.

    Before an interview new cards fill the minutes that reviews, due or done today, leave; otherwise there are
    `new_per_day`.
    """
    introduced = workspace.store.queue.introduced(when.day)
    if when.interview_day:
        from attncli.memory.last_pass import new_cards_in

        reviews = reviews_due + workspace.store.log.review_days.known_on(when.day)
        return new_cards_in(minutes_of(workspace.settings, when.day), reviews, introduced)
    return max(0, workspace.settings.new_per_day - introduced)


def minutes_of(settings: Settings, day: int) -> float:
    """The minutes that a study day has for the plan, fewer on easy days."""
    percent = dict(settings.easy_days).get(WEEKDAYS[(day - 1) % 7], 100)
    return settings.minutes_per_day * percent / 100
