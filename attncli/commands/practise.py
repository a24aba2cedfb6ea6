"""`attn mock`."""

from __future__ import annotations

import sys
from random import Random

import click

from attncli.commands.session import session
from attncli.domain.card import LEVELS, Level
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES
from attncli.domain.seeds import SITTINGS
from attncli.practice.cards.choose_cards import level_of
from attncli.practice.compose_mock import MOCK_LEVEL, MOCK_MINUTES, MockWish


@click.command()
@click.option(
    "--minutes",
    type=click.IntRange(LEAST_MINUTES, MOST_MINUTES),
    default=MOCK_MINUTES,
    show_default=True,
    help="How long it takes; a repair round from 25 on.",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help=f"Which interview (default: the setting level, {MOCK_LEVEL} where that is any).",
)
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same interview again.")
@click.option("--interviewer", is_flag=True, help="Somebody beside you sees the points at once, and ticks them.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
def mock(minutes: int, level: Level | None, seed: int | None, interviewer: bool, plain: bool) -> int:
    """A timed mock interview: warm-up, a deep dive along follow-ups, code at the whiteboard, bugs to mend.

    Cards keep their schedule; what was missed counts as weak, and its report is kept. Code that is graded is an attempt
    like any other. An interview that was not finished is gone on with.
    """
    level = level or level_of(session().settings.level) or MOCK_LEVEL
    wish = MockWish(minutes, level, Random().randrange(SITTINGS) if seed is None else seed, interviewer)
    if not plain:
        from attncli.commands.shared.open_app import open_app

        return open_app("mock", "`attn mock --plain` asks line by line", mock=wish)
    from attncli.commands.plain import hold_interview

    with session().workspace() as workspace:
        hold_interview(workspace, wish, sys.stdin.readline)
    return 0
