"""`attn drill`."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import click

from attncli.commands.session import session
from attncli.domain.card import KINDS, LEVELS
from attncli.practice.cards.choose_cards import DRILL_COUNT, Wish


@click.command()
@click.option("--topic", help="Only cards of this topic.")
@click.option("--kind", type=click.Choice(KINDS), help="Only cards of this kind.")
@click.option("--level", type=click.Choice(LEVELS), help="Only cards of this level.")
@click.option("--weak", is_flag=True, help="Only weak cards, the weakest first: likely forgotten, lapsed or missed.")
@click.option("--count", type=click.IntRange(min=1), default=DRILL_COUNT, show_default=True, help="At most this many.")
@click.option("--cram", is_flag=True, help="Record nothing: answers are no reviews.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
def drill(plain: bool, **options: Any) -> int:
    """Practise cards of your choice, due or not.

    Answers are reviews and change the schedule, unless it is a cram. Suspended and buried cards are left out. Without
    options the app asks what to drill.
    """
    wish = Wish(**options)
    if not plain:
        from attncli.commands.screens import open_app

        return open_app("drill", "`attn drill --plain` asks line by line", wish=None if wish == Wish() else wish)
    from attncli.commands.plain_review import PlainReview
    from attncli.practice.sittings.chosen_drill import ChosenDrill

    with session().workspace() as workspace:
        rng = Random()
        PlainReview(workspace, ChosenDrill(workspace, wish, rng), rng, sys.stdin.readline).run()
    return 0
