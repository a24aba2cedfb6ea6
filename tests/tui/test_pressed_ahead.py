"""Handle input at unexpected moments: keys typed ahead, late clicks, too small screens."""

from __future__ import annotations

import pytest
from textual import events
from textual.actions import SkipAction
from textual.command import CommandList
from textual.content import Content
from textual.css.query import NoMatches
from textual.geometry import Offset
from textual.widgets import Static

from attncli.tui.app import Palette
from attncli.tui.screens.home import HomeScreen
from attncli.tui.widgets.answers import MarkedRow, MarkedRows, OrderingAnswer, Rows
from attncli.tui.widgets.basics import TitleBar

from .conftest import MakeApp, press, running, shown
from .every_screen import to_card


async def test_a_click_on_what_was_just_taken_away_is_nobodys(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        x, y = app.screen.query_one(TitleBar).region.offset
        gone = Static("gone")
        app.screen.get_widget_at = lambda *_: (gone, gone.region)  # type: ignore[method-assign]
        app.screen.get_widget_and_offset_at = lambda *_: (gone, Offset(0, 0))  # type: ignore[method-assign]
        assert gone.parent is None
        for kind in (events.MouseDown, events.MouseUp):
            await app.on_event(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
        del app.screen.get_widget_at, app.screen.get_widget_and_offset_at
        await pilot.pause()
        assert app.failure is None and "All topics" in shown(app)


async def test_a_palette_whose_rows_room_or_list_are_gone_chooses_nothing(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause(0.5)
        rows = app.screen.query_one(CommandList)
        x, y = rows.region.offset + Offset(4, 0)
        style = app.screen.get_style_at(x, y)
        assert style.meta["option"] == 0
        await pilot.resize_terminal(40, 1)
        assert not rows.scrollable_content_region
        await pilot.press("pageup", "pagedown")
        await pilot.resize_terminal(80, 24)
        rows.clear_options()
        rows.post_message(events.Click(rows, 4, 0, 0, 0, 1, False, False, False, x, y, style=style))
        await pilot.pause()
        assert app.failure is None and isinstance(app.screen, Palette)
        await rows.remove()
        await app.screen._gather_commands("drill").wait()
        assert app.failure is None


async def test_a_page_of_a_list_without_room_is_no_step(make_app: MakeApp) -> None:
    async with running(make_app(), (40, 10)) as (app, _):
        rows = app.screen.query_one(Rows)
        rows.show_rows([(f"row-{number}", rows.get_option_at_index(0).prompt) for number in range(3)])  # type: ignore[misc]
        rows.highlighted = 1
        assert not rows.scrollable_content_region
        rows.action_page_down()
        rows.action_page_up()
        assert rows.highlighted == 1


async def test_a_row_that_is_marked_before_it_is_mounted_shows_it_then(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        row = MarkedRow(0, "[ ]", Content("a point"))
        row.show("[x]", Content("a point"))
        await app.screen.mount(row)
        await pilot.pause()
        assert str(row.render()) == "[x] a point"


async def test_keys_for_rows_that_are_not_there_any_more_still_answer(make_app: MakeApp) -> None:
    async with running(make_app("review")) as (app, pilot):
        await to_card("head-02")(pilot)
        rows = app.screen.query_one(MarkedRows)
        await rows.remove_children()
        assert rows.press("b") and rows.cursor == 1
        with pytest.raises(SkipAction):
            rows.action_cursor(-1)
        await to_card("att-09")(pilot)
        rows = app.screen.query_one(OrderingAnswer)
        first, second, *others = rows.asked.answer.places
        await rows.remove_children()
        rows.action_move(1)
        assert rows.asked.answer.places == [second, first, *others]


async def test_the_cursor_of_options_stays_where_nothing_is_laid_out(make_app: MakeApp) -> None:
    async with running(make_app("review")) as (app, pilot):
        await to_card("att-15")(pilot)
        await pilot.resize_terminal(40, 10)
        await press(pilot, "down")
        assert app.failure is None and app.screen.query_one(MarkedRows).cursor == 0


async def test_a_key_for_a_screen_half_composed_is_nobodys(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, _):
        screen = app.screen
        assert isinstance(screen, HomeScreen)
        await screen.query_one(Rows).remove()
        screen._focus_first_if_composed()
        with pytest.raises(NoMatches):
            screen.focus_first()
        with pytest.raises(NoMatches):
            await app.run_action("to_all_topics", screen)
        await screen.remove_children()
        assert await app.run_action("to_all_topics", screen)
