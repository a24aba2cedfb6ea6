"""Run with a layer missing: the sandbox reports it, and the other layers work. without.py removes the layers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(os.uname().machine != "x86_64", reason="the launcher's filter is written for x86_64"),
]

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
ALWAYS = {"sound": "loaded", "loop": "timeout", "exit": "exited", "crash": "crashed", "memory": "memory"}
ALWAYS["print"] = "output"
REFUSED = dict.fromkeys(("read", "write", "socket", "connect", "fork", "kill"), "refused")
# missing layers: what is open without them
OPEN: dict[str, dict[str, str]] = {
    "landlock": {"read": "loaded"},
    "seccomp": {"socket": "loaded", "fork": "loaded", "orphan": "exited"},
    "namespaces": {},
    "landlock namespaces": {"read": "loaded"},
    "seccomp namespaces": {"socket": "loaded", "fork": "loaded", "orphan": "exited"},
}


def graded_without(missing: str, attacks: list[str]) -> dict[str, Any]:
    command = [sys.executable, str(FOLDER / "without.py"), *missing.split(), "--"]
    command += [sys.executable, str(FOLDER / "attacks.py"), *attacks]
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


# Without seccomp what else refuses is tried too; without namespaces nothing is open.
TO_ALL = ("namespaces", "landlock namespaces", "seccomp namespaces")


@pytest.mark.slow
@pytest.mark.parametrize("missing", [pytest.param(name, marks=[pytest.mark.full] * (name in TO_ALL)) for name in OPEN])
def test_without_a_layer_the_rest_holds_and_what_is_lost_is_said(missing: str) -> None:
    expected = ALWAYS | REFUSED | OPEN[missing]
    report = graded_without(missing, list(expected))
    lost = set(missing.split())
    assert set(report["layers"]) == {"process", "rlimits", "landlock", "seccomp", "namespaces"} - lost
    assert all(any(note.startswith(f"{name}: ") for note in report["notes"]) for name in lost)
    assert report["outcomes"] == expected
    assert report["left"] == []
    assert not (Path.home() / "hostile").exists()


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("bomb", ["bomb", "bomb-in-a-thread"])
def test_without_seccomp_a_fork_bomb_is_ended_and_nothing_of_it_is_left(bomb: str) -> None:
    report = graded_without("seccomp", [bomb, "sound"])
    # The kernel's own limit does not bind root: there it is the watch that ends it. Else each copy of the worker
    # answers that it could not fork, and which answer comes first is chance.
    ends = {"refused"} if report["uid"] == 0 else {"refused", "protocol", "timeout"}
    assert report["outcomes"][bomb] in ends and report["outcomes"]["sound"] == "loaded"
    assert report["left"] == []


@pytest.mark.full
def test_without_all_layers_clocks_and_limits_are_left() -> None:
    report = graded_without("landlock seccomp namespaces", [*ALWAYS, "orphan"])
    assert report["layers"] == ["process", "rlimits"]
    assert report["outcomes"] == ALWAYS | {"orphan": "exited"}
    assert report["left"] == []
