"""`r` on a challenge: bugs to find and fix, the count of repaired ones, and the learner's own file beside them."""

from __future__ import annotations

import pytest

from attncli.domain.log_row import RowKind
from attncli.practice.challenges import standings
from attncli.tui.screens.base import ChoiceScreen
from attncli.tui.screens.challenge import ChallengeScreen

from .conftest import MakeApp, shown
from .test_challenge import REJECTED, opened, settled, write_solution

LEFT = [{"wrong": "mask-inverted", "symptom": "Queries see what they should not.", "symptom_zh": "看到了不该看的。"}]
HALF = {**REJECTED, "diagnosis": [], "repaired": {"of": 2, "done": 1, "left": LEFT}}
WHOLE = {
    **REJECTED,
    "verdict": "accepted",
    "rung": "hardened",
    "checks": REJECTED["checks"][:1],
    "diagnosis": [],
    "repaired": {"of": 2, "done": 2, "left": []},
}


async def test_r_asks_how_many_and_hands_out_a_file_with_so_many_bugs(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("r")
        await pilot.pause(0.2)
        warning = "You have not solved this yet, and a round shows the reference. How many bugs?"
        assert isinstance(app.screen, ChoiceScreen) and app.screen.question == warning
        await pilot.press("3")
        await settled(pilot)
        text = (app.workspace.home.solutions / "sdpa.repair.py").read_text(encoding="utf-8")
        (row,) = app.workspace.store.log.of_kind(RowKind.START)
        assert len(row.repairs) == 3 and "this file has 3 bugs" in text
        assert "Find 3 bugs" in shown(app)
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "找出 3 处错误" in shown(app)


async def test_a_round_is_there_again_after_leaving_it_and_the_own_solution_beside_it(make_app: MakeApp) -> None:
    app = opened(make_app, lambda: {**WHOLE, "repaired": None})
    write_solution(app, "mine\n")
    folder = app.workspace.home.solutions
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("r")
        await pilot.pause(0.2)
        assert isinstance(app.screen, ChoiceScreen) and app.screen.question == "How many bugs?"
        await pilot.press("escape")
        await settled(pilot)
        assert [file.name for file in folder.iterdir()] == ["sdpa.py"]
        await pilot.press("r")
        await pilot.pause(0.2)
        await pilot.press("1")
        await settled(pilot)
        await pilot.press("escape")
        await pilot.pause()
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


@pytest.mark.parametrize(
    ("lang", "half", "left", "whole"),
    [
        (
            "en",
            "1 of 2 bugs fixed",
            "- Queries see what they should not.",
            "All 2 bugs fixed: this file counts as fixed",
        ),
        ("zh", "2 处错误已修复 1 处", "- 看到了不该看的。", "2 处错误全部修复，本题计为已修复"),
    ],
)
async def test_the_report_says_how_many_are_repaired_and_what_shows_of_the_others(
    make_app: MakeApp, lang: str, half: str, left: str, whole: str
) -> None:
    outcomes = [HALF, WHOLE]
    app = opened(make_app, lambda: outcomes.pop(0), lang=lang)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("r")
        await pilot.pause(0.2)
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        assert half in shown(app) and left in shown(app)
        await pilot.press("g")
        await settled(pilot)
        assert whole in shown(app)
        found = {entry.challenge.id: entry for entry in standings(app.workspace)}["sdpa"]
        assert (found.standing, found.fixed, found.schedule) == ("new", 1, None)


async def test_a_challenge_without_rounds_does_not_offer_the_key(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="vector-add")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert "Debug" in shown(app) and "repair round" not in shown(app)
        await pilot.press("r")
        await pilot.pause(0.2)
        assert isinstance(app.screen, ChallengeScreen)


@pytest.mark.parametrize(("lang", "words"), [("en", "Or press r for a repair round"), ("zh", "或按 r 排错")])
async def test_where_rounds_are_offered_the_key_is_named_and_no_other_key_is_pushed_out(
    make_app: MakeApp, lang: str, words: str
) -> None:
    app = opened(make_app, lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        assert words in shown(app) and "Esc" in shown(app)
