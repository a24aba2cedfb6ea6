"""What reviews on later days showed, recall against what FSRS had predicted; and the minutes of each day.

The histories of the cards that were reviewed last are followed, a few at a time: a million reviews are never read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from attncli.domain.rating import Rating
from attncli.domain.review_time import seconds_of
from attncli.domain.schedule import Schedule
from attncli.memory.forgetting_curve import recall_on
from attncli.memory.learner_curve import SAMPLED_CARDS
from attncli.memory.replay import standing_reviews
from attncli.practice.workspace import Workspace
from attncli.store.review_seconds import seconds_by_day
from attncli.store.schedule_table import ReviewedCard

STUDY_DAYS_SHOWN = 14
PREDICTED_FROM = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95)
"""Where the groups of predicted recall begin."""
DAYS_FROM = (1, 2, 4, 8, 15, 31, 61, 121)
"""Where the groups of days since the last review begin."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The first review of a card on a later day than the one before; `seconds` is None where it was not timed."""

    card: ReviewedCard
    elapsed_days: int
    predicted: float
    recalled: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RecallShare:
    """Some of these reviews: the share that was recalled, the mean that was predicted, and the means of the rest."""

    name: str
    reviews: int
    recalled: float
    predicted: float
    elapsed_days: float
    seconds: float | None


class RecallRecord:
    """Made whole by `read_on`, which is called until it says that nothing is left."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._left = iter(workspace.store.schedules.latest_cards(SAMPLED_CARDS))
        self.cards = 0
        self.recalls: list[Recall] = []
        self.is_whole = False

    def read_on(self, cards: int = SAMPLED_CARDS) -> bool:
        """Follows so many cards more; whether any may be left."""
        for _ in range(cards):
            card = next(self._left, None)
            if card is None:
                self.is_whole = True
                break
            self.cards += 1
            self.recalls += _recalls(self._workspace, card)
        return not self.is_whole

    def by_prediction(self) -> list[RecallShare]:
        """Grouped by predicted recall; a group without a review is left out."""
        return _grouped(self.recalls, lambda recall: _from(PREDICTED_FROM, recall.predicted))

    def by_days(self) -> list[RecallShare]:
        """Grouped by the days since the last review."""
        return _grouped(self.recalls, lambda recall: _from(DAYS_FROM, recall.elapsed_days))

    def by_kind(self) -> list[RecallShare]:
        return _grouped(self.recalls, lambda recall: recall.card.kind)

    def by_topic(self) -> list[RecallShare]:
        return _grouped(self.recalls, lambda recall: recall.card.topic)


def minutes_by_day(workspace: Workspace) -> list[tuple[date, float]]:
    """The minutes of timed reviews on each of the last study days, today's last."""
    today = workspace.moment().day
    spent = seconds_by_day(workspace.store.connection, today - STUDY_DAYS_SHOWN + 1, today)
    days = range(today - STUDY_DAYS_SHOWN + 1, today + 1)
    return [(date.fromordinal(day), spent.get(day, 0.0) / 60) for day in days]


def _recalls(workspace: Workspace, card: ReviewedCard) -> Iterator[Recall]:
    """What the history of one card shows, replayed as its schedule is."""
    scheduler, decay = workspace.card_scheduler(card.id), workspace.policy.decay
    schedule: Schedule | None = None
    rows = workspace.store.log.of_subjects(workspace.store.index.names_of(card.id))
    for day, reviews in groupby(standing_reviews(rows), key=lambda row: row.day):
        first, *again = list(reviews)
        if schedule is not None and day > schedule.review_day:
            predicted = recall_on(schedule, day, decay)
            seconds = seconds_of([first, *again])
            yield Recall(card, day - schedule.review_day, predicted, first.rating is not Rating.AGAIN, seconds)
        for row in (first, *again):
            schedule = scheduler.review(row.subject, schedule, row.rating, row.at, row.day)


def _from(begins: Sequence[float], value: float) -> str:
    """The name of the group that `value` lies in: where it begins."""
    return str(max(begin for begin in begins if begin <= value))


def _grouped(recalls: Iterable[Recall], group: Callable[[Recall], str]) -> list[RecallShare]:
    found: dict[str, list[Recall]] = defaultdict(list)
    for recall in recalls:
        found[group(recall)].append(recall)
    shares = [_share(name, some) for name, some in found.items()]
    return sorted(shares, key=lambda share: (_number(share.name), share.name))


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return 0.0


def _share(name: str, some: Sequence[Recall]) -> RecallShare:
    timed = [recall.seconds for recall in some if recall.seconds is not None]
    return RecallShare(
        name=name,
        reviews=len(some),
        recalled=sum(recall.recalled for recall in some) / len(some),
        predicted=sum(recall.predicted for recall in some) / len(some),
        elapsed_days=sum(recall.elapsed_days for recall in some) / len(some),
        seconds=sum(timed) / len(timed) if timed else None,
    )
