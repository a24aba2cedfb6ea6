"""Type faster than the app handles keys, as over a slow line: every key counts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import TextArea

from attncli.config import load
from attncli.tui import app as ways_out

from .conftest import MakeApp, running
from .test_challenge import opened, write_solution
from .test_review import asked, reviewing

NAMES = {"\n": "enter", "\b": "backspace", "<": "left"}


async def typed_at_once(pilot: Pilot[None], text: str) -> None:
    """Send all keys before the first is handled; `<` is the left arrow."""
    for sign in text:
        named = NAMES.get(sign)
        pilot.app.post_message(events.Key(named or _character_to_key(sign), None if named else sign))
    for _ in range(3):
        await pilot.pause()


@pytest.mark.parametrize(("typed", "counts"), [("12", "12"), ("3\b\b9\b12", "12"), ("2*20<<*", "2**20")])
async def test_a_number_is_marked_as_it_was_typed(make_app: MakeApp, typed: str, counts: str) -> None:
    async with reviewing(make_app, "numeric") as (pilot, screen):
        await typed_at_once(pilot, f"{typed}\n")
        assert asked(screen).revealed and asked(screen).answer.texts == [counts]


async def test_each_blank_is_marked_as_it_was_typed(make_app: MakeApp) -> None:
    async with reviewing(make_app, "cloze") as (pilot, screen):
        await typed_at_once(pilot, "i/k\bd\n")
        await typed_at_once(pilot, "q, k\n")
        assert asked(screen).revealed and asked(screen).answer.texts == ["i/d", "q, k"]


async def test_the_answers_of_the_first_run_are_kept_as_they_were_typed(make_app: MakeApp) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        await pilot.press("enter")
        await typed_at_once(pilot, "2026-07-13\b2\n")
        await pilot.press("enter")
        await typed_at_once(pilot, "\b\b45\n")
    kept = load(app.workspace.home.config, {})
    assert (str(kept.interview), kept.minutes_per_day, kept.new_per_day) == ("2026-07-12", 45, 15)


@pytest.mark.parametrize("leaving", ["ctrl+q", pytest.param("ctrl+c", marks=pytest.mark.full)])
async def test_what_is_typed_just_before_the_end_is_kept(make_app: MakeApp, leaving: str) -> None:
    app = opened(make_app)
    write_solution(app, "")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w")
        await pilot.pause(0.3)
        for key, character in (("x", "x"), ("y", "y"), (leaving, None)):
            app.post_message(events.Key(key, character))
        await asyncio.wait([app._task], timeout=10)  # type: ignore[list-item]
    assert (app.workspace.home.solutions / "sdpa.py").read_text(encoding="utf-8") == "xy"


def test_the_end_waits_for_nobody_where_nothing_was_typed(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs like the command line, where the app itself is an ancestor of the focused widget."""
    app, waited = make_app(), []

    async def wait_for(read: Coroutine[Any, Any, bool], timeout: float) -> None:
        _done, late = await asyncio.wait([asyncio.ensure_future(read)], timeout=5 * timeout)
        waited.append(len(late))

    monkeypatch.setattr(ways_out.asyncio, "wait_for", wait_for)
    app.call_later(lambda: app.call_after_refresh(app.exit))
    app.run(headless=True, size=(80, 24))
    assert waited and not any(waited)


async def test_code_stands_as_it_was_typed(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app, "")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w")
        await pilot.pause(0.3)
        await typed_at_once(pilot, "xy\b\bz = 1\n")
        assert app.screen.query_one(TextArea).text == "z = 1\n"
