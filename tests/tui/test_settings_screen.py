"""Every setting has an explanation and is changed in place: saved in `config.toml`, and applied at once if possible."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from attncli.config import EXPLAINED, KEYS, LEVEL_CHOICES, NAMES, SCHEDULING_KEYS, Settings, load, save
from attncli.domain.vocabulary import LEVELS
from attncli.i18n import LANGS
from attncli.practice.workspace import QUESTIONS
from attncli.tui.app import AttnApp
from attncli.tui.screens.settings import CHOICES, SettingsScreen
from attncli.tui.theme import CONTRAST
from attncli.tui.widgets.answers import Rows

from .conftest import MakeApp, press, running, shown


def kept(app: AttnApp) -> Settings:
    return load(app.workspace.home.config, {})


def go_to(app: AttnApp, key: str) -> None:
    app.screen.query_one(Rows).highlighted = KEYS.index(key)


async def enter(pilot: Pilot[None], value: str) -> str:
    """Enter a value for the setting under the cursor; return the screen."""
    await pilot.press("enter")
    pilot.app.screen.query_one(Input).value = value
    return await press(pilot, "enter")


def test_every_setting_has_a_name_and_says_what_it_does_and_no_other() -> None:
    assert set(NAMES) == set(EXPLAINED) == set(KEYS) >= set(QUESTIONS) and ("any", *LEVELS) == LEVEL_CHOICES
    for key in KEYS:
        assert all(NAMES[key][lang] and EXPLAINED[key][lang].endswith((".", "。")) for lang in LANGS)
        assert NAMES[key].en != NAMES[key].zh and EXPLAINED[key].en != EXPLAINED[key].zh


def test_every_value_that_is_offered_can_be_kept(tmp_path: Path) -> None:
    for key in set(CHOICES) & set(KEYS):
        for value in CHOICES[key]:
            save(tmp_path / "config.toml", key, value)
            assert load(tmp_path / "config.toml", {}).text(key) == value


async def test_comma_on_home_opens_them_and_the_cursor_explains(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        await pilot.press("comma")
        assert isinstance(app.screen, SettingsScreen) and EXPLAINED["lang"].en[:30] in shown(app)
        await pilot.press("down", "down", "down")
        assert "Minutes per day" in shown(app) and "Default: 30.  minutes_per_day" in shown(app)


async def test_a_number_is_typed_and_in_force_at_once(make_app: MakeApp) -> None:
    async with running(make_app("settings")) as (app, pilot):
        for typed, number in (("3", 3), ("\uff14", 4)):  # with a Chinese input method, digits may be full-width
            go_to(app, "new_per_day")
            assert "✓ Saved." in await enter(pilot, typed)
            assert kept(app).new_per_day == app.workspace.settings.new_per_day == number
            assert app.screen.query_one(Rows).has_focus


async def test_a_value_that_does_not_fit_is_told_of_its_row_and_changes_nothing(make_app: MakeApp) -> None:
    async with running(make_app("settings")) as (app, pilot):
        go_to(app, "day_start")
        assert "✗ day_start: 'noon' is not a time; write it like 04:00" in await enter(pilot, "noon")
        assert app.screen.query_one(Input).has_focus
        await pilot.press("escape")
        assert isinstance(app.screen, SettingsScreen) and app.screen.query_one(Rows).has_focus
        assert kept(app).day_start == Settings().day_start
        go_to(app, "desired_retention")
        assert "is not a number from 0.7 to 0.97" in await enter(pilot, "2")
        assert "✗" not in await press(pilot, "escape", "down")
        await press(pilot, "l")
        go_to(app, "desired_retention")
        assert "不是 0.7 到 0.97 之间的数" in await enter(pilot, "2")


async def test_what_schedules_follow_waits_for_the_next_start(make_app: MakeApp) -> None:
    other = {"desired_retention": "0.8", "learning_steps": "5m", "relearning_steps": "", "maximum_interval_days": "99"}
    other["topic_retention"] = "att=0.95"
    app = make_app("settings")
    before = app.workspace.settings
    async with app.run_test(size=(80, 24)) as pilot:
        for key in sorted(SCHEDULING_KEYS):
            go_to(app, key)
            text = await enter(pilot, other[key]) if key in other else await press(pilot, "enter")
            assert "Restart attn to apply it to schedules" in text
            assert app.workspace.settings == before
            assert key in app.workspace.home.config.read_text(encoding="utf-8")


async def test_colours_and_language_change_under_the_cursor(make_app: MakeApp) -> None:
    async with running(make_app("settings")) as (app, pilot):
        go_to(app, "theme")
        await pilot.press("left")
        assert app.theme == CONTRAST.name and kept(app).theme == "contrast"
        go_to(app, "reduced_motion")
        await pilot.press("space")
        assert app.animation_level == "none"
        go_to(app, "lang")
        await press(pilot, "right")
        assert app.lang == "zh" and "目标记忆保持率" in shown(app)


async def test_a_file_that_cannot_be_written_or_read_is_told_and_not_taken_for_a_wrong_value(make_app: MakeApp) -> None:
    async with running(make_app("settings"), notifications=True) as (app, pilot):
        config = app.workspace.home.config
        config.mkdir()
        go_to(app, "theme")
        assert "✗ cannot read" in await press(pilot, "right") and app.theme != "attn-light"
        config.rmdir()
        await app.action_language()
        config.write_text("= broken", encoding="utf-8")
        go_to(app, "new_per_day")
        text = await enter(pilot, "12")
        assert "✗" in text and "之间的整数" not in text
