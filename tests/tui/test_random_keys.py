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
KEYS = 400
OTHER_STARTS = ("new", "set-up", "dated", "in-a-mock")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "seed"),
    [
        ("history", 504),
        *(pytest.param(*one, marks=pytest.mark.full) for one in zip(OTHER_STARTS, range(500, 504), strict=True)),
    ],
)
def test_random_keys_break_nothing(start: str, seed: int) -> None:
    words = [sys.executable, str(BENCHMARK), "--start", start, "--seed", str(seed), "--keys", str(KEYS), "--patient"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{KEYS} keys" in done.stdout and "held: " in done.stdout
