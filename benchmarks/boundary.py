"""Prints two numbers: examples a second across the boundary over those in one process, and a worker's own MiB."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from timing import ROOT

from attncli.judge.case import Case
from attncli.judge.demands import Demands
from attncli.judge.examine import Examiner
from attncli.judge.expected import as_given, run_reference
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.profiles import profile_of
from attncli.judge.questions import Values
from attncli.judge.search import Search
from attncli.judge.submission import Budget, Submission
from attncli.sandbox.compiler import postpone_compiler
from attncli.sandbox.host import Zygote

EXAMPLES = 150
ROUNDS = 5


class InProcess:
    """The same question asked of a namespace in this process."""

    def __init__(self, folder: Folder, namespace: Mapping[str, Any]) -> None:
        self._demands = Demands(folder)
        self._namespace = namespace

    def values(self, case: Case) -> Finding | None:
        return Values(self._demands, case).finding(run_reference(self._namespace, case, as_given))


def rate(folder: Folder, question: Any) -> float:
    profile = profile_of("ordinary", folder.inputs)
    search = Search(folder.inputs.case, profile, stream=0, shrink_calls=0)
    start = time.perf_counter()
    assert search.run(question, EXAMPLES, 7) is None
    return search.examples / (time.perf_counter() - start)


def own_mib(pid: int) -> float:
    """Private dirty memory of a process: what it has that the zygote does not share."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    kib = sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(("Private_Dirty", "Private_Clean")))
    return kib / 1024


def worker_pids() -> list[int]:
    """The descendants of this process that have no child: the workers themselves."""
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
    with Zygote.start() as zygote:
        zygote.ready()
        submission = Submission(source, "sdpa.py", ["sdpa"], lambda: zygote.worker(1024), Budget(600))
        assert submission.load() is None
        across, inside = Examiner(Demands(folder), submission), InProcess(folder, folder.reference.__dict__)
        rate(folder, across.values), rate(folder, inside.values)
        shares = [rate(folder, across.values) / rate(folder, inside.values) for _ in range(ROUNDS)]
        memory = max((own_mib(pid) for pid in worker_pids()), default=0.0)
        submission.close()
    print(f"{statistics.median(shares):.3f} {memory:.1f}")


if __name__ == "__main__":
    main()
