"""How a few screens look: golden SVGs, to be looked at when they change (`pytest --snapshot-update tests/tui`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.pilot import Pilot

from attncli.practice.mock.mock_plan import MockWish
from attncli.practice.sittings.quiz import Quiz, QuizWish
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.screens.review import ReviewScreen

from .conftest import MakeApp

Compare = Callable[..., bool]
NARROW, WIDE = (80, 24), (120, 40)


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No colour and no time zone is taken from the environment of whoever runs the tests."""
    with monkeypatch.context() as patch:
        for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM"):
            patch.delenv(name, raising=False)
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def to_card(id: str, *keys: str) -> Callable[[Pilot[None]], Any]:
    async def go(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        while screen.asked is not None and screen.asked.card.id != id:
            screen.drill.bury()
            screen._take_next()
        await screen._show()
        await pilot.pause(0.1)
        await pilot.press(*keys)
        await pilot.pause(0.3)

    return go


@pytest.mark.parametrize(("size", "lang", "theme"), [(NARROW, "en", "dark"), (WIDE, "zh", "light")])
def test_home(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str, theme: str) -> None:
    assert snap_compare(make_app(lang=lang, theme=theme), terminal_size=size)


@pytest.mark.parametrize(("size", "lang"), [(NARROW, "en"), (NARROW, "zh"), (WIDE, "zh")])
def test_a_revealed_answer(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str) -> None:
    app = make_app("review", lang=lang)
    assert snap_compare(app, terminal_size=size, run_before=to_card("att-02", "space", "a", "c"))


def test_a_marked_choice(snap_compare: Compare, make_app: MakeApp) -> None:
    assert snap_compare(make_app("review"), terminal_size=NARROW, run_before=to_card("head-02", "b", "enter"))


def test_a_debug_card(snap_compare: Compare, make_app: MakeApp) -> None:
    app = make_app("review", lang="zh", theme="light")
    assert snap_compare(app, terminal_size=NARROW, run_before=to_card("att-15", "down"))


@pytest.mark.parametrize(("size", "lang", "theme"), [(NARROW, "en", "dark"), (WIDE, "zh", "light")])
def test_choosing_a_drill(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str, theme: str
) -> None:
    assert snap_compare(make_app("drill", lang=lang, theme=theme), terminal_size=size, press=["down", "down", "right"])


def test_the_score_of_a_quiz(snap_compare: Compare, make_app: MakeApp) -> None:
    async def answer(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, QuizScreen)
        while screen.asked is not None:
            screen.asked.submit()
            screen.quiz.count_current()
        await screen._show_anew()
        await pilot.pause(0.3)

    app = make_app()
    app._quiz = Quiz(app.workspace, QuizWish(seed=7))
    assert snap_compare(app, terminal_size=NARROW, run_before=answer)


def in_interview(*keys: str) -> Callable[[Pilot[None]], Any]:
    async def go(pilot: Pilot[None]) -> None:
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.3)

    return go


@pytest.mark.parametrize(("size", "lang", "theme"), [(NARROW, "en", "dark"), (WIDE, "zh", "light")])
def test_choosing_a_mock_interview(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str, theme: str
) -> None:
    app = make_app("mock", lang=lang, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=in_interview("down", "left"))


@pytest.mark.parametrize(("size", "lang"), [(NARROW, "en"), (NARROW, "zh"), (WIDE, "zh")])
def test_a_question_of_a_mock_interview(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str
) -> None:
    app = make_app("mock", lang=lang)
    app.mock_wish = MockWish(30, "screen", 2)
    assert snap_compare(app, terminal_size=size, run_before=in_interview("enter", "n", "space", "a"))


@pytest.mark.parametrize(("size", "lang"), [(NARROW, "en"), (WIDE, "zh")])
def test_the_report_of_a_mock_interview(
    snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str
) -> None:
    app = make_app("mock", lang=lang)
    app.mock_wish = MockWish(30, "screen", 2)
    keys = in_interview("enter", "n", "space", "a", "enter", "x", "y")
    assert snap_compare(app, terminal_size=size, run_before=keys)


@pytest.mark.parametrize(
    ("size", "lang", "theme"), [(NARROW, "en", "dark"), (NARROW, "zh", "contrast"), (WIDE, "zh", "light")]
)
def test_the_first_run(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], lang: str, theme: str) -> None:
    app = make_app("first-run", lang=lang, theme=theme)
    assert snap_compare(app, terminal_size=size, press=["enter", *"soon", "enter"])
