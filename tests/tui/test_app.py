"""Check routes, language, theme, help, the command palette, and small terminals."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.command import CommandPalette
from textual.geometry import Size
from textual.pilot import Pilot

from attncli.config import Settings
from attncli.domain.log_row import Rating
from attncli.errors import NotFound, StoreError
from attncli.i18n import LANGS, Lang, _, quoted
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.review import ReviewSession
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import HelpScreen
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

from .conftest import MakeApp, shown


async def test_home_says_what_is_due_and_lists_the_topics(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(pilot.app)
        assert "6 cards today, about 6 min" in text and "6 new · 0 learning · 0 due" in text
        assert "All topics" in text and "Attention mathematics" in text and "no streak yet" in text


@pytest.mark.parametrize(
    ("key", "screen"),
    [
        ("r", ReviewScreen),
        ("d", DrillScreen),
        ("c", ChallengesScreen),
        ("s", StatsScreen),
        ("slash", SearchScreen),
        ("enter", ReviewScreen),
    ],
)
async def test_every_screen_is_one_key_from_home_and_escape_leads_back(
    make_app: MakeApp, key: str, screen: type
) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        assert isinstance(pilot.app.screen, screen)
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, HomeScreen)


async def test_a_screen_that_was_opened_first_leads_back_to_home(make_app: MakeApp) -> None:
    async with make_app("stats").run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
        assert isinstance(pilot.app.screen, HomeScreen)


async def test_q_quits_from_home(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("q")
    assert app.return_code == 0


async def test_escape_on_home_leaves_nothing(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "escape", "escape")
        assert isinstance(app.screen, HomeScreen) and app.is_running
        assert app.screen.query_one(Rows).highlighted == 0


@pytest.mark.parametrize("lang", LANGS)
async def test_home_names_each_way_to_study_and_the_language_at_80_columns_and_help_by_its_key(
    make_app: MakeApp, lang: Lang
) -> None:
    app = make_app(lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        line = str(app.screen.query_one(KeyBar).render())
        pieces = {key.key: f" {name} {_(key.description)[lang]} " for name, key in shown_bindings(app.screen)}
        missing = {key for key, piece in pieces.items() if piece not in line}
        assert missing == {"question_mark", "enter", "comma", "p", "a"}, line  # help has these, and a wider line
        assert " ? " in line and cell_len(line) <= 80


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["Nothing is due. All cards are learned; none is due yet.", "Next card in 10 min. Meanwhile: d drill"]),
        ("zh", ["现在没有到期的卡片。全部卡片都已学", "下一张在 10 分钟后到期。可以先做：d 专项练习"]),
    ],
)
async def test_home_says_why_nothing_is_due_and_what_to_do(make_app: MakeApp, lang: str, said: list[str]) -> None:
    app = make_app(lang=lang)
    for card in app.workspace.store.index.card_ids():
        record.answer(app.workspace, card, Rating.GOOD, app.workspace.clock())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert all(part in text for part in said), text
        assert "last 4 weeks" in text or "近四周" in text


async def test_ctrl_c_ends_the_app_as_an_interrupt(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c")
    assert app.return_code == 130


async def test_l_switches_the_language_and_remembers_it(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("l")
        await pilot.pause()
        assert "注意力的数学" in shown(app) and "专项练习" in shown(app)
    assert tomllib.loads(app.workspace.home.config.read_text(encoding="utf-8"))["lang"] == "zh"


async def test_the_language_changes_on_screens_below_too(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "l", "escape")
        await pilot.pause()
        assert "全部主题" in shown(pilot.app)


async def test_ctrl_t_switches_the_theme_and_remembers_it(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+t")
        assert app.theme == "attn-light"
    assert tomllib.loads(app.workspace.home.config.read_text(encoding="utf-8"))["theme"] == "light"


async def test_a_setting_that_cannot_be_saved_is_said(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.home.config.parent.mkdir(parents=True, exist_ok=True)
    app.workspace.home.config.write_text("lang = [", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("l")
        await pilot.pause()
        assert app.lang == "zh"
        assert any("config.toml" in note.message for note in app._notifications)


async def test_a_small_terminal_gets_a_friendly_line_and_recovers(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(50, 12)) as pilot:
        await pilot.pause()
        assert "50×12" in shown(pilot.app) and "60×18" in shown(pilot.app).replace("\n", " ")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "All topics" in shown(pilot.app)


async def test_nothing_stands_above_the_friendly_line(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"zzzz")
        await pilot.pause()
        before = shown(app)
        assert "zzzz" in before
        await pilot.resize_terminal(40, 10)
        await pilot.pause(0.2)
        assert "40×10" in shown(app) and "zzzz" not in shown(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.2)
        assert shown(app) == before


async def test_help_names_each_key_once_and_whole(make_app: MakeApp) -> None:
    async with make_app("review").run_test(size=(80, 30)) as pilot:
        await pilot.press("space", "question_mark")
        text = shown(pilot.app)
        assert "Ctrl+C Ctrl+Q   Quit" in text and "↑ k" in text
        assert "up ↑" not in text and "down ↓" not in text


async def test_help_lists_the_keys_of_the_screen_below(make_app: MakeApp) -> None:
    async with make_app("review").run_test(size=(80, 30)) as pilot:
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        text = shown(pilot.app)
        assert "Suspend" in text and "Bury" in text
        await pilot.press("escape")
        assert isinstance(pilot.app.screen, ReviewScreen)


@pytest.mark.parametrize("key", ["？", "fullwidth_question_mark"])
async def test_full_width_keys_work_as_their_twins(make_app: MakeApp, key: str) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)


async def test_full_width_letters_work_too(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.press("ｓ")
        await pilot.pause()
        assert isinstance(pilot.app.screen, StatsScreen)


async def test_the_command_palette_speaks_the_language_and_opens_screens(make_app: MakeApp) -> None:
    app = make_app(lang="zh")
    async with app.run_test(size=(80, 24)) as pilot:
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert "查看统计" in titles and len(titles) == len(set(titles))
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press("escape")
        next(command for command in app.get_system_commands(app.screen) if command.title == "查看统计").callback()
        await pilot.pause()
        assert isinstance(app.screen, StatsScreen)


async def test_a_broken_bank_is_reported_and_the_rest_is_used(make_app: MakeApp, tmp_path: Path) -> None:
    (tmp_path / "home" / "banks").mkdir()
    (tmp_path / "home" / "banks" / "mine.yaml").write_text("topic: [mine", encoding="utf-8")
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("mine.yaml:1:" in note.message for note in app._notifications)
        assert "Attention mathematics" in shown(app)


async def test_the_command_palette_opens_drill_and_quiz(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        for title, screen in (("Drill cards of your choice", DrillScreen), ("Take a quiz on all topics", QuizScreen)):
            commands[title]()
            await pilot.pause()
            assert isinstance(app.screen, screen)


@pytest.mark.parametrize("width", [60, 66, 80])
async def test_the_way_back_is_named_however_narrow_the_line_is(make_app: MakeApp, width: int) -> None:
    app = make_app("search")
    async with app.run_test(size=(width, 24)) as pilot:
        app.show("card", "att-02")
        await pilot.pause()
        line = str(app.screen.query_one(KeyBar).render())
        free = width - cell_len(line.rstrip())
        assert line.startswith(" ? ") and "Esc Back" in line and free >= 0
        assert line.startswith(" ? Help ") or free < len("Help ")


async def test_the_key_bar_can_be_clicked(make_app: MakeApp) -> None:
    async with make_app().run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        column = shown(pilot.app).splitlines()[-1].index("Stats")
        await pilot.click(offset=(column + 1, 23))
        await pilot.pause()
        assert isinstance(pilot.app.screen, StatsScreen)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40)])
async def test_no_line_is_wider_than_the_terminal(make_app: MakeApp, lang: str, size: tuple[int, int]) -> None:
    async with make_app(lang=lang).run_test(size=size) as pilot:
        for keys in (
            (),
            ("s",),
            ("escape", "d"),
            ("escape", "z"),
            ("escape", "escape", "c"),
            ("escape", "slash"),
            ("escape", "r"),
            ("space",),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            strips = pilot.app.screen._compositor.render_strips()
            assert Size(*size) == pilot.app.size and all(strip.cell_length == size[0] for strip in strips)


def test_run_refuses_an_unknown_topic_before_it_takes_the_screen(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(NotFound, match="nosuch"):
        app_module.run(Home(tmp_path), Settings(), clock, "review", topic="nosuch")


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


def test_run_raises_what_ended_the_app(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AttnApp, "run", lambda app: None)
    monkeypatch.setattr(AttnApp, "failure", StoreError(quoted("the database is full; free some space")))
    with pytest.raises(StoreError, match="full"):
        app_module.run(Home(tmp_path), Settings(), clock)


async def test_a_field_takes_the_question_mark_so_help_is_f1_there(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash")
        await pilot.pause()
        names = [name for name, binding in shown_bindings(app.screen) if binding.description == "Help"]
        assert names == ["F1"]
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)


@pytest.mark.parametrize("key", ["m", "d", "comma"])
async def test_help_writes_keys_as_they_are_written_on_them(make_app: MakeApp, key: str) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        await pilot.press("question_mark")
        await pilot.pause()
        text = shown(app)
        assert "←" in text and "left" not in text and "space" not in text and "↓ ↓" not in text
