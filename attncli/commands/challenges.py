"""`attn challenges`, `attn start`, `attn hint`, `attn solution`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.shared_options import json_option, print_json
from attncli.commands.stdout import echo
from attncli.domain.cells import left
from attncli.practice.challenge_standings import standings
from attncli.practice.hint import next_hint
from attncli.practice.solution import show_solution
from attncli.practice.start_challenge import start_challenge
from attncli.words.asked_next import asked_next
from attncli.words.command_texts import DUE_ON, LAST_HINT, OLD_FILE_KEPT
from attncli.words.reports import STANDINGS


@click.command()
@click.option("--track", help="Only challenges of this track.")
@json_option
def challenges(track: str | None, as_json: bool) -> None:
    """List the challenges with your standing in each."""
    with session().workspace() as workspace:
        found = standings(workspace, track)
        lang = workspace.lang
    if as_json:
        print_json([entry.document(lang) for entry in found])
        return
    for entry in found:
        due = DUE_ON[lang].format(day=entry.schedule.due_at) if entry.schedule else ""
        challenge = entry.challenge
        echo(
            f"{challenge.id:<28} {challenge.track:<12} {challenge.level}  {left(STANDINGS[entry.standing][lang], 10)}"
            f" {challenge.title[lang]}{due}"
        )


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


@click.command()
@click.argument("challenge")
def hint(challenge: str) -> None:
    """Print the next hint for CHALLENGE; it is recorded as seen."""
    with session().workspace() as workspace:
        found = next_hint(workspace, challenge)
    echo(f"{found.number}/{found.total}  {found.text[workspace.lang].strip()}")
    if found.again:
        echo(LAST_HINT[workspace.lang].format(challenge=challenge), err=True)


@click.command()
@click.argument("challenge")
def solution(challenge: str) -> None:
    """Print the reference of CHALLENGE; it is recorded as seen.

    What interviewers ask next goes to stderr, so that the reference can be kept as a file.
    """
    with session().workspace() as workspace:
        echo(show_solution(workspace, challenge), end="")
        told = asked_next(workspace.library.challenge(challenge), workspace.lang)
    for line in told:
        echo(line, err=True)
