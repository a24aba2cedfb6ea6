"""`attn new`."""

from __future__ import annotations

import click

from attncli.commands.new_card import card
from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.words.command_texts import CHALLENGE_NEXT


@click.group(no_args_is_help=False)
def new() -> None:
    """Scaffolds a card or a challenge in place."""


@new.command()
@click.argument("name", metavar="TRACK/ID")
def challenge(name: str) -> None:
    """A folder for the challenge ID of TRACK, in which the reference and one wrong solution are left to write.

    In a checkout it lies in impl/, otherwise in challenges/ of your attn folder.
    """
    from attncli.practice.new_challenge import new_challenge

    with session().workspace() as workspace:
        folder = new_challenge(workspace, name)
        echo(folder)
        echo(CHALLENGE_NEXT[workspace.lang].format(id=folder.name), err=True)


new.add_command(card)
