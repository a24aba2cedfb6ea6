"""`attn hint`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.domain.text import Lang
from attncli.practice.hint import Hint, next_hint
from attncli.words.app_texts import say
from attncli.words.command_texts import HINT, LAST_HINT


@click.command()
@click.argument("challenge")
def hint(challenge: str) -> None:
    """Print the next hint for CHALLENGE; it is recorded as seen."""
    with session().workspace() as workspace:
        found = next_hint(workspace, challenge)
    print_hint(found, challenge, workspace.lang)


def print_hint(found: Hint, challenge: str, lang: Lang) -> None:
    """The hint under the heading that it has in the app, and whether it is the last one once more."""
    heading = say("challenge.hint", lang, n=found.number, total=found.total)
    echo(HINT[lang].format(heading=heading, text=found.text[lang].strip()))
    if found.again:
        echo(LAST_HINT[lang].format(challenge=challenge), err=True)
