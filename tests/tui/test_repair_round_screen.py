"""`r` and `b` on a challenge: bugs to find and fix, their count, and the learner's own file beside them."""

from __future__ import annotations

import pytest

from attncli.domain.log_row import RowKind
from attncli.practice.challenges import standings
from attncli.tui.screens.base import ChoiceScreen
from attncli.tui.screens.challenge import ChallengeScreen

from .conftest import MakeApp, press, running, shown
from .test_challenge import ACCEPTED, REJECTED, noted, opened, settled, write_solution

LEFT = [{"wrong": "mask-inverted", "symptom": "Queries see what they should not.", "symptom_zh": "看到了不该看的。"}]
HALF = {**REJECTED, "diagnosis": [], "repaired": {"of": 2, "done": 1, "left": LEFT}}
WHOLE = {**ACCEPTED, "rung": "hardened", "repaired": {"of": 2, "done": 2, "left": []}}


@pytest.mark.slow
async def test_r_asks_how_many_and_hands_out_a_file_with_so_many_bugs(make_app: MakeApp) -> None:
    async with running(opened(make_app)) as (app, pilot):
        assert "Or press r for a repair round" in shown(app) and "Esc" in shown(app), "no other key is pushed out"
        await press(pilot, "r")
        warning = "You have not solved this yet, and a round shows the reference. How many bugs?"
        assert isinstance(app.screen, ChoiceScreen) and app.screen.question == warning
        await pilot.press("3")
        await settled(pilot)
        text = (app.workspace.home.solutions / "sdpa.repair.py").read_text(encoding="utf-8")
        (row,) = app.workspace.store.log.of_kind(RowKind.START)
        assert len(row.repairs) == 3 and "this file has 3 bugs" in text
        assert "Find 3 bugs" in shown(app)
        assert "找出 3 处错误" in await press(pilot, "l")


@pytest.mark.slow
async def test_a_round_is_there_again_after_leaving_it_and_the_own_solution_beside_it(make_app: MakeApp) -> None:
    app = opened(make_app, lambda: {**WHOLE, "repaired": None})
    write_solution(app, "mine\n")
    folder = app.workspace.home.solutions
    async with app.run_test(size=(100, 40)) as pilot:
        await press(pilot, "g")
        await press(pilot, "r")
        assert isinstance(app.screen, ChoiceScreen) and app.screen.question == "How many bugs?"
        await pilot.press("escape")
        await settled(pilot)
        assert [file.name for file in folder.iterdir()] == ["sdpa.py"]
        await press(pilot, "r")
        await pilot.press("1")
        await settled(pilot)
        await press(pilot, "escape")
        assert not isinstance(app.screen, ChallengeScreen)
        app.show("challenge", "sdpa")
        await settled(pilot)
        assert "Find 1 bug" in shown(app) and str(app.screen.file).endswith("sdpa.repair.py")  # type: ignore[attr-defined]
        assert "Your code" not in shown(app)
        await pilot.press("m")
        await settled(pilot)
        assert "Find 1 bug" not in shown(app) and str(app.screen.file).endswith("sdpa.py")  # type: ignore[attr-defined]
        assert "Press m to return" in shown(app)
        await pilot.press("m")
        await settled(pilot)
        assert "Find 1 bug" in shown(app) and (folder / "sdpa.py").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.slow
async def test_the_report_says_how_many_are_repaired_and_what_shows_of_the_others(make_app: MakeApp) -> None:
    outcomes = [HALF, WHOLE]
    async with running(opened(make_app, lambda: outcomes.pop(0), lang="zh"), (120, 60)) as (app, pilot):
        await press(pilot, "r")
        await pilot.press("2")
        await settled(pilot)
        text = await press(pilot, "g")
        assert "2 处错误已修复 1 处" in text and "- 看到了不该看的。" in text
        text = await press(pilot, "l")
        assert "1 of 2 bugs fixed" in text and "- Queries see what they should not." in text
        assert "All 2 bugs fixed: this file counts as fixed" in await press(pilot, "g")
        assert "2 处错误全部修复，本题计为已修复" in await press(pilot, "l")
        found = {entry.challenge.id: entry for entry in standings(app.workspace)}["sdpa"]
        assert (found.standing, found.fixed, found.schedule) == ("new", 1, None)


async def test_a_challenge_without_rounds_does_not_offer_the_key_and_says_so(make_app: MakeApp) -> None:
    async with running(make_app("challenges", challenge="causal-mask")) as (app, pilot):
        assert "Debug" in shown(app) and "repair round" not in shown(app)
        await pilot.press("r")
        assert await noted(pilot, "has no repair round")
        await pilot.press("l", "r")
        assert await noted(pilot, "没有排错环节") and isinstance(app.screen, ChallengeScreen)


@pytest.mark.slow
async def test_b_hands_out_a_wrong_solution_beside_the_own_one_with_its_symptom(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app, "mine\n")
    async with app.run_test(size=(100, 60)) as pilot:
        await press(pilot, "g")
        await press(pilot, "b")
        await press(pilot, "y")
        await settled(pilot)
        assert (app.workspace.home.solutions / "sdpa.py").read_text(encoding="utf-8") == "mine\n"
        file = app.workspace.home.solutions / "sdpa.repair.py"
        handed_out = file.read_text(encoding="utf-8")
        [row] = app.workspace.store.log.of_kind(RowKind.START)
        symptom = app.workspace.library.challenge("sdpa").mistakes[row.payload["bug"]].symptom
        text = " ".join(shown(app).split())
        assert "Find the bug" in text and symptom.en[:40] in text
        assert "def sdpa(" in handed_out and row.payload["bug"] not in handed_out
        assert isinstance(app.screen, ChallengeScreen) and app.screen.report is None, "the old report is put away"
        assert not app.screen.query_one("#report").children
        text = await press(pilot, "l")
        assert "找出错误" in text and symptom.zh[:10] in text


async def test_the_mended_bug_counts_apart_and_schedules_nothing(make_app: MakeApp) -> None:
    outcome = {**WHOLE, "repaired": {"of": 1, "done": 1, "left": []}}
    async with running(opened(make_app, lambda: outcome), (100, 60)) as (app, pilot):
        await press(pilot, "b")
        await settled(pilot)
        text = await press(pilot, "g")
        assert "next due in" not in text and "this file counts as fixed" in text
        assert app.workspace.store.schedules.get("sdpa") is None
        found = {entry.challenge.id: entry for entry in standings(app.workspace)}["sdpa"]
        assert (found.standing, found.fixed) == ("new", 1)


@pytest.mark.full
async def test_b_says_where_nothing_can_be_written(make_app: MakeApp) -> None:
    app = opened(make_app)
    app.workspace.home.solutions.write_text("a file where the folder should be", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("b")
        assert await noted(pilot, "cannot write")
