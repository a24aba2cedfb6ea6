"""Known ways to cheat kernel graders: each is rejected with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.bank.loader import load_challenge
from attncli.judge.client import GradeRequest, Judge
from attncli.paths import bundled_impl
from attncli.practice.grade import specification
from attncli.practice.library import challenge_of

pytestmark = pytest.mark.sandbox

FOLDER = bundled_impl() / "kernels" / "vector-add"
KERNEL = (FOLDER / "kernel.py").read_text(encoding="utf-8")
HEAD, _, BODY = KERNEL.partition("def vector_add")
LAUNCHED = "    _add[(1,)](x, y, x, 0, BLOCK=16)\n"
OWN = "import torch\nimport triton\nimport triton.language as tl\n\n"
ADD = HEAD + "def vector_add(x, y):\n"
BESIDE = f"{ADD}{LAUNCHED}    return "
IN_PLACE = f"{ADD}    out = x.clone()\n    out += y\n{LAUNCHED}    return out\n"
KEEPS = HEAD + "_kept = {}\n\n\ndef vector_add(x, y):\n    if x.shape not in _kept:\n"
KEEPS += f"        _kept[x.shape] = _sum(x, y)\n    return _kept[x.shape]\n\n\ndef _sum{BODY}"
INSIDE = f"{OWN}held = []\n\n\n@triton.jit\ndef _add(out):\n    held[2].copy_(held[0] + held[1])\n\n\n"
INSIDE += "def vector_add(x, y):\n    held[:] = [x, y, torch.empty_like(x)]\n"
INSIDE += "    _add[(1,)](held[2])\n    return held[2]\n"
GIVEN = f"{OWN}class Held:\n    pass\n\n\n@triton.jit\ndef _add(held):\n    held.out.copy_(held.x + held.y)\n\n\n"
GIVEN += "def vector_add(x, y):\n    held = Held()\n    held.x, held.y, held.out = x, y, torch.empty_like(x)\n"
GIVEN += "    _add[(1,)](held)\n    return held.out\n"
GRID = HEAD + "held = []\n\n\ndef grid(meta):\n    held[2].copy_(held[0] + held[1])\n    return (1,)\n\n\n"
GRID += "def vector_add(x, y):\n    held[:] = [x, y, torch.empty_like(x)]\n"
GRID += "    _add[grid](x, y, x, 0, BLOCK=16)\n    return held[2]\n"
STREAM = "    with torch.cuda.stream(torch.cuda.Stream()):\n        return x\n"
INTERPRETER = "import triton.runtime.interpreter as inside\ninside.InterpreterBuilder.create_masked_store = None\n"
# The source, the check that it is about, words of its message.
CHEATS = {
    "calls the library beside an idle kernel": (f"{BESIDE}torch.add(x, y)\n", "forbidden", "add is not allowed here"),
    "adds in place what torch may copy": (IN_PLACE, "forbidden", "is not allowed here"),
    "computes under another name": (f"{BESIDE}torch.sub(x, torch.neg(y))\n", "forbidden", "outside of the kernel"),
    "launches nothing": (ADD + "    return x.clone()\n", "matches-reference", "largest error"),
    "returns what it returned before": (KEEPS, "pure", ""),
    "leaves the work to another stream": (ADD + STREAM, "matches-reference", ""),
    "lets torch add within the kernel": (INSIDE, "matches-reference", "a kernel cannot reach held"),
    "lets torch add what the kernel is launched with": (GIVEN, "matches-reference", "not with a Held"),
    "lets torch add while the grid is asked for": (GRID, "forbidden", "add is not allowed here"),
    "patches the interpreter": (INTERPRETER + KERNEL, "forbidden", "may be imported"),
    "patches the timer": ("import time\ntime.perf_counter = lambda: 0.0\n" + KERNEL, "forbidden", "may be imported"),
}


def graded(judge: Judge, source: str):
    challenge = challenge_of(load_challenge(FOLDER / "challenge.yaml").documents[0])
    spec, folder = specification(challenge), Path(challenge.folder)
    return judge.grade(GradeRequest(spec=spec, folder=folder, source=source.encode(), filename="cheat.py"))


@pytest.mark.slow
def test_the_kernel_itself_is_accepted(judge: Judge):
    assert graded(judge, KERNEL).accepted


# One of each check.
FEW = ("computes under another name", "returns what it returned before", "lets torch add within the kernel")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name not in FEW)) for name in CHEATS])
def test_a_cheat_is_rejected_by_the_check_that_it_is_about(judge: Judge, name: str):
    source, check, words = CHEATS[name]
    report = graded(judge, source)
    failed = {found.name: found.message.en for found in report.checks if found.required and found.status == "fail"}
    assert not report.accepted and check in failed and words in failed[check], failed
