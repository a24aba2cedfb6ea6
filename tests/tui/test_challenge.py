"""Challenges: the list, the statement, the editor, grading, hints, the reference, and what follows a solution."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from attncli.domain.grade_report import CheckResult, GradeReport, read
from attncli.domain.log_row import RowKind
from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.judge.client import OnCheck
from attncli.paths import bundled_impl
from attncli.practice import start
from attncli.practice.challenges import ASKED_NEXT
from attncli.practice.grade import GradeRequest, GradingCancelled, Judge
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import ChoiceScreen
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.grading import AfterSolving

from .conftest import MakeApp, press, running, shown, text_of

NEEDS = {"message": "needs matches-reference", "message_zh": "需先通过 matches-reference"}
SPEED = {"message": "1.3 × the reference", "message_zh": "参考解的 1.3 倍"}
Q, DUE, GOT = ({"shape": [1, 2], "dtype": "float32", "values": [*v]} for v in ((1.0, 0.0), (0.5, 0.5), (0.5, 0.91)))
REJECTED: dict[str, Any] = {
    "challenge": "sdpa",
    "file": "sdpa.py",
    "verdict": "rejected",
    "rung": "none",
    "checks": [
        {"name": "loads", "status": "pass", "required": True, "examples": 1, "seconds": 0.1, "message": ""},
        {
            "name": "matches-reference",
            "status": "fail",
            "required": True,
            "reason": "values",
            "message": "largest error 1.41 at [0, 1]; tolerance 1.0e-05",
            "message_zh": "最大误差 1.41，位于 [0, 1]；容差 1.0e-05",
            "counterexample": {"args": {"q": Q, "scale": None}, "expected": DUE, "got": GOT},
        },
        {"name": "gradients", "status": "skipped", "required": True, **NEEDS},
        {"name": "speed", "status": "info", "required": False, **SPEED},
    ],
    "diagnosis": [{"wrong": "no-scale", "says": "Forgets to divide the scores by √d.", "cards": ["att-02"]}],
    "score": {"passed": 1, "total": 3},
    "seconds": 0.4,
    "seed": 0,
    "sandbox": [],
    "device": "cpu",
    "printed": "hello from the file",
    "stored": [],
}
SOLVED_ID = "online-softmax"
OWN = '"""What is asked, word by word."""\n\ndef online_softmax_stats(chunks):\n    return "mine"\n'
ACCEPTED = {**REJECTED, "verdict": "accepted", "rung": "solved", "checks": REJECTED["checks"][:1], "diagnosis": []}


class Scripted(Judge):
    """A judge with a scripted outcome."""

    def __init__(self, outcome: Callable[[], dict[str, Any]]) -> None:
        super().__init__()
        self.outcome = outcome
        self.requests: list[GradeRequest] = []

    def restart(self) -> None:
        """Do nothing, as there is no process."""

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        self.requests.append(request)
        for name, status in (("loads", "running"), ("loads", "pass"), ("matches-reference", "running")):
            assert on_check is not None
            on_check(read(CheckResult, {"name": name, "status": status}))
        return read(GradeReport, self.outcome())


def opened(make_app: MakeApp, outcome: Callable[[], dict[str, Any]] = lambda: REJECTED, **options: Any) -> AttnApp:
    app = make_app("challenges", challenge="sdpa", **options)
    app.grader = Scripted(outcome)
    return app


def write_solution(app: AttnApp, text: str = "def sdpa(): ...\n") -> AttnApp:
    folder = app.workspace.home.solutions
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sdpa.py").write_text(text, encoding="utf-8")
    return app


@asynccontextmanager
async def in_editor(
    make_app: MakeApp, text: str | None = None, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[tuple[AttnApp, Pilot[None]]]:
    """Open the editor on a solution with this `text`, or on the starter."""
    app = opened(make_app, **options)
    if text is not None:
        write_solution(app, text)
    async with app.run_test(size=size) as pilot:
        await press(pilot, "w")
        yield app, pilot


async def settled(pilot: Pilot[None]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(0.2)


async def test_the_list_shows_track_level_and_standing_of_a_track_alone_with_t(make_app: MakeApp) -> None:
    async with running(make_app("challenges")) as (app, pilot):
        text = shown(app)
        assert "Scaled dot-product attention" in text and "attention" in text and "1/5" in text and "new" in text
        assert "0 of " in text
        await pilot.press("t")
        ids = [str(option.id) for option in app.screen.query_one(Rows).options]
        assert ids and all((bundled_impl() / "attention" / id).is_dir() for id in ids)


@pytest.mark.slow
async def test_words_narrow_the_list_in_both_languages_and_enter_opens_the_first(make_app: MakeApp) -> None:
    async with running(make_app("challenges")) as (app, pilot):
        rows = app.screen.query_one(Rows)
        for typed, listed in (
            ("KV-CACHE", {"kv-cache", "kv-cache-prealloc", "kv-cache-size", "rope-kv-cache"}),
            ("因果 is:new", {"causal-mask", "gpt-causal-self-attention", "causal-lm-loss"}),
            ("is:hardened", set()),
            ("causal is:odd", set()),
        ):
            await pilot.press("slash", *typed)
            assert {str(option.id) for option in rows.options} == listed
            assert ("No challenges match." in shown(app)) == (not listed)
            await press(pilot, "enter")
            assert isinstance(app.screen, ChallengeScreen) == bool(listed)
            await press(pilot, "escape", *(["escape"] if listed else []))
            assert rows.option_count > 90 and "is:new" not in shown(app)


@pytest.mark.slow
async def test_the_statement_folds_what_production_asks_for_until_x_or_a_click(make_app: MakeApp) -> None:
    app, folded = opened(make_app), "any memory layout"
    async with app.run_test(size=(100, 120)) as pilot:
        await pilot.pause(0.3)
        text = shown(app)
        assert all(part in text for part in ("def sdpa(", "level 1 of 5", "Checks of both rungs", "torch.compile"))
        for opens in (False, True, False):
            assert f"{'▾' if opens else '▸'} Hardened" in text and (folded in text) is opens
            text = await press(pilot, "x")
        await pilot.click("Fold > .heading")
        await pilot.click("Fold > .heading")
        text = await press(pilot, "h")
        assert "Hint 1 of 3" in text and folded in text
        text = await press(pilot, "l")
        assert "难度 1/5" in text and "▾ 加固" in text and "任意内存布局" in text, "it stays as it was"
        await pilot.click("Fold > .heading")
        await settled(pilot)
        assert "▸ 加固" in shown(app) and "任意内存布局" not in shown(app)


async def test_editing_writes_the_starter_once(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app, calls = opened(make_app), list[list[str]]()
    file = app.workspace.home.solutions / "sdpa.py"
    monkeypatch.setenv("VISUAL", "my-editor --wait")
    monkeypatch.setattr(start.subprocess, "run", lambda command, check: calls.append(command))
    monkeypatch.setattr(app, "suspend", _nothing_to_suspend)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "e")
        assert "def sdpa(" in file.read_text(encoding="utf-8")
        file.write_text("mine", encoding="utf-8")
        await press(pilot, "e")
        assert file.read_text(encoding="utf-8") == "mine"
    assert calls == [["my-editor", "--wait", str(file)]] * 2


class _nothing_to_suspend:
    """Like Textual's own, it restores the terminal only if no error leaves it."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *error: object) -> None:
        assert kind is None


