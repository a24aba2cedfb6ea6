"""`attn challenges`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_json
from attncli.commands.shared.stdout import echo
from attncli.domain.cells import left
from attncli.practice.challenges import standings
from attncli.words.command_texts import DUE_ON
from attncli.words.grade_report_texts import STANDINGS
from attncli.words.repair_texts import REPAIR


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
        due += f"  {REPAIR['fixed'][lang].format(count=entry.fixed)}" if entry.fixed else ""
        challenge = entry.challenge
        echo(
            f"{challenge.id:<28} {challenge.track:<12} {challenge.level}  {left(STANDINGS[entry.standing][lang], 10)}"
            f" {challenge.title[lang]}{due}"
        )
