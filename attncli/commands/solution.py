"""`attn solution`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.practice.solution import show_solution
from attncli.words.after_solving_texts import asked_next


@click.command()
@click.argument("challenge")
def solution(challenge: str) -> None:
    """Print the reference of CHALLENGE; it is recorded as seen.

    What interviewers ask next goes to stderr, so that the reference can be kept as a file.
    """
    with session().workspace() as workspace:
        echo(show_solution(workspace, challenge), end="")
        told = asked_next(workspace.library.challenge(challenge), workspace.lang)
    for line in told:
        echo(line, err=True)
