"""The line above a card shows cards done and waiting; an optional clock counts half a minute."""

from __future__ import annotations

from textual.pilot import Pilot

from attncli.tui.app import AttnApp
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.session import AnswerClock, Progress
from moved_clock import Clock

from .conftest import MakeApp, press, running, shown, text_of


def counts(app: AttnApp) -> str:
    return " ".join(text_of(app.screen.query_one(Progress)).replace("─", " ").replace("━", " ").split())


def timed(make_app: MakeApp, **settings: object) -> AttnApp:
    app = make_app("review")
    app.workspace.settings = app.workspace.settings._replace(answer_timer=True, **settings)  # type: ignore[arg-type]
    return app


def clock_of(app: AttnApp) -> AnswerClock:
    return app.screen.query_one(AnswerClock)


async def later(pilot: Pilot[None], clock: Clock, seconds: int) -> None:
    clock.move(seconds=seconds)
    clock_of(pilot.app).tick()  # type: ignore[arg-type]
    await pilot.pause()


async def test_a_forgotten_card_counts_as_asked_and_moves_from_new_to_learning(make_app: MakeApp, clock: Clock) -> None:
    async with running(make_app("review")) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, ReviewScreen) and "0 learning · 0 due" in counts(app)
        assert not screen.query(AnswerClock), "the timer is off unless it is wanted"
        new, total = screen.session.progress.new, screen.session.done_of_all[1]
        await press(pilot, "space", "1")
        assert counts(app).startswith(f"1/{total}") and f"{new - 1} new · 1 learning, again in 1 min" in counts(app)
        clock.move(minutes=15)
        await press(pilot, "l")
        assert f"新卡 {new - 1} · 学习中 1" in counts(app), "the clock alone moves nothing"


async def test_it_counts_down_says_that_the_time_is_up_and_interrupts_nothing(make_app: MakeApp, clock: Clock) -> None:
    async with running(timed(make_app)) as (app, pilot):
        await later(pilot, clock, 7)
        assert text_of(clock_of(app)).startswith("23 s")
        focused = app.screen.focused
        await later(pilot, clock, 60)
        assert "30 seconds are up" in shown(app) and app.screen.focused is focused and not app._notifications
        assert "30 秒到了" in await press(pilot, "l")
        await pilot.press("space")
        assert not app.screen.query(AnswerClock)


async def test_with_reduced_motion_it_changes_in_tens(make_app: MakeApp, clock: Clock) -> None:
    async with running(timed(make_app, reduced_motion=True)) as (app, pilot):
        for seconds, left in ((0, "30 s"), (9, "30 s"), (1, "20 s")):
            await later(pilot, clock, seconds)
            assert text_of(clock_of(app)) == left
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        while screen.asked is not None and not screen.asked.is_marked_automatically:
            screen.session.bury()
            screen._take_next()
        await screen._show()
        assert screen.asked is not None and not screen.query(AnswerClock)
