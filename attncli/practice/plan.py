"""The plan for the interview: what to study each day, the recall to expect on the day, and what will be left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from attncli.errors import Unfit
from attncli.memory.forecast import (
    Expected,
    PlannedDay,
    Reach,
    Scenario,
    expected_recall,
    play_through,
    scenarios,
    sees_all,
    thirds_as_now,
)
from attncli.memory.plan_day import Item
from attncli.practice.plan_basis import PlanBasis, plan_basis
from attncli.practice.plan_challenges import ChallengeDay, plan_challenges
from attncli.practice.queue import minutes_of
from attncli.practice.workspace import Workspace

FARTHEST_DAYS = 731
NEEDED_STEP_MINUTES, MOST_NEEDED_MINUTES = 5, 240


@dataclass(frozen=True, slots=True)
class StudyDay:
    """One day of the plan; `minutes` is what its cards and challenges take, of those that the day `has` (left)."""

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
    """A topic on the interview day: the share of its cards to be recalled with the plan, and if nothing more is done.

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
    """What the time is too short for: cards that stay unseen, challenges that stay unsolved.

    `minutes_needed` a day would see every card, None where no plan of four hours a day does.
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
    """All of it. `expected` weighs cards by how much they are asked; `reviews_known` is how many reviews told.

    `studied_minutes` went into cards today and are no longer there for the rest of it; `has_timed` is whether the log
    tells how long anything took.
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
        """What `attn plan --json` prints."""
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
    """A share with its interval, as JSON."""
    return {"recall": round(expected.recall, 4), "low": round(expected.low, 4), "high": round(expected.high, 4)}


def interview_of(workspace: Workspace, asked: date | None = None, at: datetime | None = None) -> date:
    """The day that was asked for, else the one that is set. Raises Unfit where there is none that lies ahead."""
    today = local_date(workspace, at)
    day = asked or workspace.settings.interview
    remedy = "name one with --interview 2027-03-31, or set it once: attn config interview 2027-03-31"
    if day is None:
        raise Unfit(f"there is no interview date; {remedy}", "interview-none")
    if day < today:
        raise Unfit(f"the interview date {day} is past; {remedy}", "interview-past")
    if (day - today).days > FARTHEST_DAYS:
        raise Unfit(f"the interview date {day} is more than two years away; {remedy}", "interview-far")
    return day


def local_date(workspace: Workspace, at: datetime | None = None) -> date:
    """The study day of `at` (now) as a date."""
    return date.fromordinal(workspace.moment(at).day)


def make_plan(
    workspace: Workspace, interview: date | None = None, minutes: int | None = None, at: datetime | None = None
) -> Plan:
    """The plan as of `at` (now): it follows from the log, the settings and the clock alone."""
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
    """What the cards that were studied on `day` so far take by the learner's habits."""
    learned = workspace.store.queue.introduced(day) * basis.habits.learning()
    return (learned + workspace.store.log.review_days.known_on(day) * basis.habits.reviewing()) / 60


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
    """Today's list without the cards that are buried for today; each later plan has them again."""
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


CORE_ABOVE = 2.0


def _minutes_needed(basis: PlanBasis, reach: Reach, seconds: Mapping[int, float], minutes: int) -> int | None:
    """The least minutes a day (in steps of five) in which every card is seen; other days keep their proportion."""
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
