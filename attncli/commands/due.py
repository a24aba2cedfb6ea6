"""`attn due`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.moment import at_option
from attncli.commands.output import json_option, print_json
from attncli.commands.session import session


@click.command()
@at_option
@json_option
def due(at: datetime | None, as_json: bool) -> None:
    """What is due now."""
    from attncli.practice.due import due_counts

    with session().workspace() as workspace:
        counts = due_counts(workspace, at)
    if as_json:
        print_json(counts.document())
        return
    click.echo(_sentence(counts.document(), workspace.lang))
    for topic, count in counts.topics.items():
        click.echo(f"  {topic:<10} {count:>4}")


def _sentence(counts: dict[str, int], lang: str) -> str:
    if lang == "zh":
        return "待复习 {due}：新卡 {new}，学习中 {learning}，复习 {review}；到期的编程题 {challenges}".format(**counts)
    return "{due} due: {new} new, {learning} learning, {review} to review; {challenges} challenges".format(**counts)
