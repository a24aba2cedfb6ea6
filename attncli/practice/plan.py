"""Plan the days until the interview: cards and challenges for each day, the expected recall, and items that do not fit.

A plan follows from the log, the settings and the clock alone. How fast this learner forgets and how long cards take are
measured in their log, on the cards that were reviewed last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import median
from typing import Any

from attncli.config import Settings
from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule, seconds_of
from attncli.domain.vocabulary import RUNGS
from attncli.errors import InvalidInput
from attncli.i18n import _
from attncli.memory.forecast import (
    LONG_AGO,
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
    each_day,
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
    REVIEW_SECONDS,
    asked_order,
    asked_weight,
    unseen_cards,
    usual_seconds,
)
from attncli.memory.replay import standing, standing_reviews
from attncli.practice.challenges import ChallengeStatus, standings
from attncli.practice.derive import as_day_began
from attncli.practice.queue import DayList, challenges_left, minutes_of, own_cards
from attncli.practice.workspace import Workspace
from attncli.store.database import Database
from attncli.store.index import CardSummary
from attncli.store.schedules import Moment

FARTHEST_DAYS = 731
NEEDED_STEP_MINUTES, MOST_NEEDED_MINUTES = 5, 240
CORE_ABOVE = 2.0
"""Cards with a larger weight are core ones."""
MANY_CARDS = 5000
"""From this number of cards on, the forecast uses three curves instead of all likely ones."""
CHALLENGE_LEVELS = {"screen": 2, "onsite": 3, "research": 5, "any": 5}
"""The highest level of the challenges that interviews up to a level ask."""
WEEK_DAYS = 7
"""The number of days over which the share of code is met."""
FIRST_MINUTES, AGAIN_MINUTES = 25.0, 12.0
"""Time to solve a challenge the first time, and again, until the log has measured it."""
LONGEST_MINUTES, PRIOR_SOLVED = 90.0, 3


@dataclass(frozen=True, slots=True)
class StudyDay:
    """One day of the plan; its cards and challenges take `minutes` of the `has_minutes` of the day.

    `cards` are in the order of study, with the `new` ones among them; `code` maps each challenge to its minutes.
    """

    date: date
    has_minutes: float
    minutes: float
    cards: tuple[str, ...]
    new: tuple[str, ...]
    code: Mapping[str, float]
    is_last_pass: bool

    @property
    def reviews(self) -> tuple[str, ...]:
        return tuple(id for id in self.cards if id not in set(self.new))

    def document(self) -> dict[str, Any]:
        return {
            "date": self.date.isoformat(),
            "minutes": round(self.minutes, 1),
            "of_minutes": round(self.has_minutes, 1),
            "new": list(self.new),
            "reviews": list(self.reviews),
            "challenges": list(self.code),
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

    `minutes_needed` a day suffice to see every card; None if four hours do not.
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

    `is_late` is True if from today on only must-know and own cards are new. `studied_minutes` is the time of the
    finished part of today's list.
    """

    interview: date
    today: date
    minutes_per_day: int
    is_late: bool
    days: tuple[StudyDay, ...]
    topics: Mapping[str, TopicPlan]
    expected: Expected
    stopped: Expected
    left_out: PlanShortfall
    reviews_known: int
    learn_seconds: float
    review_seconds: float
    studied_minutes: float

    @property
    def days_left(self) -> int:
        return (self.interview - self.today).days

    @property
    def last_pass(self) -> date | None:
        """The day on which the last pass starts."""
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
            "today": list(self.days[0].cards),
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
    """Make the plan as of the morning of `at` (now); its first day is the rest of today's list.

    Raises InvalidInput for an interview date that cannot be planned for.
    """
    interview, when = interview_of(workspace, interview, at), workspace.moment(at)
    settings = workspace.settings._replace(minutes_per_day=minutes or workspace.settings.minutes_per_day)
    own, suspended = own_cards(workspace), workspace.store.queue.suspended()
    with as_day_began(workspace, when):
        morning = _morning(workspace, settings, when, interview.toordinal(), own)
    basis, seconds = morning.basis.without(suspended), morning.seconds
    reach = Reach(basis.items, basis.outlook.interview_day)
    planned, _ = play_through(reach, basis.outlook, seconds)
    first, days = _first_day(morning), [_study_day(day, morning) for day in planned]
    today = _what_is_left(workspace, _study_day(first, morning), _day_list(morning, first), when)
    followed = scenarios(reach, basis.outlook, basis.curves, seconds)
    now = plan_basis(workspace, basis.outlook.interview_day, own)
    stopped = thirds_as_now(now.items, now.curves)
    weights = {item.id: item.weight for item in basis.items}
    solved = {found.challenge.id: found.schedule.due_day for found in standings(workspace) if found.schedule}
    return Plan(
        interview=interview,
        today=date.fromordinal(when.day),
        minutes_per_day=settings.minutes_per_day,
        is_late=basis.outlook.is_late(when.day),
        days=(today, *(_without_solved(day, solved) for day in days[1:])),
        topics=_topics(now, days, followed, stopped),
        expected=expected_recall(weights, followed, basis.outlook),
        stopped=expected_recall({item.id: item.weight for item in now.items}, stopped, now.outlook),
        left_out=_left_out(basis, reach, planned, seconds, morning.left_out, settings.minutes_per_day),
        reviews_known=basis.outlook.trials,
        learn_seconds=basis.habits.learning(),
        review_seconds=basis.habits.reviewing(),
        studied_minutes=max(0.0, _study_day(first, morning).minutes - today.minutes),
    )


