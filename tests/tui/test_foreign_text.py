"""Run the app over hostile banks: it starts, shows their text literally, and nothing in it can be clicked."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.color import Color

from attncli.domain.grade_report import GradeReport, read
from attncli.domain.text import hidden_in
from attncli.i18n import Lang
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import ChoiceScreen
from attncli.tui.textual_fixes import ShownText
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import Plain
from attncli.tui.widgets.grading import GradeReportView
from attncli.tui.widgets.markdown import CardMarkdown

from .conftest import MakeApp, press, running, shown, text_of

ROOT = Path(__file__).parents[2]
BANKS = ROOT / "tests" / "attacks" / "banks"
MARKUP = "@click=app.quit]"
CHALLENGE = """\
level: 1
title: {en: "[/x] [@click=app.quit]own[/]", zh: "[/x] 自己的"}
entry: [own]
statement: {en: "[/x] [@click=app.quit]Say[/] [go](https://evil.example) \\u202e.", zh: "[/x] 说 \\u2066。"}
hints: [{en: "[/x] [@click=app.quit]hint[/]", zh: "[/x] 提示"}]
required: [loads]
"""

SIZE = (80, 24)


@pytest.fixture
def hostile(tmp_path: Path) -> None:
    """Make a home with the hostile banks and a hostile challenge."""
    home = tmp_path / "home"
    shutil.copytree(BANKS, home / "banks")
    folder = home / "challenges" / "mine" / "own"
    folder.mkdir(parents=True)
    (folder / "challenge.yaml").write_text(CHALLENGE, encoding="utf-8")
    (folder / "reference.py").write_text("def own(x):\n    return x  # [/x]\x1b[31m\u202e\n", encoding="utf-8")


pytestmark = pytest.mark.usefixtures("hostile")


def segments(app: AttnApp) -> list[Segment]:
    return [segment for strip in app.screen._compositor.render_strips() for segment in strip]


def assert_harmless(app: AttnApp) -> str:
    """Return the screen's text, after checking that only the key bar can be clicked."""
    text = shown(app)
    assert hidden_in(text) == []
    for segment in segments(app):
        if segment.style is not None:
            assert segment.style.link is None
            action = str(segment.style.meta.get("@click", ""))
            assert not action or action.startswith("app.simulate_key("), action
    assert app.failure is None and app.is_running
    return text


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.full)])
async def test_home_names_the_bank_that_was_left_out_and_toasts_are_text(make_app: MakeApp, lang: Lang) -> None:
    async with running(make_app(lang=lang), SIZE, notifications=True) as (app, pilot):
        assert_harmless(app)
        assert any("U+001B" in note.message or "[" in note.message for note in app._notifications)
        assert not any(note.markup for note in app._notifications)
        await press(pilot, "end")
        assert MARKUP in assert_harmless(app)
        await pilot.press("down")  # the notice about the bank files goes
        app.notify("[/x] [bold @click=app.quit]CLICK[/] \x1b[31m\u202e", title="t")
        app.screen.notify("from a widget: [/y]", markup=True)
        await pilot.pause(0.3)
        text = assert_harmless(app)
        assert "[/x] [bold" in text and "[/y]" in text


@pytest.mark.slow
async def test_a_review_of_every_kind_of_card_shows_text_alone(make_app: MakeApp) -> None:
    async with running(make_app("review", lang="zh", topic="zz"), SIZE) as (app, pilot):
        for key in ("question_mark", "escape", "ctrl+p", "escape"):
            await press(pilot, key)
            assert_harmless(app)
        for _ in range(6):
            assert "[/x]" in assert_harmless(app)
            app.screen.set_focus(None)
            await press(pilot, "enter")
            for _ in range(4):
                assert_harmless(app)
                await press(pilot, "pagedown")
            await press(pilot, "1")
        assert app.is_running


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.full)])
async def test_a_hostile_card_is_found_and_shown_whole(make_app: MakeApp, lang: Lang) -> None:
    async with running(make_app("search", lang=lang), (80, 100)) as (app, pilot):
        await press(pilot, *"click")
        assert "[bold @click=app.quit]" in assert_harmless(app)
        await press(pilot, "enter", "enter")
        assert "[/x]" in assert_harmless(app)
        for card in ("zz-01", "zz-02", "zz-03", "zz-04", "zz-05", "zz-06", "bidi-01", "evil-01"):
            app.show("card", card)
            await pilot.pause(0.2)
            assert "[/x]" in assert_harmless(app) or not card.startswith("zz")
        app.show("stats")
        await press(pilot, "end")
        assert MARKUP in assert_harmless(app)


