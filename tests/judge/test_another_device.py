"""Rehearse grading on a GPU without one.

"elsewhere" is a fake device: CPU tensors that report another device. A grading there uses the same functions as one on
"cuda"; only the placement of tensors and their return differ. It covers 16 bits, modules, callables, generators and
backward passes. It cannot cover features of a real GPU: its own random draws (a generator there is a CPU one), its
allocator's figures, its kernels and Triton's compilation. Its name equals that of torch's meta device, so the one file
that uses meta tensors is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.judge.challenge import Folder
from attncli.judge.client import GradeOptions
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.reference import Observed, as_given, run_natively
from attncli.judge.submission import Budget, Submission
from attncli.sandbox.devices import CPU, ELSEWHERE
from in_process import InProcessWorker, check, grade, write_challenge

IMPL = Path(__file__).parent.parent.parent / "impl"

# Tensors in and out, a random mask, whole numbers out, an object with a state, modules, a model that is called,
# steps of an optimiser, a backward pass of one's own, memory, 16 bits as the technique.
SPREAD = (
    *("attention-dropout", "int8-quant", "kv-cache-prealloc", "bf16-round", "moe-capacity", "layer-norm-backward"),
    *("stochastic-rounding", "softmax-stable", "top-k-top-p", "learned-pe", "lora", "decoder-only-generate", "adamw"),
    *("online-softmax", "t5-relative-bias"),
)
# A state that is written to.
FEW = ("kv-cache-prealloc",)
# What makes tensors on torch's own meta device, which has the same name there.
LEFT_OUT = {"moe-capacity/right/queues.py"}


def challenge(id: str) -> Folder:
    (path,) = IMPL.glob(f"*/{id}")
    said = yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8"))
    listed: dict[str, Any] = {name: said.get(name, []) for name in ("entry", "required", "forbidden", "cards")}
    return Folder({"id": id, "version": said.get("version", 1), **listed, "badges": []}, path)


def accepted_files(folder: Folder) -> list[Path]:
    return [folder.path / "reference.py", *sorted((folder.path / "right").glob("*.py"))]


def graded(exam: Exam, file: Path) -> GradeReport:
    entry, device = exam.folder.entry, exam.device
    submission = Submission(file.read_bytes(), str(file), entry, InProcessWorker, Budget(600), device=device)
    return Grading(exam, submission, GradeOptions(rung="hardened", quick=True)).run()


def first_failed(report: GradeReport) -> CheckResult | None:
    return next((found for found in report.checks if found.status == "fail" and found.required), None)


def test_what_is_left_out_asks_torch_s_meta_device() -> None:
    files = [file for id in SPREAD for file in accepted_files(challenge(id))]
    assert {_named(file) for file in files if '"meta"' in file.read_text(encoding="utf-8")} == LEFT_OUT


def _named(file: Path) -> str:
    """Return `challenge/right/file.py`."""
    return "/".join(file.relative_to(IMPL).parts[1:])


@pytest.mark.slow
@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.full] * (id not in FEW)) for id in SPREAD])
def test_the_reference_and_every_right_file_are_accepted_there(id: str) -> None:
    folder = challenge(id)
    exam = Exam(folder, 0, ELSEWHERE)
    for file in accepted_files(folder):
        if _named(file) in LEFT_OUT:
            continue
        report = graded(exam, file)
        assert report.rung == "hardened", (file.name, first_failed(report))
        assert not [found.name for found in report.checks if found.status == "skipped"], file.name


# The first wrong files of each. Who makes tensors on the CPU besides is told of that.
WRONG = ("softmax-stable", "attention-dropout", "int8-quant", "kv-cache-prealloc", "learned-pe", "adamw", "lora")


@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.full] * (id not in FEW)) for id in WRONG])
def test_a_wrong_file_fails_the_check_that_it_fails_on_the_cpu(id: str) -> None:
    folder = challenge(id)
    exams = [Exam(folder, 0, device) for device in (CPU, ELSEWHERE)]
    for file in sorted((folder.path / "wrong").glob("*.py"))[:3]:
        here, there = (first_failed(graded(exam, file)) for exam in exams)
        assert here is not None and there is not None, file.name
        assert there.name == here.name or there.name == "device", (file.name, there.message.en)
        assert there.name != "device" or _makes_tensors_on_the_cpu(folder, file), file.name


def _makes_tensors_on_the_cpu(folder: Folder, file: Path) -> bool:
    """Return True if the file's device check fails on the CPU too, with no other check required."""
    alone = Folder({**folder.spec, "required": ["loads", "device"]}, folder.path)
    failed = first_failed(graded(Exam(alone, 0), file))
    return failed is not None and failed.name == "device"


REFERENCE = "import torch\ndef weigh(x, scale=1.0):\n    return (x * scale).softmax(-1)\n"
INPUTS = '''
def case(make):
    make.call("weigh", make.normal(make.size(1, 4), make.size(1, 5)))

def edge_three_dimensions(make):
    """Three dimensions."""
    make.call("weigh", make.normal(2, 3, 4))
'''


