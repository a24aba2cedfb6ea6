"""Progress: retention, streak, forecast, readiness of each topic, and recall against the predictions of FSRS.

`overview` needs no walk through the reviews, so Home uses it. Recall is measured on the cards that were reviewed last,
a few at a time: a million reviews are never read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from statistics import fmean
from typing import TypeVar

from attncli.domain.log_row import Rating, ReviewDay, RowKind, Schedule, seconds_of
from attncli.domain.vocabulary import RUNGS, Rung
from attncli.i18n import Localised, _, quoted
from attncli.memory.forecast import SAMPLED_CARDS
from attncli.memory.replay import standing_reviews
from attncli.memory.scheduler import LEECH_LAPSES, recall_on
from attncli.practice.plan_text import Countdown, countdown
from attncli.practice.queue import WEAK_RECALL, curve_on, weaknesses
from attncli.practice.workspace import Workspace
from attncli.store.schedules import Moment

RETENTION_DAYS = 30
FORECAST_DAYS = 14
RECENT_DAYS = 28
WEAK_SHOWN = 10
STUDY_DAYS_SHOWN = 14
_Key = TypeVar("_Key", float, str)
PREDICTED_FROM = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Lower bounds of the groups of predicted recall."""
DAYS_FROM = (1, 2, 4, 8, 15, 31, 61, 121)
"""Lower bounds of the groups of days since the last review."""


@dataclass(frozen=True, slots=True)
class WeakCard:
    """A weak card; `recall` is the probability of recalling it today."""

    card: str
    recall: float
    lapses: int
    leech: bool


@dataclass(frozen=True, slots=True)
class TopicStatus:
    """Status of a topic: `recall` is the mean over seen cards, `readiness` over all cards (unseen ones count 0)."""

    seen: int
    total: int
    recall: float
    readiness: float
    lapses: int
    weak: tuple[WeakCard, ...] = ()


@dataclass(frozen=True, slots=True)
class ForecastDay:
    """Count of the reviews that come due on a study day; the first day includes overdue ones."""

    date: str
    due: int


@dataclass(frozen=True, slots=True)
class MustKnow:
    """Counts of the must-know cards that are likely recalled today, and of the must-know challenges solved."""

    recalled: int
    cards: int
    solved: int
    challenges: int

    @property
    def text(self) -> Localised:
        """The counts; empty for banks and challenges without any."""
        parts = []
        if self.cards:
            parts.append(_("{known}/{count} cards", known=self.recalled, count=self.cards))
        if self.challenges:
            parts.append(_("{known}/{count} challenges", known=self.solved, count=self.challenges))
        return quoted(" · ").join(parts)


def must_know(workspace: Workspace, when: Moment) -> MustKnow:
    """Count the must-know cards likely recalled today, and the must-know challenges solved."""
    cards, challenges = workspace.store.index.must_know()
    recalled = workspace.store.queue.recalled(curve_on(workspace, when), cards, WEAK_RECALL)
    solved = {row.subject for row in workspace.store.log.standing_of_kind(RowKind.ATTEMPT) if row.reached in RUNGS}
    return MustKnow(recalled, len(cards), len(solved.intersection(challenges)), len(challenges))


@dataclass(frozen=True, slots=True)
class ProgressStats:
    """The content of `attn stats`, and of its JSON.

    `retention` is the share of reviews of known cards that were recalled, or None.
    """

    reviews: int
    today: int
    streak_days: int
    retention: float | None
    seen: int
    cards: int
    topics: dict[str, TopicStatus] = field(default_factory=dict)
    forecast: tuple[ForecastDay, ...] = ()
    per_day: dict[str, int] = field(default_factory=dict)
    challenges: dict[str, int] = field(default_factory=dict)
    must_know: MustKnow = MustKnow(0, 0, 0, 0)
    interview: Countdown | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """Streak, topics and countdown for Home.

    `recent` has the reviews of each of the last RECENT_DAYS study days, today last. Topics of which interviews ask most
    that is left to learn come first.
    """

    streak_days: int
    topics: dict[str, TopicStatus]
    interview: Countdown | None = None
    recent: tuple[int, ...] = ()
    must_know: MustKnow = MustKnow(0, 0, 0, 0)

    @property
    def cards(self) -> int:
        return sum(topic.total for topic in self.topics.values())


