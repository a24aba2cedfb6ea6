"""The first run: four keys complete it, Escape skips it, and it never comes again."""

from __future__ import annotations

from datetime import date

import pytest

from attncli import paths
from attncli.config import Settings, load
from attncli.errors import EnvironmentFailure
from attncli.i18n import quoted
from attncli.paths import Home
from attncli.practice.workspace import is_first_run
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.drill import DrillScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.settings import FirstRunScreen
from moved_clock import Clock

from .conftest import BANK, MakeApp, press, running, shown


async def test_four_keys_lead_through_it_to_home_and_defaults_stay(make_app: MakeApp) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        text = shown(app)
        assert "Next question" in text and "Finish" not in text and "Esc" in text
        text = await press(pilot, "enter", "enter", "enter")
        assert "Finish" in text and "Next question" not in text and isinstance(app.screen, FirstRunScreen)
        await pilot.press("enter")
        assert isinstance(app.screen, HomeScreen)
    assert load(app.workspace.home.config, {}) == Settings() and not is_first_run(app.workspace)


async def test_answers_are_kept_and_in_force(make_app: MakeApp) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        await pilot.press("enter", *"2026", "minus", *"07", "minus", *"12", "enter", "right", "enter")
        await press(pilot, "backspace", "backspace", *"15", "enter")
        assert isinstance(app.screen, HomeScreen)
        assert "30 days to the interview" in shown(app)
        await pilot.press("d")
        assert isinstance(app.screen, DrillScreen) and app.screen.options.level == "screen"
    kept = load(app.workspace.home.config, {})
    assert (str(kept.interview), kept.level, kept.minutes_per_day, kept.new_per_day) == ("2026-07-12", "screen", 15, 5)
    assert app.workspace.settings.level == "screen" == app.workspace.store.note("ordered_for")


@pytest.mark.parametrize("key", ["escape", pytest.param("q", marks=pytest.mark.full)])
async def test_escape_skips_it_and_it_does_not_come_again(make_app: MakeApp, key: str) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        await pilot.press(key)
        assert isinstance(app.screen, HomeScreen)
    assert not is_first_run(app.workspace)


@pytest.mark.slow
async def test_a_wrong_date_is_told_below_the_field_and_words_are_shown_back(make_app: MakeApp) -> None:
    app = make_app("first-run")
    keys = {"-": "minus", "/": "slash", " ": "space"}
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        wrong = {"2020-01-01": "2020-01-01 is in the past", "someday": "write it like", "7/8": "8 Jul or 7 Aug"}
        for typed, said in wrong.items():
            text = await press(pilot, *(keys.get(sign, sign) for sign in typed), "enter")
            assert "✗ interview: " in text and said in text
            assert app.screen.focused is not None and app.screen.focused.id == "interview"
            assert "✗" not in await press(pilot, *["backspace"] * len(typed))
        text = await press(pilot, *(keys.get(sign, sign) for sign in "in 3 weeks"), "enter")
        assert "✓ Fri 3 Jul 2026" in text and app.workspace.settings.interview == date(2026, 7, 3)


async def test_the_last_enter_keeps_what_was_typed_above_or_goes_back_to_it(make_app: MakeApp) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        await pilot.press("down", *"soon", "down", "down", "enter")
        assert isinstance(app.screen, FirstRunScreen)
        assert app.screen.focused is not None and app.screen.focused.id == "interview"


async def test_the_language_changes_under_the_cursor_and_answers_stay_each_in_its_line(make_app: MakeApp) -> None:
    async with running(make_app("first-run")) as (app, pilot):
        await press(pilot, "down", "down", "right", "up", "up", "right")
        await pilot.pause()
        text = shown(app)
        assert "回答四个问题" in text and "‹ 初筛 ›" in text and "‹ 中文 ›" in text
        assert app.screen.focused is not None and app.screen.focused.id == "lang"
        assert all(widget.size.height == 1 for widget in app.screen.query(".why"))
        await press(pilot, "right")
        assert app.lang == "en" and all(widget.size.height == 1 for widget in app.screen.query(".why"))


async def test_what_cannot_be_kept_is_told_and_leads_home(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise EnvironmentFailure(quoted("cannot write config.toml (no space); free some disk space"))

    monkeypatch.setattr("attncli.practice.workspace.save", full)
    async with running(make_app("first-run")) as (app, pilot):
        assert "cannot write config.toml" in await press(pilot, "enter", "enter", "right", "enter")
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)
        assert any("cannot write config.toml" in note.message for note in app._notifications)


@pytest.mark.parametrize(("screen", "asked"), [("home", True), ("review", False), ("challenges", False)])
def test_only_home_of_a_new_folder_begins_with_it(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, clock: Clock, screen: str, asked: bool
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(AttnApp, "run", lambda self: seen.append(self.first))
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: BANK)
    home = Home(make_app().workspace.home.root)
    for _ in range(2):
        app_module.run(home, Settings(), clock, screen)
        if not home.config.exists():
            home.config.write_text('lang = "en"\n', encoding="utf-8")
    assert [route == "first-run" for route in seen] == [asked, False]
