"""`attn answer`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import at_option, json_option, print_json
from attncli.commands.shared.stdout import echo
from attncli.domain.rating import Rating
from attncli.domain.text import Lang
from attncli.practice import record
from attncli.words.command_texts import ANSWER, STATES, counted


@click.command()
@click.argument("card")
@click.option("--rating", required=True, type=click.Choice([rating.word for rating in Rating]))
@at_option
@json_option
def answer(card: str, rating: str, at: datetime | None, as_json: bool) -> None:
    """Record one review of CARD. It is on disk once the new schedule is printed."""
    with session().workspace() as workspace:
        answered = record.answer(workspace, card, Rating.of(rating), at)
    if as_json:
        print_json(answered.document())
        return
    document, lang = answered.document(), workspace.lang
    wait = _in_words(answered, lang)
    said = ANSWER["answered"][lang]
    echo(
        said.format(
            card=answered.card, rating=rating, state=STATES[document["state"]][lang], due=document["due"], wait=wait
        )
    )
    if answered.leech:
        echo(ANSWER["leech"][lang].format(card=answered.card, lapses=answered.schedule.lapses))


def _in_words(answered: record.AnsweredReview, lang: Lang) -> str:
    days = answered.schedule.interval_days
    return (counted(days, "day") if days >= 1 else counted(days * 24 * 60, "minute"))[lang]
