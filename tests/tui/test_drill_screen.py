"""Choose a drill by keyboard or mouse, then answer it on the review screen."""

from __future__ import annotations

from attncli.domain.log_row import Rating, RowKind
from attncli.practice import record
from attncli.practice.queue import CardFilter
from attncli.tui.app import AttnApp
from attncli.tui.screens.drill import DrillScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.review import ReviewScreen

from .conftest import MakeApp, press, running, shown


def drill_screen(app: AttnApp) -> DrillScreen:
    assert isinstance(app.screen, DrillScreen)
    return app.screen


async def test_d_on_home_then_enter_starts_a_drill_that_counts(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("down", "d")
        topic = drill_screen(app).options.topic
        assert topic == app.workspace.library.topics()[0].id, "the choice begins at the topic under the cursor"
        assert f"‹ {app.workspace.library.topic(topic).title.en} ›" in shown(app)
        await pilot.press("escape", "up")
        text = await press(pilot, "d")
        assert "Start: 6 of 6 matching cards" in text and "‹ All topics ›" in text
        await press(pilot, "enter")
        screen = app.screen
        assert isinstance(screen, ReviewScreen) and screen.session.progress.remaining == 6
        for title in ("Drill · ", "专项练习 · "):
            assert title in shown(app).split("\n")[0]
            await app.action_language()
            await pilot.pause()
        assert screen.asked is not None
        screen.asked.revealed = True
        await screen._rate(Rating.GOOD)
        assert len(app.workspace.store.log.of_kind(RowKind.REVIEW)) == 1
        await pilot.press("escape", *["escape"] * isinstance(app.screen, ReviewScreen))
        assert isinstance(app.screen, HomeScreen)


async def test_arrows_enter_and_clicks_go_through_the_values(make_app: MakeApp) -> None:
    async with running(make_app("drill")) as (app, pilot):
        await pilot.press("down", "down", "right", "right")
        assert drill_screen(app).options == CardFilter(kind="choice") and "Start: 1 of 1" in shown(app)
        await pilot.press("left", "j", "enter", "k", "left")
        assert drill_screen(app).options == CardFilter(level="screen")
        line = next(y for y, row in enumerate(shown(app).splitlines()) if "Cram" in row)
        await pilot.click(offset=(12, line))
        assert drill_screen(app).options.cram and drill_screen(app).options.level == "screen"
        await press(pilot, "up", "left", "left", "s")
        assert isinstance(app.screen, ReviewScreen)
        assert app.screen.card_filter == CardFilter(level="screen", count=5, cram=True)


async def test_where_nothing_fits_the_first_row_says_what_to_leave_open_and_nothing_starts(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        app.show("drill", CardFilter(kind="debug", weak=True))
        await pilot.pause()
        assert "✗ No card matches. 1 without “Weak cards only”" in shown(app)
        text = await press(pilot, "l")
        assert "✗ 没有符合条件的卡片。 不限“只练薄弱卡片”则有 1 张" in text, "the choice survives"
        assert drill_screen(app).options == CardFilter(kind="debug", weak=True)
        await press(pilot, "enter", "s")
        assert isinstance(app.screen, DrillScreen)
        await press(pilot, "escape", "l")
        app.show("drill", CardFilter(kind="debug"))
        await pilot.pause()
        record.hold(app.workspace, RowKind.SUSPEND, "att-15")
        assert "No card matches." in await press(pilot, "s") and isinstance(app.screen, DrillScreen)


async def test_a_cram_in_the_app_records_nothing_and_says_so(make_app: MakeApp) -> None:
    async with running(make_app("review", card_filter=CardFilter(kind="qa", cram=True))) as (app, pilot):
        assert "Cram · " in shown(app).split("\n")[0]
        text = await press(pilot, "space")
        assert "3 Good" in text and "10 min" not in text
        text = await press(pilot, "1", "u", "space", "1")
        assert "Rated Again" in text and "1 answered" in text and "nothing was recorded" in text and "Drill" in text
        assert app.workspace.store.log.length() == 0
        await pilot.press("enter")
        assert isinstance(app.screen, HomeScreen)
