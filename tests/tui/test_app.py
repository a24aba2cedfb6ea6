"""Check routes, language, theme, help, the command palette, and small terminals."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.command import CommandPalette
from textual.geometry import Size
from textual.pilot import Pilot

from attncli import paths
from attncli.config import Settings
from attncli.domain.log_row import Rating
from attncli.errors import AttnError, StoreError
from attncli.i18n import LANGS, Lang, _, quoted
from attncli.practice import record
from attncli.practice.queue import CardFilter
from attncli.practice.quiz import QuizOptions
from attncli.practice.review import ReviewSession
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import AttnScreen, HelpScreen
from attncli.tui.screens.cards import SearchScreen
from attncli.tui.screens.challenges import ChallengesScreen
from attncli.tui.screens.drill import DrillScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.screens.stats import StatsScreen
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import KeyBar, shown_bindings
from moved_clock import Clock

from .conftest import BANK, MakeApp, press, running, shown


@pytest.mark.slow
async def test_every_screen_is_one_key_from_home_and_escape_leads_back_and_q_quits(make_app: MakeApp) -> None:
    screens = {"r": ReviewScreen, "d": DrillScreen, "c": ChallengesScreen, "s": StatsScreen, "ｓ": StatsScreen}
    screens |= {"？": HelpScreen, "fullwidth_question_mark": HelpScreen, "slash": SearchScreen, "enter": ReviewScreen}
    async with running(make_app()) as (app, pilot):
        text = shown(app)
        assert "6 cards today, about 6 min" in text and "6 new · 0 learning · 0 due" in text
        assert "All topics" in text and "Attention mathematics" in text and "no streak yet" in text
        await pilot.press("down", "escape", "escape")
        assert app.is_running and app.screen.query_one(Rows).highlighted == 0, "escape leaves nothing here"
        for key, screen in screens.items():
            await press(pilot, key)
            assert isinstance(app.screen, screen), key
            await pilot.press("escape")
            assert isinstance(app.screen, HomeScreen), key
        await pilot.press("q")
    assert app.return_code == 0


async def test_a_screen_that_was_opened_first_leads_back_to_home_and_ctrl_c_is_an_interrupt(make_app: MakeApp) -> None:
    async with running(make_app("stats")) as (app, pilot):
        await pilot.press("q")
        assert isinstance(app.screen, HomeScreen)
        await pilot.press("slash", "ctrl+c")
    assert app.return_code == 130


@pytest.mark.parametrize("lang", LANGS)
async def test_the_key_bar_names_what_has_room_and_can_be_clicked(make_app: MakeApp, lang: Lang) -> None:
    async with running(make_app(lang=lang), (160, 40)) as (app, pilot):
        for width, left_out in ((160, set()), (80, {"question_mark", "enter", "comma", "p", "a"})):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            line = str(app.screen.query_one(KeyBar).render())
            pieces = {key.key: f" {name} {_(key.description)[lang]} " for name, key in shown_bindings(app.screen)}
            assert {key for key, piece in pieces.items() if piece not in line} == left_out, line
            assert " ? " in line and cell_len(line) <= width
        column = cell_len(line[: line.index(f" s {_('Stats')[lang]}")])
        await pilot.click(offset=(column + 3, 23))
        await pilot.pause()
        assert isinstance(app.screen, StatsScreen)


async def test_home_says_why_nothing_is_due_and_what_to_do(make_app: MakeApp) -> None:
    app = make_app()
    for card in app.workspace.store.index.card_ids():
        record.answer(app.workspace, card, Rating.GOOD, app.workspace.clock())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert "Nothing is due. All cards are learned; none is due yet." in text and "last 4 weeks" in text
        assert "Next card in 10 min. Meanwhile: d drill" in text
        text = await press(pilot, "l")
        assert "现在没有到期的卡片。全部卡片都已学" in text and "近四周" in text
        assert "下一张在 10 分钟后到期。可以先做：d 专项练习" in text


@pytest.mark.parametrize("name", ["drill", "plan", "stats"])
async def test_a_screen_that_closes_while_the_language_changes_is_left_alone(make_app: MakeApp, name: str) -> None:
    async with running(make_app("home")) as (app, pilot):
        app.show(name)
        await pilot.pause()
        closing = app.screen
        assert isinstance(closing, AttnScreen) and not isinstance(closing, HomeScreen)
        await press(pilot, "escape")
        assert app.screen is not closing
        await closing.switch_language()


async def test_l_and_ctrl_t_switch_language_and_theme_everywhere_and_remember_them(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        text = await press(pilot, "s", "l", "escape", "ctrl+t")
        assert "注意力的数学" in text and "专项练习" in text and "全部主题" in text and app.theme == "attn-light"
        config = app.workspace.home.config
        kept = tomllib.loads(config.read_text(encoding="utf-8"))
        assert (kept["lang"], kept["theme"]) == ("zh", "light")
        config.write_text("lang = [", encoding="utf-8")
        await press(pilot, "l")
        assert app.lang == "en", "it changes though it cannot be saved"
        assert any("config.toml" in note.message for note in app._notifications)


async def test_a_small_terminal_gets_a_friendly_line_alone_and_recovers(make_app: MakeApp) -> None:
    async with running(make_app("search"), (50, 12)) as (app, pilot):
        assert "50×12" in shown(app) and "60×18" in shown(app).replace("\n", " ")
        await pilot.resize_terminal(80, 24)
        before = await press(pilot, *"zzzz")
        assert "zzzz" in before
        await pilot.resize_terminal(40, 10)
        await pilot.pause(0.2)
        assert "40×10" in shown(app) and "zzzz" not in shown(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.2)
        assert shown(app) == before


@pytest.mark.slow
async def test_help_names_the_keys_of_the_screen_below_once_and_as_they_are_written_on_them(make_app: MakeApp) -> None:
    async with running(make_app("review"), (80, 40)) as (app, pilot):
        text = await press(pilot, "space", "question_mark")
        assert "Ctrl+C Ctrl+Q   Quit" in text and "↑ k" in text and "Suspend" in text and "Bury" in text
        assert "up ↑" not in text and "down ↓" not in text
        await pilot.press("escape")
        assert isinstance(app.screen, ReviewScreen)
        await pilot.press("escape")
        text = await press(pilot, "question_mark")
        assert "Ctrl+P" in text and "All commands" in text
        await pilot.press("escape")
        for key in ("m", "d", "comma"):
            text = await press(pilot, key, "question_mark")
            assert "←" in text and "left" not in text and "space" not in text and "↓ ↓" not in text
            await pilot.press("escape", "escape")
        await press(pilot, "slash")
        names = [name for name, binding in shown_bindings(app.screen) if binding.description == "Help"]
        assert names == ["F1"], "a field takes the question mark"
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)


async def test_the_command_palette_speaks_the_language_and_opens_screens(make_app: MakeApp) -> None:
    async with running(make_app(lang="zh")) as (app, pilot):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"查看统计", "查看面试计划"} <= set(titles) and len(titles) == len(set(titles))
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("escape", "l")
        commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        opens = {"Show statistics": StatsScreen, "Drill cards of your choice": DrillScreen}
        for title, screen in (opens | {"Take a quiz on all topics": QuizScreen}).items():
            commands[title]()
            await pilot.pause()
            assert isinstance(app.screen, screen)


async def test_a_broken_bank_is_reported_and_the_rest_is_used(make_app: MakeApp, tmp_path: Path) -> None:
    (tmp_path / "home" / "banks").mkdir()
    (tmp_path / "home" / "banks" / "mine.yaml").write_text("topic: [mine", encoding="utf-8")
    async with running(make_app()) as (app, _):
        assert any("mine.yaml:1:" in note.message for note in app._notifications)
        assert "Attention mathematics" in shown(app)


async def test_the_way_back_is_named_however_narrow_the_line_is(make_app: MakeApp) -> None:
    async with running(make_app("search")) as (app, pilot):
        app.show("card", "att-02")
        for width in (80, 66, 60):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            line = str(app.screen.query_one(KeyBar).render())
            free = width - cell_len(line.rstrip())
            assert line.startswith(" ? ") and "Esc Back" in line and free >= 0
            assert line.startswith(" ? Help ") or free < len("Help ")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.full)])
async def test_no_line_is_wider_than_the_terminal(make_app: MakeApp, lang: Lang) -> None:
    async with running(make_app(lang=lang), (60, 18)) as (app, pilot):
        for keys in ((), ("s",), ("escape", "d"), ("escape", "z"), ("escape", "c"), ("escape", "r"), ("space",)):
            await pilot.press(*keys)
            for size in ((80, 24), (60, 18)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                strips = app.screen._compositor.render_strips()
                assert Size(*size) == app.size and all(strip.cell_length == size[0] for strip in strips)


def test_run_refuses_what_cannot_be_opened(make_app: MakeApp, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal comes before the app takes the screen."""
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: BANK)
    given: dict[str, Any]
    for screen, given, said in (
        ("review", {"topic": "nosuch"}, "nosuch"),
        ("quiz", {"quiz": QuizOptions("nosuch")}, "nosuch"),
        ("drill", {"card_filter": CardFilter(weak=True)}, "--weak"),
    ):
        with pytest.raises(AttnError, match=said):
            app_module.run(make_app().workspace.home, Settings(), clock, screen, **given)


def test_a_failure_ends_the_app_without_a_traceback(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a mistake in the program")

    async def rate(pilot: Pilot[None]) -> None:
        await pilot.press("r", "space", "3")

    monkeypatch.setattr(ReviewSession, "rate", fail)
    app = make_app()
    app.run(headless=True, size=(80, 24), auto_pilot=rate)
    assert isinstance(app.failure, RuntimeError)
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


def test_run_raises_what_ended_the_app(make_app: MakeApp, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: BANK)
    monkeypatch.setattr(AttnApp, "run", lambda app: None)
    monkeypatch.setattr(AttnApp, "failure", StoreError(quoted("the database is full; free some space")))
    with pytest.raises(StoreError, match="full"):
        app_module.run(make_app().workspace.home, Settings(), clock)
