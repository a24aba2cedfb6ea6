"""`attn review`."""

from __future__ import annotations

import sys
from random import Random

import click

from attncli.commands.session import session
from attncli.practice.review import ReviewSitting


@click.command()
@click.option("--topic", help="Only cards of this topic.")
@click.option("--limit", type=click.IntRange(min=1), help="At most this many answers.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
@click.pass_context
def review(ctx: click.Context, topic: str | None, limit: int | None, plain: bool) -> None:
    """Review what is due."""
    if not plain:
        from attncli.commands.shared.open_app import open_app

        ctx.exit(open_app("review", "`attn review --plain` asks line by line", topic=topic, limit=limit))
    from attncli.commands.plain_review import PlainReview

    with session().workspace() as workspace:
        PlainReview(workspace, ReviewSitting(workspace, topic, limit), Random(), sys.stdin.readline).run()
