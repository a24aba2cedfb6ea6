"""Press 2,000 random keys in sessions of five kinds of learners: no exception, no hang, a complete log.

`benchmarks/random_keys.py` has the keys and the checks, and presses ten times as many. Only it types keys ahead, since
their effect depends on the machine's load (`test_pressed_ahead.py` has the errors found so).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "random_keys.py"
KEYS, FEWER_KEYS = 400, 100
STARTS = ("new", "set-up", "dated", "in-a-mock", "history")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "seed", "keys"),
    [
        ("history", 504, FEWER_KEYS),
        *(pytest.param(start, 500 + number, KEYS, marks=pytest.mark.full) for number, start in enumerate(STARTS)),
    ],
)
def test_random_keys_break_nothing(start: str, seed: int, keys: int) -> None:
    words = [sys.executable, str(BENCHMARK), "--start", start, "--seed", str(seed), "--keys", str(keys), "--patient"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{keys} keys" in done.stdout and "held: " in done.stdout
