"""The plan for an interview as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attncli.domain.cells import cells, left, right
from attncli.domain.text import Lang, Localised
from attncli.practice import plan_sentences as told
from attncli.practice.plan import Plan, StudyDay
from attncli.words import plan_texts as words

CARDS_PRINTED, DAYS_PRINTED = 12, 14
_TITLE = 36


def plan_lines(plan: Plan, titles: Mapping[str, str], lang: Lang) -> list[str]:
    """What `attn plan` prints; `titles` are those of the topics."""
    return [
        *_heading(plan, lang),
        "",
        *_today(plan, lang),
        "",
        words.DAYS[lang],
        *_days(plan.days, lang),
        *told.last_pass_line(plan, lang),
        "",
        *_topics(plan, titles, lang),
    ]


def _heading(plan: Plan, lang: Lang) -> Iterator[str]:
    yield told.countdown_sentence(plan, lang)
    yield told.expected_line(plan, lang)
    yield from told.left_out_lines(plan, lang)
    yield told.basis_line(plan, lang)
    yield from told.studied_line(plan, lang)
    yield words.BESIDE_REVIEW[lang]


def _today(plan: Plan, lang: Lang) -> Iterator[str]:
    day = plan.days[0]
    if plan.studied_minutes:
        yield (words.REST_OF_DAY if day.minutes else words.DONE)[lang].format(minutes=day.minutes)
    else:
        yield words.DAY[lang].format(minutes=day.minutes) + ("" if day.minutes else f": {words.FREE[lang]}")
    width = max(cells(name[lang]) for name in (words.NEW_CARDS, words.REVIEW_CARDS, words.CHALLENGE)) + 1
    named: list[tuple[Localised, Sequence[str]]] = [
        (words.NEW_CARDS, day.new),
        (words.REVIEW_CARDS, day.reviews),
        (words.CHALLENGE, day.challenges),
    ]
    for name, ids in named:
        if ids:
            more = [words.MORE_CARDS[lang].format(count=len(ids) - CARDS_PRINTED)] if len(ids) > CARDS_PRINTED else []
            yield f"  {left(name[lang], width)}{' '.join([*ids[:CARDS_PRINTED], *more])}"


def _days(days: Sequence[StudyDay], lang: Lang) -> Iterator[str]:
    for day in days[:DAYS_PRINTED]:
        minutes = words.MINUTES[lang].format(minutes=day.minutes)
        yield f"  {left(told.day_name(day.date, lang), 11)}{right(minutes, 9)}  {' · '.join(told.day_parts(day, lang))}"
    if len(days) > DAYS_PRINTED:
        yield f"  {words.MORE_DAYS[lang].format(count=len(days) - DAYS_PRINTED)}"


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
    """`title` in less than a column; what was cut off shows."""
    if cells(title) < _TITLE:
        return title
    while cells(title) >= _TITLE - 1:
        title = title[:-1]
    return f"{title.rstrip()}…"
