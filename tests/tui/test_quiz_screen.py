"""Take a quiz by keyboard: no verdict before the end, then the score and the missed cards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from attncli.domain.log_row import RowKind
from attncli.practice import record
from attncli.practice.quiz import Quiz, QuizOptions
from attncli.tui.screens.base import HelpScreen
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.screens.review import ReviewScreen

from .conftest import MakeApp, press, running, shown
from .test_review import KINDS

ALL = set(KINDS.values())


@asynccontextmanager
async def asking(make_app: MakeApp, *kinds: str, **options: Any) -> AsyncIterator[tuple[Pilot[None], QuizScreen]]:
    """Open a quiz of cards of these kinds alone."""
    app = make_app(**options)
    for card in ALL - {KINDS[kind] for kind in kinds}:
        record.hold(app.workspace, RowKind.SUSPEND, card)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "z")
        assert isinstance(app.screen, QuizScreen)
        yield pilot, app.screen


def quiz_screen(app: App[Any]) -> QuizScreen:
    assert isinstance(app.screen, QuizScreen)
    return app.screen


async def test_the_score_comes_at_the_end_with_the_missed_cards_to_open(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", "choice") as (pilot, screen):
        app = screen.app
        assert "0/2" in shown(app)
        for _ in range(2):
            assert screen.asked is not None
            if screen.asked.card.kind == "debug":
                await pilot.press("enter")
            else:
                await pilot.press("abcd"[screen.asked.card.drawn.index(0)], "enter")
            await pilot.pause()
            text = shown(app)
            assert "✗ Not right" not in text and "✓ Right" not in text
        assert "1 of 2 right" in text and "Missed" in text and "att-15" in text and "Rows no longer sum to 1." in text
        await press(pilot, "enter")
        assert isinstance(app.screen, CardScreen) and app.screen.card_id == "att-15"
        assert "1 of 2 right" in await press(pilot, "escape")
        await press(pilot, "d")
        assert isinstance(app.screen, ReviewScreen) and app.screen.session.done_of_all == (0, 1)
        assert app.screen.item is not None and app.screen.item.card.id == "att-15"
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_everything_right_is_said_and_enter_leads_home(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", lang="zh") as (pilot, screen):
        text = await press(pilot, "down", "down", "enter")
        assert "1 题答对 1 题" in text and "全部答对。" in text
        await press(pilot, "enter")
        assert isinstance(screen.app.screen, HomeScreen)


async def test_leaving_in_the_middle_shows_the_score_so_far_and_before_an_answer_none(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", "ordering") as (pilot, _):
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, HomeScreen)
        await press(pilot, "z", "enter")
        text = await press(pilot, "escape")
        assert "of 1 right  ·  1 not asked" in text and quiz_screen(pilot.app).is_over
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, HomeScreen)


async def test_one_enter_too_many_and_what_is_no_number_skip_nothing(make_app: MakeApp) -> None:
    async with asking(make_app, "numeric") as (pilot, screen):
        seen = [shown(pilot.app)]
        for key in ("4", "backspace"):
            seen.append(await press(pilot, key))
        assert ["l 中文" in text for text in seen] == [True, False, True], "keys of the screen, or a text"
        assert ["F1 Help" in text for text in seen] == [False, True, False]
        assert "Enter alone shows" not in seen[0]
        screen.query_one("AnswerField").value = "lots"  # type: ignore[attr-defined]
        await pilot.pause()
        await press(pilot, "enter")
        assert screen.quiz.progress == (0, 1)
        assert any("Enter a number" in note.message for note in pilot.app._notifications)
        screen.query_one("AnswerField").value = ""  # type: ignore[attr-defined]
        await pilot.pause()
        await press(pilot, "enter")
        assert screen.quiz.progress == (0, 1)
        assert any("Press Enter again to skip" in note.message for note in pilot.app._notifications)
        assert "The answer is" in await press(pilot, "enter") and screen.quiz.progress == (1, 1)


async def test_what_was_chosen_survives_a_change_of_language(make_app: MakeApp) -> None:
    async with asking(make_app, "choice") as (pilot, screen):
        assert "测验" in await press(pilot, "b", "l")
        assert screen.asked is not None and screen.asked.answer.places == [1]


async def test_n_draws_another_quiz_once_the_score_is_shown(make_app: MakeApp) -> None:
    async with asking(make_app, "debug") as (pilot, screen):
        seed = screen.quiz.options.seed
        await pilot.press("n")
        assert screen.quiz.options.seed == seed
        text = await press(pilot, "enter")
        assert "Missed" in text and "\u2026" not in text, "a missed question is told to its end"
        assert "New quiz" in await press(pilot, "question_mark") and isinstance(pilot.app.screen, HelpScreen)
        await press(pilot, "escape", "n")
        assert screen.quiz.options.seed != seed and screen.quiz.progress == (0, 1) and screen.asked is not None


async def test_the_topic_under_the_cursor_is_what_the_quiz_is_about(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await press(pilot, "down", "z")
        assert quiz_screen(app).quiz.options.topic == app.workspace.library.topics()[0].id


async def test_a_quiz_has_the_level_that_is_set(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.adopt(app.workspace.settings._replace(level="screen"))
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "z")
        quiz = quiz_screen(app).quiz
        assert quiz.options.level == "screen" and "--level screen" in quiz.options.command
        assert {asked.card.level for asked in quiz._questions} == {"screen"}


async def test_a_topic_without_a_card_for_a_quiz_says_so(make_app: MakeApp) -> None:
    app = make_app(lang="zh")
    for card in ALL:
        record.hold(app.workspace, RowKind.SUSPEND, card)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "z")
        assert isinstance(app.screen, HomeScreen)
        assert any("没有符合条件的卡片" in note.message for note in app._notifications)


async def test_a_quiz_may_be_opened_first(make_app: MakeApp) -> None:
    app = make_app()
    app.first, app.given = "quiz", {"quiz": Quiz(app.workspace, QuizOptions(seed=3))}
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert quiz_screen(app).quiz.options.seed == 3
        await pilot.press("escape", *["escape"] * isinstance(app.screen, QuizScreen))
        assert isinstance(app.screen, HomeScreen)
