"""`attn import`, `attn export reviews` and `attn sync`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.practice import exchange


@click.group(name="import", no_args_is_help=False)
def import_() -> None:
    """Take over what another program or machine has."""


@import_.command()
@click.argument("file", type=click.Path(path_type=Path))
def reviews(file: Path) -> None:
    """Merge a review log that `attn export reviews` wrote; rows that are here already count once."""
    with session().workspace() as workspace:
        new = exchange.import_file(workspace, file)
        workspace.keep_daily_copy()
    click.echo(f"{new} new rows")


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write (default: stdout).")
def export_reviews(output: Path | None) -> None:
    """The whole review log, one JSON document a line: what `attn import reviews` merges."""
    with session().workspace() as workspace:
        if output is None:
            for line in exchange.exported(workspace):
                click.echo(line)
        else:
            count = exchange.write_lines(output, exchange.exported(workspace))
            click.echo(f"{count} rows in {output}", err=True)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def sync(folder: Path) -> None:
    """Merge the logs of all machines that share the folder DIR, and leave this one's there."""
    with session().workspace() as workspace:
        synced = exchange.sync(workspace, folder)
        workspace.keep_daily_copy()
    click.echo(f"{synced.received} new rows from other machines; {synced.written} of this one in {synced.file}")
