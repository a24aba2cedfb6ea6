"""`attn undo`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.domain.log_row import RowKind
from attncli.practice import record
from attncli.practice.log.undo import take_back
from attncli.words.command_texts import ANSWER


@click.command()
def undo() -> None:
    """Take back what was last done on this machine.

    A review, suspend, bury, unsuspend, tag, note, attempt, repair, fit or a step of a mock
    interview; what was seen stays seen.
    """
    with session().workspace() as workspace:
        done = take_back(workspace)
    rating = done.rating.word if done.kind is RowKind.REVIEW else ""
    said = ANSWER["undone" if rating else f"undone-{done.kind}"][workspace.lang]
    echo(said.format(card=done.subject, rating=rating, at=record.iso(done.at)))
