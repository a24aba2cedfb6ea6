"""Measure the project's budgets as ratios, and print whether each is met.

    python benchmarks/budgets.py            some twenty minutes
    python benchmarks/budgets.py --large    twice as long: also 20,000 cards and 300,000 reviews,
                                            and `attn verify --streams 20`
    python benchmarks/budgets.py --quick    one pair a row and few challenges: does every row still run?

An absolute time means nothing on a shared machine, so each row compares two measurements taken in turn.
A row that cannot be measured is printed with the reason, and the next one follows; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import grading
from large_home import fill
from timing import ATTN, NOTHING, PYTHON, ROOT, AtLeast, Budget, output, ratio, seconds

FIRST_FRAME = [PYTHON, str(ROOT / "benchmarks" / "first_frame.py")]


@dataclass(frozen=True, slots=True)
class Plan:
    """The amount to measure: pairs per row, and the challenges to grade."""

    pairs: int
    challenges: list[grading.Challenge]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Budgets that are measured together."""

    budgets: Sequence[Budget]
    measure: Callable[[Plan], Sequence[float]]

    def run(self, plan: Plan) -> bool:
        """Print a line for each budget; return False if they could not be measured."""
        try:
            lines = [budget.line(value) for budget, value in zip(self.budgets, self.measure(plan), strict=True)]
        except Exception as error:  # noqa: BLE001 - the other rows must still run, whatever went wrong
            print(*(f"FAILED  {budget.what}: {_reason(error)}" for budget in self.budgets), sep="\n", flush=True)
            return False
        print(*lines, sep="\n", flush=True)
        return True


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        last = (error.stderr or "").strip().splitlines()[-1:]
        return " ".join([f"exit code {error.returncode} of {' '.join(map(str, error.cmd))}", *last])
    return f"{type(error).__name__}: {error}"


def due(plan: Plan) -> Sequence[float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"ATTN_HOME": folder}
        seconds([*ATTN, "due"], environment)
        return [ratio([*ATTN, "due"], NOTHING, plan.pairs, environment)]


def first_frame(plan: Plan) -> Sequence[float]:
    with tempfile.TemporaryDirectory() as folder:
        app = [*FIRST_FRAME, "attn", folder]
        frames = ratio(app, [*FIRST_FRAME, "minimal"], plan.pairs, {"ATTN_HOME": folder})
        return [frames, int(output([*app, "--memory"]).split()[-1]) / 1024]


def durable(plan: Plan) -> Sequence[float]:
    return [float(each) for each in output([PYTHON, str(ROOT / "benchmarks" / "durable.py")]).split()]


def large_home(plan: Plan) -> Sequence[float]:
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        seconds([*ATTN, "due"], {"ATTN_HOME": small})
        fill(Path(large), 20_000, 300_000)
        command = [*ATTN, "due"]
        due = ratio(command, command, plan.pairs, {"ATTN_HOME": large}, {"ATTN_HOME": small})
        return [due, seconds([*ATTN, "doctor", "--rebuild"], {"ATTN_HOME": large})]


MEASUREMENTS = [
    Measurement([Budget("attn due as a whole process / python -c pass", 6)], due),
    Measurement(
        [Budget("first frame of the app / a minimal Textual app", 2), Budget("the app's resident memory", 120, "MiB")],
        first_frame,
    ),
    Measurement(
        [
            Budget("one review, durable on disk / a bare append with fsync", 1.5),
            Budget("the same / a bare SQLite insert with full sync", 1),
        ],
        durable,
    ),
    Measurement(
        [Budget("attn grade of a right solution, cold, median over the challenges / import torch", 1.4)],
        lambda plan: [grading.cold(plan.challenges)],
    ),
    Measurement(
        [Budget("the same warm / import torch", 0.2), Budget("a wrong one, warm and shrunk / import torch", 0.6)],
        lambda plan: grading.warm(plan.challenges),
    ),
    Measurement(
        [
            Budget("a right kernel in the interpreter, warm, the slowest / import torch", 2),
            Budget("a right kernel in the interpreter, warm, median / import torch", 2),
        ],
        lambda plan: grading.warm_kernels(plan.challenges),
    ),
    Measurement(
        [
            AtLeast("examples a second across the process boundary / in one process", 0.7),
            Budget("a worker's own memory", 30, "MiB"),
        ],
        lambda plan: [float(value) for value in output(grading.BOUNDARY).split()[-2:]],
    ),
]
LARGE = [
    Measurement(
        [
            Budget("attn due with 20,000 cards and 300,000 reviews / with the bundled bank", 2),
            Budget("the cache made anew from them", 60, "s"),
        ],
        large_home,
    ),
    Measurement(
        [Budget("attn verify --streams 20, all challenges", 40, "min")],
        lambda plan: [seconds([*ATTN, "verify", "--streams", "20"]) / 60],
    ),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--large", action="store_true")
    size.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=7, help="pairs to take the median of")
    options = parser.parse_args()
    challenges = grading.all_challenges()
    if options.quick:
        plan = Plan(1, grading.sample(challenges))
    else:
        plan = Plan(options.runs, challenges)
    measured = [each.run(plan) for each in [*MEASUREMENTS, *(LARGE if options.large else [])]]
    if not options.large:
        print("not measured: 20,000 cards and 300,000 reviews; attn verify --streams 20 (add --large)")
    return 0 if all(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
