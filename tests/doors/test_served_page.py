"""The app in a real browser that has no network: a card is reviewed, a submission graded, two visitors never meet."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli.domain.log_row import LogRow
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from served_page import ServedPage, need_browser, served

pytestmark = pytest.mark.browser
ENTRIES = "performance.getEntriesByType"
FILES = [
    *("page.css", "page.js", "static/js/textual.js", "static/css/xterm.css"),
    "static/fonts/RobotoMono-VariableFont_wght.ttf",
]


def rows(home: Home) -> list[LogRow]:
    with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
        return list(workspace.store.log.everything())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A learner who has just begun, with the first challenge solved in a file."""
    home = Home(tmp_path_factory.mktemp("home"))
    with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
        first = workspace.library.challenges()[0]
        home.solutions.mkdir()
        shutil.copy(Path(first.folder) / "reference.py", home.solutions / f"{first.id}.py")
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


def test_a_wrong_token_gets_an_empty_page(page: ServedPage, url: str) -> None:
    for wrong in (url[:-2] + "/", url.rsplit("/", 2)[0] + "/", url[:-1] + "x/"):
        page.open(wrong)
        assert page.run(f"return {ENTRIES}('navigation')[0].responseStatus") == 403
        assert page.run("return !window.socket && document.querySelector('#terminal') === null")


def test_everything_loads_without_a_network_and_nothing_else_is_asked_for(page: ServedPage, url: str) -> None:
    page.open(url)
    page.wait_for("Review")
    loaded = page.run(f"return {ENTRIES}('resource').map((found) => [found.name, found.responseStatus])")
    assert {name.removeprefix(url): status for name, status in loaded} == dict.fromkeys(FILES, 200)
    assert page.run("return window.refused") == []
    assert page.run("return [...document.fonts].some((font) => font.status == 'loaded')")
    refused = page.run("return fetch('http://127.0.0.1:1/').then(() => 'came', (error) => error.name)")
    assert refused == "TypeError" and page.run("return window.refused") == ["http://127.0.0.1:1/"]


def test_a_card_is_reviewed(page: ServedPage, url: str, home: Home) -> None:
    page.open(url)
    page.wait_for("Review")
    before = len(rows(home))
    page.press("r")
    page.wait_for("Space")
    page.press("space")
    page.wait_for("Points")
    page.press("3")
    page.wait_for("1/10")
    (row,) = rows(home)[before:]
    assert row.kind.value == "review" and row.payload["rating"] == 3 and row.payload["points"] == []


def test_a_submission_is_graded(page: ServedPage, url: str, home: Home) -> None:
    page.open(url)
    page.wait_for("Review")
    page.press("c")
    page.wait_for("Causal mask")
    page.press("enter")
    page.wait_for("Grade")
    page.press("g")
    page.wait_for("Hardened: ready for production")
    row = rows(home)[-1]
    assert row.kind.value == "attempt" and row.payload["verdict"] == "accepted"


def test_two_visitors_never_meet(page: ServedPage, url: str, tmp_path: Path) -> None:
    page.open(url)
    page.wait_for("Review")
    with closing(ServedPage(tmp_path / "second")) as second:
        second.open(url)
        second.wait_for("Review")
        page.press("/")
        page.wait_for("Back")
        page.press("quetzal")
        page.wait_for("quetzal")
        second.press("c")
        second.wait_for("Causal mask")
        assert "quetzal" not in second.drawn() and "Causal mask" not in page.drawn()
        assert page.run("return document.cookie + localStorage.length + sessionStorage.length") == "00"
    page.press("escape")
    page.wait_for("Review")


def test_the_page_says_that_the_app_has_ended_and_opens_it_again(page: ServedPage, url: str) -> None:
    page.open(url)
    page.wait_for("Review")
    page.press("q")
    page.wait_until("return document.body.innerText.includes('The app has ended')")
    page.run("document.querySelector('.closed a').click()")
    page.wait_for("Review")
