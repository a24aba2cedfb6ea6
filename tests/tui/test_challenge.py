"""Challenges: the list, the statement, the editor, grading with progress, cancelling, hints, the reference."""

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
from attncli.practice.grade import GradeRequest, GradingCancelled, Judge
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import ChoiceScreen
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.widgets.answers import Rows

from .conftest import MakeApp, shown, text_of

NEEDS = {"message": "needs matches-reference", "message_zh": "需先通过 matches-reference"}
SPEED = {"message": "1.3 × the reference", "message_zh": "参考解的 1.3 倍"}
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
            "counterexample": {
                "args": {"q": {"shape": [1, 2], "dtype": "float32", "values": [1.0, 0.0]}, "scale": None},
                "expected": {"shape": [1, 2], "dtype": "float32", "values": [0.5, 0.5]},
                "got": {"shape": [1, 2], "dtype": "float32", "values": [0.5, 0.91]},
            },
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


def write_solution(app: AttnApp, text: str = "def sdpa(): ...\n") -> None:
    folder = app.workspace.home.solutions
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sdpa.py").write_text(text, encoding="utf-8")


@asynccontextmanager
async def in_editor(
    make_app: MakeApp, text: str | None = None, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[tuple[AttnApp, Pilot[None]]]:
    """Open the editor on a solution with this `text`, or on the starter."""
    app = opened(make_app, **options)
    if text is not None:
        write_solution(app, text)
    async with app.run_test(size=size) as pilot:
        await pilot.press("w")
        await pilot.pause(0.3)
        yield app, pilot


async def settled(pilot: Pilot[None]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(0.2)


async def test_the_list_shows_track_level_and_standing(make_app: MakeApp) -> None:
    app = make_app("challenges")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert "Scaled dot-product attention" in text and "attention" in text and "1/5" in text and "new" in text
        assert "0 of " in text
        await pilot.press("t")
        ids = [
            app.screen.query_one(Rows).get_option_at_index(n).id for n in range(app.screen.query_one(Rows).option_count)
        ]
        assert ids and all((bundled_impl() / "attention" / str(id)).is_dir() for id in ids)


@pytest.mark.parametrize(
    ("typed", "listed"),
    [
        ("causal mask", {"causal-mask"}),
        ("KV-CACHE", {"kv-cache", "kv-cache-prealloc", "kv-cache-size", "rope-kv-cache"}),
        ("因果 is:new", {"causal-mask", "gpt-causal-self-attention", "causal-lm-loss"}),
        ("is:hardened", set()),
        ("causal is:odd", set()),
    ],
)
async def test_words_narrow_the_list_in_both_languages(make_app: MakeApp, typed: str, listed: set[str]) -> None:
    app = make_app("challenges")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *typed)
        rows = app.screen.query_one(Rows)
        found = {str(option.id) for option in rows.options}
        assert found == listed
        assert ("No challenges match." in shown(app)) == (not listed)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, ChallengeScreen) == bool(listed)
        await pilot.press("escape", *(["escape"] if listed else []))
        await pilot.pause()
        assert rows.option_count > 90 and "is:new" not in shown(app)


async def test_enter_opens_the_challenge_under_the_cursor(make_app: MakeApp) -> None:
    app = make_app("challenges")
    app.grader = Scripted(lambda: REJECTED)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, ChallengeScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen, ChallengeScreen)


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("No file", "level 1 of 5", "Checks of both rungs")), ("zh", ("难度 1/5",))]
)
async def test_the_statement_says_what_to_write(make_app: MakeApp, lang: str, words: tuple[str, ...]) -> None:
    app = opened(make_app, lang=lang)
    async with app.run_test(size=(100, 120)) as pilot:
        await pilot.pause(0.3)
        text = shown(app)
        assert "def sdpa(" in text and all(word in text for word in words if word != "No file")


