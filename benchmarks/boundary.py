"""Print two numbers: examples per second through the worker relative to in-process, and a worker's private MiB."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from attncli.judge.case import profile_of
from attncli.judge.challenge import Folder
from attncli.judge.client import GradeOptions
from attncli.judge.exam import Exam, drawn
from attncli.judge.grade import Grading
from attncli.judge.questions import Values
from attncli.judge.reference import as_given, run_reference
from attncli.judge.submission import Budget, Submission
from attncli.sandbox.compiler import postpone_compiler
from attncli.sandbox.zygote_client import ZygoteClient
from timing import ROOT

EXAMPLES = 150
ROUNDS = 5

Ask = Callable[[Sequence[Values]], bool]


def asked_here(namespace: Mapping[str, Any]) -> Ask:
    """Return a function that answers the same questions in this process."""

    def ask(questions: Sequence[Values]) -> bool:
        return all(q.finding(run_reference(namespace, q.case, as_given)) is None for q in questions)

    return ask


def rate(folder: Folder, ask: Ask) -> float:
    """Return the examples per second that a grading draws, asks and judges."""
    start = time.perf_counter()
    profile = profile_of("ordinary", folder.facts)
    cases = drawn(folder.inputs.case, profile, EXAMPLES, seed=7, stream=0, declared=folder.declared)
    assert ask([Values(folder, case) for case in cases])
    return EXAMPLES / (time.perf_counter() - start)


def own_mib(pid: int) -> float:
    """Return the private memory of a process in MiB: the pages that it does not share with the zygote."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    kib = sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("Private_Dirty", "Private_Clean")))
    return kib / 1024


def worker_pids() -> list[int]:
    """Return the pids of the workers: the descendants of this process that have no child."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
    mine = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= grown
    return [pid for pid in mine - {os.getpid()} if pid not in parents.values()]


def main() -> None:
    postpone_compiler()
    torch.set_num_threads(1)
    path = ROOT / "impl" / "attention" / "sdpa"
    spec = {"id": "sdpa", "entry": ["sdpa"], "required": [], "forbidden": []}
    folder = Folder(spec, path)
    source = (path / "reference.py").read_bytes()
    with ZygoteClient.start() as zygote:
        zygote.ready()
        submission = Submission(source, "sdpa.py", ["sdpa"], lambda: zygote.worker(1024), Budget(600))
        assert submission.load() is None
        grading = Grading(Exam(folder, 0), submission, GradeOptions())

        def across(questions: Sequence[Values]) -> bool:
            return grading.first_fault(questions) is None

        inside = asked_here(folder.reference)
        rate(folder, across), rate(folder, inside)
        shares = [rate(folder, across) / rate(folder, inside) for _ in range(ROUNDS)]
        memory = max((own_mib(pid) for pid in worker_pids()), default=0.0)
        submission.close()
    print(f"{statistics.median(shares):.3f} {memory:.1f}")


if __name__ == "__main__":
    main()