@pytest.mark.slow
async def test_a_hostile_challenge_and_its_report_are_shown_as_text(make_app: MakeApp) -> None:
    report = json.loads((BANKS.parent / "hostile_report.json").read_text(encoding="utf-8"))
    async with running(make_app("challenges", lang="zh"), (80, 80)) as (app, pilot):
        rows = app.screen.query_one(Rows)
        rows.highlighted = rows.get_option_index("own")
        await pilot.pause()
        assert "[/x]" in assert_harmless(app)
        await press(pilot, "enter", "h")
        assert "[/x]" in assert_harmless(app)
        await press(pilot, "o", "y")
        await pilot.pause(0.3)
        assert "return x  # [/x]" in assert_harmless(app)
        await app.screen.query_one(GradeReportView).show(read(GradeReport, report), "")
        app.screen.add_class("-report")
        await pilot.pause(0.3)
        text = assert_harmless(app)
        assert "[/x]key" in text and "[@click=app.quit]printed[/]" in text


async def test_what_the_program_itself_offers_can_still_be_clicked(make_app: MakeApp) -> None:
    async with running(make_app(), SIZE) as (app, pilot):
        answers: list[str | None] = []
        app.push_screen(ChoiceScreen("[/x]?", {"y": "yes [/x]", "n": "no"}), answers.append)
        await pilot.pause(0.2)
        actions = {str(part.style.meta.get("@click")) for part in segments(app) if part.style and part.style.meta}
        assert {"screen.dismiss('y')", "screen.dismiss('n')"} <= actions
        assert "yes [/x]" in shown(app)


def test_plain_text_is_no_markup() -> None:
    assert text_of(Plain("[b]x[/b] [/]\x1b[31m\u202e")) == "[b]x[/b] [/]"


def test_a_link_is_its_text_and_a_picture_its_description() -> None:
    parser = CardMarkdown("")._parser_factory
    assert parser is not None
    (inline,) = (token for token in parser().parse("[a](http://b) ![p](http://q) <http://c>") if token.type == "inline")
    assert {child.type for child in inline.children or ()} == {"em_open", "em_close", "text"}
    assert "".join(child.content for child in inline.children or ()) == "a p http://c"


@pytest.mark.parametrize("text", ["a\u202eb", "x\u3164y", "\x1b[31mz", "👩\u200d💻 done", "\U000e0041q"])
def test_a_line_stays_as_wide_as_it_was_laid_out(text: str) -> None:
    (before,) = [Segment(text)]
    (after,) = ShownText().apply([before], Color.parse("black"))
    assert after.cell_length == before.cell_length
    assert hidden_in(after.text) == []


WIDGETS = {"Static", "Label", "Button", "DataTable", "Link", "Tree"}
ATTRIBUTES = {"from_markup", "tooltip", "border_title", "border_subtitle"}


def ways_past(text: str) -> set[str]:
    """Return the names that would let Textual parse mark-up: its own text widgets, and explicit mark-up."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual.widgets"):
            found |= {alias.name for alias in node.names} & WIDGETS
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES:
            found.add(node.attr)
        if isinstance(node, ast.keyword) and node.arg in ("markup", "tooltip") and ast.unparse(node.value) != "False":
            found.add(node.arg or "")
    return found


# Plain is the one way; what can be clicked is made of mark-up of its own, which texts enter as variables.
CLICKED = ("base.py", "challenge.py", "mock.py")
OWN = {"basics.py": {"Static", "from_markup"}, **{name: {"from_markup"} for name in CLICKED}}


def test_no_text_of_the_app_is_read_as_markup() -> None:
    for path in (ROOT / "attncli" / "tui").rglob("*.py"):
        assert ways_past(path.read_text(encoding="utf-8")) <= OWN.get(path.name, set()), path.name
