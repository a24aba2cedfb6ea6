"""`attn hint`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.practice.challenges.hint import next_hint
from attncli.words.command_texts import LAST_HINT


@click.command()
@click.argument("challenge")
def hint(challenge: str) -> None:
    """Print the next hint for CHALLENGE; it is recorded as seen."""
    with session().workspace() as workspace:
        found = next_hint(workspace, challenge)
    echo(f"{found.number}/{found.total}  {found.text[workspace.lang].strip()}")
    if found.again:
        echo(LAST_HINT[workspace.lang].format(challenge=challenge), err=True)
