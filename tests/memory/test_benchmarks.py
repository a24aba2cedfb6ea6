"""Run the parts of the simulations that take seconds: the plan beats FSRS, the queue by minutes meets its bounds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, BENCHMARKS / name, "--quick"], capture_output=True, text=True, check=False)


@pytest.mark.full
def test_the_plan_beats_fsrs_capped_intervals_and_a_last_pass_on_simulated_learners() -> None:
    done = run("plan.py")
    assert not done.stderr, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if "better for" in line}
    assert {"fsrs", "capped", "last-pass"} <= set(lines)
    for name, line in lines.items():
        mean = float(re.findall(r"[+-]\d\.\d+", line)[0])
        assert mean > (0 if name in ("fsrs", "capped", "last-pass") else -0.03), line
    slopes = [float(slope) for slope in re.findall(r"slope +(-?\d\.\d+)", done.stdout)]
    assert len(slopes) == 4 and all(0.85 <= slope <= 1.15 for slope in slopes), done.stdout
    assert all(0.9 <= slope <= 1.1 for slope in slopes[1:]), done.stdout


@pytest.mark.full
def test_a_year_by_minutes_fits_them_parts_siblings_and_loses_less_than_half_a_point() -> None:
    done = run("queue_year.py")
    assert done.returncode == 0, done.stdout + done.stderr
    shares = [float(share) for share in re.findall(r"by minutes +(\d\.\d+)x", done.stdout)]
    assert len(shares) == 6 and max(shares) <= 1.1, done.stdout
    met = re.search(r"the one before: \d+ of \d+ \((\d\.\d+)%\)", done.stdout)
    assert met is not None and float(met[1]) <= 0.2, done.stdout
    lost = [float(points) for points in re.findall(r"([+-]\d\.\d+) points", done.stdout)]
    assert len(lost) == 2 and max(lost) < 0.5, done.stdout