@pytest.fixture(scope="module")
def weigh(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    folder = tmp_path_factory.mktemp("weigh")
    return write_challenge(folder, {"id": "weigh", "entry": ["weigh"], "forbidden": []}, REFERENCE, INPUTS, {})


def solution(*lines: str) -> str:
    return "import torch\ndef weigh(x, scale=1.0):\n    " + "\n    ".join(lines) + "\n"


def test_a_tensor_on_the_cpu_is_named_by_device_and_nothing_else_is_asked(weigh: Folder) -> None:
    for lines in (
        ["return (x * scale).softmax(-1) * torch.ones(x.shape[-1], dtype=x.dtype)"],
        ["return (x * scale).softmax(-1).cpu()"],
        ["out = torch.empty(x.shape, dtype=x.dtype)", "out.copy_((x * scale).softmax(-1))", "return out"],
        ["y = (x * scale).softmax(-1)", "return y if x.dim() < 3 else y + torch.zeros(x.shape, dtype=x.dtype)"],
    ):
        report = grade(weigh, solution(*lines), ELSEWHERE)
        device = check(report, "device")
        assert (report["verdict"], report["rung"]) == ("rejected", "none"), lines
        assert (device["status"], device["rung"]) == ("fail", "solved")
        assert "device=x.device" in device["message"]
        others = [found for found in report["checks"] if found["name"] not in ("loads", "device", "forbidden")]
        assert {found["status"] for found in others} == {"skipped"}
    here = grade(weigh, solution("return (x * scale).softmax(-1).cpu() * torch.ones(x.shape[-1], dtype=x.dtype)"))
    assert (here["rung"], check(here, "device")["status"]) == ("solved", "fail"), "it is solved on the CPU"


def test_the_counterexample_is_the_one_of_the_cpu_and_tried_there(weigh: Folder) -> None:
    source = solution("return (x * scale).softmax(0)")
    here, there = (grade(weigh, source, device, rung="solved") for device in (CPU, ELSEWHERE))
    failed = next(found for found in there["checks"] if found["status"] == "fail")
    assert (failed["name"], failed["reason"]) == ("matches-reference", "values")
    shown = failed["counterexample"]
    assert shown["got"]["values"] and shown["expected"]["values"]
    assert check(here, "matches-reference")["counterexample"]["args"] == shown["args"]
    assert here["stored"] == there["stored"]
    again = check(grade(weigh, source, ELSEWHERE, rung="solved", replay=here["stored"]), "matches-reference")
    assert again["examples"] == 1 and again["message"].startswith("the stored counterexample")


def test_what_is_changed_or_shared_in_memory_is_told_there_as_on_the_cpu(weigh: Folder) -> None:
    source = solution("y = (x * scale).softmax(-1)", "x.zero_()", "return y")
    reasons = [[found.get("reason") for found in grade(weigh, source, device)["checks"]] for device in (CPU, ELSEWHERE)]
    assert reasons[0] == reasons[1] and "mutated" in reasons[0]
    lines = ["weigh.kept = getattr(weigh, 'kept', {})"]
    lines += ["kept = weigh.kept.setdefault((tuple(x.shape), x.dtype), torch.empty_like(x))"]
    lines += ["out = (x * scale).softmax(-1)", "return out if out.requires_grad else kept.copy_(out)"]
    report = grade(weigh, solution(*lines), ELSEWHERE)
    assert "aliased" in {found.get("reason") for found in report["checks"]}


def test_speed_is_told_by_the_device_s_clock_and_only_there(tmp_path: Path) -> None:
    spec = {"id": "weigh", "entry": ["weigh"], "forbidden": [], "badges": ["speed"]}
    folder = write_challenge(tmp_path, spec, REFERENCE, INPUTS, {})
    said = {device: check(grade(folder, REFERENCE, device), "speed")["message"] for device in (CPU, ELSEWHERE)}
    assert said[CPU].endswith("ms per call, including IPC")
    assert re.fullmatch(r"\d+\.\d{3} ms on the device, by device events", said[ELSEWHERE])
    assert float(said[ELSEWHERE].split()[0]) > 0


KEEP = """
def keep(x, kept):
    kept.append(x + 1)
    return {"now": x, "before": [x.cpu()]}
"""
KEEP_INPUTS = """
def case(make):
    kept = make.shared([make.normal(3)])
    make.call("keep", make.normal(make.size(1, 4)), kept)
    make.call("keep", make.normal(2), kept)
"""


def test_reference_and_submission_tell_by_the_same_paths_where_their_tensors_lay(tmp_path: Path) -> None:
    spec = {"id": "keep", "entry": ["keep"], "required": ["loads", "matches-reference"], "forbidden": []}
    exam = Exam(write_challenge(tmp_path, spec, KEEP, KEEP_INPUTS, {}), 0, ELSEWHERE)
    (request,) = exam.sample("matches-reference", 1)
    submission = Submission(KEEP.encode(), "mine.py", ["keep"], InProcessWorker, Budget(60), device=ELSEWHERE)
    assert submission.load() is None
    mine, due = submission.run(request), run_natively(exam.folder.reference, request.case, as_given)
    assert isinstance(mine, Observed) and mine.devices == due.devices
    places = {path: CPU if "before" in path else ELSEWHERE for path in due.devices}
    assert due.devices == places and {"shared 0", 0, 1} == {path[0] for path in due.devices}
    assert due.parts(request.case).keys() == due.whole().keys() == {0, 1, "shared 0"}
    assert all(type(part) is torch.Tensor for part in due.shared[0]), "back on the CPU"
