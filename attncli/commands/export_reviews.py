"""`attn export reviews`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.rows_left_out import say_left_out
from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.printable import escaped
from attncli.practice.log import merge_logs
from attncli.words.command_texts import EXPORTED


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write (default: stdout).")
def export_reviews(output: Path | None) -> None:
    """The whole review log, one JSON document a line: what `attn import reviews` merges."""
    left_out = list[str]()
    with session().workspace() as workspace:
        lines = merge_logs.exported(workspace, left_out)
        if output is None:
            for line in lines:
                echo(escaped(line))
        else:
            count = merge_logs.write_lines(output, lines)
            echo(EXPORTED[workspace.lang].format(count=count, file=output), err=True)
    say_left_out(left_out)