def overview(workspace: Workspace) -> Overview:
    when = workspace.moment()
    by_day = workspace.store.log.reviews_by_day()
    recent = tuple(by_day.get(day, 0) for day in range(when.day - RECENT_DAYS + 1, when.day + 1))
    topics = topic_standings(workspace, when)
    asked = {topic.id: topic.asked for topic in workspace.library.topics()}
    most_left = sorted(topics, key=lambda id: (-asked[id] * (1 - topics[id].readiness), id))
    return Overview(
        streak(by_day, when.day, workspace.calendar.exists),
        {id: topics[id] for id in most_left},
        countdown(workspace),
        recent,
        must_know(workspace, when),
    )


def progress(workspace: Workspace, at: datetime | None = None) -> ProgressStats:
    """Return all statistics at `at` (now)."""
    when = workspace.moment(at)
    days = workspace.store.log.review_days()
    by_day = {day.day: day.reviews for day in days}
    topics = _with_weak_cards(workspace, when, topic_standings(workspace, when))
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
        must_know=must_know(workspace, when),
        interview=countdown(workspace, at),
    )


def streak(by_day: Mapping[int, int], today: int, exists: Callable[[int], bool]) -> int:
    """Count consecutive study days with a review, up to today; today without reviews and skipped dates do not
    break it.
    """
    day = today if by_day.get(today) else today - 1
    length = 0
    while by_day.get(day) or not exists(day):
        length += bool(by_day.get(day))
        day -= 1
    return length


def retention(days: Iterable[ReviewDay], first_day: int) -> float | None:
    """Return the share of reviews since `first_day` that were recalled, of cards first seen on an earlier day."""
    counted = [day for day in days if day.day >= first_day]
    recalled = sum(day.recalled for day in counted)
    total = recalled + sum(day.forgotten for day in counted)
    return recalled / total if total else None


def forecast(workspace: Workspace, when: Moment, days: int = FORECAST_DAYS) -> tuple[ForecastDay, ...]:
    """Count the reviews due on each of the next study days, if nothing is reviewed."""
    reviews, steps = workspace.store.queue.due_days()
    due = Counter(max(day, when.day) for day in (*reviews, *map(workspace.calendar.day, steps)))
    return tuple(ForecastDay(date.fromordinal(day).isoformat(), due[day]) for day in range(when.day, when.day + days))


def topic_standings(workspace: Workspace, when: Moment) -> dict[str, TopicStatus]:
    """Return the status of every topic that has cards, without its weak cards."""
    seen = workspace.store.queue.by_topic(curve_on(workspace, when))
    return {
        topic.id: _topic_status(topic.cards, *seen.get(topic.id, (0, 0.0, 0))) for topic in workspace.library.topics()
    }


def _with_weak_cards(workspace: Workspace, when: Moment, topics: dict[str, TopicStatus]) -> dict[str, TopicStatus]:
    weak, topic_of = defaultdict[str, list[WeakCard]](list), workspace.store.index.card_topics()
    for found in weaknesses(workspace, when):
        leech = found.lapses >= LEECH_LAPSES
        weak[topic_of[found.card]].append(WeakCard(found.card, round(found.recall, 4), found.lapses, leech))
    return {id: replace(status, weak=tuple(weak[id][:WEAK_SHOWN])) for id, status in topics.items()}


def _topic_status(total: int, seen: int, recall: float, lapses: int) -> TopicStatus:
    mean, readiness = (round(recall / count, 4) if count else 0.0 for count in (seen, total))
    return TopicStatus(seen, total, mean, readiness, lapses)


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


# Measured recall


