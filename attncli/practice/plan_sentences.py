"""The plan for an interview in sentences, for the command and the screen alike."""

from __future__ import annotations

from datetime import date

from attncli.domain.text import Lang
from attncli.practice.plan import Plan, StudyDay
from attncli.words import plan_texts as words
from attncli.words.app_texts import say


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
