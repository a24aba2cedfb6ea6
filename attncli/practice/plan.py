"""Plan the days until the interview: cards and challenges for each day, the recall to expect, and what won't fit.

A plan follows from the log, the settings and the clock alone. How fast this learner forgets and how long cards take are
measured in their log, on the cards that were reviewed last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import median
from typing import Any

from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule, seconds_of
from attncli.domain.vocabulary import RUNGS
from attncli.errors import InvalidInput
from attncli.i18n import _
from attncli.memory.forecast import (
    PUBLISHED,
    SAMPLED_CARDS,
    Curve,
    Expected,
    Item,
    Outlook,
    PlannedDay,
    Reach,
    Scenario,
    StabilityGrowth,
    Trial,
    expected_recall,
    first_shares,
    likely,
    middle,
    play_through,
    scenarios,
    sees_all,
    thirds,
    thirds_as_now,
    weigh,
)
from attncli.memory.queue_order import (
    LEARN_SECONDS,
    LONGEST_PASS_DAYS,
    REVIEW_SECONDS,
    asked_order,
    asked_weight,
    unseen_cards,
    usual_seconds,
)
from attncli.memory.replay import standing, standing_reviews
from attncli.practice.challenges import ChallengeStatus, standings
from attncli.practice.queue import minutes_of
from attncli.practice.workspace import Workspace

FARTHEST_DAYS = 731
NEEDED_STEP_MINUTES, MOST_NEEDED_MINUTES = 5, 240
CORE_ABOVE = 2.0
"""Cards with a larger weight are core ones."""
MANY_CARDS = 5000
"""From so many cards on, three curves are used for the forecast instead of all likely ones."""
NEVER = -1_000_000
CHALLENGE_SHARE = 0.25
"""The share of the minutes that goes to challenges."""
FIRST_MINUTES, AGAIN_MINUTES = 25.0, 12.0
"""Time to solve a challenge the first time, and again, before the log tells."""
LONGEST_MINUTES, PRIOR_SOLVED = 90.0, 3


@dataclass(frozen=True, slots=True)
class StudyDay:
    """One day of the plan: `minutes` is what its cards and challenges take, `has_minutes` what is left of the day."""

    date: date
    has_minutes: float
    minutes: float
    new: tuple[str, ...]
    reviews: tuple[str, ...]
    challenges: tuple[str, ...]
    is_last_pass: bool

    def document(self) -> dict[str, Any]:
        return {
            "date": self.date.isoformat(),
            "minutes": round(self.minutes, 1),
            "of_minutes": round(self.has_minutes, 1),
            "new": list(self.new),
            "reviews": list(self.reviews),
            "challenges": list(self.challenges),
            "last_pass": self.is_last_pass,
        }


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic on the interview day: the expected recall with the plan, and if the learner stops now.

    An unseen card counts as not recalled; `planned` cards are first learned by the plan.
    """

    cards: int
    seen: int
    planned: int
    expected: Expected
    stopped: Expected

    def document(self) -> dict[str, Any]:
        counts = {"cards": self.cards, "seen": self.seen, "planned": self.planned}
        return {**counts, **expected_document(self.expected), "if_stopped": expected_document(self.stopped)}


