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
from attncli.i18n import quoted
from attncli.practice import record
from attncli.practice.queue import FoundCards, browse
from attncli.practice.stats import overview, progress
from attncli.practice.today import cards_left
from attncli.practice.workspace import Workspace
from attncli.tui.screens.cards import CardScreen, SearchScreen
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.charts import SHADES, heatmap_rows, shade
from moved_clock import Clock

from .conftest import MakeApp, shown, text_of


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_home_shows_todays_list_beside_the_topics_where_there_is_room(make_app: MakeApp, lang: str) -> None:
    app = make_app(lang=lang)
    async with app.run_test(size=(120, 40)) as pilot:
        listed, topics = app.screen.query_one("#list"), app.screen.query_one("#topics")
        first = cards_left(app.workspace, app.workspace.moment())[0]
        assert listed.region.right <= topics.region.x and first.id in text_of(listed)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert not listed.region and topics.region.x < 10 and first.id not in shown(app)


@pytest.mark.parametrize("query", ["KV heads", "缓存", "方差"])
async def test_typing_searches_at_once_in_both_languages(make_app: MakeApp, query: str) -> None:
    app = make_app("search", lang="zh")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, SearchScreen)
        app.screen.query_one("SearchField").value = query  # type: ignore[attr-defined]
        await pilot.pause(0.2)
        rows = app.screen.query_one(Rows)
        assert 0 < rows.option_count < 6
        assert f"{rows.option_count} 张卡片" in shown(app)


async def test_nothing_found_is_said(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"zzzz")
        await pilot.pause()
        assert "No cards match “zzzz”." in shown(app)
        await pilot.press("enter")
        assert isinstance(app.screen, SearchScreen)


async def test_a_query_may_hold_any_sign(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("minus", "slash", "q", "l", "[", '"')
        await pilot.pause()
        assert app.screen.query_text == '-/ql["'  # type: ignore[attr-defined]


async def test_the_newest_query_wins_and_keys_come_in_meanwhile(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, asked = Event(), list[str]()

    def slow(reader: Workspace, line: str, most: int) -> FoundCards:
        if line:  # the empty query, which shows all cards, does not go to the thread
            asked.append(line)
            may_end.wait(60)
        return browse(reader, line, most)

    monkeypatch.setattr("attncli.tui.screens.cards.browse", slow)
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
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
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        await pilot.pause()
        assert "The search is too long: 201 characters, at most 200." in shown(app)


async def test_enter_opens_the_question_space_the_rest_and_escape_returns_to_the_query(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press(*"saturate", "enter")
        await pilot.pause(0.3)
        assert isinstance(app.screen, CardScreen)
        assert "att-02" in shown(app) and "independent components" not in shown(app)
        await pilot.press("space")
        await pilot.pause()
        text = shown(app)
        assert "att-02" in text and "independent components" in text and "footnote 4" in text
        await pilot.press("escape")
        await pilot.pause()
        assert "saturate" in shown(app)


async def test_reading_a_card_changes_no_schedule(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 40)) as pilot:
        app.show("card", "kv-04")
        await pilot.pause(0.2)
        await pilot.press("enter", "3", "space")
        assert not app.workspace.store.log.of_kind(RowKind.REVIEW)


async def test_a_card_is_suspended_and_taken_back(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 40)) as pilot:
        app.show("card", "att-02")
        await pilot.pause(0.2)
        await pilot.press("exclamation_mark", "equals_sign")
        kinds = [app.workspace.store.log.of_kind(kind) for kind in (RowKind.SUSPEND, RowKind.UNSUSPEND)]
        assert [len(rows) for rows in kinds] == [1, 1]


async def test_statistics_without_reviews_say_so(make_app: MakeApp) -> None:
    app = make_app("stats")
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        assert "No reviews yet" in shown(app) and "Readiness by topic" in shown(app)


@pytest.mark.parametrize(("lang", "words"), [("en", ("1 day", "3 (3 today)")), ("zh", ("1 天", "3（今天 3）"))])
async def test_statistics_count_reviews(make_app: MakeApp, clock: Clock, lang: str, words: tuple[str, ...]) -> None:
    app = make_app("stats", lang=lang)
    for card in ("att-02", "kv-04", "head-02"):
        record.answer(app.workspace, card, Rating.EASY)
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert all(word in text for word in words) and "3/6" in text and "░" in text and "█" in text


def test_the_heatmap_ends_today_and_starts_on_a_monday() -> None:
    today = date(2026, 6, 12)
    rows = heatmap_rows({today: 30, today - timedelta(days=7): 1}, today, 3)
    assert len(rows) == 7 and rows[4] == "· ░ █"
    assert rows[5] == "· ·  " and rows[0] == "· · ·"


def test_every_shade_is_another_character() -> None:
    assert "".join(shade(count) for count in (0, 1, 5, 15, 30)) == SHADES


def test_home_and_statistics_tell_the_same_story(make_app: MakeApp, clock: Clock) -> None:
    workspace = make_app().workspace
    for card in ("att-02", "kv-04"):
        record.answer(workspace, card, Rating.GOOD)
        clock.move(days=1)
    home, statistics = overview(workspace), progress(workspace)
    assert (home.streak_days, home.topics, home.cards) == (2, statistics.topics, statistics.cards)
    assert statistics.streak_days == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (60, 18), (120, 40), (200, 50)])
@pytest.mark.parametrize("screen", ["home", "challenges", "search"])
async def test_a_row_takes_one_line_and_is_not_under_the_scrollbar(
    make_app: MakeApp, screen: str, size: tuple[int, int], lang: str
) -> None:
    app = make_app(screen, lang=lang)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.2)
        rows = app.screen.query_one(Rows)
        assert rows.option_count
        assert rows.virtual_size.height == rows.option_count
        options = [rows.get_option_at_index(index).prompt for index in range(rows.option_count)]
        assert max(cell_len(str(option)) for option in options) <= rows.scrollable_content_region.width
