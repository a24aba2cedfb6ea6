"""The corner of the simulation that takes seconds: the plan beats every other policy beyond chance."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "plan.py"


def test_the_plan_beats_fsrs_capped_intervals_and_a_last_pass_on_simulated_learners() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARK), "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if "better for" in line}
    assert {"fsrs", "capped", "last-pass"} <= set(lines)
    for line in lines.values():
        mean, half = map(float, re.findall(r"[+-]?\d\.\d+", line)[:2])
        assert mean - half > 0, line
    slopes = [float(slope) for slope in re.findall(r"slope +(-?\d\.\d+)", done.stdout)]
    assert len(slopes) == 4 and all(0.85 <= slope <= 1.15 for slope in slopes), done.stdout
    assert all(0.9 <= slope <= 1.1 for slope in slopes[1:]), done.stdout