def planned_list(workspace: Workspace, when: Moment, interview_day: int, own: Collection[str]) -> DayList:
    """Make the list of a study day before an interview; inside `as_day_began`."""
    morning = _morning(workspace, workspace.settings, when, interview_day, own)
    return _day_list(morning, _first_day(morning))


def _first_day(morning: Morning) -> PlannedDay:
    reach = Reach(morning.basis.items, morning.basis.outlook.interview_day)
    cards = reach.within(sum(morning.seconds.values()))
    return next(each_day(cards, morning.basis.outlook, morning.seconds))


@dataclass(frozen=True, slots=True)
class Morning:
    """The basis of a plan as the study day began; `seconds` are the part of the `minutes` that is for cards.

    `code` are the challenges and their minutes by study day; so many are `left_out` that stay unsolved.
    """

    basis: PlanBasis
    code: Mapping[int, dict[str, float]]
    left_out: int
    minutes: Mapping[int, float]
    seconds: Mapping[int, float]


def _morning(
    workspace: Workspace, settings: Settings, when: Moment, interview_day: int, own: Collection[str]
) -> Morning:
    # On the interview day only the morning is left: plan it as the last day before the interview.
    last = max(interview_day, when.day + 1)
    exists = workspace.calendar.exists
    minutes = {day: minutes_of(settings, day) if exists(day) else 0.0 for day in range(when.day, last)}
    basis = plan_basis(workspace, last, own)
    code, left_out = plan_challenges(workspace, settings, minutes, basis.outlook)
    seconds = {day: 60 * (has - sum(code[day].values())) for day, has in minutes.items()}
    return Morning(basis, code, left_out, minutes, seconds)


def _day_list(morning: Morning, planned: PlannedDay) -> DayList:
    habits = morning.basis.habits
    return DayList(list(planned.cards), morning.code[planned.day], 0, habits.learning(), habits.reviewing())


def _study_day(planned: PlannedDay, morning: Morning) -> StudyDay:
    code, has = morning.code[planned.day], morning.minutes[planned.day]
    minutes = planned.seconds / 60 + sum(code.values())
    return StudyDay(date.fromordinal(planned.day), has, minutes, planned.cards, planned.new, code, planned.is_last_pass)


def _without_solved(day: StudyDay, due_days: Mapping[str, int]) -> StudyDay:
    """Return a later day without the challenges that were solved today and are due only after it."""
    code = {id: minutes for id, minutes in day.code.items() if due_days.get(id, 0) <= day.date.toordinal()}
    return replace(day, code=code, minutes=day.minutes - sum(day.code.values()) + sum(code.values()))


def _what_is_left(workspace: Workspace, day: StudyDay, listed: DayList, when: Moment) -> StudyDay:
    """Return today without the cards and challenges that are done, suspended or buried."""
    left = workspace.store.queue.still_open(listed.cards, when)
    code = challenges_left(workspace, listed, when)
    new = tuple(card.id for card in left if card.is_new)
    done = set(listed.cards) - {card.id for card in left}
    seconds = sum(listed.learn_seconds if id in day.new else listed.review_seconds for id in done)
    minutes = day.minutes - seconds / 60 - sum(listed.challenges.values()) + sum(code.values())
    minutes = max(0.0, minutes) if left or code else 0.0
    return replace(day, minutes=minutes, cards=tuple(card.id for card in left), new=new, code=code)


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
        planned = sum(item.id in new and item.stability_days is None for item in items[topic])
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
    """Return the least minutes a day (in steps of five) in which every card is seen; days keep their ratios."""
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
        """Return the seconds to learn a card of this kind; of any kind if `kind` is empty."""
        return _seconds(self.learn_seconds, kind, LEARN_SECONDS)

    def reviewing(self, kind: str = "") -> float:
        """Return the seconds to review a card of this kind; of any kind if `kind` is empty."""
        return _seconds(self.review_seconds, kind, REVIEW_SECONDS)


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """The cards of the plan (no suspended ones), the forgetting curves that fit the log, and the learner's habits."""

    items: list[Item]
    curves: list[Curve]
    outlook: Outlook
    habits: Habits

    def without(self, cards: Collection[str]) -> PlanBasis:
        """Return the basis without these cards."""
        return replace(self, items=[item for item in self.items if item.id not in cards])


