"""A case of one's own: what the judge is asked, and the counterexample as it can be typed back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
import torch

from attncli.config import Settings
from attncli.domain.grade_report import GradeReport, check_of
from attncli.errors import NotFound
from attncli.judge.challenge import Folder
from attncli.judge.try_case import typed_case
from attncli.paths import Home
from attncli.practice.challenges import reference
from attncli.practice.grade import WarmJudge, calls_of, counterexample_text, try_request
from attncli.practice.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, moving_clock: Callable[[], datetime]) -> Iterator[Workspace]:
    """Over the bundled challenges."""
    home = Home(tmp_path / "own-cases")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=small_bank) as opened:
        yield opened


def rejected(args: dict, **more: object) -> GradeReport:
    shown = {"args": args, **more}
    check = {"name": "matches-reference", "status": "fail", "counterexample": shown}
    return GradeReport(challenge="gqa", file="gqa.py", verdict="rejected", checks=(check_of(check),))


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
    case = typed_case(text, Folder({"id": challenge.id, "entry": challenge.entry}, Path(challenge.folder)))
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


def test_the_judge_gives_both_answers_and_nothing_is_recorded(workspace: Workspace) -> None:
    challenge, file = workspace.library.challenge("causal-mask"), workspace.home.solutions / "causal-mask.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(reference(challenge).replace("key <= query", "key < query"), encoding="utf-8")
    rows = workspace.store.log.length()
    grader = WarmJudge()
    try:
        found = grader.try_case(try_request(workspace, "causal-mask", file, "3"))
        refused = grader.try_case(try_request(workspace, "causal-mask", file, "open('x')"))
    finally:
        grader.close()
    assert found.same is False and found.shown is not None and found.shown.first_wrong_index is not None
    assert "cannot be called here" in refused.refused.en
    assert workspace.store.log.length() == rows
