"""Sentences for commands and screens: the plan, the countdown to the interview, the reason why nothing is due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, NamedTuple

from attncli.domain.dates import date_words, short_date
from attncli.domain.vocabulary import LEVEL_NAMES, LEVELS
from attncli.i18n import Lang, Localised, _, ngettext
from attncli.memory.forecast import LAST_DAYS, expected_recall, thirds_as_now
from attncli.memory.queue_order import AVERAGES_UNTIL
from attncli.practice.plan import Plan, StudyDay, local_date, plan_basis
from attncli.practice.queue import minutes_are_set, planned_for
from attncli.practice.workspace import Workspace
from attncli.store.schedules import Moment


def countdown_sentence(plan: Plan, lang: Lang) -> str:
    """Return a sentence with the days left until the interview."""
    if plan.days_left == 0:
        return _("The interview is today.")[lang]
    if plan.days_left == 1:
        return _("The interview is tomorrow ({date}).", date=date_words(plan.interview))[lang]
    return _("The interview is in {days} days ({date}).", days=plan.days_left, date=date_words(plan.interview))[lang]


def left_out_lines(plan: Plan, lang: Lang) -> list[str]:
    """Return lines about cards and challenges that do not fit the time; empty if all fit."""
    left_out, lines = plan.left_out, []
    if count := len(left_out.cards):
        unseen = (
            ngettext(
                "{count} card won't fit ({core} of them asked often).",
                "{count} cards won't fit ({core} of them asked often).",
                count,
                core=left_out.core,
            )
            if left_out.core
            else ngettext("{count} card won't fit.", "{count} cards won't fit.", count)
        )
        needed = (
            _("Not even four hours a day would cover every card.")
            if left_out.minutes_needed is None
            else _("{minutes} minutes a day would cover every card.", minutes=left_out.minutes_needed)
        )
        gap = " " if lang == "en" else ""
        lines.append(unseen[lang] if plan.is_late else f"{unseen[lang]}{gap}{needed[lang]}")
    if left_out.challenges:
        lines.append(
            ngettext("{count} challenge won't fit.", "{count} challenges won't fit.", left_out.challenges)[lang]
        )
    return lines


def basis_line(plan: Plan, lang: Lang) -> str:
    """Return a line about the data that the plan is based on."""
    seconds = {"learn": plan.learn_seconds, "review": plan.review_seconds}
    reviews = ngettext("{count} review", "{count} reviews", plan.reviews_known)
    if plan.reviews_known < AVERAGES_UNTIL:
        return _(
            "Based on published averages: {learn:.0f} s to learn a card, {review:.0f} s to review one. Your reviews "
            "count from {least} on ({reviews} so far).",
            least=AVERAGES_UNTIL,
            reviews=plan.reviews_known,
            **seconds,
        )[lang]
    return _(
        "Based on {reviews} and published averages: {learn:.0f} s to learn a card, {review:.0f} s to review one.",
        reviews=reviews,
        **seconds,
    )[lang]


def rules_lines(plan: Plan, level: str, lang: Lang) -> list[str]:
    """Return lines about the rules of the plan: its level, and cards that the last days leave out."""
    lines = [_("Level: up to {level}; what is above comes last.", level=LEVEL_NAMES[level])] if level in LEVELS else []
    if plan.is_late:
        lines.append(
            _("{days} days or fewer left: of new cards only must-know and your own; reviews stay.", days=LAST_DAYS)
        )
    return [line[lang] for line in lines]


def studied_line(plan: Plan, lang: Lang) -> list[str]:
    """Return the time studied today as a line, if any."""
    if round(plan.studied_minutes) < 1:
        return []
    return [_("Studied today: about {minutes:.0f} min", minutes=plan.studied_minutes)[lang]]


def expected_line(plan: Plan, lang: Lang) -> str:
    """Return the expected recall on the interview day with its interval."""
    expected = plan.expected
    return _(
        "You will be able to answer about {recall:.0f}% of these questions on {date} ({low:.0f}–{high:.0f}%); about "
        "{stopped:.0f}% if you stop now.",
        recall=100 * expected.recall,
        low=100 * expected.low,
        high=100 * expected.high,
        date=short_date(plan.interview),
        stopped=100 * plan.stopped.recall,
    )[lang]


def day_name(day: date, lang: Lang) -> str:
    """Format a day as `Mon 23 Nov`."""
    return date_words(day)[lang].replace(f" {day.year}", "").removeprefix(f"{day.year}年")


def code_text(challenge: str, minutes: float) -> Localised:
    """Name a challenge with the minutes expected for it."""
    return _("{challenge} ({minutes:.0f} min)", challenge=challenge, minutes=minutes)


def day_parts(day: StudyDay, lang: Lang) -> list[str]:
    """List new cards, reviews and challenges of a day; one word for a free day."""
    parts = [_("{count} new", count=len(day.new))[lang]] if day.new else []
    parts += [_("{count} to review", count=len(day.reviews))[lang]] if day.reviews else []
    parts += [code_text(id, minutes)[lang] for id, minutes in day.code.items()]
    parts += [_("last pass")[lang]] if day.is_last_pass and parts else []
    return parts or [_("free")[lang]]


def last_pass_line(plan: Plan, lang: Lang) -> list[str]:
    """Return the start of the last pass as a line, if it lies ahead."""
    start = plan.last_pass
    if start is None or start <= plan.today:
        return []
    line = _("Last pass from {date}: each seen card once more, most useful first.", date=short_date(start))
    return [line[lang]]


# Countdown


def countdown_line(days_left: int, recall: float) -> Localised:
    """Return the days to the interview and the expected recall on that day if the learner stops now."""
    if days_left == 0:
        return _("Interview today · expected recall {recall:.0%}", recall=recall)
    if days_left == 1:
        return _("Interview tomorrow · recall then {recall:.0%} if you stop now", recall=recall)
    return _("{days} days to the interview · recall then {recall:.0%} if you stop now", days=days_left, recall=recall)


@dataclass(frozen=True, slots=True)
class Countdown:
    """Days to the interview, and the expected weighted `recall` on that day if the learner stops now."""

    date: str
    days_left: int
    recall: float
    low: float
    high: float


def countdown(workspace: Workspace, at: datetime | None = None) -> Countdown | None:
    """Return the countdown to the interview in the settings; None if there is none that lies ahead."""
    interview = workspace.settings.interview
    today = local_date(workspace, at)
    if interview is None or interview < today:
        return None
    day = max(interview.toordinal(), today.toordinal() + 1)
    basis = plan_basis(workspace, day)
    weights = {item.id: item.weight for item in basis.items}
    found = expected_recall(weights, thirds_as_now(basis.items, basis.curves), basis.outlook)
    shares = (round(share, 4) for share in (found.recall, found.low, found.high))
    return Countdown(interview.isoformat(), (interview - today).days, *shares)


# Why nothing is left


Reason = Literal["empty", "suspended", "limit", "minutes", "planned", "off", "buried", "waiting"]


class Standstill(NamedTuple):
    """The reason why nothing is due: the first that the learner can do something about, if there is one.

    `unseen` cards are still to be learned; `introduced` were today. `next_at` is when the next card is due, if any is.
    """

    reason: Reason
    unseen: int
    introduced: int
    buried: int
    next_at: datetime | None


def standstill(workspace: Workspace) -> Standstill:
    """Return why nothing is due now."""
    when, queue, new_per_day = workspace.moment(), workspace.store.queue, workspace.settings.new_per_day
    cards, suspended = workspace.library.count_cards(), len(queue.suspended())
    unseen, introduced = queue.count_unseen(when), queue.introduced(when.day)
    buried = cards - suspended - len(queue.available(when))
    is_planned = bool(planned_for(workspace, when))
    reason: Reason = "buried" if buried else "waiting"
    if suspended == cards:
        reason = "suspended" if cards else "empty"
    elif unseen and is_planned:
        reason = "planned"
    elif unseen and introduced < new_per_day and minutes_are_set(workspace):
        reason = "minutes"
    elif unseen:
        reason = "limit" if new_per_day else "off"
    tomorrow = bool(buried or (unseen and (is_planned or new_per_day)))
    return Standstill(reason, unseen, introduced, buried, _next_at(workspace, when, tomorrow))


def _next_at(workspace: Workspace, when: Moment, tomorrow: bool) -> datetime | None:
    """Return when the next step or review is due; `tomorrow` if new or buried cards come then."""
    day = workspace.store.queue.next_review_day(when)
    coming = [
        workspace.store.queue.next_step(when),
        None if day is None else workspace.calendar.starts_at(day),
        when.day_end if tomorrow else None,
    ]
    return min((moment for moment in coming if moment is not None), default=None)
