"""`attn answer` and `attn undo`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.moment import at_option
from attncli.commands.output import json_option, print_json
from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.log_row import RowKind
from attncli.domain.rating import Rating
from attncli.domain.text import Lang, Localised
from attncli.practice import answering
from attncli.practice.undo import take_back

SAY: dict[str, Localised] = {
    "answered": Localised(
        "{card} {rating}: {state}, due {due} ({wait})", "{card} {rating}：{state}，{due} 到期（{wait}后）"
    ),
    "leech": Localised(
        "{card} was forgotten {lapses} times: split it, or learn what it rests on",
        "{card} 已忘记 {lapses} 次：把它拆开，或先补它所依赖的知识",
    ),
    "undone": Localised("took back {card} {rating} of {at}", "已撤销 {card} 在 {at} 的评分 {rating}"),
    "undone-suspend": Localised("took back the suspension of {card} at {at}", "已撤销 {at} 对 {card} 的搁置"),
    "undone-bury": Localised("took back that {card} was put off at {at}", "已撤销 {at} 对 {card} 的推迟"),
    "undone-unsuspend": Localised("took back the return of {card} at {at}", "已撤销 {at} 对 {card} 的恢复"),
    "undone-attempt": Localised("took back the attempt at {card} of {at}", "已撤销 {at} 对 {card} 的作答"),
    "undone-tag": Localised("took back the tag of {card} at {at}", "已撤销 {at} 给 {card} 加的标签"),
    "day": Localised("{count:g} day", "{count:g} 天"),
    "days": Localised("{count:g} days", "{count:g} 天"),
    "minute": Localised("{count:g} minute", "{count:g} 分钟"),
    "minutes": Localised("{count:g} minutes", "{count:g} 分钟"),
}

STATES: dict[str, Localised] = {
    "new": Localised("new", "新卡"),
    "learning": Localised("learning", "学习中"),
    "review": Localised("review", "复习"),
    "relearning": Localised("relearning", "重新学习"),
}


@click.command()
@click.argument("card")
@click.option("--rating", required=True, type=click.Choice([rating.word for rating in Rating]))
@at_option
@json_option
def answer(card: str, rating: str, at: datetime | None, as_json: bool) -> None:
    """Record one review of CARD. It is on disk once the new schedule is printed."""
    with session().workspace() as workspace:
        answered = answering.answer(workspace, card, Rating.of(rating), at)
    if as_json:
        print_json(answered.document())
        return
    document, lang = answered.document(), workspace.lang
    wait = _in_words(answered, lang)
    said = SAY["answered"][lang]
    echo(
        said.format(
            card=answered.card, rating=rating, state=STATES[document["state"]][lang], due=document["due"], wait=wait
        )
    )
    if answered.leech:
        echo(SAY["leech"][lang].format(card=answered.card, lapses=answered.schedule.lapses))


@click.command()
def undo() -> None:
    """Take back what was last done on this machine: a review, suspend, bury, unsuspend or attempt."""
    with session().workspace() as workspace:
        done = take_back(workspace)
    rating = done.rating.word if done.kind is RowKind.REVIEW else ""
    said = SAY["undone" if rating else f"undone-{done.kind}"][workspace.lang]
    echo(said.format(card=done.subject, rating=rating, at=answering.iso(done.at)))


def _in_words(answered: answering.Answered, lang: Lang) -> str:
    days = answered.schedule.interval_days
    count, unit = (days, "day") if days >= 1 else (days * 24 * 60, "minute")
    return SAY[unit if count == 1 else f"{unit}s"][lang].format(count=count)
