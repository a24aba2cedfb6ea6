"""Run the part of the simulated year that takes seconds: the queue by minutes meets its bounds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "queue_year.py"


@pytest.mark.full
def test_a_year_by_minutes_fits_them_parts_siblings_and_loses_less_than_half_a_point() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARK), "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    shares = [float(share) for share in re.findall(r"by minutes +(\d\.\d+)x", done.stdout)]
    assert len(shares) == 6 and max(shares) <= 1.1, done.stdout
    met = re.search(r"the one before: \d+ of \d+ \((\d\.\d+)%\)", done.stdout)
    assert met is not None and float(met[1]) <= 0.2, done.stdout
    lost = [float(points) for points in re.findall(r"([+-]\d\.\d+) points", done.stdout)]
    assert len(lost) == 2 and max(lost) < 0.5, done.stdout
