"""Write a solution in the app: highlighted, saved while typing and on leaving, graded with one key."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.messages import ExitApp
from textual.widgets import TextArea

from attncli.tui.app import AttnApp
from attncli.tui.screens import editor
from attncli.tui.screens.base import HelpScreen
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.theme import theme_named

from .conftest import MakeApp, press, shown, until
from .test_challenge import in_editor, noted, opened, settled, write_solution


def file_of(app: AttnApp) -> Path:
    return app.workspace.home.solutions / "sdpa.py"


@pytest.fixture(autouse=True)
def saved_when_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the automatic save, so that only explicit saves are tested."""
    monkeypatch.setattr(editor, "SECONDS_BETWEEN_SAVES", 600.0)


async def test_w_writes_the_starter_and_what_is_typed_is_kept_by_escape(make_app: MakeApp) -> None:
    async with in_editor(make_app) as (app, pilot):
        area = app.screen.query_one(TextArea)
        assert isinstance(app.screen, EditorScreen) and "def sdpa(" in area.text
        assert "raise NotImplementedError" in area.get_line(area.cursor_location[0])
        assert area.cursor_location[0] > 0 and area.scroll_x == 0, "it opens at its left edge"
        area.move_cursor((0, 0))
        text = await press(pilot, "#", "n", "o", "t", "e", "enter")
        assert "unsaved" in text and "line 2, column 1" in text
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, ChallengeScreen)
        assert file_of(app).read_text(encoding="utf-8").startswith("#note\n")


@pytest.mark.full
async def test_python_is_highlighted_in_the_colours_of_the_theme(make_app: MakeApp) -> None:
    async with in_editor(make_app, "def sdpa(): ...\n") as (app, pilot):
        area = app.screen.query_one(TextArea)
        assert area.language == "python" and area.show_line_numbers
        styles = {str(segment.style.color) for segment in area.render_line(0) if segment.style and segment.text.strip()}
        assert len(styles) > 2
        for name in ("light", "contrast", "dark"):
            app.theme = theme_named(name)
            await pilot.pause()
            assert area.theme == theme_named(name)
        app.theme = "textual-light"
        await pilot.pause()
        assert area.theme == "github_light"


@pytest.mark.full
async def test_f1_tells_the_keys_of_the_editor_and_escape_goes_back_to_it(make_app: MakeApp) -> None:
    async with in_editor(make_app, size=(80, 40), lang="zh") as (app, pilot):
        before = app.screen.query_one(TextArea).text
        lines = [" ".join(line.strip(" │").split()) for line in (await press(pilot, "f1")).splitlines()]
        assert isinstance(app.screen, HelpScreen) and {"Ctrl+Z 撤销", "Ctrl+← 左移一个词"} <= set(lines)
        await pilot.press("escape")
        assert isinstance(app.screen, EditorScreen)
        area = app.screen.query_one(TextArea)
        row, column = area.cursor_location
        await pilot.press("a", "b", "ctrl+left")
        assert area.cursor_location == (row, column)
        await pilot.press("ctrl+right", "ctrl+w", "ctrl+z", "ctrl+z")
        assert area.text == before


async def test_what_is_typed_is_saved_meanwhile(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "SECONDS_BETWEEN_SAVES", 0.05)
    async with in_editor(make_app, "before\n") as (app, pilot):
        await pilot.press("#", "1")
        await until(pilot, lambda: file_of(app).read_text(encoding="utf-8") == "#1before\n")
        assert isinstance(app.screen, EditorScreen)
        await until(pilot, lambda: "· saved" in shown(app))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: file_of(app).read_text(encoding="utf-8") == "before\n")
        file_of(app).unlink()
        file_of(app).mkdir()
        await pilot.press("#")
        await pilot.pause(0.5)
        assert "unsaved" in shown(app) and not app._notifications
        await pilot.press("ctrl+s")
        assert await noted(pilot, "sdpa.py")