@dataclass(frozen=True, slots=True)
class PlanShortfall:
    """Cards that stay unseen and challenges that stay unsolved, because the time is too short.

    `minutes_needed` a day would show every card, None if not even four hours do.
    """

    cards: tuple[str, ...]
    core: int
    topics: Mapping[str, int]
    challenges: int
    minutes_needed: int | None

    def document(self) -> dict[str, Any]:
        return {
            "cards": len(self.cards),
            "core": self.core,
            "topics": dict(self.topics),
            "challenges": self.challenges,
            "minutes_needed": self.minutes_needed,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole plan. `expected` weighs cards by how often they are asked; `reviews_known` reviews were used for it.

    `studied_minutes` were spent on cards today and are no longer available. `has_timed` is False if no review was
    timed.
    """

    interview: date
    today: date
    minutes_per_day: int
    days: tuple[StudyDay, ...]
    topics: Mapping[str, TopicPlan]
    expected: Expected
    stopped: Expected
    left_out: PlanShortfall
    reviews_known: int
    learn_seconds: float
    review_seconds: float
    studied_minutes: float
    has_timed: bool

    @property
    def days_left(self) -> int:
        return (self.interview - self.today).days

    @property
    def last_pass(self) -> date | None:
        """The day on which the last pass begins."""
        return next((day.date for day in self.days if day.is_last_pass), None)

    def document(self) -> dict[str, Any]:
        """Return the JSON of `attn plan --json`."""
        return {
            "interview": self.interview.isoformat(),
            "days_left": self.days_left,
            "minutes_per_day": self.minutes_per_day,
            "recall": expected_document(self.expected),
            "recall_if_stopped": expected_document(self.stopped),
            "topics": {id: topic.document() for id, topic in self.topics.items()},
            "left_out": self.left_out.document(),
            "last_pass": self.last_pass.isoformat() if self.last_pass else None,
            "studied_minutes": round(self.studied_minutes, 1),
            "days": [day.document() for day in self.days],
            "basis": {
                "reviews": self.reviews_known,
                "learn_seconds": round(self.learn_seconds, 1),
                "review_seconds": round(self.review_seconds, 1),
            },
        }


def expected_document(expected: Expected) -> dict[str, float]:
    """Return a share with its interval as JSON."""
    return {"recall": round(expected.recall, 4), "low": round(expected.low, 4), "high": round(expected.high, 4)}


def interview_of(workspace: Workspace, asked: date | None = None, at: datetime | None = None) -> date:
    """Return the day asked for, else the one in the settings. Raises InvalidInput if there is none that lies ahead."""
    today = local_date(workspace, at)
    day = asked or workspace.settings.interview
    remedy = _("use --interview 2027-03-31, or set it: attn config interview 2027-03-31")
    if day is None:
        raise InvalidInput(_("no interview date is set; {remedy}", remedy=remedy), "interview-none")
    if day < today:
        raise InvalidInput(
            _("the interview date {day} is in the past; {remedy}", day=day, remedy=remedy), "interview-past"
        )
    if (day - today).days > FARTHEST_DAYS:
        raise InvalidInput(
            _("the interview date {day} is more than two years away; {remedy}", day=day, remedy=remedy), "interview-far"
        )
    return day


def local_date(workspace: Workspace, at: datetime | None = None) -> date:
    """Return the study day of `at` (now) as a date."""
    return date.fromordinal(workspace.moment(at).day)


def make_plan(
    workspace: Workspace, interview: date | None = None, minutes: int | None = None, at: datetime | None = None
) -> Plan:
    """Make the plan as of `at` (now). Raises InvalidInput for an interview date that cannot be planned for."""
    interview = interview_of(workspace, interview, at)
    today = local_date(workspace, at)
    settings = replace(workspace.settings, minutes_per_day=minutes or workspace.settings.minutes_per_day)
    # On the day itself there is this morning: it is planned as the eve of a day that begins with the interview.
    last = max(interview.toordinal(), today.toordinal() + 1)
    basis = plan_basis(workspace, last)
    exists = workspace.calendar.exists
    has = {day: minutes_of(settings, day) if exists(day) else 0.0 for day in range(today.toordinal(), last)}
    studied = _studied_minutes(workspace, basis, today.toordinal())
    has[today.toordinal()] = max(0.0, has[today.toordinal()] - studied)
    challenges = plan_challenges(workspace, has, {item.id: item.weight for item in basis.items}, at)
    seconds = {day: 60 * (minutes - challenges.minutes_on(day)) for day, minutes in has.items()}
    reach = Reach(basis.items, last)
    planned, _ = play_through(reach, basis.outlook, seconds)
    days = [_study_day(day, has[day.day], challenges.days.get(day.day)) for day in planned]
    followed = scenarios(reach, basis.outlook, basis.curves, seconds)
    stopped = thirds_as_now(basis.items, basis.curves)
    weights = {item.id: item.weight for item in basis.items}
    return Plan(
        interview=interview,
        today=today,
        minutes_per_day=settings.minutes_per_day,
        days=(*(_without_buried(workspace, basis, day, at) for day in days[:1]), *days[1:]),
        topics=_topics(basis, days, followed, stopped),
        expected=expected_recall(weights, followed, basis.outlook),
        stopped=expected_recall(weights, stopped, basis.outlook),
        left_out=_left_out(basis, reach, planned, seconds, challenges.left_out, settings.minutes_per_day),
        reviews_known=basis.outlook.trials,
        learn_seconds=basis.habits.learning(),
        review_seconds=basis.habits.reviewing(),
        studied_minutes=studied,
        has_timed=basis.habits.has_timed,
    )


def _studied_minutes(workspace: Workspace, basis: PlanBasis, day: int) -> float:
    """Estimate the minutes spent on cards on `day` so far, by the learner's habits."""
    learned = workspace.store.queue.introduced(day) * basis.habits.learning()
    return (learned + workspace.store.log.known_on(day) * basis.habits.reviewing()) / 60


def _study_day(planned: PlannedDay, has_minutes: float, challenges: ChallengeDay | None) -> StudyDay:
    taken = challenges.minutes if challenges else 0.0
    return StudyDay(
        date.fromordinal(planned.day),
        has_minutes,
        planned.seconds / 60 + taken,
        planned.new,
        planned.reviews,
        challenges.ids if challenges else (),
        planned.is_last_pass,
    )


def _without_buried(workspace: Workspace, basis: PlanBasis, today: StudyDay, at: datetime | None) -> StudyDay:
    """Return today's list without buried cards; each later plan has them again."""
    there = workspace.store.queue.available(workspace.moment(at))
    takes = {item.id: (item.learn_seconds, item.review_seconds) for item in basis.items}
    buried = [takes[id][0] for id in today.new if id not in there]
    buried += [takes[id][1] for id in today.reviews if id not in there]
    new, reviews = (tuple(id for id in ids if id in there) for ids in (today.new, today.reviews))
    return replace(today, new=new, reviews=reviews, minutes=max(0.0, today.minutes - sum(buried) / 60))


def _topics(
    basis: PlanBasis, days: Sequence[StudyDay], followed: list[Scenario], stopped: list[Scenario]
) -> dict[str, TopicPlan]:
    items: dict[str, list[Item]] = defaultdict(list)
    for item in basis.items:
        items[item.topic].append(item)
    new = {id for day in days for id in day.new}
    found = {}
    for topic in sorted(items):
        weights = {item.id: 1.0 for item in items[topic]}
        seen = sum(item.stability_days is not None for item in items[topic])
        planned = sum(item.id in new for item in items[topic])
        expected = expected_recall(weights, followed, basis.outlook)
        found[topic] = TopicPlan(
            len(weights), seen, planned, expected, expected_recall(weights, stopped, basis.outlook)
        )
    return found


def _left_out(
    basis: PlanBasis,
    reach: Reach,
    planned: Sequence[PlannedDay],
    seconds: Mapping[int, float],
    challenges: int,
    minutes: int,
) -> PlanShortfall:
    reached = {id for day in planned for id in day.new}
    left = [item for item in basis.items if item.stability_days is None and item.id not in reached]
    topics: dict[str, int] = defaultdict(int)
    for item in left:
        topics[item.topic] += 1
    core = sum(item.weight > CORE_ABOVE for item in left)
    needed = _minutes_needed(basis, reach, seconds, minutes) if left else minutes
    return PlanShortfall(tuple(item.id for item in left), core, dict(sorted(topics.items())), challenges, needed)


def _minutes_needed(basis: PlanBasis, reach: Reach, seconds: Mapping[int, float], minutes: int) -> int | None:
    """Return the least minutes a day (in steps of five) in which every card is seen; the ratio of days is kept."""
    learning = sum(item.learn_seconds for item in basis.items if item.stability_days is None)
    if learning > sum(seconds.values()) * MOST_NEEDED_MINUTES / minutes:
        return None

    def is_enough(steps: int) -> bool:
        share = steps * NEEDED_STEP_MINUTES / minutes
        return sees_all(reach, basis.outlook, {day: had * share for day, had in seconds.items()})

    low, high = minutes // NEEDED_STEP_MINUTES + 1, MOST_NEEDED_MINUTES // NEEDED_STEP_MINUTES
    if low > high or not is_enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low * NEEDED_STEP_MINUTES


# The basis of the plan


@dataclass(slots=True)
class Habits:
    """The learner's habits as the log shows them: first ratings, recalls on later days, and times."""

    trials: list[Trial] = field(default_factory=list)
    first_ratings: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    learn_seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    review_seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def learning(self, kind: str = "") -> float:
        """Return the seconds to learn a card of this kind, or of any kind."""
        return _seconds(self.learn_seconds, kind, LEARN_SECONDS)

    @property
    def has_timed(self) -> bool:
        """True if anything was measured; otherwise all times are assumed."""
        return any(self.learn_seconds.values()) or any(self.review_seconds.values())

    def reviewing(self, kind: str = "") -> float:
        """Return the seconds to review a card of this kind, or of any kind."""
        return _seconds(self.review_seconds, kind, REVIEW_SECONDS)


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """The cards of the plan (no suspended ones), the forgetting curves that fit the log, and the learner's habits."""

    items: list[Item]
    curves: list[Curve]
    outlook: Outlook
    habits: Habits


def plan_basis(workspace: Workspace, interview_day: int) -> PlanBasis:
    """Collect what the plan for this study day is made from."""
    store, policy = workspace.store, workspace.policy
    reader = HabitReader(workspace)
    reader.read_on()
    habits, growth, known = reader.habits, reader.growth, reader.cards
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
            reader.schedules.get(card.id),
            learn[card.kind],
            review[card.kind],
        )
        for card in cards
    ]
    return PlanBasis(items, curves, outlook, habits)