@dataclass(frozen=True, slots=True)
class Recall:
    """A first review of a card on a later day than the one before; `seconds` is None if it was not timed."""

    card: str
    topic: str
    kind: str
    elapsed_days: int
    predicted: float
    recalled: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RecallShare:
    """A group of `Recall` reviews: the share recalled, and the mean prediction, days and seconds."""

    name: str
    reviews: int
    recalled: float
    predicted: float
    elapsed_days: float
    seconds: float | None


class RecallRecord:
    """Recall measured in the log; call `read_on` until it returns False."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._left = iter(workspace.store.schedules.latest_cards(SAMPLED_CARDS))
        self.cards = 0
        self.recalls: list[Recall] = []
        self.is_whole = False

    def read_on(self, cards: int = SAMPLED_CARDS) -> bool:
        """Read the reviews of the next `cards` cards. Return True if some may be left."""
        for _each in range(cards):
            card = next(self._left, None)
            if card is None:
                self.is_whole = True
                break
            self.cards += 1
            self.recalls += _recalls(self._workspace, *card)
        return not self.is_whole

    def by_prediction(self) -> list[RecallShare]:
        """Group by predicted recall, without empty groups."""
        return _grouped(self.recalls, lambda recall: _begin(PREDICTED_FROM, recall.predicted))

    def by_days(self) -> list[RecallShare]:
        """Group by the days since the last review."""
        return _grouped(self.recalls, lambda recall: _begin(DAYS_FROM, recall.elapsed_days))

    def by_kind(self) -> list[RecallShare]:
        return _grouped(self.recalls, lambda recall: recall.kind)

    def by_topic(self) -> list[RecallShare]:
        return _grouped(self.recalls, lambda recall: recall.topic)


def minutes_by_day(workspace: Workspace) -> list[tuple[date, float]]:
    """Return the minutes of timed reviews on each of the last study days, today last."""
    today = workspace.moment().day
    spent_ms = Counter[int]()
    for day, _card, elapsed_ms, _new in workspace.store.log.timed_reviews(today - STUDY_DAYS_SHOWN + 1, today):
        spent_ms[day] += elapsed_ms or 0
    days = range(today - STUDY_DAYS_SHOWN + 1, today + 1)
    return [(date.fromordinal(day), spent_ms[day] / 60_000) for day in days]


def _recalls(workspace: Workspace, card: str, topic: str, kind: str) -> Iterator[Recall]:
    """Yield the recalls of one card, replaying its reviews as its schedule does."""
    scheduler, decay = workspace.card_scheduler(card), workspace.policy.decay
    schedule: Schedule | None = None
    rows = workspace.store.log.of_subjects(workspace.store.index.names_of(card))
    for day, reviews in groupby(standing_reviews(rows), key=lambda row: row.day):
        first, *again = list(reviews)
        if schedule is not None and day > schedule.review_day:
            predicted, recalled = recall_on(schedule, day, decay), first.rating is not Rating.AGAIN
            seconds = seconds_of([first, *again])
            yield Recall(card, topic, kind, day - schedule.review_day, predicted, recalled, seconds)
        for row in (first, *again):
            schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)


def _begin(begins: Sequence[float], value: float) -> float:
    """Return the lower bound of the group of `value`."""
    return max(begin for begin in begins if begin <= value)


def _grouped(recalls: Iterable[Recall], group: Callable[[Recall], _Key]) -> list[RecallShare]:
    found: dict[_Key, list[Recall]] = defaultdict(list)
    for recall in recalls:
        found[group(recall)].append(recall)
    return [_share(str(key), found[key]) for key in sorted(found)]


def _share(name: str, some: Sequence[Recall]) -> RecallShare:
    timed = [recall.seconds for recall in some if recall.seconds is not None]
    return RecallShare(
        name=name,
        reviews=len(some),
        recalled=fmean(recall.recalled for recall in some),
        predicted=fmean(recall.predicted for recall in some),
        elapsed_days=fmean(recall.elapsed_days for recall in some),
        seconds=fmean(timed) if timed else None,
    )
