"""`attn start`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.practice.start_challenge import start_challenge
from attncli.words.command_texts import OLD_FILE_KEPT


@click.command()
@click.argument("challenge")
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Where to write it (default: your solutions).")
@click.option("--bug", is_flag=True, help="A wrong solution to debug instead of an empty starter.")
@click.option("--force", is_flag=True, help="Keep an existing file as a numbered copy and write anew.")
def start(challenge: str, folder: Path | None, bug: bool, force: bool) -> None:
    """Write a starter file for CHALLENGE; an existing file is never overwritten."""
    with session().workspace() as workspace:
        started = start_challenge(workspace, challenge, folder, bug=bug, force=force)
    if started.kept:
        echo(OLD_FILE_KEPT[workspace.lang].format(file=started.kept), err=True)
    if started.symptom:
        echo(started.symptom[workspace.lang], err=True)
    echo(str(started.path))
