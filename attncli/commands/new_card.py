"""`attn new card`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.words.command_texts import CARD_TO_WRITE, CARD_WRITTEN


@click.command()
@click.argument("topic")
@click.option("--question", default="", help="What it asks.")
@click.option("--answer", default="", help="What is right.")
def card(topic: str, question: str, answer: str) -> None:
    """Adds a card to your own bank TOPIC, with places for a question and an answer, or with those that are given.

    Prints where it begins, as file:line. One language, a question and an answer are enough.
    """
    from attncli.practice.new_card import add_card

    with session().workspace() as workspace:
        new = add_card(workspace, topic, question, answer)
        lang = workspace.lang
    echo(f"{new.path}:{new.line}")
    told = CARD_WRITTEN if question.strip() and answer.strip() else CARD_TO_WRITE
    echo(told[lang].format(id=new.id, path=new.path), err=True)
