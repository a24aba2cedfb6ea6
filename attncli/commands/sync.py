"""`attn sync`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.shared.rows_left_out import say_left_out
from attncli.commands.shared.shared_options import UserPath
from attncli.commands.shared.stdout import echo
from attncli.practice.sync import sync as synchronise
from attncli.words.command_texts import RENEWED, SYNCED


@click.command()
@click.argument("folder", metavar="DIR", type=UserPath(path_type=Path))
def sync(folder: Path) -> None:
    """Merge the logs of all machines that share the folder DIR, and leave this one's there."""
    with session().workspace() as workspace:
        done = synchronise(workspace, folder)
        workspace.keep_daily_copy()
        say_left_out([*done.faults, *done.left_out])
        if done.renewed:
            echo(RENEWED[workspace.lang].format(id=workspace.store.log.machine), err=True)
        echo(SYNCED[workspace.lang].format(received=done.received, written=done.written, file=done.file))
