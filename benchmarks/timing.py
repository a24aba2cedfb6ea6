"""Time whole processes in turn, A B A B …, so that ratios stay valid when the machine's speed drifts."""

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
class Budget:
    """The upper limit of a measurement."""

    what: str
    limit: float
    unit: str = "×"

    def line(self, measured: float) -> str:
        verdict = "holds " if measured <= self.limit else "OVER  "
        return f"{verdict}  {measured:8.2f} {self.unit:4} (budget {self.limit:g} {self.unit})  {self.what}"


@dataclass(frozen=True, slots=True)
class AtLeast(Budget):
    """The lower limit of a measurement."""

    def line(self, measured: float) -> str:
        verdict = "holds " if measured >= self.limit else "UNDER "
        return f"{verdict}  {measured:8.2f} {self.unit:4} (at least {self.limit:g} {self.unit})  {self.what}"


def seconds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Return the wall time of a whole process; raises CalledProcessError, with its stderr, if it fails."""
    start = time.perf_counter()
    output(command, environment)
    return time.perf_counter() - start


def output(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a process; raises CalledProcessError, with its stderr, if it fails."""
    variables = {**os.environ, **(environment or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    return subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str] | None = None) -> float:
    """Return the processor time of a whole process and its children, which a busy machine distorts least."""
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
    """Return the median ratio of two commands over `runs` alternating runs, after one warm-up of each."""
    seconds(command, environment)
    seconds(against, against_environment or environment)
    pairs = [(seconds(command, environment), seconds(against, against_environment or environment)) for _ in range(runs)]
    return statistics.median(a / b for a, b in pairs)
