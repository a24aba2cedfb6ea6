"""`attn plan`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.printed.printed_plan import plan_lines
from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_result
from attncli.config import MOST_MINUTES_PER_DAY
from attncli.practice.plan import make_plan


@click.command()
@click.option(
    "--interview",
    type=click.DateTime(["%Y-%m-%d"]),
    default=None,
    help="The day of the interview (default: the setting interview).",
)
@click.option(
    "--minutes",
    type=click.IntRange(1, MOST_MINUTES_PER_DAY),
    default=None,
    help="Minutes a day (default: the setting minutes_per_day).",
)
@json_option
def plan(interview: datetime | None, minutes: int | None, as_json: bool) -> None:
    """What to study each day until the interview, the recall to expect then, and what will be left out."""
    with session().workspace() as workspace:
        found = make_plan(workspace, interview.date() if interview else None, minutes)
        titles = {topic.id: topic.title[workspace.lang] for topic in workspace.library.topics()}
        lang = workspace.lang
    print_result(as_json, found.document, lambda: plan_lines(found, titles, lang))