def plan_basis(workspace: Workspace, interview_day: int, own: Collection[str] = ()) -> PlanBasis:
    """Collect the basis of the plan for this study day; `own` cards come first."""
    store, policy = workspace.store, workspace.policy
    growth = StabilityGrowth(policy.parameters or PUBLISHED)
    known = {card.id: card for card in store.index.list_cards(None)}
    schedules = {id: found for id, found in store.schedules.all() if id in known}
    habits = _habits(store, growth, known, schedules)
    curves = likely(weigh(habits.trials, policy.decay))
    if len(known) > MANY_CARDS:
        curves = [middle(third) for third in thirds(curves)]
    fresh = growth.fresh(first_shares(habits.first_ratings))
    set_day = _set_day(workspace, interview_day)
    outlook = Outlook(interview_day, middle(curves), growth, *fresh, len(habits.trials), set_day)
    suspended = store.queue.suspended()
    level = workspace.settings.level
    ids = asked_order(unseen_cards(store.index.introduction()), level)
    cards = [known[id] for id in ids if id not in suspended]
    learn = {kind: habits.learning(kind) for kind in {card.kind for card in cards}}
    review = {kind: habits.reviewing(kind) for kind in learn}
    items = [
        _item(card, level, schedules.get(card.id), learn[card.kind], review[card.kind], card.id in own)
        for card in cards
    ]
    return PlanBasis(items, curves, outlook, habits)


def _set_day(workspace: Workspace, interview_day: int) -> int:
    """Return the day on which this interview was set; today if the settings have another one."""
    settings = workspace.settings
    if settings.interview is None or settings.interview.toordinal() != interview_day:
        return workspace.moment().day
    return settings.interview_since.toordinal() if settings.interview_since else LONG_AGO


def _item(card: CardSummary, level: str, schedule: Schedule | None, learn: float, review: float, own: bool) -> Item:
    weight, rest = asked_weight(card.core, card.level, level), (learn, review, card.topic, own, card.must_know)
    if schedule is None or schedule.stability_days is None:
        return Item(card.id, weight, None, 5.0, LONG_AGO, *rest)
    difficulty = 5.0 if schedule.difficulty is None else schedule.difficulty
    return Item(card.id, weight, schedule.stability_days, difficulty, schedule.review_day, *rest)


def _habits(
    store: Database, growth: StabilityGrowth, cards: Mapping[str, CardSummary], schedules: Mapping[str, Schedule]
) -> Habits:
    """Read the habits from the cards that were reviewed last."""
    habits, renames = Habits(), store.index.renames()
    latest = sorted(schedules, key=lambda id: (schedules[id].reviewed_at, id))[-SAMPLED_CARDS:]
    names = [*latest, *(former for former, id in renames.items() if id in latest)]
    rows: dict[str, list[LogRow]] = defaultdict(list)
    for row in store.log.of_subjects(names) if names else ():
        if row.kind in (RowKind.REVIEW, RowKind.UNDO):
            rows[renames.get(row.subject, row.subject)].append(row)
    for id in latest:
        _learn_from(habits, standing_reviews(rows[id]), growth, cards[id].kind)
    return habits


def _learn_from(habits: Habits, reviews: Sequence[LogRow], growth: StabilityGrowth, kind: str) -> None:
    """Add the history of one card: its first rating, each recall on a later day, and the seconds."""
    stability, difficulty, last_day = 0.0, 5.0, LONG_AGO
    for day, rows in groupby(reviews, key=lambda row: row.day):
        first, *again = list(rows)
        seconds = seconds_of([first, *again])
        if last_day == LONG_AGO:
            rating = first.rating
            habits.first_ratings[rating - 1] += 1
            stability, difficulty = growth.first(rating), growth.first_difficulty(rating)
        elif day > last_day:
            habits.trials.append(Trial(stability, day - last_day, first.rating is not Rating.AGAIN))
            stability = growth.rated(stability, difficulty, day - last_day, first.rating)
            difficulty = growth.harder(difficulty, first.rating)
        if seconds is not None:
            (habits.learn_seconds if last_day == LONG_AGO else habits.review_seconds)[kind].append(seconds)
        last_day = max(day, last_day)


