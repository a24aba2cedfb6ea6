"""Timing whole processes in turn, A B A B …, so that a ratio holds when the machine's speed drifts."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
ATTN = [PYTHON, "-m", "attncli"]
NOTHING = [PYTHON, "-c", "pass"]
IMPORT_TORCH = [PYTHON, "-W", "ignore", "-c", "import torch"]


@dataclass(frozen=True, slots=True)
class Row:
    """One budget: what was measured against what, and how it stands."""

    what: str
    measured: float
    budget: float
    unit: str = "×"

    def line(self) -> str:
        verdict = "holds" if self.measured <= self.budget else "OVER "
        return f"{verdict}  {self.measured:8.2f} {self.unit:4} (budget {self.budget:g} {self.unit})  {self.what}"


@dataclass(frozen=True, slots=True)
class AtLeast(Row):
    """A budget that is a lower bound."""

    def line(self) -> str:
        verdict = "holds" if self.measured >= self.budget else "UNDER"
        return f"{verdict}  {self.measured:8.2f} {self.unit:4} (at least {self.budget:g} {self.unit})  {self.what}"


def seconds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """The wall time of a whole process, which has to succeed; its output is thrown away."""
    variables = {**os.environ, **(environment or {})}
    start = time.perf_counter()
    subprocess.run(command, env=variables, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """The processor time of a whole process and its children: what a busy machine distorts least."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(
    command: Sequence[str],
    against: Sequence[str],
    runs: int,
    environment: Mapping[str, str] | None = None,
    against_environment: Mapping[str, str] | None = None,
) -> float:
    """The median over `runs` of the ratio of two commands run in turn, after one warm-up of each."""
    seconds(command, environment)
    seconds(against, against_environment or environment)
    pairs = [(seconds(command, environment), seconds(against, against_environment or environment)) for _ in range(runs)]
    return statistics.median(a / b for a, b in pairs)
