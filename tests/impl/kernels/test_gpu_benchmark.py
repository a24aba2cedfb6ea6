"""What the benchmark of kernels times is right, as far as that shows without a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "gpu.py"


def test_every_entry_gives_what_torch_gives() -> None:
    done = subprocess.run([sys.executable, str(PROGRAM), "--small"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("differs from torch by") == 9
