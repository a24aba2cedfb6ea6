"""Run the judge's server without a sandbox: the workers that run a file, and the reported device."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.judge import challenge
from attncli.judge import server as served
from attncli.judge.server import Server
from attncli.sandbox.devices import CPU, ELSEWHERE
from attncli.sandbox.policy import CPU as CPU_POLICY
from attncli.sandbox.policy import CUDA_KERNELS, WorkerPolicy
from in_process import InProcessWorker, check
from played_kernels import FRUGAL, GREEDY, RIGHT_THERE, write_kernels

WHY = "CUDA does not begin in the sandbox: out of memory"
Ask = Callable[..., dict[str, Any]]


class FakeZygote:
    """Make workers in this process; `loaded` counts loads by (worker policy, device)."""

    def __init__(self) -> None:
        self.loaded: Counter[tuple[str, str]] = Counter()
        self.tried = 0
        self.begins = True

    def worker(self, memory_mib: int, policy: WorkerPolicy) -> InProcessWorker:
        zygote = self

        class Worker(InProcessWorker):
            def load(self, *asked: Any) -> Any:
                zygote.loaded[policy.name, asked[-1]] += 1
                return super().load(*asked)

        return Worker()

    def layers_under(self, policy: WorkerPolicy) -> tuple[str, ...]:
        self.tried += policy is CUDA_KERNELS
        if policy is CUDA_KERNELS and not self.begins:
            raise JudgeFailed(quoted(WHY))
        return (f"layers of {policy.name}",)

    def prepare(self, memory_mib: int, policy: WorkerPolicy) -> None:
        pass

    def alive(self) -> bool:
        return True


@pytest.fixture
def zygote() -> FakeZygote:
    return FakeZygote()


@pytest.fixture
def ask(tmp_path: Any, zygote: FakeZygote, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that sends requests for the fake kernels, on the fake device by default."""
    monkeypatch.setattr(
        served, "policy_of", lambda device, kernel, *cache: CPU_POLICY if device == CPU else CUDA_KERNELS
    )
    monkeypatch.setattr(challenge.kernels, "prepare", lambda: None)
    folder, out = write_kernels(tmp_path), io.StringIO()
    server: Any = Server(out, zygote)  # type: ignore[arg-type]

    def request(operation: str, **more: Any) -> dict[str, Any]:
        options = {"device": ELSEWHERE, "memory_mib": 512, "timeout_seconds": 60}
        said = {"op": operation, "id": 1, "folder": str(folder.path), "spec": folder.spec, "options": options}
        server._answer({**said, "repairs": [], **more})
        answer: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
        return answer

    return request


@pytest.fixture
def grade(ask: Ask) -> Ask:
    def graded(source: str, may_fall_back: bool = False) -> dict[str, Any]:
        asked = {"filename": "mine.py", "replay": [], "bugs": [], "may_fall_back": may_fall_back}
        answer = ask("grade", source=b64encode(source.encode()).decode(), **asked)
        return answer.get("report", answer)

    return graded


def test_every_worker_has_its_submissions_policy(ask: Ask, zygote: FakeZygote, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each stream a wrong kernel runs in the interpreter, in a renewed worker with another policy."""
    prepared: list[str] = []
    monkeypatch.setattr(zygote, "prepare", lambda memory, policy: prepared.append(policy.name))
    assert ask("verify", streams=2, known={}, only=[])["proof"]["surprises"] == []
    assert set(zygote.loaded) == {("cpu", CPU), ("cuda-kernels", ELSEWHERE)}
    assert "cuda-kernels" in prepared and prepared[-1] == "cpu", "the one forked ahead is of the last one's policy"


def test_a_kernel_that_the_gpu_alone_accepts_is_rejected_with_the_interpreters_report(grade: Ask) -> None:
    for source, failing in ((GREEDY, "work"), (RIGHT_THERE, "matches-reference")):
        report = grade(source)
        assert (report["verdict"], report["rung"], report["device"]) == ("rejected", "none", "interpreter")
        assert check(report, failing)["status"] == "fail" and report["sandbox"] == ["layers of cpu"]
        assert "Triton's interpreter" in report["device_note"] and "解释器" in report["device_note_zh"]


def test_a_kernel_that_both_accept_is_told_with_what_the_interpreter_alone_counts(grade: Ask) -> None:
    report = grade(FRUGAL)
    assert (report["verdict"], report["rung"], report["device"]) == ("accepted", "hardened", ELSEWHERE)
    assert report["sandbox"] == ["layers of cuda-kernels"]
    work = check(report, "work")
    assert work["status"] == "pass" and work["growth"][0]["measure"] == "moved"
    assert "also run in" in report["device_note"]


def test_a_kernel_that_the_gpu_rejects_is_not_interpreted(grade: Ask, zygote: FakeZygote) -> None:
    report = grade("def total(x):\n    return x.sum(0) + 1\n")
    assert (report["verdict"], report["device"]) == ("rejected", ELSEWHERE)
    assert "device_note" not in report and ("cpu", CPU) not in zygote.loaded


def test_a_gpu_that_cannot_be_used_is_tried_once_unless_it_is_asked_for(grade: Ask, zygote: FakeZygote) -> None:
    zygote.begins = False
    for _ in range(2):
        report = grade(FRUGAL, may_fall_back=True)
        assert (report["verdict"], report["device"]) == ("accepted", "interpreter")
        assert report["device_note"].endswith(WHY) and report["device_note_zh"].startswith("GPU 不可用")
    assert zygote.tried == 1
    assert grade(FRUGAL)["error"]["en"] == WHY, "its failure is the answer"
    zygote.begins = True
    assert grade(FRUGAL)["device"] == ELSEWHERE


def test_a_zygote_that_died_says_nothing_about_the_gpu(grade: Ask, zygote: FakeZygote) -> None:
    zygote.begins = False
    zygote.alive = lambda: False  # type: ignore[method-assign]
    assert grade(FRUGAL, may_fall_back=True)["device"] == "interpreter"
    zygote.begins = True
    assert grade(FRUGAL, may_fall_back=True)["device"] == ELSEWHERE
