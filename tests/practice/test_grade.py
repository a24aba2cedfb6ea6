"""Choose a device, try own cases, cancel a grading, and verify many challenges."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from attncli.bank.loader import load_challenge
from attncli.config import Settings
from attncli.domain.challenge import gains_by_gpu, runs_on_gpu
from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport, read
from attncli.errors import JudgeFailed, NotFound, UsageError
from attncli.judge.challenge import Folder
from attncli.judge.submission import Budget, Submission
from attncli.judge.try_case import typed_case
from attncli.paths import Home, bundled_impl
from attncli.practice import grade, verify
from attncli.practice.challenges import reference
from attncli.practice.grade import GradeRequest, GradingCancelled, Judge, calls_of, counterexample_text, device_for
from attncli.practice.library import challenge_of
from attncli.practice.verify import can_be_run
from attncli.practice.workspace import Workspace
from in_process import InProcessWorker
from moved_clock import Clock

KERNEL = SimpleNamespace(kernel=True, required=("loads", "work"))
MEMORY = SimpleNamespace(kernel=False, required=("loads", "device", "memory"))
PLACED = SimpleNamespace(kernel=False, required=("loads", "device"))
NUMBERS = SimpleNamespace(kernel=False, required=("loads", "memory"))
BUILDS = {
    "__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n": "2.13.0+cpu",
    "__version__ = '2.13.0'\ncuda: Optional[str] = '12.8'\n": "",
    '__version__ = "2.13.0"\ncuda = "12.8"\n': "",
    "": "",
}
WITHOUT, WITH_CUDA, *_ = BUILDS
FOLDER = bundled_impl() / "attention" / "softmax-stable"
PATIENCE_SECONDS = 20
SPEC = {
    "id": "softmax-stable",
    "version": 1,
    "entry": ["softmax"],
    "required": ["loads", "matches-reference"],
    "badges": [],
    "forbidden": [],
    "cards": [],
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """`machine(there, build)` simulates a machine with or without a GPU, and its PyTorch build."""

    def make(there: bool, build: str) -> None:
        monkeypatch.setattr(grade, "gpu_is_seen", lambda: there)
        package = tmp_path / "torch"
        package.mkdir(exist_ok=True)
        (package / "version.py").write_text(build)
        spec = ModuleSpec("torch", None, origin=str(package / "__init__.py"))
        monkeypatch.setattr(grade.importlib.util, "find_spec", lambda name: spec)

    return make


def test_where_there_is_no_gpu_or_no_cuda_one_line_says_so(machine: Any) -> None:
    for build, version in BUILDS.items():
        machine(True, build)
        assert grade.torch_without_cuda() == version, "the build is known by its version file"
    machine(False, WITH_CUDA)
    with pytest.raises(UsageError, match="no NVIDIA GPU found; use --device cpu") as caught:
        grade.require_gpu()
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    machine(True, WITHOUT)
    with pytest.raises(UsageError, match=r"PyTorch 2.13.0\+cpu has no CUDA support; install a CUDA build"):
        device_for(PLACED, "cuda")  # type: ignore[arg-type]


def test_auto_takes_a_gpu_where_it_gains(machine: Any) -> None:
    gpu, cpu = ("cuda", False), ("cpu", False)
    for challenge, auto, cuda in (
        *((KERNEL, ("cuda", True), gpu), (MEMORY, ("cuda", True), gpu)),
        *((PLACED, cpu, gpu), (NUMBERS, cpu, cpu)),
    ):
        known = (challenge.kernel, challenge.required)
        assert runs_on_gpu(*known) or not gains_by_gpu(*known)
        machine(True, WITH_CUDA)
        chosen = [device_for(challenge, device) for device in ("auto", "cuda", "cpu")]  # type: ignore[arg-type]
        assert chosen == [auto, cuda, cpu]
        for there, build in ((False, WITH_CUDA), (True, WITHOUT)):
            machine(there, build)
            assert device_for(challenge, "auto") == cpu, "auto never fails for want of a GPU"  # type: ignore[arg-type]


def test_no_torch_is_loaded_to_choose() -> None:
    """Check a machine with a GPU, where the PyTorch build is inspected."""
    source = (
        "import sys\nfrom types import SimpleNamespace\n"
        "from attncli.practice import grade\n"
        "grade.gpu_is_seen = lambda: True\n"
        "grade.device_for(SimpleNamespace(kernel=True, required=()), 'auto')\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, moving_clock: Clock) -> Iterator[Workspace]:
    """Open a workspace over the bundled challenges."""
    home = Home(tmp_path / "own-cases")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=small_bank) as opened:
        yield opened


def rejected(args: dict, **more: object) -> GradeReport:
    check = {"name": "matches-reference", "status": "fail", "counterexample": {"args": args, **more}}
    return GradeReport(challenge="gqa", file="gqa.py", verdict="rejected", checks=(read(CheckResult, check),))


def tensor(values: torch.Tensor, **more: object) -> dict:
    dtype = str(values.dtype).removeprefix("torch.")
    return {"shape": list(values.shape), "dtype": dtype, "values": values.flatten().tolist(), **more}


def test_a_counterexample_can_be_typed_back(workspace: Workspace) -> None:
    challenge = workspace.library.challenge("softmax-stable")
    folder = Folder({"id": challenge.id, "entry": challenge.entry}, Path(challenge.folder))
    submission = Submission(b"", "mine.py", folder.entry, InProcessWorker, Budget(60))
    for values in (
        *(torch.randn(2, 1, 3), torch.tensor(2.5), torch.arange(4).reshape(2, 2), torch.zeros(2, 0)),
        *(torch.tensor([True, False]), torch.tensor([[0.5]], dtype=torch.bfloat16)),
        torch.tensor([1.0, torch.inf, -torch.inf]),
    ):
        shown = tensor(values)
        shown["values"] = [str(v) if v in (torch.inf, -torch.inf) else v for v in shown["values"]]
        text = counterexample_text(challenge, rejected({"x": shown, "dim": -1}))
        case = typed_case(folder, submission, text)
        assert case.inputs[0].value.dtype == values.dtype and torch.equal(case.inputs[0].value, values)
        assert case.steps[0]["kwargs"]["dim"] == ["i", -1]
    whole = tensor(torch.zeros(4))
    assert counterexample_text(challenge, rejected({"x": whole}))
    for unusable in (
        *(None, rejected({}), rejected({"x": {**whole, "truncated": True}}), rejected({"x": tensor(torch.zeros(500))})),
        rejected({"x": 1.0}, calls=[{"call": "softmax"}, {"call": "softmax"}], call=2),
    ):
        assert counterexample_text(challenge, unusable) == "", "what is not whole or not short is not typed"


def test_what_can_be_called_is_shown_without_what_is_inside(workspace: Workspace) -> None:
    assert calls_of(workspace.library.challenge("gqa")) == ["gqa(q, k, v, causal=False)"]
    made, *methods = calls_of(workspace.library.challenge("kv-cache-prealloc"))
    assert made.startswith("StaticKVCache(") and "self" not in made and all(m.startswith(".") for m in methods)
    with pytest.raises(NotFound, match="there is no file"):
        grade.try_request(workspace, "gqa", workspace.home.solutions / "gqa.py", "1")


@pytest.fixture
def tried(workspace: Workspace, grader: Judge) -> Callable[..., BothAnswers]:
    """`tried(text)` returns both answers, always from the same judge process."""
    challenge, file = workspace.library.challenge("causal-mask"), workspace.home.solutions / "causal-mask.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(reference(challenge).replace("key <= query", "key < query"), encoding="utf-8")
    grader.restart()
    judge = grader._process

    def answers(text: str, **limits: Any) -> BothAnswers:
        request = grade.try_request(workspace, "causal-mask", file, text)
        found = grader.try_case(replace(request, options=replace(request.options, **limits)))
        assert grader._process is judge
        return found

    return answers


# What a text means no good with, and a part of the line that says so.
HOSTILE = {
    "__import__('os').system('true')": "it tried os.system",
    "open('/etc/passwd').read()": "PermissionError",
    "open('/tmp/new', 'w')": "(line 1: open('/tmp/new', 'w'))",
    "torch.zeros(10**9)": "a case has up to 16 calls and 65536 numbers",
    "[0] * 10**10": "a case has up to 16 calls and 65536 numbers",
    "list(range(100000))": "with too many parts",
    "causal_mask(3)\nwhile True: pass": "still running after 2 s in the case that you typed",
    "import sys; [sys.stdout.write('x' * 100000) for _ in range(99)]; causal_mask(3)": "printed more than 1 MiB",
    "import os; os._exit(0); causal_mask(3)": "exit status 0",
    "import ctypes; ctypes.string_at(0); causal_mask(3)": "SIGSEGV",
    "raise SystemExit(3)": "SystemExit: 3",
    "type('Sub', (torch.Tensor,), {})([1.0])": "cannot pass <Sub>",
    "torch": "cannot pass <module>",
    "__import__('os').write(3, b'aTn1' + bytes(99))": "sent",
    "type('E', (Exception,), {'__str__': lambda self: 1 / 0}); raise E": "",
}


@pytest.mark.slow
@pytest.mark.sandbox
def test_both_answers_are_given_to_any_text(workspace: Workspace, tried: Callable[..., BothAnswers]) -> None:
    rows = workspace.store.log.length()
    for text, says in HOSTILE.items():
        found = tried(text, timeout_seconds=2.0)
        assert says in found.refused.en and "\n" not in found.refused.en, (text, found)
        assert found.refused.en and found.refused.zh and not found.printed and found.shown is None
    found = tried("print('of the text') or 3")
    assert found.same is False and found.shown is not None and found.shown.first_wrong_index is not None
    assert workspace.store.log.length() == rows, "nothing is recorded"


def request(source: str) -> GradeRequest:
    options = grade.GradeOptions(timeout_seconds=60)
    return GradeRequest(spec=SPEC, folder=FOLDER, source=source.encode(), filename="softmax.py", options=options)


@pytest.fixture
def grader() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_cancelled_grading_ends_at_once_and_the_next_one_works(grader: Judge) -> None:
    Judge().close()
    Judge().cancel()  # without a process both are harmless
    grader.restart()
    running = threading.Event()
    cancel = threading.Thread(target=lambda: running.wait(60) and grader.cancel())
    cancel.start()
    with pytest.raises(GradingCancelled):
        grader.grade(request("while True: pass"), lambda event: running.set())
    cancel.join()
    right = sorted((FOLDER / "right").glob("*.py"))[0].read_text(encoding="utf-8")
    events: list[str] = []
    report = grader.grade(request(right), lambda event: events.append(event.name))
    assert report.accepted and "matches-reference" in events
    with pytest.raises(JudgeFailed, match="the judge died") as caught:
        grader.grade(request("while True: pass"), lambda event: grader.kill())
    assert not isinstance(caught.value, GradingCancelled), "a judge that dies by itself is not cancelled"


def test_an_interrupt_does_not_wait_for_begun_proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun, closed, was_closed = Event(), Event(), list[bool]()

    def interrupted(*_: object) -> None:
        assert begun.wait(PATIENCE_SECONDS)
        raise KeyboardInterrupt

    def busy(*_: object) -> Any:
        begun.set()
        was_closed.append(closed.wait(PATIENCE_SECONDS))
        return {"sound": [], "wrong": {}, "surprises": []}

    judges = iter([SimpleNamespace(verify=interrupted, close=int), SimpleNamespace(verify=busy, close=closed.set)])
    monkeypatch.setattr(verify, "Judge", SimpleNamespace(start=lambda: next(judges)))
    monkeypatch.setattr(verify, "specification", lambda challenge: {})
    challenges: Any = [SimpleNamespace(id=name, folder=str(tmp_path), required=()) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt):
        verify.verify_challenges(challenges, streams=1, jobs=2)
    assert was_closed == [True]


def test_only_kernels_need_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    document = load_challenge(bundled_impl() / "kernels" / "vector-add" / "challenge.yaml").documents[0]
    kernel = challenge_of(document)
    assert kernel.kernel
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not can_be_run(kernel)
    assert can_be_run(replace(kernel, kernel=False))


def test_a_mistake_that_does_not_compose_fails_a_proof_and_misjudges_no_file(tmp_path: Path) -> None:
    found = {"file": "repairs.yaml", "line": 5, "stream": 0, "verdict": "accepted", "message": "mean, planted: …"}
    proof = verify.Proof("double", tmp_path, 3, 6, [found])
    document = proof.document()
    assert not proof.holds and document["failures"] == [found]
    assert document["right"] == {"accepted": 3, "total": 3} and document["wrong"] == {"rejected": 6, "total": 6}
    assert proof.failures() == [f"{tmp_path / 'repairs.yaml'}:5: mean, planted: …"]