@pytest.mark.parametrize(
    ("lang", "everywhere", "title", "folded"),
    [("en", "torch.compile", "Hardened", "any memory layout"), ("zh", "torch.compile", "加固", "任意内存布局")],
)
async def test_what_production_asks_for_is_folded_until_x_is_pressed_or_it_is_clicked(
    make_app: MakeApp, lang: str, everywhere: str, title: str, folded: str
) -> None:
    app = opened(make_app, lang=lang)
    async with app.run_test(size=(100, 120)) as pilot:
        await pilot.pause(0.3)
        assert everywhere in shown(app) and f"▸ {title}" in shown(app) and folded not in shown(app)
        await pilot.press("x")
        await pilot.pause(0.3)
        assert f"▾ {title}" in shown(app) and folded in shown(app)
        await pilot.press("x")
        await pilot.pause(0.3)
        assert f"▸ {title}" in shown(app) and folded not in shown(app)
        await pilot.click("Fold > .heading")
        await pilot.pause(0.3)
        assert folded in shown(app)


async def test_what_was_unfolded_stays_so_while_the_screen_is_open(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(100, 120)) as pilot:
        await pilot.press("x", "h")
        await pilot.pause(0.3)
        assert "Hint 1 of 3" in shown(app) and "any memory layout" in shown(app)
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "任意内存布局" in shown(app)


