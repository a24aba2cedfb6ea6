"""Every setting has an explanation and is changed in place: saved in `config.toml`, and applied at once if possible."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from attncli.config import KEYS, SCHEDULING_KEYS, Settings, load
from attncli.i18n import LANGS, Lang
from attncli.tui.app import AttnApp
from attncli.tui.screens.settings import CHOICES, EXPLAINED, NAMES, SettingsScreen
from attncli.tui.theme import CONTRAST
from attncli.tui.widgets.answers import Rows

from .conftest import MakeApp, shown


def kept(app: AttnApp) -> Settings:
    return load(app.workspace.home.config, {})


def go_to(app: AttnApp, key: str) -> None:
    app.screen.query_one(Rows).highlighted = KEYS.index(key)


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_has_a_name_and_says_what_it_does(key: str) -> None:
    for lang in LANGS:
        assert NAMES[key][lang] and EXPLAINED[key][lang].endswith((".", "。"))
    assert NAMES[key].en != NAMES[key].zh and EXPLAINED[key].en != EXPLAINED[key].zh


def test_only_settings_are_explained() -> None:
    assert set(NAMES) == set(EXPLAINED) == set(KEYS)


@pytest.mark.parametrize("key", sorted(set(CHOICES) & set(KEYS)))
def test_every_value_that_is_offered_can_be_kept(key: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    from attncli.config import save

    for value in CHOICES[key]:
        save(tmp_path / "config.toml", key, value)
        assert load(tmp_path / "config.toml", {}).text(key) == value


async def test_comma_on_home_opens_them_and_the_cursor_explains(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("comma")
        assert isinstance(app.screen, SettingsScreen)
        assert EXPLAINED["lang"].en[:30] in shown(app)
        await pilot.press("down", "down", "down")
        assert "Minutes per day" in shown(app)
        assert "Default: 30.  minutes_per_day" in shown(app)


@pytest.mark.parametrize("typed", ["3", "\uff13"])
async def test_a_number_is_typed_and_in_force_at_once(make_app: MakeApp, typed: str) -> None:
    """With a Chinese input method, digits may be full-width."""
    app = make_app("settings")
    async with app.run_test(size=(80, 24)) as pilot:
        go_to(app, "new_per_day")
        await pilot.press("enter")
        app.screen.query_one(Input).value = typed
        await pilot.press("enter")
        assert "✓ Saved." in shown(app)
        assert kept(app).new_per_day == app.workspace.settings.new_per_day == 3
        assert app.screen.query_one(Rows).has_focus


async def test_a_value_that_does_not_fit_is_told_and_changes_nothing(make_app: MakeApp) -> None:
    app = make_app("settings")
    async with app.run_test(size=(80, 24)) as pilot:
        go_to(app, "day_start")
        await pilot.press("enter")
        app.screen.query_one(Input).value = "noon"
        await pilot.press("enter")
        assert "✗ day_start: 'noon' is not a time; write it like 04:00" in shown(app)
        assert app.screen.query_one(Input).has_focus
        await pilot.press("escape")
        assert isinstance(app.screen, SettingsScreen) and app.screen.query_one(Rows).has_focus
        assert kept(app).day_start == Settings().day_start


@pytest.mark.parametrize("key", sorted(SCHEDULING_KEYS))
async def test_what_schedules_follow_waits_for_the_next_start(make_app: MakeApp, key: str) -> None:
    other = {"desired_retention": "0.8", "learning_steps": "5m", "relearning_steps": "", "maximum_interval_days": "99"}
    other["topic_retention"] = "att=0.95"
    app = make_app("settings")
    before = app.workspace.settings
    async with app.run_test(size=(80, 24)) as pilot:
        go_to(app, key)
        await pilot.press("enter")
        if key in other:
            app.screen.query_one(Input).value = other[key]
            await pilot.press("enter")
        assert "Restart attn to apply it to schedules" in shown(app)
        assert app.workspace.settings == before
        assert key in app.workspace.home.config.read_text(encoding="utf-8")


async def test_colours_and_language_change_under_the_cursor(make_app: MakeApp) -> None:
    app = make_app("settings")
    async with app.run_test(size=(80, 24)) as pilot:
        go_to(app, "theme")
        await pilot.press("left")
        assert app.theme == CONTRAST.name and kept(app).theme == "contrast"
        go_to(app, "reduced_motion")
        await pilot.press("space")
        assert app.animation_level == "none"
        go_to(app, "lang")
        await pilot.press("right")
        await pilot.pause()
        assert app.lang == "zh" and "目标记忆保持率" in shown(app)


async def test_a_file_that_cannot_be_written_is_told(make_app: MakeApp) -> None:
    app = make_app("settings")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.workspace.home.config.mkdir()
        go_to(app, "theme")
        await pilot.press("right")
        assert app.theme != "attn-light"
        assert "✗ cannot read" in shown(app), shown(app)


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "is not a number from 0.7 to 0.97"), ("zh", "不是 0.7 到 0.97 之间的数")]
)
async def test_what_does_not_fit_is_told_in_the_learners_language_and_of_its_own_row(
    make_app: MakeApp, lang: Lang, said: str
) -> None:
    app = make_app(lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("comma")
        go_to(app, "desired_retention")
        await pilot.press("enter")
        app.screen.query_one(Input).value = "2"
        await pilot.press("enter")
        assert said in shown(app)
        await pilot.press("escape", "down")
        assert "✗" not in shown(app)


async def test_a_file_of_settings_that_is_broken_is_not_taken_for_a_wrong_value(make_app: MakeApp) -> None:
    app = make_app(lang="zh")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("comma")
        app.workspace.home.config.write_text("= broken", encoding="utf-8")
        go_to(app, "new_per_day")
        await pilot.press("enter")
        app.screen.query_one(Input).value = "12"
        await pilot.press("enter")
        assert "✗" in shown(app) and "之间的整数" not in shown(app)
