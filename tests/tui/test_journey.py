"""Use the app by keyboard from start to end, and check the screen and the log at each station."""

from __future__ import annotations

import re
from html import escape

import pytest

import journey
from attncli.config import load
from attncli.domain.grade_report_text import REACHED
from attncli.domain.mock_interview import PART_NAMES
from attncli.i18n import LANGS, Lang, _, ngettext
from attncli.practice.challenges import standings
from attncli.practice.mock_report import past_mocks
from attncli.tui.app import AttnApp
from learner_in_app import LearnerInApp

from .conftest import BANK, MakeApp
from .test_challenge import ACCEPTED, REJECTED, Scripted
from .test_repair_round_screen import WHOLE

SOLVED = {**ACCEPTED, "rung": "solved", "checks": [*ACCEPTED["checks"], {**REJECTED["checks"][1], "rung": "hardened"}]}
SIZES = [(80, 24), (120, 40)]
CASES: list[tuple[tuple[int, int], Lang]] = [(size, lang) for size in SIZES for lang in LANGS]
QUICK = ((80, 24), "zh")
CARDS = 6


def new_rows(app: AttnApp, known: list[str]) -> list[str]:
    """Return the kinds of rows since the last call; other data of the learner must be unchanged."""
    kinds = [row.kind.value for row in app.workspace.store.log.everything()]
    assert kinds[: len(known)] == known
    fresh = kinds[len(known) :]
    known += fresh
    return fresh


def standing(app: AttnApp) -> tuple[str, int]:
    found = {entry.challenge.id: entry for entry in standings(app.workspace)}["sdpa"]
    return found.standing, found.fixed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "lang"), [pytest.param(*case, marks=[] if case == QUICK else pytest.mark.full) for case in CASES]
)
async def test_from_the_first_start_to_the_summary(make_app: MakeApp, size: tuple[int, int], lang: Lang) -> None:
    app = make_app("first-run", bank=BANK)
    app.NOTIFICATION_TIMEOUT = AttnApp.NOTIFICATION_TIMEOUT  # what a notice covers is to be read soon
    if (size, lang) not in (QUICK, ((120, 40), "en")):  # these two have the real judge
        outcomes = [SOLVED, {**ACCEPTED, "rung": "hardened"}, WHOLE]
        app.grader = Scripted(lambda: outcomes.pop(0))
    known: list[str] = []
    async with app.run_test(size=size, notifications=True) as pilot:
        learner = LearnerInApp(pilot, lang)
        await cards(app, learner, known)
        await code(app, learner, known)
        await interview(app, learner, known)
        await summary(app, learner, known)


async def cards(app: AttnApp, learner: LearnerInApp, known: list[str]) -> None:
    home = await journey.first_run(learner, "2026-06-18", "45")
    kept = load(app.workspace.home.config, {})
    assert (kept.lang, kept.level, str(kept.interview), kept.new_per_day) == (learner.lang, "screen", "2026-06-18", 15)
    assert _("p plan")[learner.lang] in home and new_rows(app, known) == []
    assert len(await journey.mixed_review(learner, CARDS)) == CARDS, "a card of each kind"
    assert new_rows(app, known) == [*["review"] * CARDS, "undo", "review"]
    await journey.leave(learner)
    await journey.drill(learner)
    assert new_rows(app, known) == ["review"]
    assert _("Missed")[learner.lang] in await journey.quiz(learner) and new_rows(app, known) == ["quiz"] * 3
    await journey.leave(learner)


async def code(app: AttnApp, learner: LearnerInApp, known: list[str]) -> None:
    lang, place = learner.lang, [entry.challenge.id for entry in standings(app.workspace)].index("sdpa")
    await journey.open_challenge(learner, place)
    await journey.write_and_grade(learner, journey.ATTENTION, REACHED["solved"][lang])
    assert standing(app) == ("solved", 0)
    assert new_rows(app, known) == ["start", "attempt"]
    await journey.write_and_grade(learner, journey.HARDENED, REACHED["hardened"][lang])
    assert standing(app) == ("hardened", 0) and new_rows(app, known) == ["attempt"]
    fixed = ngettext("Bug fixed: this file counts as fixed", "All {count} bugs fixed: this file counts as fixed", 2)
    await journey.repair(learner, 2, journey.HARDENED, fixed[lang])
    assert standing(app) == ("hardened", 1) and new_rows(app, known)[0] == "start"
    kept = sorted(file.name for file in app.workspace.home.solutions.iterdir())
    assert kept == ["sdpa.py", "sdpa.repair.py"]
    await journey.leave(learner)


async def interview(app: AttnApp, learner: LearnerInApp, known: list[str]) -> None:
    screen = await journey.interview(learner)
    (report,) = past_mocks(app.workspace)
    assert report.is_finished and PART_NAMES["whiteboard"][learner.lang] in screen
    assert set(new_rows(app, known)) <= {"mock", "mock-clock", "start"}
    await journey.leave(learner)


async def summary(app: AttnApp, learner: LearnerInApp, known: list[str]) -> None:
    await journey.export(learner)
    (file,) = app.workspace.home.summaries.iterdir()
    page = re.sub(r"</?span[^>]*>", "", file.read_text(encoding="utf-8"))
    assert escape("scores.masked_fill(~mask") in page and "2026-06-18" in page and new_rows(app, known) == []
    await journey.leave(learner)
    await learner.press("q")
    assert app.return_code == 0
