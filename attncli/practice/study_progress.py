"""How far the learner has come with the cards: retention, streak, forecast, and how ready each topic is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from itertools import chain
from typing import Any

from attncli.domain.log_row import RowKind
from attncli.domain.rating import Rating
from attncli.domain.rungs import Rung
from attncli.domain.schedule import Schedule
from attncli.memory.forgetting import recall_on
from attncli.memory.replay import is_leech, standing
from attncli.practice.countdown import Countdown, countdown
from attncli.practice.weakness import is_weak
from attncli.practice.workspace import Workspace
from attncli.store.queue import Moment

RETENTION_DAYS = 30
FORECAST_DAYS = 14
WEAK_SHOWN = 10


@dataclass(frozen=True, slots=True)
class WeakCard:
    """A card that wants attention; `recall` is the probability of recalling it today."""

    card: str
    recall: float
    lapses: int
    leech: bool


@dataclass(frozen=True, slots=True)
class TopicStanding:
    """`recall` is the mean over the seen cards, `readiness` over all cards (an unseen one counts 0)."""

    seen: int
    total: int
    recall: float
    readiness: float
    lapses: int
    weak: tuple[WeakCard, ...] = ()


@dataclass(frozen=True, slots=True)
class ForecastDay:
    """How many reviews come due on a study day; the first day holds the overdue ones too."""

    date: str
    due: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What `attn stats` shows. `retention` is the share of reviews of known cards that were recalled, or None."""

    reviews: int
    today: int
    streak_days: int
    retention: float | None
    seen: int
    cards: int
    topics: dict[str, TopicStanding] = field(default_factory=dict)
    forecast: tuple[ForecastDay, ...] = ()
    per_day: dict[str, int] = field(default_factory=dict)
    challenges: dict[str, int] = field(default_factory=dict)
    interview: Countdown | None = None

    def document(self) -> dict[str, Any]:
        """What `attn stats --json` prints."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Overview:
    """What Home shows besides what is due: the part of `Progress` that needs no walk through all reviews."""

    streak_days: int
    topics: dict[str, TopicStanding]
    interview: Countdown | None = None

    @property
    def cards(self) -> int:
        return sum(topic.total for topic in self.topics.values())


def overview(workspace: Workspace, at: datetime | None = None) -> Overview:
    """The streak and the topics at `at` (now)."""
    when = workspace.moment(at)
    streak_days = streak(workspace.store.log.reviews_by_day(), when.day)
    return Overview(streak_days, topic_standings(workspace, when), countdown(workspace, at))


def progress(workspace: Workspace, at: datetime | None = None) -> Progress:
    """Everything about the learner's progress at `at` (now)."""
    when = workspace.moment(at)
    by_day = workspace.store.log.reviews_by_day()
    topics = topic_standings(workspace, when)
    return Progress(
        reviews=sum(by_day.values()),
        today=by_day.get(when.day, 0),
        streak_days=streak(by_day, when.day),
        retention=retention(workspace.store.log.standing_reviews(), when.day - RETENTION_DAYS),
        seen=sum(topic.seen for topic in topics.values()),
        cards=sum(topic.total for topic in topics.values()),
        topics=topics,
        forecast=forecast(workspace, when),
        per_day={date.fromordinal(day).isoformat(): count for day, count in sorted(by_day.items())},
        challenges=_challenge_counts(workspace),
        interview=countdown(workspace, at),
    )


def streak(by_day: Mapping[int, int], today: int) -> int:
    """Consecutive study days with a review, up to today; a day that has only begun does not break it."""
    day = today if by_day.get(today) else today - 1
    length = 0
    while by_day.get(day - length):
        length += 1
    return length


def retention(reviews: Iterable[tuple[str, int, int]], first_day: int) -> float | None:
    """The share of reviews since `first_day` that were not forgotten, of cards first seen on an earlier day.

    `reviews` are (subject, study day, rating) in order; only the first review of a card on a day counts, since the
    repetitions within that day say nothing about memory.
    """
    last_seen: dict[str, int] = {}
    recalled = forgotten = 0
    for subject, day, rating in reviews:
        counts = day >= first_day and subject in last_seen and last_seen[subject] < day
        recalled += counts and rating != Rating.AGAIN
        forgotten += counts and rating == Rating.AGAIN
        last_seen[subject] = day
    total = recalled + forgotten
    return recalled / total if total else None


def forecast(workspace: Workspace, when: Moment, days: int = FORECAST_DAYS) -> tuple[ForecastDay, ...]:
    """Reviews due on each of the next study days, as things stand."""
    counts = [0] * days
    for is_review, due_day, due_at in workspace.store.queue.due():
        ahead = max(0, (due_day if is_review else workspace.calendar.day(due_at)) - when.day)
        if ahead < days:
            counts[ahead] += 1
    return tuple(ForecastDay(date.fromordinal(when.day + n).isoformat(), count) for n, count in enumerate(counts))


def topic_standings(workspace: Workspace, when: Moment) -> dict[str, TopicStanding]:
    """Topic → how well it stands, for every topic that has cards."""
    topic_of = {card.id: card.topic for card in workspace.store.index.list_cards(None)}
    seen: dict[str, list[tuple[str, Schedule]]] = defaultdict(list)
    for subject, schedule in workspace.store.schedules.all():
        if subject in topic_of:
            seen[topic_of[subject]].append((subject, schedule))
    decay = workspace.policy.decay
    return {topic.id: _standing(topic.cards, seen[topic.id], when.day, decay) for topic in workspace.library.topics()}


def recall_of_seen(workspace: Workspace, when: Moment) -> list[tuple[str, Schedule, float]]:
    """Every seen card with its schedule and the probability that it is recalled on the study day of `when`."""
    known = {card.id for card in workspace.store.index.list_cards(None)}
    decay = workspace.policy.decay
    seen = [(id, schedule) for id, schedule in workspace.store.schedules.all() if id in known]
    return [(id, schedule, recall_on(schedule, when.day, decay)) for id, schedule in seen]


def _standing(total: int, seen: list[tuple[str, Schedule]], day: int, decay: float) -> TopicStanding:
    recalls = {card: recall_on(schedule, day, decay) for card, schedule in seen}
    weak = [
        WeakCard(card, round(recalls[card], 4), schedule.lapses, is_leech(schedule))
        for card, schedule in seen
        if is_weak(schedule.lapses, recalls[card])
    ]
    weak.sort(key=lambda card: (card.recall, -card.lapses, card.card))
    return TopicStanding(
        seen=len(seen),
        total=total,
        recall=round(sum(recalls.values()) / len(seen), 4) if seen else 0.0,
        readiness=round(sum(recalls.values()) / total, 4) if total else 0.0,
        lapses=sum(schedule.lapses for _, schedule in seen),
        weak=tuple(weak[:WEAK_SHOWN]),
    )


def _challenge_counts(workspace: Workspace) -> dict[str, int]:
    reached: dict[str, set[Rung]] = defaultdict(set)
    for row in standing(chain.from_iterable(map(workspace.store.log.of_kind, (RowKind.ATTEMPT, RowKind.UNDO)))):
        if row.verdict:
            reached[row.subject].add(row.reached)
    known = set(workspace.store.index.challenge_ids())
    tried = [found for subject, found in reached.items() if subject in known]
    solved = sum(found != {"none"} for found in tried)
    hardened = sum("hardened" in found for found in tried)
    return {"solved": solved, "hardened": hardened, "tried": len(tried) - solved, "total": len(known)}
