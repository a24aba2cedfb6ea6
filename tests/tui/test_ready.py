"""Limit the cost of a key: lasting widgets are not mounted again, and the next screens are imported ahead."""

from __future__ import annotations

import subprocess
import sys

import pytest
from textual.css.stylesheet import Stylesheet

from attncli.tui.widgets.answers import MarkedRows
from attncli.tui.widgets.basics import KeyBar
from attncli.tui.widgets.card import Sheet
from attncli.tui.widgets.session import RatingBar

from .conftest import MakeApp, press, shown
from .test_review import reviewing


async def test_the_rating_bar_stays_and_is_hidden_while_there_is_nothing_to_rate(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        bar = screen.query_one(RatingBar)
        assert "1 Again" not in shown(screen.attn)
        await pilot.press("space")
        assert "1 Again" in shown(screen.attn)
        await press(pilot, "3")
        assert "1 Again" not in shown(screen.attn) and screen.query_one(RatingBar) is bar


def test_reading_ahead_imports_every_module_that_is_named() -> None:
    code = "import sys; from attncli.tui.textual_fixes import *; read_ahead(); print(set(AHEAD) - set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


async def test_a_page_that_gets_the_keys_styles_itself(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reviewing(make_app, "choice") as (pilot, screen):
        styled: list[object] = []
        apply = Stylesheet.apply

        def note(stylesheet: Stylesheet, node: object, **options: object) -> None:
            styled.append(node)
            apply(stylesheet, node, **options)  # type: ignore[arg-type]

        await pilot.pause()
        sheet = screen.query_one(Sheet)
        screen.set_focus(None)
        await pilot.pause()
        monkeypatch.setattr(Stylesheet, "apply", note)
        screen.set_focus(sheet)
        await pilot.pause()
        assert sheet in styled and not any(isinstance(node, MarkedRows) for node in styled)


async def test_the_question_keeps_its_width_when_the_scrollbar_comes(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        sheet = screen.query_one(Sheet)
        assert not sheet.show_vertical_scrollbar
        width = sheet.children[0].size.width
        await press(pilot, "space")
        assert sheet.show_vertical_scrollbar and sheet.children[0].size.width == width


async def test_the_key_bar_is_drawn_when_keys_changed(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reviewing(make_app) as (pilot, screen):
        drawn: list[KeyBar] = []
        bar = screen.query_one(KeyBar)
        assert shown(screen.attn)
        monkeypatch.setattr(KeyBar, "refresh", lambda bar, *_regions, **_options: drawn.append(bar))
        screen.refresh_bindings()
        await pilot.pause()
        assert not drawn
        screen.asked = None
        screen.refresh_bindings()
        await pilot.pause()
        assert bar in drawn
