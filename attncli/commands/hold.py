"""`attn suspend`, `attn bury`, `attn unsuspend`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.practice.cards import hold
from attncli.words.command_texts import BURIED, IN_QUEUE, SUSPENDED


@click.command()
@click.argument("card")
def suspend(card: str) -> None:
    """Take CARD out of the queue for good."""
    with session().workspace() as workspace:
        echo(SUSPENDED[workspace.lang].format(card=hold.suspend(workspace, card)))


@click.command()
@click.argument("card")
def bury(card: str) -> None:
    """Take CARD out of the queue for today."""
    with session().workspace() as workspace:
        echo(BURIED[workspace.lang].format(card=hold.bury(workspace, card)))


@click.command()
@click.argument("card")
def unsuspend(card: str) -> None:
    """Put a suspended or buried CARD back into the queue."""
    with session().workspace() as workspace:
        echo(IN_QUEUE[workspace.lang].format(card=hold.unsuspend(workspace, card)))
