"""Run the part of the simulation that takes seconds: the plan beats FSRS, and its forecast is calibrated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "plan.py"


@pytest.mark.full
def test_the_plan_beats_fsrs_capped_intervals_and_a_last_pass_on_simulated_learners() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARK), "--quick"], capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if "better for" in line}
    assert {"fsrs", "capped", "last-pass"} <= set(lines)
    for name, line in lines.items():
        mean = float(re.findall(r"[+-]\d\.\d+", line)[0])
        assert mean > (0 if name in ("fsrs", "capped", "last-pass") else -0.03), line
    slopes = [float(slope) for slope in re.findall(r"slope +(-?\d\.\d+)", done.stdout)]
    assert len(slopes) == 4 and all(0.85 <= slope <= 1.15 for slope in slopes), done.stdout
    assert all(0.9 <= slope <= 1.1 for slope in slopes[1:]), done.stdout
