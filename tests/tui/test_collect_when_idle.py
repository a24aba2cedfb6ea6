"""Python's search for unreachable objects waits until the keys rest."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from weakref import ref

import pytest
import textual._styles_cache
from textual.pilot import Pilot

from attncli.tui import textual_fixes
from attncli.tui.app import AttnApp
from attncli.tui.textual_fixes import AHEAD, SELDOM

from .conftest import MakeApp


@pytest.fixture
def whole_searches() -> Iterator[list[int]]:
    """Grows by what each search of the whole found."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            found.append(info["collected"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


async def _keys_then_rest(pilot: Pilot[None], app: AttnApp, searches: list[int]) -> list[int]:
    """How many searches there were after the keys, and at each of three looks after them."""
    counts = []
    searches.clear()
    await pilot.press("down", "up", "down")
    counts.append(len(searches))
    for _ in range(3):
        app.collect_when_quiet()
        counts.append(len(searches))
    return counts


async def test_a_search_comes_once_when_no_key_came_since_the_last_look(
    make_app: MakeApp, whole_searches: list[int]
) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        gc.disable()
        try:
            assert await _keys_then_rest(pilot, app, whole_searches) == [0, 0, 1, 1]
            assert await _keys_then_rest(pilot, app, whole_searches) == [0, 0, 1, 1]
        finally:
            gc.enable()


async def test_a_screen_that_was_left_is_found_and_so_is_what_it_had_drawn(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s")
        await pilot.pause()
        left = ref(app.screen)
        drawn = ref(app.screen.query("*").first()._styles_cache)
        await pilot.press("escape")
        await pilot.pause()
        for _ in range(2):
            app.collect_when_quiet()
        assert left() is None and drawn() is None


def test_pythons_own_search_is_seldom_while_the_app_runs_and_as_it_was_afterwards(make_app: MakeApp) -> None:
    before, app = gc.get_threshold(), make_app()

    async def look(pilot: Pilot[None]) -> None:
        await pilot.pause()
        assert gc.get_threshold() == (*before[:2], SELDOM) and gc.get_freeze_count()
        app.exit()

    with app.keys_first():
        app.run(headless=True, size=(80, 24), auto_pilot=look)
    assert app.failure is None and gc.get_threshold() == before and not gc.get_freeze_count()


@pytest.mark.parametrize("gone", ["StylesCache", "get_inner_outer"])
async def test_a_textual_without_that_cache_is_searched_all_the_same(
    make_app: MakeApp, whole_searches: list[int], monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    class Other:
        pass

    monkeypatch.setattr(textual._styles_cache, "StylesCache", Other)
    if gone == "StylesCache":
        monkeypatch.delattr(textual._styles_cache, "StylesCache")
    app = make_app()
    app._is_due = True
    whole_searches.clear()
    app.collect_when_quiet()
    assert whole_searches


async def test_what_the_next_keys_need_is_read_once(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app, times, has_read = make_app(), list[str](), Event()

    def read() -> None:
        times.append("read")
        has_read.set()

    monkeypatch.setattr(textual_fixes, "read_ahead", read)
    app.collect_when_quiet()
    assert not app.has_read_ahead
    app.puts_keys_first = True
    for _ in range(3):
        app.collect_when_quiet()
    assert has_read.wait(60) and times == ["read"]


def test_reading_ahead_imports_every_module_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needed_by_the_next_key.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(textual_fixes, "AHEAD", (*AHEAD, "needed_by_the_next_key"))
    try:
        textual_fixes.read_ahead()
        assert gc.get_freeze_count() and {*AHEAD, "needed_by_the_next_key"} <= sys.modules.keys()
    finally:
        gc.unfreeze()
        sys.modules.pop("needed_by_the_next_key", None)
