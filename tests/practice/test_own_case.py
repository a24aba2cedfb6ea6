"""Try own cases: the questions to the judge, and counterexamples that can be typed back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import torch

from attncli.config import Settings
from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport, read
from attncli.errors import NotFound
from attncli.judge.challenge import Folder
from attncli.judge.submission import Budget, Submission
from attncli.judge.try_case import typed_case
from attncli.paths import Home
from attncli.practice.challenges import reference
from attncli.practice.grade import Judge, calls_of, counterexample_text, try_request
from attncli.practice.workspace import Workspace
from in_process import InProcessWorker


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, moving_clock: Callable[[], datetime]) -> Iterator[Workspace]:
    """Open a workspace over the bundled challenges."""
    home = Home(tmp_path / "own-cases")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=small_bank) as opened:
        yield opened


def rejected(args: dict, **more: object) -> GradeReport:
    shown = {"args": args, **more}
    check = {"name": "matches-reference", "status": "fail", "counterexample": shown}
    return GradeReport(challenge="gqa", file="gqa.py", verdict="rejected", checks=(read(CheckResult, check),))


def tensor(values: torch.Tensor, **more: object) -> dict:
    dtype = str(values.dtype).removeprefix("torch.")
    return {"shape": list(values.shape), "dtype": dtype, "values": values.flatten().tolist(), **more}


@pytest.mark.parametrize(
    "values",
    [
        torch.randn(2, 1, 3),
        torch.tensor(2.5),
        torch.arange(4).reshape(2, 2),
        torch.zeros(2, 0),
        torch.tensor([True, False]),
        torch.tensor([[0.5]], dtype=torch.bfloat16),
        torch.tensor([1.0, torch.inf, -torch.inf]),
    ],
)
def test_a_counterexample_can_be_typed_back(workspace: Workspace, values: torch.Tensor) -> None:
    challenge = workspace.library.challenge("softmax-stable")
    shown = tensor(values)
    shown["values"] = [str(v) if v in (torch.inf, -torch.inf) else v for v in shown["values"]]
    text = counterexample_text(challenge, rejected({"x": shown, "dim": -1}))
    folder = Folder({"id": challenge.id, "entry": challenge.entry}, Path(challenge.folder))
    case = typed_case(folder, Submission(b"", "mine.py", folder.entry, InProcessWorker, Budget(60)), text)
    assert case.inputs[0].value.dtype == values.dtype and torch.equal(case.inputs[0].value, values)
    assert case.steps[0]["kwargs"]["dim"] == ["i", -1]


@pytest.mark.parametrize(
    "report",
    [
        None,
        rejected({}),
        rejected({"x": tensor(torch.zeros(4), truncated=True)}),
        rejected({"x": tensor(torch.zeros(500))}),
        rejected({"x": 1.0}, calls=[{"call": "softmax"}, {"call": "softmax"}], call=2),
    ],
)
def test_what_is_not_whole_or_not_short_is_not_typed(workspace: Workspace, report: GradeReport | None) -> None:
    assert counterexample_text(workspace.library.challenge("softmax-stable"), report) == ""


def test_what_can_be_called_is_shown_without_what_is_inside(workspace: Workspace) -> None:
    assert calls_of(workspace.library.challenge("gqa")) == ["gqa(q, k, v, causal=False)"]
    made, *methods = calls_of(workspace.library.challenge("kv-cache-prealloc"))
    assert made.startswith("StaticKVCache(") and "self" not in made and all(m.startswith(".") for m in methods)


def test_without_a_file_there_is_nothing_to_try(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        try_request(workspace, "gqa", workspace.home.solutions / "gqa.py", "1")


@pytest.fixture
def tried(workspace: Workspace) -> Iterator[Callable[..., BothAnswers]]:
    """`tried(text)` returns both answers, always from the same judge process."""
    challenge, file = workspace.library.challenge("causal-mask"), workspace.home.solutions / "causal-mask.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(reference(challenge).replace("key <= query", "key < query"), encoding="utf-8")
    grader = Judge()
    grader.restart()
    judge = grader._process

    def answers(text: str, **limits: Any) -> BothAnswers:
        request = try_request(workspace, "causal-mask", file, text)
        found = grader.try_case(replace(request, options=replace(request.options, **limits)))
        assert grader._process is judge
        return found

    yield answers
    grader.close()


def test_the_judge_gives_both_answers_and_nothing_is_recorded(
    workspace: Workspace, tried: Callable[..., BothAnswers]
) -> None:
    rows = workspace.store.log.length()
    found = tried("3")
    assert found.same is False and found.shown is not None and found.shown.first_wrong_index is not None
    assert workspace.store.log.length() == rows


# What a text means no good with, and a part of the line that says so.
HOSTILE = {
    "__import__('os').system('true')": "it tried os.system",
    "open('/etc/passwd').read()": "PermissionError",
    "open('/tmp/new', 'w')": "(line 1: open('/tmp/new', 'w'))",
    "torch.zeros(10**9)": "a case has up to 16 calls and 65536 numbers",
    "[0] * 10**10": "a case has up to 16 calls and 65536 numbers",
    "torch.zeros(1000, 1000)": "a case has up to 16 calls and 65536 numbers",
    "list(range(100000))": "with too many parts",
    "causal_mask(3)\nwhile True: pass": "still running after 2 s in the case that you typed",
    "import sys; [sys.stdout.write('x' * 100000) for _ in range(99)]; causal_mask(3)": "printed more than 1 MiB",
    "import os; os._exit(0); causal_mask(3)": "exit status 0",
    "import ctypes; ctypes.string_at(0); causal_mask(3)": "SIGSEGV",
    "raise SystemExit(3)": "SystemExit: 3",
    "exit(3)": "exit",
    "type('Sub', (torch.Tensor,), {})([1.0])": "cannot pass <Sub>",
    "torch": "cannot pass <module>",
    "__import__('os').write(3, b'aTn1' + bytes(99))": "sent",
    "type('E', (Exception,), {'__str__': lambda self: 1 / 0}); raise E": "",
}


@pytest.mark.sandbox
def test_a_hostile_text_is_one_line_and_the_next_case_is_answered(tried: Callable[..., BothAnswers]) -> None:
    for text, says in HOSTILE.items():
        found = tried(text, timeout_seconds=2.0)
        assert says in found.refused.en and "\n" not in found.refused.en, (text, found)
        assert found.refused.en and found.refused.zh and not found.printed and found.shown is None
    assert tried("print('of the text') or 3").shown is not None
