"""`attn import`, `attn export reviews` and `attn sync`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.printable import escaped, printable
from attncli.domain.text import Localised
from attncli.practice import exchange
from attncli.practice.sync import sync as synchronise

IMPORTED = Localised("{new} new rows", "新增 {new} 条记录")
EXPORTED = Localised("{count} rows in {file}", "{file} 中有 {count} 条记录")
SYNCED = Localised(
    "{received} new rows from other machines; {written} of this one in {file}",
    "从其他设备收到 {received} 条新记录；本机的 {written} 条在 {file} 中",
)
RENEWED = Localised(
    "this home was copied or restored from a backup: what is written here from now on bears the new machine id {id}",
    "此目录是复制来的，或是从备份恢复的：今后在此写入的记录使用新的设备标识 {id}",
)
LEFT_OUT = Localised("left out: {fault}", "未采用：{fault}")
FAULTS_SHOWN = 20
MORE_FAULTS = Localised("left out: {count} more", "未采用：另有 {count} 处")


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
        echo(MORE_FAULTS[lang].format(count=len(faults) - FAULTS_SHOWN), err=True)
