"""What the plan rests on: which cards it takes in, how the learner forgets and how long things take, by their log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.rating import Rating
from attncli.domain.review_time import seconds_of
from attncli.domain.schedule import Schedule
from attncli.memory.forecast import thirds
from attncli.memory.learner_curve import SAMPLED_CARDS, Curve, Trial, likely, middle, weigh
from attncli.memory.plan_day import Item, Outlook
from attncli.memory.queue_order import asked_order, asked_weight, unseen_cards
from attncli.memory.replay import standing_reviews
from attncli.memory.stability import PUBLISHED, StabilityGrowth, first_shares
from attncli.memory.time_per_card import LEARN_SECONDS, REVIEW_SECONDS, usual_seconds
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

MANY_CARDS = 5000
"""So many cards are forecast with three curves in place of all that are likely."""
NEVER = -1_000_000


@dataclass(slots=True)
class Habits:
    """What the log tells of this learner."""

    trials: list[Trial] = field(default_factory=list)
    first_ratings: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    learn_seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    review_seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def learning(self, kind: str = "") -> float:
        """What learning a card of this kind takes; of any kind without one."""
        return _seconds(self.learn_seconds, kind, LEARN_SECONDS)

    @property
    def has_timed(self) -> bool:
        """Whether anything was measured; without it all times are assumed."""
        return any(self.learn_seconds.values()) or any(self.review_seconds.values())

    def reviewing(self, kind: str = "") -> float:
        """What reviewing a card of this kind takes; of any kind without one."""
        return _seconds(self.review_seconds, kind, REVIEW_SECONDS)


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """The cards of the plan (none that is suspended), the curves that the log allows, and the learner's habits."""

    items: list[Item]
    curves: list[Curve]
    outlook: Outlook
    habits: Habits


def plan_basis(workspace: Workspace, interview_day: int) -> PlanBasis:
    """Everything that the plan for this study day is made of."""
    store, policy = workspace.store, workspace.policy
    growth = StabilityGrowth(policy.parameters or PUBLISHED)
    known, schedules = _cards(workspace)
    habits = _habits(workspace, growth, schedules, {id: card.kind for id, card in known.items()})
    curves = likely(weigh(habits.trials, policy.decay))
    if len(known) > MANY_CARDS:
        curves = [middle(third) for third in thirds(curves)]
    fresh = growth.fresh(first_shares(habits.first_ratings))
    outlook = Outlook(interview_day, middle(curves), growth, *fresh, len(habits.trials))
    suspended = store.queue.suspended()
    level = workspace.settings.level
    ids = asked_order(unseen_cards(store.index.introduction()), level)
    cards = [known[id] for id in ids if id not in suspended]
    learn = {kind: habits.learning(kind) for kind in {card.kind for card in cards}}
    review = {kind: habits.reviewing(kind) for kind in learn}
    items = [
        _item(
            card.id,
            card.topic,
            asked_weight(card.core, card.level, level),
            schedules.get(card.id),
            learn[card.kind],
            review[card.kind],
        )
        for card in cards
    ]
    return PlanBasis(items, curves, outlook, habits)


def habit_reader(workspace: Workspace) -> HabitReader:
    """Reads what the log tells of the learner by itself, without a plan."""
    known, schedules = _cards(workspace)
    growth = StabilityGrowth(workspace.policy.parameters or PUBLISHED)
    return HabitReader(workspace, growth, schedules, {id: card.kind for id, card in known.items()})


def _cards(workspace: Workspace) -> tuple[dict[str, CardSummary], dict[str, Schedule]]:
    """Every card, and the schedules of those that were seen."""
    known = {card.id: card for card in workspace.store.index.list_cards(None)}
    return known, {id: found for id, found in workspace.store.schedules.all() if id in known}


def _item(id: str, topic: str, weight: float, schedule: Schedule | None, learn: float, review: float) -> Item:
    if schedule is None or schedule.stability_days is None:
        return Item(id, weight, None, 5.0, NEVER, learn, review, topic)
    difficulty = 5.0 if schedule.difficulty is None else schedule.difficulty
    return Item(id, weight, schedule.stability_days, difficulty, schedule.review_day, learn, review, topic)


class HabitReader:
    """Learns the habits of the cards that were reviewed last; `read_on` is called until it says that none is left."""

    def __init__(
        self, workspace: Workspace, growth: StabilityGrowth, schedules: Mapping[str, Schedule], kinds: Mapping[str, str]
    ) -> None:
        self.habits = Habits()
        self._workspace, self._growth, self._kinds = workspace, growth, kinds
        self._left = sorted(schedules, key=lambda id: (schedules[id].reviewed_at, id))[-SAMPLED_CARDS:]
        self._renames = workspace.store.index.renames()

    def read_on(self, cards: int = SAMPLED_CARDS) -> bool:
        """Follows the next cards through the log; whether some are left."""
        now, self._left = self._left[:cards], self._left[cards:]
        names = [*now, *(former for former, id in self._renames.items() if id in now)]
        rows: dict[str, list[LogRow]] = defaultdict(list)
        for row in self._workspace.store.log.of_subjects(names) if names else ():
            if row.kind in (RowKind.REVIEW, RowKind.UNDO):
                rows[self._renames.get(row.subject, row.subject)].append(row)
        for id in now:
            _learn_from(self.habits, standing_reviews(rows[id]), self._growth, self._kinds[id])
        return bool(self._left)


def _habits(
    workspace: Workspace, growth: StabilityGrowth, schedules: Mapping[str, Schedule], kinds: Mapping[str, str]
) -> Habits:
    reader = HabitReader(workspace, growth, schedules, kinds)
    reader.read_on()
    return reader.habits


def _learn_from(habits: Habits, reviews: Sequence[LogRow], growth: StabilityGrowth, kind: str) -> None:
    """Adds what the history of one card says: how it was first rated, each recall on a later day, and the seconds."""
    stability, difficulty, last_day = 0.0, 5.0, NEVER
    for day, rows in groupby(reviews, key=lambda row: row.day):
        first, *again = list(rows)
        seconds = seconds_of([first, *again])
        if last_day == NEVER:
            rating = first.rating
            habits.first_ratings[rating - 1] += 1
            stability, difficulty = growth.first(rating), growth.first_difficulty(rating)
        elif day > last_day:
            habits.trials.append(Trial(stability, day - last_day, first.rating is not Rating.AGAIN))
            stability = growth.rated(stability, difficulty, day - last_day, first.rating)
            difficulty = growth.harder(difficulty, first.rating)
        if seconds is not None:
            (habits.learn_seconds if last_day == NEVER else habits.review_seconds)[kind].append(seconds)
        last_day = max(day, last_day)


def _seconds(seen: Mapping[str, Sequence[float]], kind: str, prior: float) -> float:
    usual = usual_seconds([seconds for found in seen.values() for seconds in found], prior)
    return usual_seconds(seen.get(kind, ()), usual) if kind else usual
