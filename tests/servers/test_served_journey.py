"""Run from the first start to the summary in a real browser without a network, and do the same in the app."""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from random import Random
from shutil import copytree

import pytest

import journey
from attncli.i18n import Lang
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from chromium import need_browser
from learner_in_app import LearnerInApp
from learner_in_browser import LearnerInBrowser
from served_page import ServedPage, served

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def now() -> datetime:
    return datetime.now(UTC)


def kinds(home: Home) -> list[str]:
    """Return the kinds of the log's rows in order; consecutive steps of an interview, which is random, count once."""
    with Workspace.open(home, now) as workspace:
        found = [row.kind.value for row in workspace.store.log.everything()]
    return [kind for kind, before in zip(found, ["", *found], strict=False) if (kind, before) != ("mock", "mock")]


async def whole(learner: journey.Learner) -> None:
    """Run the whole journey, and check the screen at each station."""
    home = await journey.first_run(learner)
    assert re.search(r"\b5 new\b|新卡 5\b", home), "fifteen minutes bring five new cards"
    await journey.review(learner, 3)
    await journey.solve_first(learner)
    await journey.leave(learner)
    await journey.interview(learner)
    await journey.leave(learner)
    await journey.export(learner)
    await journey.leave(learner)


async def in_the_app(home: Home, lang: Lang) -> None:
    with Workspace.open(home, now) as workspace:
        app = AttnApp(workspace, Random(7), "first-run")
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await whole(LearnerInApp(pilot, lang))
        app.grader.close()


@pytest.mark.full
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_whole_journey_and_the_log_is_that_of_the_app(tmp_path: Path, indexed_home: Path, lang: Lang) -> None:
    need_browser()
    home, other = (Home(copytree(indexed_home, tmp_path / name)) for name in ("home", "other"))
    with served(home.root) as url:
        with closing(ServedPage(tmp_path / "profile")) as page:
            page.open(url)
            asyncio.run(whole(LearnerInBrowser(page, lang)))
            assert page.run("return window.refused") == []
        assert page.asked() == {"127.0.0.1"}
    (summary,) = home.summaries.iterdir()
    own_code = escape(journey.MASK.splitlines()[-1].strip())
    shown = re.sub(r"</?span[^>]*>", "", summary.read_text(encoding="utf-8"))
    assert summary.name.endswith(f"-{lang}.html") and own_code in shown
    asyncio.run(in_the_app(other, lang))
    assert kinds(home) == kinds(other)
