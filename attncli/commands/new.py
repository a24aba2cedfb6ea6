"""`attn new`."""

from __future__ import annotations

import click

from attncli.commands.new_card import card
from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.text import Localised

NEXT = Localised(
    "Write reference.py and wrong/first-mistake.py, then prove it with: attn verify {id}",
    "写好 reference.py 和 wrong/first-mistake.py，再用 attn verify {id} 验证",
)


@click.group(no_args_is_help=False)
def new() -> None:
    """Scaffolds a card or a challenge in place."""


@new.command()
@click.argument("name", metavar="TRACK/ID")
def challenge(name: str) -> None:
    """A folder for the challenge ID of TRACK, in which the reference and one wrong solution are left to write.

    In a checkout it lies in impl/, otherwise in challenges/ of your attn folder.
    """
    from attncli.practice.scaffold import new_challenge

    with session().workspace() as workspace:
        folder = new_challenge(workspace, name)
        echo(folder)
        echo(NEXT[workspace.lang].format(id=folder.name), err=True)


new.add_command(card)
