"""Use the app in a real browser without a network: two visitors, wrong tokens, sizes; the journey does the rest."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError

import pytest

import journey
from attncli.domain.log_row import LogRow
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from chromium import SECONDS, need_browser
from learner_in_browser import LearnerInBrowser
from served_page import ServedPage, served

pytestmark = [pytest.mark.slow, pytest.mark.browser]
ENTRIES = "performance.getEntriesByType"
FILES = [
    *("page/page.css", "page/page.js", "static/js/textual.js", "static/css/xterm.css"),
    "static/fonts/RobotoMono-VariableFont_wght.ttf",
]


def rows(home: Home) -> list[LogRow]:
    with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
        return list(workspace.store.log.everything())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, indexed_home: Path) -> Home:
    """Return the home of a learner who has set it up."""
    home = Home(shutil.copytree(indexed_home, tmp_path_factory.mktemp("served") / "home"))
    home.config.write_text('lang = "en"\n', encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def url(home: Home) -> Iterator[str]:
    with served(home.root) as url:
        yield url


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    need_browser()
    with closing(ServedPage(tmp_path_factory.mktemp("profile"))) as opened:
        yield opened


def at_home(page: ServedPage, url: str) -> None:
    page.open(url)
    page.wait_for("Review")


def test_a_wrong_token_gets_an_empty_page_and_a_right_page_reaches_no_app_by_it(page: ServedPage, url: str) -> None:
    for wrong in (url[:-2] + "/", url.rsplit("/", 2)[0] + "/", url[:-1] + "x/"):
        page.open(wrong)
        assert page.run(f"return {ENTRIES}('navigation')[0].responseStatus") == 403
        assert page.run("return !window.socket && document.querySelector('#terminal') === null")
        for file in FILES:
            with pytest.raises(HTTPError) as refused, page.opener.open(wrong + file, timeout=SECONDS):
                pass
            assert (refused.value.code, refused.value.read()) == (403, b"")
    at_home(page, url)
    here = url.replace("http://", "ws://")
    for wrong in (f"{here[:-2]}/ws", f"{here[:-1]}x/ws", here.rsplit("/", 2)[0] + "/ws"):
        page.run("window.said = ''; new WebSocket(arguments[0]).onclose = (event) => window.said = event.code", wrong)
        page.wait_until("return window.said")
        assert page.run("return window.said") == 1006, "closed before it was open"
    page.run("window.said = ''; new WebSocket(arguments[0]).onopen = () => window.said = 'open'", f"{here}ws")
    page.wait_until("return window.said == 'open'")


def test_everything_loads_without_a_network_and_nothing_else_is_asked_for(page: ServedPage, url: str) -> None:
    at_home(page, url)
    loaded = page.run(f"return {ENTRIES}('resource').map((found) => [found.name, found.responseStatus])")
    assert {name.removeprefix(url): status for name, status in loaded} == dict.fromkeys(FILES, 200)
    assert page.run("return window.refused") == []
    assert page.run("return [...document.fonts].some((font) => font.status == 'loaded')")
    refused = page.run("return fetch('http://127.0.0.1:1/').then(() => 'came', (error) => error.name)")
    assert refused == "TypeError" and page.run("return window.refused") == ["http://127.0.0.1:1/"]


@pytest.mark.full
def test_two_visitors_never_meet_with_a_session_each(page: ServedPage, url: str, home: Home, tmp_path: Path) -> None:
    before = len(rows(home))
    with closing(ServedPage(tmp_path / "second")) as second:
        at_home(page, url)
        at_home(second, url)
        page.press("/")
        page.wait_for("Back")
        page.press("quetzal")
        page.wait_for("quetzal")
        second.press("c")
        second.wait_for("Causal mask")
        assert "quetzal" not in second.drawn() and "Causal mask" not in page.drawn()
        assert page.run("return document.cookie + localStorage.length + sessionStorage.length") == "00"
        for visitor in (page, second):
            at_home(visitor, url)
            visitor.press("r")
            asyncio.run(journey.reveal(LearnerInBrowser(visitor, "en")))
        page.press("4")
        page.wait_for(" 1/")
        assert "1-4 Rate" in second.screen() and " 0/" in second.screen()
        second.press("-")
        second.wait_for("buried until tomorrow")
        page.press("u")
        page.wait_for(" 0/")
    assert [row.kind.value for row in rows(home)[before:]] == ["review", "bury", "undo"]


def open_editor(page: ServedPage, url: str) -> None:
    """Go from Home to the editor of the first challenge; each key waits for its screen."""
    at_home(page, url)
    for key, text in (("c", "Causal mask"), ("enter", "Write here"), ("w", "Ctrl+S")):
        page.press(key)
        page.wait_for(text)


@pytest.mark.full
def test_what_was_typed_is_there_when_a_closed_page_is_opened_again(page: ServedPage, url: str, home: Home) -> None:
    open_editor(page, url)
    page.press("# quetzal")
    page.wait_for("# quetzal")
    page.open("about:blank")
    open_editor(page, url)
    page.wait_for("# quetzal")
    assert "# quetzal" in (home.solutions / "causal-mask.py").read_text(encoding="utf-8")


def test_a_page_is_drawn_for_its_size_takes_a_key_after_escape_and_opens_again(page: ServedPage, url: str) -> None:
    at_home(page, url)
    wide = page.columns
    page.resize(820, 600)
    page.wait(lambda screen: page.columns < wide and "All topics" in screen, "a narrower screen")
    assert all(len(line) <= page.columns for line in page.screen().splitlines())
    page.resize(1200, 800)
    page.wait(lambda screen: page.columns == wide and "All topics" in screen, "the screen as before")
    page.press("c")
    page.wait_for("Causal mask")
    page.run("for (const key of ['\\u001b', 'm']) window.socket.send(JSON.stringify(['stdin', key]))")
    page.wait_for("Mock interview")
    page.press("escape")
    page.wait_for("Review")
    page.press("q")
    page.wait_until("return document.body.innerText.includes('The app has closed')")
    page.run("document.querySelector('.closed a').click()")
    page.wait_for("Review")
