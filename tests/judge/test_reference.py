"""Run the reference on the grading device: its results return to the CPU and report their device, by the same code as
submissions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attncli.judge.exam import Exam
from attncli.judge.reference import Observed, as_given, run_natively
from attncli.judge.submission import Budget, Submission
from attncli.sandbox.devices import CPU, ELSEWHERE
from in_process import InProcessWorker, write_challenge

SOURCE = """
def keep(x, kept):
    kept.append(x + 1)
    return {"now": x, "before": [x.cpu()]}
"""
INPUTS = """
def case(make):
    kept = make.shared([make.normal(3)])
    make.call("keep", make.normal(make.size(1, 4)), kept)
    make.call("keep", make.normal(2), kept)
"""


@pytest.fixture
def exam(tmp_path: Path) -> Exam:
    spec = {"id": "keep", "entry": ["keep"], "required": ["loads", "matches-reference"], "forbidden": []}
    return Exam(write_challenge(tmp_path, spec, SOURCE, INPUTS, {}), 0, ELSEWHERE)


def test_reference_and_submission_tell_by_the_same_paths_where_their_tensors_lay(exam: Exam) -> None:
    (request,) = exam.sample("matches-reference", 1)
    submission = Submission(SOURCE.encode(), "mine.py", ["keep"], InProcessWorker, Budget(60), device=ELSEWHERE)
    assert submission.load() is None
    mine, due = submission.run(request), run_natively(exam.folder.reference, request.case, as_given)
    assert isinstance(mine, Observed)
    assert mine.devices == due.devices
    places = {path: CPU if "before" in path else ELSEWHERE for path in due.devices}
    assert due.devices == places and {"shared 0", 0, 1} == {path[0] for path in due.devices}


def test_what_is_compared_has_the_names_of_the_whole(exam: Exam) -> None:
    (request,) = exam.sample("matches-reference", 1)
    observed = run_natively(exam.folder.reference, request.case, as_given)
    assert observed.parts(request.case).keys() == observed.whole().keys() == {0, 1, "shared 0"}
    assert all(isinstance(part, torch.Tensor) and type(part) is torch.Tensor for part in observed.shared[0])
