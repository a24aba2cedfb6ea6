"""`b` on a challenge: a wrong solution to debug, with its symptom; the learner's own files are preserved."""

from __future__ import annotations

from attncli.domain.log_row import RowKind
from attncli.practice.challenges import standings

from .conftest import MakeApp, shown
from .test_challenge import REJECTED, opened, settled, write_solution


async def test_b_hands_out_a_wrong_solution_beside_the_own_one_with_its_symptom(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app, "mine\n")
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("b")
        await settled(pilot)
        assert (app.workspace.home.solutions / "sdpa.py").read_text(encoding="utf-8") == "mine\n"
        file = app.workspace.home.solutions / "sdpa.repair.py"
        handed_out = file.read_text(encoding="utf-8")
        [row] = app.workspace.store.log.of_kind(RowKind.START)
        symptom = app.workspace.library.challenge("sdpa").mistakes[row.payload["bug"]].symptom
        text = " ".join(shown(app).split())
        assert "Find the bug" in text and symptom.en[:40] in text
        assert "def sdpa(" in handed_out and row.payload["bug"] not in handed_out
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "找出错误" in shown(app) and symptom.zh[:10] in shown(app)


async def test_the_mended_bug_counts_apart_and_schedules_nothing(make_app: MakeApp) -> None:
    accepted = {
        **REJECTED,
        "verdict": "accepted",
        "rung": "hardened",
        "checks": REJECTED["checks"][:1],
        "diagnosis": [],
        "repaired": {"of": 1, "done": 1, "left": []},
    }
    app = opened(make_app, lambda: accepted)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("b")
        await settled(pilot)
        await pilot.press("g")
        await settled(pilot)
        assert "next due in" not in shown(app)
        assert "this file counts as fixed" in shown(app)
        assert app.workspace.store.schedules.get("sdpa") is None
        found = {entry.challenge.id: entry for entry in standings(app.workspace)}["sdpa"]
        assert (found.standing, found.fixed) == ("new", 1)


async def test_b_says_where_nothing_can_be_written(make_app: MakeApp) -> None:
    app = opened(make_app)
    app.workspace.home.solutions.write_text("a file where the folder should be", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("b")
        await settled(pilot)
        assert any("cannot write" in note.message for note in app._notifications)
