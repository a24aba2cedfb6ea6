"""The line above a card shows cards done and waiting; an optional clock counts half a minute."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from attncli.tui.app import AttnApp
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.session import AnswerClock, Progress
from moved_clock import Clock

from .conftest import MakeApp, shown, text_of


def counts(app: AttnApp) -> str:
    return " ".join(text_of(app.screen.query_one(Progress)).replace("─", " ").replace("━", " ").split())


def timed(make_app: MakeApp, **options: object) -> AttnApp:
    app = make_app("review", **{key: value for key, value in options.items() if key == "lang"})
    motion = {key: value for key, value in options.items() if key != "lang"}
    app.workspace.settings = app.workspace.settings._replace(answer_timer=True, **motion)  # type: ignore[arg-type]
    return app


def clock_of(app: AttnApp) -> AnswerClock:
    return app.screen.query_one(AnswerClock)


async def later(pilot: Pilot[None], clock: Clock, seconds: int) -> None:
    clock.move(seconds=seconds)
    clock_of(pilot.app).tick()  # type: ignore[arg-type]
    await pilot.pause()


@pytest.mark.parametrize(("lang", "words"), [("en", "0 learning · 0 due"), ("zh", "学习中 0 · 复习 0")])
async def test_what_waits_stands_beside_the_bar(make_app: MakeApp, lang: str, words: str) -> None:
    app = make_app("review", lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert words in counts(app)


async def test_a_forgotten_card_counts_as_asked_and_moves_from_new_to_learning(make_app: MakeApp, clock: Clock) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        new, total = screen.session.progress.new, screen.session.done_of_all[1]
        await pilot.press("space", "1")
        await pilot.pause(0.2)
        assert counts(app).startswith(f"1/{total}") and f"{new - 1} new · 1 learning, again in 1 min" in counts(app)
        clock.move(minutes=15)
        await pilot.press("l")
        await pilot.pause(0.2)
        assert f"新卡 {new - 1} · 学习中 1" in counts(app), "the clock alone moves nothing"


async def test_the_timer_is_off_unless_it_is_wanted(make_app: MakeApp) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert not app.screen.query(AnswerClock)


@pytest.mark.parametrize(("lang", "over"), [("en", "30 seconds are up"), ("zh", "30 秒到了")])
async def test_it_counts_down_says_that_the_time_is_up_and_interrupts_nothing(
    make_app: MakeApp, clock: Clock, lang: str, over: str
) -> None:
    app = timed(make_app, lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        await later(pilot, clock, 7)
        assert text_of(clock_of(app)).startswith(("23 s", "23 秒"))
        focused = app.screen.focused
        await later(pilot, clock, 60)
        assert over in shown(app) and app.screen.focused is focused and not app._notifications
        await pilot.press("space")
        assert not app.screen.query(AnswerClock)


async def test_with_reduced_motion_it_has_no_bar_and_changes_in_tens(make_app: MakeApp, clock: Clock) -> None:
    app = timed(make_app, reduced_motion=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert text_of(clock_of(app)) == "30 s"
        await later(pilot, clock, 9)
        assert text_of(clock_of(app)) == "30 s"
        await later(pilot, clock, 1)
        assert text_of(clock_of(app)) == "20 s"


async def test_a_marked_answer_is_not_timed(make_app: MakeApp) -> None:
    app = timed(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        while screen.asked is not None and not screen.asked.is_marked_automatically:
            screen.session.bury()
            screen._take_next()
        await screen._show()
        assert not app.screen.query(AnswerClock)
