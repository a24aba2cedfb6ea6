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
import yaml

from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.judge.challenge import Folder
from attncli.judge.client import GradeOptions
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
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
LEFT_TO_ALL = SPREAD[7:]
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


@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.full] * (id in LEFT_TO_ALL)) for id in SPREAD])
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


@pytest.mark.parametrize("id", WRONG)
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


@pytest.mark.parametrize(
    "lines",
    [
        ["return (x * scale).softmax(-1) * torch.ones(x.shape[-1], dtype=x.dtype)"],
        ["return (x * scale).softmax(-1).cpu()"],
        ["out = torch.empty(x.shape, dtype=x.dtype)", "out.copy_((x * scale).softmax(-1))", "return out"],
        ["y = (x * scale).softmax(-1)", "return y if x.dim() < 3 else y + torch.zeros(x.shape, dtype=x.dtype)"],
    ],
    ids=["beside", "returned", "copied", "in an edge case"],
)
def test_a_tensor_on_the_cpu_is_named_by_device_and_nothing_else_is_asked(weigh: Folder, lines: list[str]) -> None:
    report = grade(weigh, solution(*lines), ELSEWHERE)
    device = check(report, "device")
    assert (report["verdict"], report["rung"], device["status"], device["rung"]) == (
        "rejected",
        "none",
        "fail",
        "solved",
    )
    assert "device=x.device" in device["message"]
    others = [found for found in report["checks"] if found["name"] not in ("loads", "device", "forbidden")]
    assert {found["status"] for found in others} == {"skipped"}


def test_the_same_file_is_solved_on_the_cpu_and_to_be_hardened(weigh: Folder) -> None:
    report = grade(weigh, solution("return (x * scale).softmax(-1).cpu() * torch.ones(x.shape[-1], dtype=x.dtype)"))
    assert (report["rung"], check(report, "device")["status"]) == ("solved", "fail")


def test_a_wrong_value_is_shown_with_its_numbers(weigh: Folder) -> None:
    report = grade(weigh, solution("return (x * scale).softmax(0)"), ELSEWHERE, rung="solved")
    failed = next(found for found in report["checks"] if found["status"] == "fail")
    assert (failed["name"], failed["reason"]) == ("matches-reference", "values")
    assert failed["counterexample"]["got"]["values"] and failed["counterexample"]["expected"]["values"]


def test_the_counterexample_is_the_one_of_the_cpu(weigh: Folder) -> None:
    source = solution("return (x * scale).softmax(0)")
    here, there = (grade(weigh, source, device, rung="solved") for device in (CPU, ELSEWHERE))
    shown = [check(report, "matches-reference")["counterexample"]["args"] for report in (here, there)]
    assert shown[0] == shown[1]
    assert here["stored"] == there["stored"]


def test_a_counterexample_that_was_kept_on_the_cpu_is_tried_there(weigh: Folder) -> None:
    source = solution("return (x * scale).softmax(0)")
    kept = grade(weigh, source, rung="solved")["stored"]
    found = check(grade(weigh, source, ELSEWHERE, rung="solved", replay=kept), "matches-reference")
    assert found["examples"] == 1 and found["message"].startswith("the stored counterexample")


def test_code_that_changes_its_input_is_told_there_what_it_is_told_on_the_cpu(weigh: Folder) -> None:
    source = solution("y = (x * scale).softmax(-1)", "x.zero_()", "return y")
    reasons = [[found.get("reason") for found in grade(weigh, source, device)["checks"]] for device in (CPU, ELSEWHERE)]
    assert reasons[0] == reasons[1] and "mutated" in reasons[0]


def test_what_hangs_together_in_memory_is_seen_there(weigh: Folder) -> None:
    lines = ["weigh.kept = getattr(weigh, 'kept', {})"]
    lines += ["kept = weigh.kept.setdefault((tuple(x.shape), x.dtype), torch.empty_like(x))"]
    lines += ["out = (x * scale).softmax(-1)", "return out if out.requires_grad else kept.copy_(out)"]
    report = grade(weigh, solution(*lines), ELSEWHERE)
    assert "aliased" in {found.get("reason") for found in report["checks"]}


def test_speed_is_told_by_the_device_s_clock_and_only_there(tmp_path: Path) -> None:
    folder = write_challenge(
        tmp_path, {"id": "weigh", "entry": ["weigh"], "forbidden": [], "badges": ["speed"]}, REFERENCE, INPUTS, {}
    )
    said = {device: check(grade(folder, REFERENCE, device), "speed")["message"] for device in (CPU, ELSEWHERE)}
    assert said[CPU].endswith("ms per call, including IPC")
    assert re.fullmatch(r"\d+\.\d{3} ms on the device, by device events", said[ELSEWHERE])
    assert float(said[ELSEWHERE].split()[0]) > 0
