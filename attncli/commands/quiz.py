"""`attn quiz`."""

from __future__ import annotations

import sys
from random import Random

import click

from attncli.commands.session import session
from attncli.config import LEVEL_CHOICES
from attncli.domain.seeds import SITTINGS
from attncli.practice.cards.choose_cards import level_of
from attncli.practice.quiz import QUIZ_COUNT, Quiz, QuizWish


@click.command()
@click.option("--topic", help="Only cards of this topic.")
@click.option(
    "--level", type=click.Choice(LEVEL_CHOICES), help="Only cards up to this level (default: the setting level)."
)
@click.option("--count", type=click.IntRange(min=1), default=QUIZ_COUNT, show_default=True, help="At most this many.")
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same quiz again.")
@click.option("--plain", is_flag=True, help="Line by line, for screen readers and dumb terminals.")
def quiz(topic: str | None, level: str | None, count: int, seed: int | None, plain: bool) -> int:
    """Answer cards that have one right answer, scored at the end.

    A quiz changes no schedule and records nothing. Suspended and buried cards are left out.
    """
    up_to = level_of(level or session().settings.level)
    wish = QuizWish(topic, count, Random().randrange(SITTINGS) if seed is None else seed, up_to)
    if not plain:
        from attncli.commands.shared.open_app import open_app

        return open_app("quiz", "`attn quiz --plain` asks line by line", quiz=wish)
    from attncli.commands.plain_quiz import PlainQuiz

    with session().workspace() as workspace:
        PlainQuiz(workspace, Quiz(workspace, wish), sys.stdin.readline).run()
    return 0