def _item(id: str, topic: str, weight: float, schedule: Schedule | None, learn: float, review: float) -> Item:
    if schedule is None or schedule.stability_days is None:
        return Item(id, weight, None, 5.0, NEVER, learn, review, topic)
    difficulty = 5.0 if schedule.difficulty is None else schedule.difficulty
    return Item(id, weight, schedule.stability_days, difficulty, schedule.review_day, learn, review, topic)


class HabitReader:
    """Reads the habits from the cards that were reviewed last; call `read_on` until it returns False."""

    def __init__(self, workspace: Workspace) -> None:
        self.habits = Habits()
        self.growth = StabilityGrowth(workspace.policy.parameters or PUBLISHED)
        self.cards = {card.id: card for card in workspace.store.index.list_cards(None)}
        self.schedules = {id: found for id, found in workspace.store.schedules.all() if id in self.cards}
        self._workspace = workspace
        self._left = sorted(self.schedules, key=lambda id: (self.schedules[id].reviewed_at, id))[-SAMPLED_CARDS:]
        self._renames = workspace.store.index.renames()

    def read_on(self, cards: int = SAMPLED_CARDS) -> bool:
        """Read the log of the next cards. Return True if some are left."""
        now, self._left = self._left[:cards], self._left[cards:]
        names = [*now, *(former for former, id in self._renames.items() if id in now)]
        rows: dict[str, list[LogRow]] = defaultdict(list)
        for row in self._workspace.store.log.of_subjects(names) if names else ():
            if row.kind in (RowKind.REVIEW, RowKind.UNDO):
                rows[self._renames.get(row.subject, row.subject)].append(row)
        for id in now:
            _learn_from(self.habits, standing_reviews(rows[id]), self.growth, self.cards[id].kind)
        return bool(self._left)


