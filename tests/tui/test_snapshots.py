"""Compare every screen with a golden SVG, in English at 80×24 and Chinese at 120×40; check contrast in every theme.

After changing a screen, run `pytest tests/tui/test_snapshots.py --snapshot-update` and look at the results.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion
from textual.command import CommandPalette
from textual.pilot import Pilot

from attncli.config import Settings
from attncli.i18n import LANGS, Lang
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from attncli.tui.screens import experiment
from attncli.tui.theme import theme_named
from moved_clock import Clock

from .conftest import BANK, app_at
from .every_screen import VIEWS, ReadyRun, View, stand_still
from .test_layout import contrast

NARROW, WIDE = (80, 24), (120, 40)
OF_EACH_LINE = re.compile(
    r'@font-face \{[^}]*\}|<clipPath id="terminal-line-\d+">.*?</clipPath>| clip-path="url\(#terminal-line-\d+\)"'
    r'| shape-rendering="crispEdges"',
    re.DOTALL,
)
LENGTH = re.compile(r'textLength="[\d.]+"([^>]*)>([^<]*)<')
CELL = 12.2
LEAST_CONTRAST = 4.5
EMPTY = re.compile(r"^\s*\n", re.MULTILINE)
SHOWN: dict[Lang, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "en": ("dark", NARROW, ()),
    "zh": ("light", WIDE, ("contrast",)),
}
"""Theme and size of the snapshot, and the themes that are checked for contrast alone."""


class LeanSvg(SVGImageExtension):
    """The snapshot without web fonts, and without a separate clip path for each line.

    A Chinese character takes two cells, but Rich's text length counts characters.
    """

    def serialize(self, data: Any, **options: Any) -> Any:
        return EMPTY.sub("", LENGTH.sub(_in_cells, OF_EACH_LINE.sub("", super().serialize(data, **options))))


def _in_cells(found: re.Match[str]) -> str:
    return f'textLength="{cell_len(unescape(found[2])) * CELL:g}"{found[1]}>{found[2]}<'


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Make screens independent of the environment and the working folder of the test run."""
    with monkeypatch.context() as patch:
        for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM"):
            patch.delenv(name, raising=False)
        patch.setenv("TZ", "UTC")
        patch.setattr(experiment, "ChildRun", ReadyRun)
        patch.chdir(tmp_path)
        time.tzset()
        yield
    time.tzset()


def opened(view: View, lang: Lang, indexed: Path) -> AttnApp:
    """Open the app over a relative home, so that displayed paths have the same length everywhere."""
    home, clock = Home(Path("learner")), Clock()
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    settings = Settings(lang=lang, fuzz=False, reduced_motion=True)
    workspace = Workspace.open(home, clock, settings=settings, quizbank=BANK)
    app = app_at(workspace, view.screen, **view.options)
    view.prepare(app, clock)
    return app


def faint(app: AttnApp) -> list[str]:
    """Return texts with a contrast below 4.5 to their background, except below a menu."""
    if isinstance(app.screen, CommandPalette):
        return []
    found = []
    for segment in (segment for strip in app.screen._compositor.render_strips() for segment in strip):
        said, style = segment.text.strip(), segment.style
        if style is not None and style.color and style.bgcolor and re.search(r"\w", said):
            ink, ground = (part.get_truecolor().hex for part in (style.color, style.bgcolor))
            if contrast(ink, ground) < LEAST_CONTRAST:
                found.append(said)
    return found


async def drawn(pilot: Pilot[None], theme: str, size: tuple[int, int]) -> str:
    if reopened := isinstance(pilot.app.screen, CommandPalette):  # it keeps the colours in which it was opened
        await pilot.press("escape")
    pilot.app.theme = theme_named(theme)
    if pilot.app.size != size:
        await pilot.resize_terminal(*size)
    if reopened:
        await pilot.press("ctrl+p")
        await pilot.pause(0.5)
    stand_still(pilot)
    await pilot.pause(0.1)
    return pilot.app.export_screenshot()


def in_turn(number: int, name: str, lang: Lang) -> Any:
    """Return a view in a language; `make test` looks at each view in one language, in turn."""
    return pytest.param(name, lang, id=f"{name}-{lang}", marks=[pytest.mark.full] * (lang != LANGS[number % 2]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lang"), [in_turn(number, name, lang) for number, name in enumerate(VIEWS) for lang in LANGS]
)
async def test_a_screen_looks_as_it_did(name: str, lang: Lang, indexed: Path, snapshot: SnapshotAssertion) -> None:
    view = VIEWS[name]
    app = opened(view, lang, indexed)
    theme, size, others = SHOWN[lang]
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await view.go(pilot)
            svg = await drawn(pilot, theme, size)
            unread = faint(app)
            for other in others:
                await drawn(pilot, other, size)
                unread += faint(app)
    finally:
        app.grader.close()
        app.workspace.close()
    assert not unread, f"{name} has texts that are hard to read: {unread}"
    same = snapshot(name=f"{theme}-{size[0]}x{size[1]}", extension_class=LeanSvg) == svg
    assert same, f"{name} looks different; look at it, and take it anew with --snapshot-update"
