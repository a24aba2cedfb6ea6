"""What today asks of the learner: minutes of it, and where nothing is due, why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from attncli.domain.text import Lang
from attncli.memory.forecast import expected_recall, thirds_as_now
from attncli.practice.plan import Plan, StudyDay, plan_basis
from attncli.practice.queue import DueCounts, minutes_are_set
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment
from attncli.words import plan_texts as words
from attncli.words.app_texts import say

Reason = Literal["empty", "suspended", "limit", "minutes", "off", "buried", "waiting"]


@dataclass(frozen=True, slots=True)
class Standstill:
    """Why nothing is due. `next_at` is when something is, None if nothing will be by itself.

    `unseen` cards are open to be learned; `introduced` were today, of `new_per_day`, or of what the minutes hold.
    """

    cards: int
    suspended: int
    buried: int
    unseen: int
    introduced: int
    new_per_day: int
    by_minutes: bool
    next_at: datetime | None

    @property
    def reason(self) -> Reason:
        """The one that the learner can do something about, if there is one."""
        if not self.cards:
            return "empty"
        if self.suspended == self.cards:
            return "suspended"
        if self.unseen:
            return "minutes" if self.by_minutes else "limit" if self.new_per_day else "off"
        return "buried" if self.buried else "waiting"


def standstill(workspace: Workspace) -> Standstill:
    """What there is to say where nothing is due now."""
    when, queue = workspace.moment(), workspace.store.queue
    cards, suspended = sum(topic.cards for topic in workspace.library.topics()), len(queue.suspended())
    unseen = queue.all_unseen(when)
    buried = cards - suspended - len(queue.available(when))
    introduced, new_per_day = queue.introduced(when.day), workspace.settings.new_per_day
    is_held_by_minutes = introduced < new_per_day and minutes_are_set(workspace)
    brings_new = bool(when.interview_day) or new_per_day > 0
    return Standstill(
        cards=cards,
        suspended=suspended,
        buried=buried,
        unseen=unseen,
        introduced=introduced,
        new_per_day=new_per_day,
        by_minutes=bool(when.interview_day) or is_held_by_minutes,
        next_at=_next_at(workspace, when, tomorrow=bool(buried or (unseen and brings_new))),
    )


def _next_at(workspace: Workspace, when: Moment, tomorrow: bool) -> datetime | None:
    """When the next step or review is due; a day begins with new and buried cards, if it has some."""
    day = workspace.store.queue.next_review_day(when)
    coming = [
        workspace.store.queue.next_step(when),
        None if day is None else workspace.calendar.starts_at(day),
        when.day_end if tomorrow else None,
    ]
    return min((moment for moment in coming if moment is not None), default=None)


class Pace:
    """How long this learner takes for what is due: as the plan counts, by their own log.

    Made whole by `read_on`, which is called until it says that nothing is left. Of very many `cards` that would take
    too long to read: what is usual is told.
    """

    def __init__(self, workspace: Workspace, cards: int) -> None:
        from attncli.practice.plan import MANY_CARDS, Habits, habit_reader

        self._read_from = _log_read(workspace)
        self._reader = None if cards > MANY_CARDS else habit_reader(workspace)
        self._habits = Habits() if self._reader is None else self._reader.habits
        self.is_whole = self._reader is None

    def read_on(self, cards: int) -> bool:
        """Whether something is left after these cards."""
        self.is_whole = self.is_whole or self._reader is None or not self._reader.read_on(cards)
        return not self.is_whole

    def holds_for(self, workspace: Workspace) -> bool:
        """Whether it is whole, and the log and the scheduling are still those that it was read from."""
        return self.is_whole and self._read_from == _log_read(workspace)

    def minutes(self, due: DueCounts) -> float:
        return (due.new * self._habits.learning() + (due.learning + due.review) * self._habits.reviewing()) / 60


def _log_read(workspace: Workspace) -> tuple[object, ...]:
    return workspace.store.log.newest_number(), workspace.policy.parameters


# The plan for an interview in sentences, for the command and the screen alike.


def countdown_sentence(plan: Plan, lang: Lang) -> str:
    """How far away the interview is."""
    said = words.TODAY if plan.days_left == 0 else words.TOMORROW if plan.days_left == 1 else words.IN_DAYS
    return said[lang].format(days=plan.days_left, date=plan.interview)


def left_out_lines(plan: Plan, lang: Lang) -> list[str]:
    """What the time is too short for; empty if it is not."""
    left_out, said = plan.left_out, []
    if left_out.cards:
        needed = words.NEVER_ENOUGH if left_out.minutes_needed is None else words.NEEDED
        cards = words.LEFT_OUT[lang].format(cards=len(left_out.cards), core=left_out.core)
        between = " " if lang == "en" else ""
        said.append(f"{cards}{between}{needed[lang].format(minutes=left_out.minutes_needed)}")
    if left_out.challenges:
        said.append(words.CHALLENGES_LEFT[lang].format(count=left_out.challenges))
    return said


def basis_line(plan: Plan, lang: Lang) -> str:
    """What the plan knows of the learner."""
    said = words.NO_BASIS if not plan.reviews_known else words.BASIS if plan.has_timed else words.UNTIMED_BASIS
    return said[lang].format(reviews=plan.reviews_known, learn=plan.learn_seconds, review=plan.review_seconds)


def studied_line(plan: Plan, lang: Lang) -> list[str]:
    """How much of today's time was spent, if any."""
    return [words.STUDIED[lang].format(minutes=plan.studied_minutes)] if plan.studied_minutes else []


