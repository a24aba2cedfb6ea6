"""`attn export reviews`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.export_target import Target, TargetType
from attncli.commands.shared.rows_left_out import say_left_out
from attncli.commands.shared.stdout import echo
from attncli.domain.printable import escaped
from attncli.practice.log import merge_logs
from attncli.words.command_texts import EXPORTED


@click.command()
@click.option("-o", "--output", "target", type=TargetType(), default="-", help="Where to write (default: stdout).")
def export_reviews(target: Target) -> None:
    """The whole review log, one JSON document a line: what `attn import reviews` merges."""
    target.refuse_other_endings(["jsonl", "ndjson"], "the review log")
    left_out = list[str]()
    with session().workspace() as workspace:
        lines = merge_logs.exported(workspace, left_out)
        if target.file is None:
            for line in lines:
                echo(escaped(line))
        else:
            count = merge_logs.write_lines(target.file, lines)
            echo(EXPORTED[workspace.lang].format(count=count, file=target.file), err=True)
    say_left_out(left_out)
