"""`attn import reviews`: what another program or machine has comes in here."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.import_anki import import_anki
from attncli.commands.session import session
from attncli.commands.shared.rows_left_out import say_left_out
from attncli.commands.shared.stdout import echo
from attncli.practice.log import merge_logs
from attncli.words.command_texts import IMPORTED


@click.group(name="import", no_args_is_help=False)
def import_() -> None:
    """Take over what another program or machine has."""


import_.add_command(import_anki, "anki")


@import_.command()
@click.argument("file", type=click.Path(path_type=Path))
def reviews(file: Path) -> None:
    """Merge the log in FILE, from `attn export reviews` or `attn backup`; rows that are here already count once."""
    with session().workspace() as workspace:
        done = merge_logs.import_file(workspace, file)
        workspace.keep_daily_copy()
        say_left_out(done.faults)
        echo(IMPORTED[workspace.lang].format(new=done.new))
