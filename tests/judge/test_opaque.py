"""A result part that only later calls use may have any form; all other parts are judged as usual."""

from __future__ import annotations

import pytest

from in_process import check, grade, write_challenge

REFERENCE = """
def step(x, cache):
    total = x if cache is None else cache["total"] + x
    return total * 1, {"total": total * 1}
"""
INPUTS = """
GRADIENTS = False

def case(make):
    cache, width = None, make.size(1, 3)
    for _ in range(2):
        handle = make.call("step", make.normal(width), cache)
        make.opaque(handle[1])
        cache = handle[1]
"""
SPEC = {"id": "step", "entry": ["step"], "required": ["loads", "matches-reference", "pure"]}


@pytest.mark.parametrize(
    ("source", "status"),
    [
        (REFERENCE, "pass"),
        (
            "def step(x, cache):\n    seen = tuple(s * 1 for s in (*(cache or ()), x))\n    return sum(seen), seen\n",
            "pass",
        ),
        ("def step(x, cache):\n    return x * 1, x * 1\n", "fail"),
        ("def step(x, cache):\n    return x * 1 if cache is None else cache + x\n", "fail"),
    ],
)
def test_the_form_of_an_opaque_part_is_free(tmp_path, source, status):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    report = grade(folder, source)
    assert check(report, "matches-reference")["status"] == status
    assert (report["verdict"] == "accepted") is (status == "pass")
