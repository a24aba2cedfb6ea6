"""Grade solutions that attack the judge, as if they had bypassed the check for forbidden names: a verdict in bounds."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from attncli import paths
from attncli.domain.grade_report import GradeReport, report_document
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.judge.counterexample import LARGEST
from attncli.judge.grade import MESSAGE_LENGTH
from attncli.practice.grade import specification
from attncli.practice.workspace import Workspace
from attncli.sandbox.namespaces import children_of

pytestmark = pytest.mark.sandbox

SOLUTIONS = Path(__file__).parent / "solutions"
MEMORY_MIB = 1024
SECONDS = 5.0
# What these do takes long where the machine is busy.
PATIENT_SECONDS = {"mem_mprotect": 100.0}
# A grading that is not over by then never ends.
HUNG_SECONDS = 240.0
POLL_SECONDS = 0.02

# The challenge, and the first check that fails with its reason; no check for a file that is accepted.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "crash_bloat": ("sdpa", "matches-reference", "shape"),
    "crash_complex": ("sdpa", "matches-reference", "shape"),
    "crash_frames_nan": ("sdpa", "matches-reference", "protocol"),
    "crash_gradients": ("sdpa", "gradients", "protocol"),
    "crash_property": ("attention-dropout", "gradients", "gradient"),
    "crash_raised_fields": ("sdpa", "matches-reference", "protocol"),
    "crash_random_shape": ("sdpa", "matches-reference", "shape"),
    "crash_reason": ("sdpa", "matches-reference", "too-large"),
    "crash_shape": ("sdpa", "matches-reference", "protocol"),
    "crash_touched": ("sdpa", "loads", "protocol"),
    "device_refused": ("sdpa", "device", "exception"),
    "gen_crash_seen": ("decoder-only-generate", "matches-reference", "exception"),
    "gen_unbind": ("decoder-only-generate", "matches-reference", "exception"),
    "growth_zeros": ("flash-attention", "work", "values"),
    "hang_collide": ("sdpa", "matches-reference", "too-large"),
    "hang_collide_honest": ("sdpa", "matches-reference", "shape"),
    "hidden_library": ("sdpa", "device", "exception"),
    "mem_blind_watch": ("sdpa", "loads", "protocol"),
    "mem_growsdown": ("sdpa", "matches-reference", "too-large"),
    "mem_header_regex": ("sdpa", "loads", "protocol"),
    "mem_mprotect": ("sdpa", "loads", "memory"),
    "mem_judge": ("sdpa", "matches-reference", "values"),
    # The watch for what is written to runs in the learner's own process: it stops mistakes, not whoever gets at it.
    "pure_forged": ("sdpa", "", ""),
    "report_unbounded_type": ("sdpa", "matches-reference", "too-large"),
    "summary_escapes": ("sdpa", "", ""),
}

READ = ("hidden_library", "mem_growsdown", "pure_forged")

# One of each kind: what it attacks, and where that shows.
FEW = {
    *("crash_complex", "crash_frames_nan", "crash_gradients", "crash_touched", "gen_unbind", "growth_zeros"),
    *("hang_collide", "hidden_library", "mem_growsdown", "mem_header_regex", "report_unbounded_type", "pure_forged"),
}


@pytest.fixture(scope="module")
def challenges(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = paths.home(tmp_path_factory.mktemp("home"), {})
    with Workspace.open(home, lambda: datetime(2026, 1, 1, tzinfo=UTC)) as workspace:
        return {challenge.id: challenge for challenge in workspace.library.challenges()}


def anonymous_mib(pid: int) -> float:
    """Return a process's anonymous and shared memory in MiB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:"))) / 1024


def below(pid: int) -> list[int]:
    return [found for child in children_of(pid) for found in (child, *below(child))]


@dataclass
class Watch:
    """Poll the memory of the judge and its workers, and kill a judge that hangs."""

    judge: Judge
    most_mib: float = 0.0

    def __enter__(self) -> Watch:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll)
        self._killer = threading.Timer(HUNG_SECONDS, self.judge.kill)
        self._thread.start()
        self._killer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._killer.cancel()
        self._over.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            # The zygote itself imports torch and computes nothing.
            workers = [pid for zygote in children_of(self.judge._process.pid) for pid in below(zygote)]
            worker = max(map(anonymous_mib, workers), default=0.0)
            self.most_mib = max(self.most_mib, anonymous_mib(self.judge._process.pid) + worker)


def everything_in(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def graded(judge: Judge, challenge: Any, name: str, without: str = "forbidden") -> GradeReport:
    spec = specification(challenge)
    spec["required"] = [check for check in spec["required"] if check != without]
    file, seconds = SOLUTIONS / f"{name}.py", PATIENT_SECONDS.get(name, SECONDS)
    options = GradeOptions(timeout_seconds=seconds, memory_mib=MEMORY_MIB, rung="hardened")
    asked = {"folder": Path(challenge.folder), "source": file.read_bytes(), "filename": file.name, "options": options}
    return judge.grade(GradeRequest(spec=spec, **asked))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name not in FEW)) for name in sorted(VERDICTS)]
)
def test_there_is_a_verdict_within_bounds(name, judge, challenges, tmp_path):
    id, check, reason = VERDICTS[name]
    before = everything_in(Path(challenges[id].folder)), everything_in(SOLUTIONS)
    with Watch(judge) as watch:
        report = graded(judge, challenges[id], name)
    failed = [(found.name, found.reason) for found in report.checks if found.status == "fail"]
    assert failed[:1] == ([(check, reason)] if check else [])
    assert report.verdict == ("rejected" if check else "accepted")
    assert len(json.dumps(report_document(report), indent=2)) <= LARGEST and len(json.dumps(report.stored)) <= LARGEST
    assert all(len(found.message.en) <= MESSAGE_LENGTH for found in report.checks)
    assert watch.most_mib <= 2 * MEMORY_MIB
    assert (everything_in(Path(challenges[id].folder)), everything_in(SOLUTIONS)) == before, "nothing was written"
    assert judge.alive()


@pytest.mark.slow
def test_what_takes_modules_out_of_others_is_found_by_reading(judge, challenges):
    assert {path.stem for path in SOLUTIONS.glob("*.py")} == {*VERDICTS}, "every attack has a verdict"
    for name in READ:
        report = graded(judge, challenges["sdpa"], name, without="")
        assert report.verdict == "rejected"
        (found,) = [check for check in report.checks if check.name == "forbidden"]
        assert (found.status, found.reason) == ("fail", "forbidden"), name