async def test_unfolding_turns_to_the_statement_and_brings_it_into_sight(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("x")
        await pilot.pause(0.3)
        assert "✗ Rejected" not in shown(app)
        assert "▾ Hardened" in shown(app) and "any memory layout" in shown(app)


async def test_editing_writes_the_starter_once_and_opens_the_editor(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(make_app)
    calls: list[list[str]] = []
    monkeypatch.setenv("VISUAL", "my-editor --wait")
    monkeypatch.setattr(start.subprocess, "run", lambda command, check: calls.append(command))
    monkeypatch.setattr(app, "suspend", _nothing_to_suspend)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        await pilot.pause(0.2)
        file = app.workspace.home.solutions / "sdpa.py"
        assert "def sdpa(" in file.read_text(encoding="utf-8")
        file.write_text("mine", encoding="utf-8")
        await pilot.press("e")
        await pilot.pause(0.2)
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


async def test_a_missing_editor_is_said(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(make_app)
    monkeypatch.setenv("VISUAL", "no-such-editor-anywhere")
    monkeypatch.setattr(app, "suspend", _nothing_to_suspend)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        assert await noted(pilot, "no-such-editor-anywhere")


async def test_a_terminal_that_cannot_be_lent_is_said(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(make_app)
    monkeypatch.setenv("VISUAL", "vi")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        assert await noted(pilot, "Cannot open an editor here")


async def test_without_any_editor_the_setting_is_named(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(make_app)
    monkeypatch.setattr(start, "editor_command", lambda setting, environ: [])
    monkeypatch.setattr(app, "suspend", _nothing_to_suspend)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("e")
        assert await noted(pilot, "attn config editor")


async def test_grading_without_a_file_says_how_to_begin(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await pilot.pause()
        assert any(note.message.startswith("Press e to start") for note in app._notifications)
        await pilot.press("l", "g")
        await pilot.pause()
        assert any(note.message.startswith("按 e 用编辑器") for note in app._notifications)


async def test_a_rejection_shows_checks_counterexample_and_mistake_and_is_recorded(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        text = shown(app)
        assert "✗ Rejected" in text and "1 of 3 checks" in text
        assert "✗ fail" in text and "largest error 1.41" in text and "– skipped" in text and "i info" in text
        assert "0.91*" in text and "scale = None" in text and "expected" in text
        assert "Forgets to divide the scores by √d." in text and "att-02" in text and "hello from the file" in text
        [row] = app.workspace.store.log.of_kind(RowKind.ATTEMPT)
        assert row.payload["verdict"] == "rejected" and row.payload["source"] == "def sdpa(): ...\n"
        assert "tried" in text


async def test_the_mistake_is_named_in_chinese(make_app: MakeApp) -> None:
    app = opened(make_app, lang="zh")
    write_solution(app)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "忘了除以 √d。" in shown(app) and "✗ 未通过" in shown(app)


async def test_a_forbidden_call_is_not_buried_under_what_follows_from_it(make_app: MakeApp) -> None:
    said = "line 4: F.scaled_dot_product_attention is not allowed here"
    forbidden = {"name": "forbidden", "status": "fail", "required": True, "reason": "forbidden", "message": said}
    app = opened(make_app, lambda: {**REJECTED, "checks": [forbidden, *REJECTED["checks"]]})
    write_solution(app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        text = shown(app)
        assert "0.91*" not in text, "the counterexample of another check says nothing of the forbidden call"
        assert text.index(said) < text.index("Forgets to divide") < text.index("largest error 1.41")


@pytest.mark.parametrize(("lang", "said"), [("en", "Two axes are swapped."), ("zh", "有两个轴互换了。")])
async def test_what_all_answers_have_in_common_is_told(make_app: MakeApp, lang: str, said: str) -> None:
    common = {"wrong": "transposed", "says": "Two axes are swapped.", "says_zh": "有两个轴互换了。", "cards": []}
    app = opened(make_app, lambda: {**REJECTED, "diagnosis": [common]}, lang=lang)
    write_solution(app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert said in shown(app)


async def test_two_mistakes_at_once_are_introduced_as_such(make_app: MakeApp) -> None:
    both = [{**REJECTED["diagnosis"][0], "beside": "nan-rows"}, {"wrong": "nan-rows", "says": "NaN rows.", "cards": []}]
    app = opened(make_app, lambda: {**REJECTED, "diagnosis": both})
    write_solution(app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        text = shown(app)
        assert text.index("Two mistakes together explain") < text.index("Forgets to divide")


async def test_an_accepted_solution_says_when_it_comes_back(make_app: MakeApp) -> None:
    accepted = {
        **REJECTED,
        "verdict": "accepted",
        "rung": "hardened",
        "checks": REJECTED["checks"][:1],
        "diagnosis": [],
    }
    app = opened(make_app, lambda: accepted)
    write_solution(app)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        text = shown(app)
        assert "✓✓ Hardened" in text and "next due in" in text and "hardened" in text
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "后到期" in shown(app)


async def test_progress_is_live_and_escape_cancels(make_app: MakeApp) -> None:
    cancelled = threading.Event()

    def wait() -> dict[str, Any]:
        assert cancelled.wait(30)
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
        await pilot.press("escape")
        await settled(pilot)
        assert "Grading cancelled." in shown(app) and isinstance(app.screen, ChallengeScreen)
        assert not list(app.workspace.store.log.of_kind(RowKind.ATTEMPT))


async def test_a_judge_that_dies_is_said_and_not_recorded(make_app: MakeApp) -> None:
    def die() -> dict[str, Any]:
        raise JudgeFailed(quoted("grading needs PyTorch and it is not installed; install it with: pip install torch"))

    app = opened(make_app, die)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "pip install torch" in " ".join(shown(app).replace("█", "").split())
        assert not list(app.workspace.store.log.of_kind(RowKind.ATTEMPT))


async def test_a_verdict_of_error_is_shown_and_not_recorded(make_app: MakeApp) -> None:
    app = opened(make_app, lambda: {**REJECTED, "verdict": "error", "checks": [], "diagnosis": []})
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "! The judge failed" in shown(app)
        assert not list(app.workspace.store.log.of_kind(RowKind.ATTEMPT))


async def test_tab_turns_between_statement_and_report(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab")
        assert not app.screen.has_class("-report"), "there is no report yet"
        await pilot.press("g")
        await settled(pilot)
        assert "✗ Rejected" in shown(app)
        await pilot.press("tab")
        await pilot.pause()
        assert "✗ Rejected" not in shown(app) and "def sdpa(" in shown(app)


async def test_wide_terminals_show_both(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "def sdpa(" in shown(app) and "✗ Rejected" in shown(app)


async def test_a_report_says_which_fresh_exam_it_is_of(make_app: MakeApp) -> None:
    app = opened(make_app, lambda: {**REJECTED, "seed": 3})
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "new inputs (seed 3)" in shown(app)
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "种子 3" in shown(app)


async def test_the_report_survives_a_change_of_language(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("l")
        await pilot.pause(0.3)
        assert "✗ 未通过" in shown(app)


async def test_c_opens_the_card_that_explains_the_mistake(make_app: MakeApp) -> None:
    app = opened(make_app)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("c")
        await pilot.pause(0.2)
        assert isinstance(app.screen, CardScreen) and app.screen.card_id == "att-02"


async def test_c_says_where_no_card_explains_it(make_app: MakeApp, tmp_path: Path) -> None:
    app = opened(make_app, bank=tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        await pilot.pause()
        assert any("No card explains" in note.message for note in app._notifications)


async def test_hints_come_one_by_one_and_are_recorded(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(100, 60)) as pilot:
        for number in (1, 2, 3):
            await pilot.press("h")
            await pilot.pause(0.2)
            assert f"Hint {number} of 3" in shown(app)
        await pilot.press("h")
        await pilot.pause()
        assert any("no more hints" in note.message for note in app._notifications)
        assert len(app.workspace.store.log.of_kind(RowKind.HINT)) == 3


async def test_the_reference_is_shown_only_after_yes(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("o")
        await pilot.pause(0.2)
        assert isinstance(app.screen, ChoiceScreen)
        await pilot.press("n")
        await pilot.pause(0.2)
        assert not app.workspace.store.log.of_kind(RowKind.SOLUTION)
        await pilot.press("o")
        await pilot.pause(0.2)
        await pilot.press("y")
        await pilot.pause(0.4)
        assert len(app.workspace.store.log.of_kind(RowKind.SOLUTION)) == 1 and "import torch" in shown(app)


@pytest.mark.sandbox
async def test_a_right_solution_is_accepted_by_the_real_judge(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    right = sorted((bundled_impl() / "attention" / "sdpa" / "right").glob("*.py"))[0]
    write_solution(app, right.read_text(encoding="utf-8"))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        assert "✓✓ Hardened" in shown(app)


async def test_in_chinese_the_judges_sentences_are_chinese_and_the_place_is_named(make_app: MakeApp) -> None:
    check = REJECTED["checks"][1]
    shown_values = {
        **check["counterexample"],
        "call": 2,
        "calls": [{"call": "sdpa"}, {"call": "sdpa"}],
        "expected": {**check["counterexample"]["expected"], "axes": ["T", "d"]},
        "first_wrong_index": [0, 1],
        "frames": [{"line": 7, "function": "sdpa", "code": "raise ValueError('\x1b[2J')"}],
    }
    said = "最大误差 1.41，位于 [0, 1]；容差 1.0e-05"
    failed = {**check, "message_zh": said, "counterexample": shown_values}
    app = opened(make_app, lambda: {**REJECTED, "checks": [failed]}, lang="zh")
    write_solution(app)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        text = shown(app)
        assert f"数值不对：{said}" in text
        assert "第 2 次调用，依次为：1–2. sdpa" in text and "第一处不同：[T=0, d=1]" in text
        assert "[T=1, d=2] float32" in text and "[1, 2] float32" in text
        assert "sdpa.py:7，sdpa 内：raise ValueError('')" in text and "\x1b" not in text


async def test_once_accepted_f_examines_the_file_on_inputs_that_it_has_not_seen(make_app: MakeApp) -> None:
    skipped = {"name": "device", "status": "skipped", "required": True, "message": "cannot be proved"}
    told = {"seed": 6, "checks": [skipped], "device_note": "run on the CPU"}
    outcomes = [REJECTED, {**REJECTED, "verdict": "accepted", "rung": "hardened", **told}]
    app = opened(make_app, lambda: outcomes[min(len(app.grader.requests), 2) - 1])
    write_solution(app)
    async with app.run_test(size=(110, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("f")
        await settled(pilot)
        assert len(app.grader.requests) == 1, "a file that was rejected is not examined again"
        await pilot.press("g")
        await settled(pilot)
        verdict = text_of(app.screen.query_one(".verdict"))
        for told in ("f: grade again on new inputs", "not verified: device", "run on the CPU"):
            assert told in verdict
        await pilot.press("f")
        await settled(pilot)
    assert [request.options.seed for request in app.grader.requests] == [0, 0, 7]
    assert len(app.workspace.store.log.of_kind(RowKind.ATTEMPT)) == 3
