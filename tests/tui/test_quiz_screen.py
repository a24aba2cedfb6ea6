"""Take a quiz by keyboard: no verdict before the end, then the score and the missed cards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from attncli.config import Settings
from attncli.domain.log_row import RowKind
from attncli.errors import NotFound
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.quiz import Quiz, QuizOptions
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import HelpScreen
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.screens.review import ReviewScreen
from moved_clock import Clock

from .conftest import MakeApp, shown
from .test_review import KINDS

ALL = set(KINDS.values())


@asynccontextmanager
async def asking(make_app: MakeApp, *kinds: str, **options: Any) -> AsyncIterator[tuple[Pilot[None], QuizScreen]]:
    """Open a quiz of cards of these kinds alone."""
    app = make_app(**options)
    for card in ALL - {KINDS[kind] for kind in kinds}:
        record.hold(app.workspace, RowKind.SUSPEND, card)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z")
        await pilot.pause()
        assert isinstance(app.screen, QuizScreen)
        yield pilot, app.screen


def quiz_screen(app: AttnApp) -> QuizScreen:
    assert isinstance(app.screen, QuizScreen)
    return app.screen


async def test_the_score_comes_at_the_end_with_the_missed_cards_to_open(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", "choice") as (pilot, screen):
        app = screen.app
        assert "0/2" in shown(app)  # type: ignore[arg-type]
        for _ in range(2):
            assert screen.asked is not None
            if screen.asked.card.kind == "debug":
                await pilot.press("enter")
            else:
                await pilot.press("abcd"[screen.asked.card.drawn.index(0)], "enter")
            await pilot.pause()
            text = shown(app)  # type: ignore[arg-type]
            assert "✗ Not right" not in text and "✓ Right" not in text
        assert "1 of 2 right" in text and "Missed" in text and "att-15" in text and "Rows no longer sum to 1." in text
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, CardScreen) and app.screen.card_id == "att-15"
        await pilot.press("escape")
        await pilot.pause()
        assert "1 of 2 right" in shown(app)  # type: ignore[arg-type]
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, ReviewScreen) and app.screen.session.done_of_all == (0, 1)
        assert app.screen.item is not None and app.screen.item.card.id == "att-15"
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_everything_right_is_said_and_enter_leads_home(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", lang="zh") as (pilot, screen):
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        text = shown(screen.attn)  # type: ignore[arg-type]
        assert "1 题答对 1 题" in text and "全部答对。" in text
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(screen.app.screen, HomeScreen)


async def test_leaving_in_the_middle_shows_the_score_so_far(make_app: MakeApp) -> None:
    async with asking(make_app, "debug", "ordering") as (pilot, screen):
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        text = shown(screen.attn)  # type: ignore[arg-type]
        assert "of 1 right  ·  1 not asked" in text and screen.is_over
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(screen.app.screen, HomeScreen)


async def test_a_quiz_without_an_answer_is_left_at_once(make_app: MakeApp) -> None:
    async with asking(make_app, "debug") as (pilot, screen):
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(screen.app.screen, HomeScreen)


async def test_one_enter_too_many_skips_nothing(make_app: MakeApp) -> None:
    async with asking(make_app, "numeric") as (pilot, screen):
        assert "Enter alone shows" not in shown(screen.attn)  # type: ignore[arg-type]
        await pilot.press("enter")
        await pilot.pause()
        assert screen.quiz.progress == (0, 1)
        assert any("Press Enter again to skip" in note.message for note in screen.app._notifications)
        await pilot.press("enter")
        await pilot.pause()
        assert screen.quiz.progress == (1, 1) and "The answer is" in shown(screen.attn)  # type: ignore[arg-type]


async def test_what_is_no_number_is_said_and_not_counted(make_app: MakeApp) -> None:
    async with asking(make_app, "numeric") as (pilot, screen):
        screen.query_one("AnswerField").value = "lots"  # type: ignore[attr-defined]
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert screen.quiz.progress == (0, 1)
        assert any("Enter a number" in note.message for note in screen.app._notifications)


async def test_the_key_bar_names_the_screen_s_keys_only_while_the_field_for_a_number_is_empty(
    make_app: MakeApp,
) -> None:
    async with asking(make_app, "numeric") as (pilot, screen):
        seen = [shown(screen.attn)]
        for key in ("4", "backspace"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(shown(screen.attn))
    assert ["l 中文" in text for text in seen] == [True, False, True]
    assert ["F1 Help" in text for text in seen] == [False, True, False]


async def test_what_was_typed_survives_a_change_of_language(make_app: MakeApp) -> None:
    async with asking(make_app, "choice") as (pilot, screen):
        await pilot.press("b", "l")
        await pilot.pause()
        assert screen.asked is not None and screen.asked.answer.places == [1]
        assert "测验" in shown(screen.attn)  # type: ignore[arg-type]


async def test_n_draws_another_quiz_once_the_score_is_shown(make_app: MakeApp) -> None:
    async with asking(make_app, "debug") as (pilot, screen):
        seed = screen.quiz.options.seed
        await pilot.press("n")
        assert screen.quiz.options.seed == seed
        await pilot.press("enter", "n")
        await pilot.pause()
        assert screen.quiz.options.seed != seed and screen.quiz.progress == (0, 1) and screen.asked is not None


@pytest.mark.parametrize(("lang", "said"), [("en", "No card matches."), ("zh", "没有符合条件的卡片")])
async def test_a_topic_without_a_card_for_a_quiz_says_so(make_app: MakeApp, lang: str, said: str) -> None:
    app = make_app(lang=lang)
    for card in ALL:
        record.hold(app.workspace, RowKind.SUSPEND, card)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z")
        await pilot.pause()
        assert isinstance(app.screen, HomeScreen) and any(said in note.message for note in app._notifications)


async def test_help_names_the_keys_of_a_quiz(make_app: MakeApp) -> None:
    async with asking(make_app, "debug") as (pilot, screen):
        await pilot.press("enter", "question_mark")
        await pilot.pause()
        assert isinstance(screen.app.screen, HelpScreen)
        assert "New quiz" in shown(screen.attn)  # type: ignore[arg-type]


async def test_the_topic_under_the_cursor_is_what_the_quiz_is_about(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "z")
        await pilot.pause()
        assert quiz_screen(app).quiz.options.topic == app.workspace.library.topics()[0].id


async def test_a_quiz_may_be_opened_first(make_app: MakeApp) -> None:
    app = make_app()
    app.first, app.given = "quiz", {"quiz": Quiz(app.workspace, QuizOptions(seed=3))}
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert quiz_screen(app).quiz.options.seed == 3
        await pilot.press("escape", *["escape"] * isinstance(app.screen, QuizScreen))
        assert isinstance(app.screen, HomeScreen)


def test_run_refuses_a_quiz_of_nothing_before_it_takes_the_screen(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(NotFound, match="nosuch"):
        app_module.run(Home(tmp_path), Settings(), clock, "quiz", quiz=QuizOptions("nosuch"))


async def test_a_missed_question_is_told_to_its_end(make_app: MakeApp) -> None:
    async with asking(make_app, "debug") as (pilot, screen):
        await pilot.press("enter")
        await pilot.pause()
        told = shown(screen.app)  # type: ignore[arg-type]
        assert "Missed" in told and "\u2026" not in told
