"""`attn backup` and `attn restore`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.errors import NotFound, UsageError


@click.command()
@click.option("-o", "output", type=click.Path(path_type=Path), help="The new file (default: attn-DATE-TIME.db here).")
def backup(output: Path | None) -> None:
    """Write a consistent copy of your progress."""
    current = session()
    path = output or Path(f"attn-{current.clock():%Y%m%d-%H%M%S}.db")
    if path.exists():
        raise UsageError(f"{path} already exists and is not overwritten; name another file with -o")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.absolute().parent}; name another file with -o")
    with current.workspace() as workspace:
        problems = workspace.store.copy_to(path)
    click.echo(str(path))
    if problems:
        click.echo(
            f"attn: the copy is as damaged as the database ({problems[0]}); run `attn doctor --rebuild`", err=True
        )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def restore(file: Path) -> None:
    """Replace your progress by the backup FILE; what was there is kept as a numbered backup."""
    from attncli.store.rescue import restore_database

    if not file.is_file():
        raise NotFound(f"there is no file {file}; `attn backup` writes one")
    current = session()
    kept = restore_database(current.home.database, file)
    with current.workspace() as workspace:
        workspace.derive_all()
    click.echo(f"restored {file}; what was there before is in {kept}")
