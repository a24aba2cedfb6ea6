"""`attn stats`."""

from __future__ import annotations

import click

from attncli.commands.output import json_option, print_json
from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.cells import left, right
from attncli.domain.text import Lang, Localised
from attncli.practice.progress import Progress, progress

FORECAST_SHOWN = 7
TOTALS = Localised(
    "{reviews} ({found.today} today), streak {days}, 30-day retention {recalled}\n"
    "{found.seen}/{found.cards} cards seen, {solved} challenges solved\n"
    "coming due: {coming}",
    "复习 {reviews} 次（今天 {found.today} 次），连续 {days} 天，30 天保持率 {recalled}\n"
    "学过 {found.seen}/{found.cards} 张卡片，解出 {solved} 道编程题\n"
    "未来到期：{coming}",
)
HEAD = Localised("topic seen recall ready lapses weak", "主题 学过 回忆率 掌握度 遗忘 薄弱")


@click.command()
@json_option
def stats(as_json: bool) -> None:
    """Retention, streak, forecast, and how ready each topic is."""
    with session().workspace() as workspace:
        found = progress(workspace)
    if as_json:
        print_json(found.document())
    else:
        echo("\n".join([*_totals(found, workspace.lang), "", *_topics(found, workspace.lang)]))


def _totals(found: Progress, lang: Lang) -> list[str]:
    recalled = "–" if found.retention is None else f"{found.retention:.0%}"
    coming = ", ".join(f"{day.date[5:]} {day.due}" for day in found.forecast[:FORECAST_SHOWN])
    solved = f"{found.challenges['solved']}/{found.challenges['total']}"
    figures = {
        "reviews": _counted(found.reviews, "review") if lang == "en" else found.reviews,
        "days": _counted(found.streak_days, "day") if lang == "en" else found.streak_days,
    }
    return TOTALS[lang].format(found=found, recalled=recalled, coming=coming, solved=solved, **figures).split("\n")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _topics(found: Progress, lang: Lang) -> list[str]:
    head = HEAD[lang].split()
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
