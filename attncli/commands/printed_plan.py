"""The plan for an interview as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from attncli.domain.cells import cells, left, right
from attncli.domain.text import Lang, Localised
from attncli.practice.plan import Plan, StudyDay
from attncli.words import plan_texts as words
from attncli.words.app_texts import say

CARDS_SHOWN, DAYS_SHOWN = 12, 14
_TITLE = 36


def plan_lines(plan: Plan, titles: Mapping[str, str], lang: Lang) -> list[str]:
    """What `attn plan` prints; `titles` are those of the topics."""
    return [
        *_heading(plan, lang),
        "",
        *_today(plan.days[0], lang),
        "",
        words.DAYS[lang],
        *_days(plan.days, lang),
        "",
        *_topics(plan, titles, lang),
    ]


def countdown(plan: Plan, lang: Lang) -> str:
    """How far away the interview is."""
    said = words.TODAY if plan.days_left == 0 else words.TOMORROW if plan.days_left == 1 else words.IN_DAYS
    return said[lang].format(days=plan.days_left, date=plan.interview)


def left_out_lines(plan: Plan, lang: Lang) -> list[str]:
    """What the time is too short for; empty if it is not."""
    left_out, said = plan.left_out, []
    if left_out.cards:
        needed = words.NEVER_ENOUGH if left_out.minutes_needed is None else words.NEEDED
        cards = words.LEFT_OUT[lang].format(cards=len(left_out.cards), core=left_out.core)
        said.append(f"{cards} {needed[lang].format(minutes=left_out.minutes_needed)}")
    if left_out.challenges:
        said.append(words.CHALLENGES_LEFT[lang].format(count=left_out.challenges))
    return said


def basis_line(plan: Plan, lang: Lang) -> str:
    """What the plan knows of the learner."""
    said = words.BASIS if plan.reviews_known else words.NO_BASIS
    return said[lang].format(reviews=plan.reviews_known, learn=plan.learn_seconds, review=plan.review_seconds)


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


def _heading(plan: Plan, lang: Lang) -> Iterator[str]:
    yield countdown(plan, lang)
    yield expected_line(plan, lang)
    yield from left_out_lines(plan, lang)
    yield basis_line(plan, lang)


def _today(day: StudyDay, lang: Lang) -> Iterator[str]:
    yield words.DAY[lang].format(minutes=day.minutes) + ("" if day.minutes else f": {words.FREE[lang]}")
    width = max(cells(name[lang]) for name in (words.NEW_CARDS, words.REVIEW_CARDS, words.CHALLENGE)) + 1
    named: list[tuple[Localised, Sequence[str]]] = [
        (words.NEW_CARDS, day.new),
        (words.REVIEW_CARDS, day.reviews),
        (words.CHALLENGE, day.challenges),
    ]
    for name, ids in named:
        if ids:
            more = [words.MORE_CARDS[lang].format(count=len(ids) - CARDS_SHOWN)] if len(ids) > CARDS_SHOWN else []
            yield f"  {left(name[lang], width)}{' '.join([*ids[:CARDS_SHOWN], *more])}"


def _days(days: Sequence[StudyDay], lang: Lang) -> Iterator[str]:
    for day in days[:DAYS_SHOWN]:
        minutes = words.MINUTES[lang].format(minutes=day.minutes)
        yield f"  {left(day_name(day.date, lang), 11)}{right(minutes, 9)}  {' · '.join(day_parts(day, lang))}"
    if len(days) > DAYS_SHOWN:
        yield f"  {words.MORE_DAYS[lang].format(count=len(days) - DAYS_SHOWN)}"
    last_pass = next((day.date for day in days if day.is_last_pass), None)
    if last_pass is not None and last_pass > days[0].date:
        yield words.LAST_PASS_FROM[lang].format(date=last_pass)


def _topics(plan: Plan, titles: Mapping[str, str], lang: Lang) -> Iterator[str]:
    heads = (words.HEAD_SEEN, words.HEAD_PLANNED, words.HEAD_RECALL, words.HEAD_LIKELY, words.HEAD_STOPPED)
    columns = " ".join(right(head[lang], width) for head, width in zip(heads, (8, 8, 7, 11, 12), strict=True))
    yield words.TOPICS[lang]
    yield f"  {left(words.HEAD_TOPIC[lang], _TITLE)}{columns}"
    for id, topic in plan.topics.items():
        likely = f"{topic.expected.low:.0%}–{topic.expected.high:.0%}"
        seen = f"{topic.seen}/{topic.cards}"
        yield (
            f"  {left(_cut(titles.get(id, id)), _TITLE)}{seen:>8} {topic.planned:>8} {topic.expected.recall:>7.0%} "
            f"{likely:>11} {topic.stopped.recall:>12.0%}"
        )


def _cut(title: str) -> str:
    """`title` in less than a column."""
    while cells(title) >= _TITLE:
        title = title[:-1]
    return title