def _seconds(measured: Mapping[str, Sequence[float]], kind: str, prior: float) -> float:
    usual = usual_seconds([seconds for found in measured.values() for seconds in found], prior)
    return usual_seconds(measured.get(kind, ()), usual) if kind else usual


# Challenges


def plan_challenges(
    workspace: Workspace, settings: Settings, minutes: Mapping[int, float], outlook: Outlook
) -> tuple[dict[int, dict[str, float]], int]:
    """Plan a challenge on each day on which the minutes saved up for code suffice for one.

    Return them with their minutes by study day, and how many stay unsolved.

    Due ones come first, then must-know ones, then the easiest up to the learner's level. Late days have only due and
    must-know ones. One that is longer than a day's minutes takes two days, or is left out.
    """
    share, expected = settings.code_share / 100, ExpectedMinutes(workspace)
    most = CHALLENGE_LEVELS[settings.level]
    waiting = [found for found in standings(workspace) if found.schedule is not None or found.standing not in RUNGS]
    waiting.sort(key=lambda found: _place(found, most))
    days: dict[int, dict[str, float]] = {day: {} for day in minutes}
    begun = dict[str, float]()
    credit = _saved_minutes(workspace, settings, share, min(minutes), expected.usual)
    for day, has in sorted(minutes.items()):
        credit, left = credit + share * has, has
        late = outlook.is_late(day)
        for found in [found for found in waiting if _comes(found, day, late)]:
            id, whole = found.challenge.id, begun.get(found.challenge.id, expected.of(found))
            takes = min(whole, has)
            if not share or expected.of(found) > 2 * has or takes > min(credit, left) + 1e-6:
                break
            days[day][id] = takes
            credit, left, begun[id] = credit - takes, left - takes, whole - takes
            if begun[id] < 1:
                waiting.remove(found)
        credit = min(credit, max(expected.usual, share * has * WEEK_DAYS))
    return days, sum(found.schedule is None for found in waiting)


def _place(found: ChallengeStatus, most: int) -> tuple[object, ...]:
    challenge = found.challenge
    due_day = found.schedule.due_day if found.schedule else 0
    return found.schedule is None, not challenge.must_know, due_day, challenge.level > most, challenge.level


def _comes(found: ChallengeStatus, day: int, late: bool) -> bool:
    """Return True if this challenge may be planned on `day`."""
    if found.schedule is not None:
        return found.schedule.due_day <= day
    return found.challenge.must_know or not late


def _saved_minutes(workspace: Workspace, settings: Settings, share: float, today: int, usual: float) -> float:
    """Return the minutes for challenges that the days before `today` have left over.

    They add up from the first study day, which has a challenge, even if the learner solves none.
    """
    whole = min(usual, settings.minutes_per_day)
    first_day = min(workspace.store.log.first_day() or today, today)
    saved = whole - share * minutes_of(settings, first_day)
    saved += sum(share * minutes_of(settings, day) for day in range(first_day, today))
    return saved % whole if first_day < today else saved


class ExpectedMinutes:
    """The minutes that challenges take, measured from start to acceptance."""

    def __init__(self, workspace: Workspace) -> None:
        self._took: dict[str, list[float]] = defaultdict(list)
        log = workspace.store.log
        rows = standing([row for kind in (RowKind.START, RowKind.ATTEMPT, RowKind.UNDO) for row in log.of_kind(kind)])
        started: dict[str, datetime] = {}
        for row in rows:
            if row.kind is RowKind.START:
                started[row.subject] = row.at
            elif row.reached in RUNGS and row.subject in started:
                minutes = (row.at - started.pop(row.subject)) / timedelta(minutes=1)
                self._took[row.subject] += [minutes] if 0 < minutes <= LONGEST_MINUTES else []
        every = [minutes for took in self._took.values() for minutes in took]
        known = median(every) if every else FIRST_MINUTES
        self.usual = (len(every) * known + PRIOR_SOLVED * FIRST_MINUTES) / (len(every) + PRIOR_SOLVED)

    def of(self, found: ChallengeStatus) -> float:
        """Return the minutes for a challenge: its own median, or the learner's usual time."""
        if took := self._took.get(found.challenge.id):
            return median(took)
        return self.usual if found.schedule is None else self.usual * AGAIN_MINUTES / FIRST_MINUTES
