"""Prints the project's budgets as ratios measured in this run, and where each stands.

    python benchmarks/budgets.py            some twenty minutes
    python benchmarks/budgets.py --large    twice as long: also 100,000 cards and 1,000,000 reviews,
                                            and `attn verify --streams 20`

A time on its own means nothing on a shared machine: each row compares two things measured in turn.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grading
from large_home import fill
from timing import ATTN, NOTHING, PYTHON, ROOT, Row, ratio, seconds

MINIMAL = [PYTHON, str(ROOT / "benchmarks" / "first_frame.py"), "minimal"]
ANSWERS = [PYTHON, str(ROOT / "benchmarks" / "durable.py")]


def small_home(runs: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"ATTN_HOME": folder}
        seconds([*ATTN, "due"], environment)
        yield Row("attn due as a whole process / python -c pass", ratio([*ATTN, "due"], NOTHING, runs, environment), 6)
        frame = [PYTHON, str(ROOT / "benchmarks" / "first_frame.py"), "attn", folder]
        yield Row("first frame of the app / a minimal Textual app", ratio(frame, MINIMAL, runs, environment), 2)
        output = subprocess.run([*frame, "--memory"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        yield Row("the app's resident memory", int(output.split()[-1]) / 1024, 120, "MiB")
    output = subprocess.run(ANSWERS, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    yield Row("one review, durable on disk / a bare SQLite insert with full sync", float(output), 3)


def large_home(runs: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        seconds([*ATTN, "due"], {"ATTN_HOME": small})
        fill(Path(large), 100_000, 1_000_000)
        due = [*ATTN, "due"]
        measured = ratio(due, due, runs, {"ATTN_HOME": large}, {"ATTN_HOME": small})
        yield Row("attn due with 100,000 cards and 1,000,000 reviews / with the bundled bank", measured, 2)
    minutes = seconds([*ATTN, "verify", "--streams", "20"]) / 60
    yield Row("attn verify --streams 20, all challenges", minutes, 40, "min")


def gradings(_: int) -> Iterator[Row]:
    challenges = grading.all_challenges()
    yield grading.cold(challenges)
    yield from grading.warm(challenges)
    yield from grading.warm_kernels(challenges)
    yield from grading.boundary()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--runs", type=int, default=7, help="pairs to take the median of")
    options = parser.parse_args()
    for rows in (small_home, gradings, *([large_home] if options.large else [])):
        for row in rows(options.runs):
            print(row.line(), flush=True)
    if not options.large:
        print("not measured: 100,000 cards and 1,000,000 reviews; attn verify --streams 20 (add --large)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
