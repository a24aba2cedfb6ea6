"""Check the screens for search, one card, and statistics."""

from __future__ import annotations

from asyncio import sleep, timeout
from datetime import date, timedelta
from threading import Event

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import InvalidInput
from attncli.i18n import LANGS, quoted
from attncli.practice import record
from attncli.practice.queue import FoundCards, browse
from attncli.practice.stats import overview, progress
from attncli.practice.today import cards_left
from attncli.practice.workspace import Workspace
from attncli.tui.screens.cards import CardScreen, SearchScreen
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.charts import SHADES, heatmap_rows, shade
from moved_clock import Clock

from .conftest import MakeApp, press, running, shown, text_of


async def test_home_shows_todays_list_beside_the_topics_where_there_is_room(make_app: MakeApp) -> None:
    async with running(make_app(), (120, 40)) as (app, pilot):
        listed, topics = app.screen.query_one("#list"), app.screen.query_one("#topics")
        first = cards_left(app.workspace, app.workspace.moment())[0]
        assert listed.region.right <= topics.region.x and first.id in text_of(listed)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not listed.region and topics.region.x < 10 and first.id not in shown(app)


async def test_typing_searches_at_once_in_both_languages_for_any_sign(make_app: MakeApp) -> None:
    async with running(make_app("search", lang="zh")) as (app, pilot):
        rows = app.screen.query_one(Rows)
        for query in ("KV heads", "缓存", "方差"):
            app.screen.query_one(Input).value = query
            await pilot.pause(0.2)
            assert 0 < rows.option_count < 6 and f"{rows.option_count} 张卡片" in shown(app)
        app.screen.query_one(Input).value = ""
        await press(pilot, "minus", "slash", "q", "l", "[", '"')
        assert app.screen.query_text == '-/ql["'  # type: ignore[attr-defined]
        await app.action_language()
        app.screen.query_one(Input).value = "zzzz"
        await pilot.pause(0.2)
        assert "No cards match “zzzz”." in shown(app)
        await pilot.press("enter")
        assert isinstance(app.screen, SearchScreen)


async def test_the_newest_query_wins(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, asked = Event(), list[str]()

    def slow(reader: Workspace, line: str, most: int) -> FoundCards:
        if line:  # the empty query, which shows all cards, does not go to the thread
            asked.append(line)
            may_end.wait(60)
        return browse(reader, line, most)

    monkeypatch.setattr("attncli.tui.screens.cards.browse", slow)
    async with running(make_app("search")) as (app, pilot):
        field = app.screen.query_one(Input)
        for length in range(1, 5):
            field.value = "kv h"[:length]
            await sleep(0.05)
        async with timeout(60):
            while not asked:
                await sleep(0.05)
        field.value = "kv"
        await sleep(0.05)
        field.value = "kv h"
        may_end.set()
        await pilot.pause()
        assert asked[-1] == "kv h" and len(asked) < 6
        assert app.screen.found.count == browse(app.workspace, "kv h").count  # type: ignore[attr-defined]


async def test_a_search_that_fails_says_so(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(workspace: Workspace, query: str, *most: int) -> FoundCards:
        if not query:  # what is there before anything is typed
            return browse(workspace, query, *most)
        raise InvalidInput(quoted("the search has 201 characters"), "search-length", count="201", most="200")

    monkeypatch.setattr("attncli.tui.screens.cards.browse", fails)
    async with running(make_app("search")) as (_, pilot):
        assert "The search is too long: 201 characters, at most 200." in await press(pilot, "a")


async def test_enter_opens_the_question_space_the_rest_and_escape_returns_to_the_query(make_app: MakeApp) -> None:
    async with running(make_app("search"), (80, 60)) as (app, pilot):
        text = await press(pilot, *"saturate", "enter")
        assert isinstance(app.screen, CardScreen)
        assert "att-02" in text and "independent components" not in text
        text = await press(pilot, "space", "3")
        assert "att-02" in text and "independent components" in text and "footnote 4" in text
        await pilot.press("exclamation_mark", "equals_sign")
        kinds = [app.workspace.store.log.of_kind(kind) for kind in (RowKind.SUSPEND, RowKind.UNSUSPEND)]
        assert [len(rows) for rows in kinds] == [1, 1]
        assert not app.workspace.store.log.of_kind(RowKind.REVIEW), "reading changes no schedule"
        assert "saturate" in await press(pilot, "escape")


async def test_statistics_count_reviews_or_say_that_there_are_none(make_app: MakeApp) -> None:
    async with running(make_app("stats"), (80, 60)) as (app, pilot):
        assert "No reviews yet" in shown(app) and "Readiness by topic" in shown(app)
    app = make_app("stats")
    for card in ("att-02", "kv-04", "head-02"):
        record.answer(app.workspace, card, Rating.EASY)
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        assert all(word in shown(app) for word in ("1 day", "3 (3 today)", "3/6", "░", "█"))
        text = await press(pilot, "l")
        assert all(word in text for word in ("1 天", "3（今天 3）", "3/6", "░", "█"))


def test_the_heatmap_ends_today_starts_on_a_monday_and_has_a_character_for_every_shade() -> None:
    assert "".join(shade(count) for count in (0, 1, 5, 15, 30)) == SHADES
    today = date(2026, 6, 12)
    rows = heatmap_rows({today: 30, today - timedelta(days=7): 1}, today, 3)
    assert len(rows) == 7 and rows[4] == "· ░ █"
    assert rows[5] == "· ·  " and rows[0] == "· · ·"


def test_home_and_statistics_tell_the_same_story(make_app: MakeApp, clock: Clock) -> None:
    workspace = make_app().workspace
    for card in ("att-02", "kv-04"):
        record.answer(workspace, card, Rating.GOOD)
        clock.move(days=1)
    home, statistics = overview(workspace), progress(workspace)
    assert (home.streak_days, home.topics, home.cards) == (2, statistics.topics, statistics.cards)
    assert statistics.streak_days == 2


@pytest.mark.parametrize(
    "screen", ["home", *(pytest.param(n, marks=pytest.mark.full) for n in ("challenges", "search"))]
)
async def test_a_row_takes_one_line_and_is_not_under_the_scrollbar(make_app: MakeApp, screen: str) -> None:
    async with running(make_app(screen)) as (app, pilot):
        for size in ((80, 24), (60, 18), (120, 40)):
            await pilot.resize_terminal(*size)
            for _ in LANGS:
                await app.action_language()
                await pilot.pause(0.2)
                rows = app.screen.query_one(Rows)
                assert rows.option_count and rows.virtual_size.height == rows.option_count
                widths = [cell_len(str(rows.get_option_at_index(index).prompt)) for index in range(rows.option_count)]
                assert max(widths) <= rows.scrollable_content_region.width
