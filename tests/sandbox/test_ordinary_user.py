"""Run the sandbox as an ordinary user if the tests run as root: from a copy that this user can read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def readable_by_all(path: Path) -> bool:
    return all(place.stat().st_mode & 0o005 == 0o005 for place in (path, *path.parents))


def interpreter() -> Path | None:
    """Return a Python of this version that everybody may run, or None."""
    system = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    candidates = [Path(sys.executable).resolve(), *([Path(system).resolve()] if system else [])]
    return next((path for path in candidates if readable_by_all(path)), None)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Return a folder with a copy of the package that everybody may read."""
    with tempfile.TemporaryDirectory(prefix="attn-public-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(ROOT / "attncli", folder / "attncli", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tests" / "sandbox" / "attacks.py", folder)
        yield folder


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; the other tests are that already")
def test_an_ordinary_user_has_every_layer_and_a_limit_of_threads(public_folder: Path) -> None:
    python, packages = interpreter(), Path(torch.__file__).parent.parent
    if python is None or not readable_by_all(packages):
        pytest.skip("no interpreter or no torch that an ordinary user can read")
    command = [str(python), "-B", str(public_folder / "attacks.py")]
    variables = {"HOME": str(public_folder), "PYTHONPATH": f"{public_folder}:{packages}", "PATH": "/usr/bin:/bin"}
    user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    done = subprocess.run(command, env=variables, **user, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["uid"], report["notes"], report["left"]) == (NOBODY, [], [])
    assert report["layers"] == ["process", "rlimits", "landlock", "seccomp", "namespaces"]
    refused = {"read", "write", "socket", "connect", "fork", "orphan", "bomb", "kill", "threads"}
    assert {name for name, reason in report["outcomes"].items() if reason == "refused"} == refused
    assert report["outcomes"]["sound"] == "loaded"
