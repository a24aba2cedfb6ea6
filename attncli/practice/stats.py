"""How far the learner has come with the cards: retention, streak, forecast, and how ready each topic is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any

from attncli.domain.log_row import RowKind
from attncli.domain.rungs import Rung
from attncli.memory.schedule_policy import LEECH_LAPSES
from attncli.practice.cards.weakness import WEAK_LAPSES, WEAK_RECALL, curve_on
from attncli.practice.countdown import Countdown, countdown
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment
from attncli.store.review_days import ReviewDay
from attncli.store.seen_cards import SeenInTopic

RETENTION_DAYS = 30
FORECAST_DAYS = 14
RECENT_DAYS = 28
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
class ProgressStats:
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
    """What Home shows besides what is due: the part of `ProgressStats` that needs no walk through all reviews.

    `recent` is the reviews of each of the last four weeks' days, today's last.
    """

    streak_days: int
    topics: dict[str, TopicStanding]
    interview: Countdown | None = None
    recent: tuple[int, ...] = ()

    @property
    def cards(self) -> int:
        return sum(topic.total for topic in self.topics.values())


def overview(workspace: Workspace, at: datetime | None = None) -> Overview:
    """The streak and the topics at `at` (now)."""
    when = workspace.moment(at)
    by_day = {day.day: day.reviews for day in workspace.store.log.review_days.all()}
    recent = tuple(by_day.get(day, 0) for day in range(when.day - RECENT_DAYS + 1, when.day + 1))
    return Overview(
        streak(by_day, when.day, workspace.calendar.exists),
        topic_standings(workspace, when),
        countdown(workspace, at),
        recent,
    )


def progress(workspace: Workspace, at: datetime | None = None) -> ProgressStats:
    """Everything about the learner's progress at `at` (now)."""
    when = workspace.moment(at)
    days = workspace.store.log.review_days.all()
    by_day = {day.day: day.reviews for day in days}
    topics = topic_standings(workspace, when)
    return ProgressStats(
        reviews=sum(by_day.values()),
        today=by_day.get(when.day, 0),
        streak_days=streak(by_day, when.day, workspace.calendar.exists),
        retention=retention(days, when.day - RETENTION_DAYS),
        seen=sum(topic.seen for topic in topics.values()),
        cards=sum(topic.total for topic in topics.values()),
        topics=topics,
        forecast=forecast(workspace, when),
        per_day={date.fromordinal(day).isoformat(): count for day, count in sorted(by_day.items())},
        challenges=_challenge_counts(workspace),
        interview=countdown(workspace, at),
    )


def streak(by_day: Mapping[int, int], today: int, exists: Callable[[int], bool]) -> int:
    """Consecutive study days with a review, up to today; neither a day that has only begun nor one that was never."""
    day = today if by_day.get(today) else today - 1
    length = 0
    while by_day.get(day) or not exists(day):
        length += bool(by_day.get(day))
        day -= 1
    return length


def retention(days: Iterable[ReviewDay], first_day: int) -> float | None:
    """The share of reviews since `first_day` that were not forgotten, of cards first seen on an earlier day."""
    counted = [day for day in days if day.day >= first_day]
    recalled = sum(day.recalled for day in counted)
    total = recalled + sum(day.forgotten for day in counted)
    return recalled / total if total else None


def forecast(workspace: Workspace, when: Moment, days: int = FORECAST_DAYS) -> tuple[ForecastDay, ...]:
    """Reviews due on each of the next study days, as things stand."""
    ends = [workspace.calendar.ends_at(when.day + ahead) for ahead in range(days)]
    counts = workspace.store.seen.due_by_day(when.day, ends)
    return tuple(ForecastDay(date.fromordinal(when.day + n).isoformat(), count) for n, count in enumerate(counts))


def topic_standings(workspace: Workspace, when: Moment) -> dict[str, TopicStanding]:
    """Topic → how well it stands, for every topic that has cards."""
    curve = curve_on(workspace, when)
    seen = {found.topic: found for found in workspace.store.seen.by_topic(curve)}
    weak: dict[str, list[WeakCard]] = defaultdict(list)
    for card in workspace.store.seen.weakest(curve, WEAK_RECALL, WEAK_LAPSES, WEAK_SHOWN):
        leech = card.lapses >= LEECH_LAPSES
        weak[card.topic].append(WeakCard(card.id, round(card.recall, 4), card.lapses, leech))
    return {
        topic.id: _standing(topic.cards, seen.get(topic.id), tuple(weak[topic.id]))
        for topic in workspace.library.topics()
    }


def due_by_then(workspace: Workspace, when: Moment) -> list[tuple[float, str]]:
    """(recall, card) of the seen cards that come due by the study day of `when`, the least recalled first."""
    return [(card.recall, card.id) for card in workspace.store.seen.due_by_then(curve_on(workspace, when))]


def _standing(total: int, seen: SeenInTopic | None, weak: tuple[WeakCard, ...]) -> TopicStanding:
    if seen is None:
        return TopicStanding(0, total, 0.0, 0.0, 0)
    return TopicStanding(
        seen=seen.seen,
        total=total,
        recall=round(seen.recall / seen.seen, 4),
        readiness=round(seen.recall / total, 4) if total else 0.0,
        lapses=seen.lapses,
        weak=weak,
    )


def _challenge_counts(workspace: Workspace) -> dict[str, int]:
    reached: dict[str, set[Rung]] = defaultdict(set)
    for row in workspace.store.log.standing_of_kind(RowKind.ATTEMPT):
        if row.verdict:
            reached[row.subject].add(row.reached)
    known = set(workspace.store.index.challenge_ids())
    tried = [found for subject, found in reached.items() if subject in known]
    solved = sum(found != {"none"} for found in tried)
    hardened = sum("hardened" in found for found in tried)
    return {"solved": solved, "hardened": hardened, "tried": len(tried) - solved, "total": len(known)}
