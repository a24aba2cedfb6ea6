"""`attn stats`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_result
from attncli.domain.cells import left, right
from attncli.domain.text import Lang
from attncli.practice.stats import ProgressStats, progress
from attncli.words.command_texts import TOPIC_HEAD, TOTALS, counted
from attncli.words.plan_texts import countdown_line

FORECAST_SHOWN = 7


@click.command()
@json_option
def stats(as_json: bool) -> None:
    """Retention, streak, forecast, and how ready each topic is."""
    with session().workspace() as workspace:
        found = progress(workspace)
        lang = workspace.lang
    print_result(as_json, found.document, lambda: [*_totals(found, lang), "", *_topics(found, lang)])


def _countdown(found: ProgressStats, lang: Lang) -> list[str]:
    return [countdown_line(found.interview.days_left, found.interview.recall)[lang]] if found.interview else []


def _totals(found: ProgressStats, lang: Lang) -> list[str]:
    recalled = "–" if found.retention is None else f"{found.retention:.0%}"
    coming = ", ".join(f"{day.date[5:]} {day.due}" for day in found.forecast[:FORECAST_SHOWN])
    solved = f"{found.challenges['solved']}/{found.challenges['total']}"
    figures = {"reviews": counted(found.reviews, "review"), "days": counted(found.streak_days, "day")}
    told = TOTALS.format(found=found, recalled=recalled, coming=coming, solved=solved, **figures)
    return [*_countdown(found, lang), *told[lang].split("\n")]


def _topics(found: ProgressStats, lang: Lang) -> list[str]:
    head = TOPIC_HEAD[lang].split()
    numbers = " ".join(right(word, cells) for word, cells in zip(head[1:5], (8, 7, 7, 7), strict=True))
    lines = [f"{left(head[0], 10)} {numbers}  {head[5]}"]
    for topic, standing in found.topics.items():
        recall = f"{standing.recall:.0%}" if standing.seen else "–"
        weak = " ".join(card.card for card in standing.weak[:3])
        seen = f"{standing.seen}/{standing.total}"
        lines.append(
            f"{topic:<10} {seen:>8} {recall:>7} {standing.readiness:>7.0%} {standing.lapses:>7}  {weak}".rstrip()
        )
    return lines
