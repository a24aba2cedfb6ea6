"""`attn backup`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.shared.export_target import REMEDY, Target
from attncli.commands.shared.shared_options import UserPath
from attncli.commands.shared.stdout import echo
from attncli.errors import UsageError


@click.command()
@click.option("-o", "output", type=UserPath(path_type=Path), help="The new file (default: attn-DATE-TIME.db here).")
def backup(output: Path | None) -> None:
    """Write a consistent copy of your progress."""
    current = session()
    path = output or Path(f"attn-{current.clock():%Y%m%d-%H%M%S}.db")
    if path == Path("-"):
        raise UsageError("a backup is a database, and is not written to standard output; name a file with -o")
    if path.exists():
        raise UsageError(f"{path} already exists and is not overwritten; {REMEDY}")
    Target(path).refuse_place()
    with current.workspace() as workspace:
        problems = workspace.store.copy_to(path)
    echo(str(path))
    if problems:
        echo(f"attn: the copy is as damaged as the database ({problems[0]}); run `attn doctor --rebuild`", err=True)