def expected_line(plan: Plan, lang: Lang) -> str:
    """The recall to expect of what is asked, with its interval."""
    expected = plan.expected
    return words.EXPECTED[lang].format(
        minutes=plan.minutes_per_day,
        recall=expected.recall,
        low=expected.low,
        high=expected.high,
        stopped=plan.stopped.recall,
    )


def day_name(day: date, lang: Lang) -> str:
    """`Mon 11-23`."""
    return f"{say('stats.weekdays', lang).split()[day.weekday()]} {day:%m-%d}"


def day_parts(day: StudyDay, lang: Lang) -> list[str]:
    """What a day brings, part by part; one word for a free day."""
    parts = [words.NEW[lang].format(count=len(day.new))] if day.new else []
    parts += [words.REVIEWS[lang].format(count=len(day.reviews))] if day.reviews else []
    parts += list(day.challenges)
    parts += [words.LAST_PASS[lang]] if day.is_last_pass and parts else []
    return parts or [words.FREE[lang]]


def last_pass_line(plan: Plan, lang: Lang) -> list[str]:
    """When the last pass begins, if that lies ahead."""
    begins = plan.last_pass
    return [words.LAST_PASS_FROM[lang].format(date=begins)] if begins and begins > plan.today else []


# How far away the interview is, and how much of what is asked is ready for that day as things stand.


@dataclass(frozen=True, slots=True)
class Countdown:
    """`recall` of what is asked on the day (weighed as the plan does) if nothing more is done, with its interval."""

    date: str
    days_left: int
    recall: float
    low: float
    high: float


def countdown(workspace: Workspace, at: datetime | None = None) -> Countdown | None:
    """Of the interview that is set; None without one that lies ahead."""
    interview = workspace.settings.interview
    today = date.fromordinal(workspace.moment(at).day)
    if interview is None or interview < today:
        return None
    day = max(interview.toordinal(), today.toordinal() + 1)
    basis = plan_basis(workspace, day)
    weights = {item.id: item.weight for item in basis.items}
    found = expected_recall(weights, thirds_as_now(basis.items, basis.curves), basis.outlook)
    told = (round(share, 4) for share in (found.recall, found.low, found.high))
    return Countdown(interview.isoformat(), (interview - today).days, *told)
