"""The commands that practise: `review`, `drill`, `quiz` and `mock`, in the app or, with `--plain`, line by line."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import click

from attncli.commands.options import topic_option
from attncli.commands.session import open_app, session
from attncli.config import LEVEL_CHOICES
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES
from attncli.domain.vocabulary import KINDS, LEVELS, SITTINGS, Level
from attncli.i18n import N_, _
from attncli.practice.mock import MOCK_LEVEL, MOCK_MINUTES, MockOptions
from attncli.practice.queue import DRILL_COUNT, CardFilter, level_of
from attncli.practice.quiz import QUIZ_COUNT, Quiz, QuizOptions
from attncli.practice.review import DrillSession, ReviewSession

level_option = click.option(
    "--level", type=click.Choice(LEVEL_CHOICES), help=N_("Only cards up to this level (default: the setting level).")
)
plain_option = click.option("--plain", is_flag=True, help=N_("Line by line, for screen readers and dumb terminals."))


@click.command(help=N_("Review what is due."))
@topic_option
@click.option("--limit", type=click.IntRange(min=1), help=N_("Maximum number of answers."))
@plain_option
def review(topic: str | None, limit: int | None, plain: bool) -> int:
    if not plain:
        return open_app("review", _("run `attn review --plain`"), topic=topic, limit=limit)
    from attncli.commands.plain import PlainReview

    with session().workspace() as workspace:
        PlainReview(workspace, sys.stdin.readline, ReviewSession(workspace, topic, limit), Random()).run()
    return 0


@click.command(
    help=N_(
        "Practise cards of your choice, due or not.\n\n"
        "Answers count as reviews and change the schedule, except with --cram. Suspended and "
        "buried cards are left out. Without options, the app asks what to drill."
    )
)
@topic_option
@click.option("--kind", type=click.Choice(KINDS), help=N_("Only cards of this kind."))
@level_option
@click.option("--must-know", is_flag=True, help=N_("Only cards that nearly every interview asks."))
@click.option(
    "--weak", is_flag=True, help=N_("Only weak cards, the weakest first: likely forgotten, lapsed or missed.")
)
@click.option(
    "--count", type=click.IntRange(min=1), default=DRILL_COUNT, show_default=True, help=N_("Maximum number of cards.")
)
@click.option("--cram", is_flag=True, help=N_("Record nothing; answers do not count as reviews."))
@plain_option
def drill(plain: bool, level: str | None, **chosen: Any) -> int:
    options = CardFilter(**chosen, level=level_of(level or session().settings.level))
    if not plain:
        is_open = level is None and options == CardFilter(level=options.level)
        return open_app("drill", _("run `attn drill --plain`"), card_filter=None if is_open else options)
    from attncli.commands.plain import PlainReview

    with session().workspace() as workspace:
        rng = Random()
        PlainReview(workspace, sys.stdin.readline, DrillSession(workspace, options, rng), rng).run()
    return 0


@click.command(
    help=N_(
        "Answer cards that have one right answer, scored at the end.\n\n"
        "A quiz changes no schedule; missed cards count as weak. Suspended and buried cards are left out."
    )
)
@topic_option
@level_option
@click.option(
    "--count", type=click.IntRange(min=1), default=QUIZ_COUNT, show_default=True, help=N_("Maximum number of cards.")
)
@click.option("--seed", type=click.IntRange(min=0), help=N_("Seed, to repeat the same quiz."))
@plain_option
def quiz(topic: str | None, level: str | None, count: int, seed: int | None, plain: bool) -> int:
    up_to = level_of(level or session().settings.level)
    options = QuizOptions(topic, count, Random().randrange(SITTINGS) if seed is None else seed, up_to)
    if not plain:
        return open_app("quiz", _("run `attn quiz --plain`"), quiz=options)
    from attncli.commands.plain import PlainQuiz

    with session().workspace() as workspace:
        PlainQuiz(workspace, sys.stdin.readline, Quiz(workspace, options)).run()
    return 0


@click.command(
    help=N_(
        "Take a timed mock interview: warm-up, deep dive with follow-ups, whiteboard coding, "
        "debugging. With --assistant: tests for an AI draft, and its repair.\n\n"
        "Cards keep their schedule; missed ones count as weak, and the report is saved. Graded "
        "code counts as an attempt. Unfinished interviews resume."
    )
)
@click.option(
    "--minutes",
    type=click.IntRange(LEAST_MINUTES, MOST_MINUTES),
    default=MOCK_MINUTES,
    show_default=True,
    help=N_("Length in minutes; from 25 on it includes debugging."),
)
@click.option(
    "--level", type=click.Choice(LEVELS), help=N_("Level of the interview (default: the setting level, or onsite).")
)
@click.option("--seed", type=click.IntRange(min=0), help=N_("Seed, to repeat the same interview."))
@click.option("--interviewer", is_flag=True, help=N_("Show the points at once, for an interviewer beside you to tick."))
@click.option(
    "--assistant",
    is_flag=True,
    help=N_("Instead of coding, get an AI draft with one or two bugs: write tests that expose them, then repair it."),
)
@plain_option
def mock(minutes: int, level: Level | None, seed: int | None, interviewer: bool, assistant: bool, plain: bool) -> int:
    level = level or level_of(session().settings.level) or MOCK_LEVEL
    seed = Random().randrange(SITTINGS) if seed is None else seed
    options = MockOptions(minutes, level, seed, interviewer, assistant)
    if not plain:
        return open_app("mock", _("run `attn mock --plain`"), mock=options)
    from attncli.commands.plain import hold_interview

    with session().workspace() as workspace:
        hold_interview(workspace, options, sys.stdin.readline)
    return 0