def _learn_from(habits: Habits, reviews: Sequence[LogRow], growth: StabilityGrowth, kind: str) -> None:
    """Add the history of one card: its first rating, each recall on a later day, and the seconds."""
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


def _seconds(measured: Mapping[str, Sequence[float]], kind: str, prior: float) -> float:
    usual = usual_seconds([seconds for found in measured.values() for seconds in found], prior)
    return usual_seconds(measured.get(kind, ()), usual) if kind else usual


# Challenges


@dataclass(frozen=True, slots=True)
class ChallengeDay:
    """The challenges of one day, and the minutes that they take."""

    ids: tuple[str, ...]
    minutes: float


@dataclass(frozen=True, slots=True)
class PlannedChallenges:
    """Challenges by study day; `left_out` counts those that stay unsolved."""

    days: Mapping[int, ChallengeDay]
    left_out: int

    def minutes_on(self, day: int) -> float:
        found = self.days.get(day)
        return found.minutes if found else 0.0


def plan_challenges(
    workspace: Workspace, minutes: Mapping[int, float], weights: Mapping[str, float], at: datetime | None = None
) -> PlannedChallenges:
    """Plan one challenge on each day by which the challenge share of the minutes has added up to one.

    Due challenges come first, then unsolved ones that core cards link to; no new one in the last pass.
    """
    listed = standings(workspace)
    due = [found for found in listed if found.schedule is not None]
    due.sort(key=lambda found: found.schedule.due_day if found.schedule else 0)
    new = [found for found in listed if found.standing not in RUNGS]
    new.sort(key=lambda found: -_asked(found, weights))
    first, again = _usual_minutes(workspace)
    days: dict[int, ChallengeDay] = {}
    saved, last = 0.0, max(minutes, default=0)
    for day, has in sorted(minutes.items()):
        saved += has * CHALLENGE_SHARE
        passing = last - day < min(LONGEST_PASS_DAYS, len(minutes) // 3)
        is_due = bool(due) and due[0].schedule is not None and due[0].schedule.due_day <= day
        takes = again if is_due else first
        if takes <= min(saved, has) and (is_due or (new and not passing)):
            found = due.pop(0) if is_due else new.pop(0)
            days[day] = ChallengeDay((found.challenge.id,), takes)
            saved -= takes
    return PlannedChallenges(days, len(new))


def _asked(found: ChallengeStatus, weights: Mapping[str, float]) -> float:
    return sum(weights.get(card, 0.0) for card in found.challenge.cards)


def _usual_minutes(workspace: Workspace) -> tuple[float, float]:
    """Return (first time, again) in minutes: the median from start to acceptance, shrunk towards the prior."""
    log = workspace.store.log
    rows = standing([row for kind in (RowKind.START, RowKind.ATTEMPT, RowKind.UNDO) for row in log.of_kind(kind)])
    started: dict[str, datetime] = {}
    took = []
    for row in rows:
        if row.kind is RowKind.START:
            started[row.subject] = row.at
        elif row.reached in RUNGS and row.subject in started:
            minutes = (row.at - started.pop(row.subject)) / timedelta(minutes=1)
            took += [minutes] if 0 < minutes <= LONGEST_MINUTES else []
    known = median(took) if took else FIRST_MINUTES
    first = (len(took) * known + PRIOR_SOLVED * FIRST_MINUTES) / (len(took) + PRIOR_SOLVED)
    return first, first * AGAIN_MINUTES / FIRST_MINUTES
