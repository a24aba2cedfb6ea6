"""`attn answer` and `attn undo`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.moment import at_option
from attncli.commands.output import json_option, print_json
from attncli.commands.session import session
from attncli.domain.rating import Rating
from attncli.practice import answering


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
    document = answered.document()
    click.echo(f"{answered.card} {rating}: {document['state']}, due {document['due']} ({_in_words(answered)})")
    if answered.leech:
        click.echo(
            f"{answered.card} was forgotten {answered.schedule.lapses} times: split it, or learn what it rests on"
        )


@click.command()
def undo() -> None:
    """Take back the last review recorded on this machine."""
    with session().workspace() as workspace:
        review = answering.undo(workspace)
    click.echo(f"took back {review.subject} {review.rating.word} of {answering.iso(review.at)}")


def _in_words(answered: answering.Answered) -> str:
    days = answered.schedule.interval_days
    if days >= 1:
        return f"{days:g} days" if days != 1 else "1 day"
    return f"{days * 24 * 60:g} minutes"
