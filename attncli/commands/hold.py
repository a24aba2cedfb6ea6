"""`attn suspend`, `attn bury`, `attn unsuspend`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.practice import answering


@click.command()
@click.argument("card")
def suspend(card: str) -> None:
    """Take CARD out of the queue for good."""
    with session().workspace() as workspace:
        click.echo(f"{answering.suspend(workspace, card)} is suspended; `attn unsuspend` brings it back")


@click.command()
@click.argument("card")
def bury(card: str) -> None:
    """Take CARD out of the queue for today."""
    with session().workspace() as workspace:
        click.echo(f"{answering.bury(workspace, card)} is put off until tomorrow; `attn unsuspend` brings it back")


@click.command()
@click.argument("card")
def unsuspend(card: str) -> None:
    """Put a suspended or buried CARD back into the queue."""
    with session().workspace() as workspace:
        click.echo(f"{answering.unsuspend(workspace, card)} is in the queue")
