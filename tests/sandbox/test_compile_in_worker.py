"""Compile kernels in the sandbox of a GPU machine: every kernel, every user, and without namespaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.impl.kernels.conftest import FOLDERS
from tests.sandbox.test_ordinary_user import NOBODY, interpreter, public_folder, readable_by_all  # noqa: F401

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="Triton compiles its launcher with gcc"),
]
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "sandbox" / "compile_in_worker.py"
KERNELS = [folder.relative_to(ROOT / "impl").as_posix() for folder in FOLDERS]
FEW = ["attention/softmax-stable", "quantisation/nf4", "kernels/vector-add"]


def report_of(command: list[str], **options: Any) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def holds(report: dict[str, Any], kernels: list[str]) -> None:
    assert {name: count for name, count in report["kernels"].items() if not isinstance(count, int) or count < 1} == {}
    assert sorted(report["kernels"]) == sorted(kernels)
    assert (report["libraries"], report["launcher"]) == (True, True)
    assert report["cached"] >= len(kernels)


@pytest.mark.slow
@pytest.mark.full
def test_every_kernel_compiles_in_the_worker_of_a_gpu_machine() -> None:
    holds(report_of([sys.executable, str(SCRIPT), str(ROOT), *KERNELS], cwd=ROOT), KERNELS)


@pytest.mark.full
def test_a_kernel_compiles_where_there_are_no_namespaces() -> None:
    without = [sys.executable, str(SCRIPT.with_name("without.py")), "namespaces", "--"]
    report = report_of([*without, sys.executable, str(SCRIPT), str(ROOT), *FEW], cwd=ROOT)
    holds(report, FEW)
    assert "namespaces" not in report["layers"]
    assert "landlock" in report["layers"]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; the other tests are that already")
def test_a_kernel_compiles_for_an_ordinary_user(public_folder: Path) -> None:  # noqa: F811
    python, packages = interpreter(), Path(torch.__file__).parent.parent
    if python is None or not readable_by_all(packages):
        pytest.skip("no interpreter or no torch that an ordinary user can read")
    for file in ("benchmarks/gpu_kernels.py", *(f"impl/{folder}/kernel.py" for folder in FEW)):
        (public_folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, public_folder / file)
    script = shutil.copy(SCRIPT, public_folder)
    environment = {"HOME": str(public_folder), "PYTHONPATH": f"{public_folder}:{packages}", "PATH": "/usr/bin:/bin"}
    command = [str(python), "-B", str(script), str(public_folder), *FEW]
    report = report_of(command, env=environment, user=NOBODY, group=NOBODY, extra_groups=[])
    holds(report, FEW)
    assert report["uid"] == NOBODY
