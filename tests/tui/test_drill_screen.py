"""Choose a drill by keyboard or mouse, then answer it on the review screen."""

from __future__ import annotations

import pytest

from attncli.config import Settings
from attncli.domain.log_row import Rating, RowKind
from attncli.errors import NoCardMatches
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.queue import CardFilter
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.drill import DrillScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.review import ReviewScreen
from moved_clock import Clock

from .conftest import MakeApp, shown


def drill_screen(app: AttnApp) -> DrillScreen:
    assert isinstance(app.screen, DrillScreen)
    return app.screen


async def test_d_on_home_then_enter_starts_a_drill_that_counts(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("d")
        assert "Start: 6 of 6 matching cards" in shown(app) and "‹ All topics ›" in shown(app)
        await pilot.press("enter")
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, ReviewScreen) and screen.session.progress.remaining == 6
        assert screen.asked is not None
        screen.asked.revealed = True
        await screen._rate(Rating.GOOD)
        assert len(app.workspace.store.log.of_kind(RowKind.REVIEW)) == 1
        await pilot.press("escape", *["escape"] * isinstance(app.screen, ReviewScreen))
        assert isinstance(app.screen, HomeScreen)


async def test_the_topic_under_the_cursor_is_where_the_choice_begins(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "d")
        topic = drill_screen(app).options.topic
        assert topic == app.workspace.library.topics()[0].id
        title = app.workspace.library.topic(topic).title.en
        assert f"‹ {title} ›" in shown(app)


async def test_arrows_enter_and_clicks_go_through_the_values(make_app: MakeApp) -> None:
    app = make_app("drill")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "down", "right", "right")
        assert drill_screen(app).options == CardFilter(kind="choice") and "Start: 1 of 1" in shown(app)
        await pilot.press("left", "j", "enter", "k", "left")
        assert drill_screen(app).options == CardFilter(level="screen")
        line = next(y for y, row in enumerate(shown(app).splitlines()) if "Cram" in row)
        await pilot.click(offset=(12, line))
        assert drill_screen(app).options.cram and drill_screen(app).options.level == "screen"
        await pilot.press("up", "left", "left", "s")
        await pilot.pause()
        assert isinstance(app.screen, ReviewScreen) and app.screen.card_filter == CardFilter(
            level="screen", count=5, cram=True
        )


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "✗ No card matches. 1 without “Weak cards only”"),
        ("zh", "✗ 没有符合条件的卡片。 不限“只练薄弱卡片”则有 1 张"),
    ],
)
async def test_where_nothing_fits_the_first_row_says_what_to_leave_open(
    make_app: MakeApp, lang: str, said: str
) -> None:
    app = make_app(lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("drill", CardFilter(kind="debug", weak=True))
        await pilot.pause()
        assert said in shown(app)
        await pilot.press("enter", "s")
        await pilot.pause()
        assert isinstance(app.screen, DrillScreen)


async def test_what_was_put_away_meanwhile_is_noticed_at_the_start(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("drill", CardFilter(kind="debug"))
        await pilot.pause()
        record.hold(app.workspace, RowKind.SUSPEND, "att-15")
        await pilot.press("s")
        await pilot.pause()
        assert isinstance(app.screen, DrillScreen) and "No card matches." in shown(app)


async def test_a_choice_survives_a_change_of_language(make_app: MakeApp) -> None:
    app = make_app("drill")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "down", "right", "l")
        await pilot.pause()
        assert drill_screen(app).options == CardFilter(kind="qa") and "‹ 问答 ›" in shown(app)


async def test_a_cram_in_the_app_records_nothing_and_says_so(make_app: MakeApp) -> None:
    app = make_app("review", card_filter=CardFilter(kind="qa", cram=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("space")
        await pilot.pause()
        assert "3 Good" in shown(app) and "10 min" not in shown(app)
        await pilot.press("1", "u", "space", "1")
        await pilot.pause()
        text = shown(app)
        assert "Rated Again" in text and "1 answered" in text and "nothing was recorded" in text and "Drill" in text
        assert app.workspace.store.log.length() == 0
        await pilot.press("enter")
        assert isinstance(app.screen, HomeScreen)


def test_run_refuses_a_wish_that_nothing_fits_before_it_takes_the_screen(tmp_path, clock: Clock) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NoCardMatches, match="--weak"):
        app_module.run(Home(tmp_path), Settings(), clock, "drill", card_filter=CardFilter(weak=True))


@pytest.mark.parametrize(("cram", "en", "zh"), [(False, "Drill · ", "专项练习 · "), (True, "Cram · ", "突击 · ")])
async def test_the_title_says_that_it_is_a_drill_and_whether_it_counts(
    make_app: MakeApp, cram: bool, en: str, zh: str
) -> None:
    app = make_app("review", card_filter=CardFilter(cram=cram))
    async with app.run_test(size=(80, 24)) as pilot:
        assert en in shown(app).split("\n")[0]
        await app.action_language()
        await pilot.pause()
        assert zh in shown(app).split("\n")[0]
