"""`attn import`, `attn export reviews` and `attn sync`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.printable import escaped, printable
from attncli.practice import exchange
from attncli.practice.sync import sync as synchronise
from attncli.words.command_texts import EXPORTED, IMPORTED, LEFT_OUT, MORE_LEFT_OUT, RENEWED, SYNCED

FAULTS_SHOWN = 20


@click.group(name="import", no_args_is_help=False)
def import_() -> None:
    """Take over what another program or machine has."""


@import_.command()
@click.argument("file", type=click.Path(path_type=Path))
def reviews(file: Path) -> None:
    """Merge the log in FILE, from `attn export reviews` or `attn backup`; rows that are here already count once."""
    with session().workspace() as workspace:
        done = exchange.import_file(workspace, file)
        workspace.keep_daily_copy()
        _say_faults(done.faults)
        echo(IMPORTED[workspace.lang].format(new=done.new))


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write (default: stdout).")
def export_reviews(output: Path | None) -> None:
    """The whole review log, one JSON document a line: what `attn import reviews` merges."""
    left_out = list[str]()
    with session().workspace() as workspace:
        lines = exchange.exported(workspace, left_out)
        if output is None:
            for line in lines:
                echo(escaped(line))
        else:
            count = exchange.write_lines(output, lines)
            echo(EXPORTED[workspace.lang].format(count=count, file=output), err=True)
    _say_faults(left_out)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def sync(folder: Path) -> None:
    """Merge the logs of all machines that share the folder DIR, and leave this one's there."""
    with session().workspace() as workspace:
        done = synchronise(workspace, folder)
        workspace.keep_daily_copy()
        _say_faults([*done.faults, *done.left_out])
        if done.renewed:
            echo(RENEWED[workspace.lang].format(id=workspace.store.log.machine), err=True)
        echo(SYNCED[workspace.lang].format(received=done.received, written=done.written, file=done.file))


def _say_faults(faults: Iterable[str]) -> None:
    lang = session().lang
    faults = [*faults]
    for fault in faults[:FAULTS_SHOWN]:
        echo(LEFT_OUT[lang].format(fault=" ".join(printable(fault).split())), err=True)
    if len(faults) > FAULTS_SHOWN:
        echo(MORE_LEFT_OUT[lang].format(count=len(faults) - FAULTS_SHOWN), err=True)
