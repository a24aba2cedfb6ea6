"""`attn drill`."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import click

from attncli.commands.session import session
from attncli.config import LEVEL_CHOICES
from attncli.domain.card import KINDS
from attncli.practice.cards.choose_cards import DRILL_COUNT, Wish, level_of


@click.command()
@click.option("--topic", help="Only cards of this topic.")
@click.option("--kind", type=click.Choice(KINDS), help="Only cards of this kind.")
@click.option(
    "--level", type=click.Choice(LEVEL_CHOICES), help="Only cards of this level (default: the setting level)."
)
@click.option("--weak", is_flag=True, help="Only weak cards, the weakest first: likely forgotten, lapsed or missed.")
@click.option("--count", type=click.IntRange(min=1), default=DRILL_COUNT, show_default=True, help="At most this many.")
@click.option("--cram", is_flag=True, help="Record nothing: answers are no reviews.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
def drill(plain: bool, level: str | None, **options: Any) -> int:
    """Practise cards of your choice, due or not.

    Answers are reviews and change the schedule, unless it is a cram. Suspended and buried cards are left out. Without
    options the app asks what to drill.
    """
    wish = Wish(**options, level=level_of(level or session().settings.level))
    if not plain:
        from attncli.commands.shared.open_app import open_app

        is_open = level is None and wish == Wish(level=wish.level)
        return open_app("drill", "`attn drill --plain` asks line by line", wish=None if is_open else wish)
    from attncli.commands.plain_review import PlainReview
    from attncli.practice.sittings.drill_sitting import ChosenDrill

    with session().workspace() as workspace:
        rng = Random()
        PlainReview(workspace, ChosenDrill(workspace, wish, rng), rng, sys.stdin.readline).run()
    return 0
