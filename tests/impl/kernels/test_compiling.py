"""Every kernel compiles for a GPU, though there may be none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.impl.kernels.conftest import FOLDERS

COMPILE = Path(__file__).with_name("compile_without_gpu.py")


def test_every_kernel_compiles_for_an_h100(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(tmp_path)
    command = [sys.executable, str(COMPILE), "--quick", *map(str, FOLDERS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-1500:]
    compiled = {line.split()[0] for line in done.stdout.splitlines()}
    assert compiled == {folder.name for folder in FOLDERS}