@pytest.mark.slow
async def test_ctrl_g_saves_and_grades(make_app: MakeApp) -> None:
    async with in_editor(make_app, "def sdpa(): ...\n", size=(120, 40)) as (app, pilot):
        app.screen.query_one(TextArea).text = "def sdpa(q, k, v): return v\n"
        assert "Rejected" in await press(pilot, "ctrl+g")
        assert file_of(app).read_text(encoding="utf-8") == "def sdpa(q, k, v): return v\n"


async def test_what_another_editor_wrote_meanwhile_is_kept_beside(make_app: MakeApp) -> None:
    async with in_editor(make_app, "mine\n") as (app, pilot):
        app.screen.query_one(TextArea).text = "mine, longer\n"
        file_of(app).write_text("theirs\n", encoding="utf-8")
        await pilot.press("ctrl+s")
        assert await noted(pilot, "sdpa.other-1.py")
        assert file_of(app).read_text(encoding="utf-8") == "mine, longer\n"
        assert file_of(app).with_name("sdpa.other-1.py").read_text(encoding="utf-8") == "theirs\n"


@pytest.mark.slow
async def test_a_page_or_terminal_that_goes_away_or_ctrl_q_costs_nothing_that_was_typed(make_app: MakeApp) -> None:
    async with in_editor(make_app, "before\n") as (app, pilot):
        await pilot.press("#")
        app.post_message(ExitApp())
        await pilot.pause(0.3)
        assert file_of(app).read_text(encoding="utf-8") == "#before\n"
    async with in_editor(make_app, "before\n") as (app, pilot):
        await pilot.press("#", "ctrl+q")
    assert file_of(app).read_text(encoding="utf-8") == "#before\n"


async def test_what_cannot_be_kept_is_told_and_stays_before_screen_or_app_are_left(make_app: MakeApp) -> None:
    async with in_editor(make_app, "before\n") as (app, pilot):
        await pilot.press("#")
        file_of(app).unlink()
        file_of(app).mkdir()
        for key in ("escape", "ctrl+c"):
            await pilot.press(key)
            assert await noted(pilot, "sdpa.py")
            app.clear_notifications()
            assert app.return_code is None and isinstance(app.screen, EditorScreen)
            assert app.screen.query_one(TextArea).text == "#before\n"
        await pilot.press("ctrl+c")
    assert app.return_code == 130


async def test_a_file_that_is_no_text_is_told(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    file_of(app).write_bytes(b"\xff\xfe\x00")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w")
        assert await noted(pilot, "is not UTF-8 text")
        assert isinstance(app.screen, ChallengeScreen)


@pytest.mark.parametrize(("size", "beside"), [((80, 24), False), pytest.param((150, 40), True, marks=pytest.mark.full)])
async def test_the_statement_is_beside_or_behind_f2(make_app: MakeApp, size: tuple[int, int], beside: bool) -> None:
    async with in_editor(make_app, size=size) as (app, pilot):
        statement = app.screen.query_one("#statement")
        assert statement.display is beside
        await press(pilot, "f2")
        assert statement.display and (beside or not app.screen.query_one(TextArea).display)


async def test_enter_indents_as_the_line_before_and_deeper_after_a_colon(make_app: MakeApp) -> None:
    async with in_editor(make_app, "def sdpa(q):") as (app, pilot):
        area = app.screen.query_one(TextArea)
        await pilot.press("ctrl+end", "enter", "a", "enter", "b", "enter", "backspace", "c")
        assert area.text == "def sdpa(q):\n    a\n    b\nc"
        await pilot.press("ctrl+home", "backspace", "d", "backspace")
        assert area.text == "def sdpa(q):\n    a\n    b\nc"


async def test_a_file_opens_at_its_code_and_not_at_the_statement_above_it(make_app: MakeApp) -> None:
    statement = "".join(f"line {n}\ndef sdpa(q)\n" for n in range(30))
    async with in_editor(make_app, f'"""{statement}"""\n\ndef sdpa(q):\n    return q\n') as (app, _):
        assert app.screen.query_one(TextArea).cursor_location == (62, 0)
        assert "return q" in shown(app)