async def noted(pilot: Pilot[None], words: str) -> bool:
    """Return True if a notice with these words appears."""
    for _ in range(200):
        if any(words in note.message for note in pilot.app._notifications):
            return True
        await pilot.pause(0.05)
    return False


async def test_why_no_editor_opens_is_said(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(make_app)
    monkeypatch.setenv("VISUAL", "vi")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        assert await noted(pilot, "Cannot open an editor here"), "the terminal cannot be lent"
        monkeypatch.setattr(app, "suspend", _nothing_to_suspend)
        monkeypatch.setenv("VISUAL", "no-such-editor-anywhere")
        await pilot.press("e")
        assert await noted(pilot, "no-such-editor-anywhere")
        monkeypatch.setattr(start, "editor_command", lambda setting, environ: [])
        await pilot.press("e")
        assert await noted(pilot, "attn config editor")


async def test_grading_without_a_file_says_how_to_begin(make_app: MakeApp) -> None:
    async with running(opened(make_app)) as (_, pilot):
        await pilot.press("g")
        assert await noted(pilot, "Press e to start")
        await pilot.press("l", "g")
        assert await noted(pilot, "按 e 用编辑器")


async def test_a_rejection_shows_checks_counterexample_and_mistake_and_is_recorded(make_app: MakeApp) -> None:
    async with running(write_solution(opened(make_app)), (100, 60)) as (app, pilot):
        text = await press(pilot, "g")
        assert "✗ Rejected" in text and "1 of 3 checks" in text
        assert "✗ fail" in text and "largest error 1.41" in text and "– skipped" in text and "i info" in text
        assert "0.91*" in text and "scale = None" in text and "expected" in text
        assert "Forgets to divide the scores by √d." in text and "att-02" in text and "hello from the file" in text
        [row] = app.workspace.store.log.of_kind(RowKind.ATTEMPT)
        assert row.payload["verdict"] == "rejected" and row.payload["source"] == "def sdpa(): ...\n"
        assert "tried" in text
        await press(pilot, "c")
        assert isinstance(app.screen, CardScreen) and app.screen.card_id == "att-02", "it explains the mistake"


@pytest.mark.slow
async def test_what_explains_most_comes_first(make_app: MakeApp) -> None:
    said = "line 4: F.scaled_dot_product_attention is not allowed here"
    forbidden = {"name": "forbidden", "status": "fail", "required": True, "reason": "forbidden", "message": said}
    both = [{**REJECTED["diagnosis"][0], "beside": "nan-rows"}, {"wrong": "nan-rows", "says": "NaN rows.", "cards": []}]
    common = {"wrong": "transposed", "says": "Two axes are swapped.", "says_zh": "有两个轴互换了。", "cards": []}
    outcomes = [{"checks": [forbidden, *REJECTED["checks"]]}, {"diagnosis": both}, {"diagnosis": [common]}]
    async with running(write_solution(opened(make_app, lambda: REJECTED | outcomes.pop(0))), (100, 60)) as (_, pilot):
        text = await press(pilot, "g")
        assert "0.91*" not in text, "the counterexample of another check says nothing of the forbidden call"
        assert text.index(said) < text.index("Forgets to divide") < text.index("largest error 1.41")
        text = await press(pilot, "g")
        assert text.index("Two mistakes together explain") < text.index("Forgets to divide")
        assert "Two axes are swapped." in await press(pilot, "g")
        assert "有两个轴互换了。" in await press(pilot, "l")


@pytest.mark.slow
async def test_an_accepted_solution_says_on_which_inputs_and_when_it_comes_back(make_app: MakeApp) -> None:
    app = write_solution(opened(make_app, lambda: {**ACCEPTED, "rung": "hardened", "seed": 3}))
    async with running(app, (120, 40)) as (_, pilot):
        assert app.screen.query_one("#statement").size.width > 110
        text = await press(pilot, "g")
        assert "✓✓ Hardened" in text and "next due in" in text and "hardened" in text and "new inputs (seed 3)" in text
        assert "def sdpa(" in text, "a wide terminal shows both"
        assert app.screen.query_one("#statement").size.width < 62 < app.screen.query_one("#report").size.width + 10
        text = await press(pilot, "l")
        assert "后到期" in text and "种子 3" in text


async def test_progress_is_live_and_escape_cancels(make_app: MakeApp) -> None:
    cancelled = threading.Event()

    def wait() -> dict[str, Any]:
        assert cancelled.wait(30)
        if len(app.grader.requests) > 1:  # type: ignore[attr-defined]
            return REJECTED
        raise GradingCancelled(quoted("the grading was cancelled; there is no verdict"))

    app = opened(make_app, wait)
    app.grader.cancel = cancelled.set  # type: ignore[method-assign]
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await pilot.pause(0.3)
        assert "Grading: matches-reference" in shown(app) and "› running" in shown(app) and "✓ pass" in shown(app)
        await pilot.press("g")
        assert len(app.grader.requests) == 1, "one grading at a time"  # type: ignore[attr-defined]
        allowed = {action: app.screen.check_action(action, ()) for action in ("back", "edit", "hint", "cancel")}
        assert allowed == {"back": False, "edit": False, "hint": True, "cancel": True}
        await pilot.press("h", "escape")
        await settled(pilot)
        assert "Grading cancelled." in shown(app) and isinstance(app.screen, ChallengeScreen)
        assert not list(app.workspace.store.log.of_kind(RowKind.ATTEMPT))
        cancelled.clear()
        await pilot.press("g", "h")
        cancelled.set()
        await settled(pilot)
        assert "✗ Rejected" in shown(app), "the report comes up when the grading ends"


async def test_a_judge_that_fails_is_said_and_not_recorded(make_app: MakeApp) -> None:
    def die() -> dict[str, Any]:
        if len(app.grader.requests) > 1:  # type: ignore[attr-defined]
            return {**REJECTED, "verdict": "error", "checks": [], "diagnosis": []}
        raise JudgeFailed(quoted("grading needs PyTorch and it is not installed; install it with: pip install torch"))

    async with running(write_solution(opened(make_app, die))) as (app, pilot):
        assert "pip install torch" in " ".join((await press(pilot, "g")).replace("█", "").split())
        assert "! The judge failed" in await press(pilot, "g")
        assert not list(app.workspace.store.log.of_kind(RowKind.ATTEMPT))


@pytest.mark.slow
async def test_tab_and_x_turn_between_statement_and_report(make_app: MakeApp) -> None:
    async with running(write_solution(opened(make_app))) as (app, pilot):
        await pilot.press("tab")
        assert not app.screen.has_class("-report"), "there is no report yet"
        text = await press(pilot, "g")
        assert "✗ Rejected" in text and "Tab Statement" in text and "Tab Report" not in text
        text = await press(pilot, "tab")
        assert "✗ Rejected" not in text and "def sdpa(" in text
        assert "Tab Report" in text and "Tab Statement" not in text
        text = await press(pilot, "tab", "x")
        assert "✗ Rejected" not in text and "▾ Hardened" in text and "any memory layout" in text
        assert "✗ 未通过" in await press(pilot, "tab", "l")


async def test_c_says_where_no_card_explains_it(make_app: MakeApp, tmp_path: Path) -> None:
    async with running(opened(make_app, bank=tmp_path)) as (app, pilot):
        await press(pilot, "c")
        assert any("No card explains" in note.message for note in app._notifications)


@pytest.mark.slow
async def test_hints_come_one_by_one_and_the_reference_after_yes_and_all_are_recorded(make_app: MakeApp) -> None:
    app = opened(make_app)
    log = app.workspace.store.log
    async with app.run_test(size=(100, 60)) as pilot:
        for number in (1, 2, 3):
            assert f"Hint {number} of 3" in await press(pilot, "h")
        await pilot.press("h")
        assert await noted(pilot, "no more hints") and len(log.of_kind(RowKind.HINT)) == 3
        await press(pilot, "o")
        assert isinstance(app.screen, ChoiceScreen)
        await press(pilot, "n")
        assert not log.of_kind(RowKind.SOLUTION)
        await press(pilot, "o")
        assert "import torch" in await press(pilot, "y") and len(log.of_kind(RowKind.SOLUTION)) == 1


async def test_in_chinese_the_judges_sentences_are_chinese_and_the_place_is_named(make_app: MakeApp) -> None:
    check = REJECTED["checks"][1]
    values = {**check["counterexample"], "call": 2, "calls": [{"call": "sdpa"}] * 2, "first_wrong_index": [0, 1]}
    values["expected"] = {**check["counterexample"]["expected"], "axes": ["T", "d"]}
    values["frames"] = [{"line": 7, "function": "sdpa", "code": "raise ValueError('\x1b[2J')"}]
    outcome = {**REJECTED, "checks": [{**check, "counterexample": values}]}
    async with running(write_solution(opened(make_app, lambda: outcome, lang="zh")), (120, 60)) as (_, pilot):
        text = await press(pilot, "g")
        assert "✗ 未通过" in text and "忘了除以 √d。" in text and f"数值不对：{check['message_zh']}" in text
        assert "第 2 次调用，依次为：1–2. sdpa" in text and "第一处不同：[T=0, d=1]" in text
        assert "[T=1, d=2] float32" in text and "[1, 2] float32" in text
        assert "sdpa.py:7，sdpa 内：raise ValueError('')" in text and "\x1b" not in text


@pytest.mark.slow
async def test_once_accepted_f_examines_the_file_on_inputs_that_it_has_not_seen(make_app: MakeApp) -> None:
    skipped = {"name": "device", "status": "skipped", "required": True, "message": "cannot be proved"}
    told = {"seed": 6, "checks": [skipped], "device_note": "run on the CPU"}
    outcomes = [REJECTED, {**REJECTED, "verdict": "accepted", "rung": "hardened", **told}]
    app = write_solution(opened(make_app, lambda: outcomes[min(len(app.grader.requests), 2) - 1]))
    async with running(app, (110, 60)) as (_, pilot):
        await press(pilot, "g")
        await press(pilot, "f")
        assert len(app.grader.requests) == 1, "a file that was rejected is not examined again"
        await press(pilot, "g")
        verdict = text_of(app.screen.query_one(".verdict"))
        for told in ("f: grade again on new inputs", "not verified: device", "run on the CPU"):
            assert told in verdict
        await press(pilot, "f")
    assert [request.options.seed for request in app.grader.requests] == [0, 0, 7]
    assert len(app.workspace.store.log.of_kind(RowKind.ATTEMPT)) == 3


def opened_own(make_app: MakeApp, lang: str = "en") -> AttnApp:
    app = make_app("challenges", challenge=SOLVED_ID, lang=lang)
    app.grader = Scripted(lambda: {**ACCEPTED, "challenge": SOLVED_ID})
    folder = app.workspace.home.solutions
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{SOLVED_ID}.py").write_text(OWN, encoding="utf-8")
    return app


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.full)])
async def test_an_accepted_solution_is_followed_by_questions_whose_answers_open(make_app: MakeApp, lang: str) -> None:
    async with running(opened_own(make_app, lang), (100, 200)) as (app, pilot):
        assert not app.screen.query(AfterSolving)
        await press(pilot, "g")
        assert app.screen.query_one(AfterSolving)
        asked = app.workspace.library.challenge(SOLVED_ID).follow_ups
        text = shown(app)
        assert ASKED_NEXT[lang] in text and '"mine"' in text
        assert "word by word" not in text and "Milakov" not in text, "code stands beside code"
        assert len(asked) == 3
        first = asked[0].answer[lang].split("$")[0][:12]
        assert first not in text
        await press(pilot, "a")
        assert first in shown(app)


@pytest.mark.slow
async def test_n_opens_the_next_unsolved_challenge_and_what_was_solved_before_still_shows(make_app: MakeApp) -> None:
    async with running(opened_own(make_app), (100, 60)) as (app, pilot):
        await pilot.press("n")
        assert app.screen.challenge_id == SOLVED_ID, "only once it is solved"
        await press(pilot, "g")
        await press(pilot, "n")
        assert isinstance(app.screen, ChallengeScreen) and app.screen.challenge_id != SOLVED_ID
        assert app.screen.challenge.track == "efficient"
    again = make_app("challenges", challenge=SOLVED_ID)
    async with again.run_test(size=(100, 300)):
        assert again.screen.query_one("#statement").query_one(AfterSolving)
        assert '"mine"' in shown(again)
