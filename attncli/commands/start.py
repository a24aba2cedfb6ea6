"""`attn start`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import UserPath
from attncli.commands.shared.stdout import echo
from attncli.domain.repairs import MOST_BUGS
from attncli.domain.seeds import STREAMS
from attncli.errors import UsageError
from attncli.practice.start import start_challenge
from attncli.words.command_texts import OLD_FILE_KEPT, REPAIR_HANDED_OUT, counted


@click.command()
@click.argument("challenge")
@click.option("--dir", "folder", type=UserPath(path_type=Path), help="Where to write it (default: your solutions).")
@click.option("--bug", is_flag=True, help="A wrong solution to debug instead of an empty starter.")
@click.option(
    "--repair",
    type=click.IntRange(1, MOST_BUGS),
    metavar="N",
    help=f"The reference with N bugs to find and mend, 1 to {MOST_BUGS}.",
)
@click.option(
    "--seed", type=click.IntRange(0, STREAMS - 1), help="With --repair: the round of this number, not the next one."
)
@click.option("--force", is_flag=True, help="Keep an existing file as a numbered copy and write anew.")
def start(challenge: str, folder: Path | None, bug: bool, repair: int | None, seed: int | None, force: bool) -> None:
    """Write a starter file for CHALLENGE; an existing file is never overwritten."""
    if bug and repair is not None:
        raise UsageError(
            "--bug hands out one wrong solution and --repair a reference with N bugs; leave out one of them"
        )
    if seed is not None and repair is None:
        raise UsageError("--seed chooses the bugs of a repair round; give --repair N with it")
    with session().workspace() as workspace:
        started = start_challenge(workspace, challenge, folder, bug=bug, repair=repair, seed=seed, force=force)
    if started.kept:
        echo(OLD_FILE_KEPT[workspace.lang].format(file=started.kept), err=True)
    if started.symptom:
        echo(started.symptom[workspace.lang], err=True)
    if repair is not None:
        grade = shlex.join(["attn", "grade", challenge, str(started.path)])
        echo(REPAIR_HANDED_OUT.format(bugs=counted(started.bugs, "bug"), command=grade)[workspace.lang], err=True)
    echo(str(started.path))
