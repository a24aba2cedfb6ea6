"""2,000 random keys, in several sittings of learners of five sorts: no exception, no hang, the log whole.

`benchmarks/random_keys.py` has what is pressed and what must hold, and presses ten times as many; keys that are typed
ahead are its alone, since what they meet depends on how busy the machine is (`test_pressed_ahead.py` has those found).
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
