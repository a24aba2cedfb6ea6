"""Growth over sizes is judged against the reference or a bound, and projected to a real length."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from in_process import check, grade, write_challenge

from attncli.judge.growth import extrapolate

REFERENCE = "def total(x):\n    return x.cumsum(0)[-1]\n"
INPUTS = """
def case(make):
    make.call("total", make.normal(make.size(1, 5), 2))

def longer(make, size):
    make.call("total", make.normal(size, 2))

SAYS = {"en": "it grows too fast", "zh": "增长过快"}
CONTRACTS = [
    {"check": "work", "measure": "flops", "case": longer, "sizes": (64, 128, 256), "growth_at_most": 3.0, "says": SAYS},
    {"check": "memory", "measure": "largest", "case": longer, "sizes": (64, 128, 256), "growth_at_most": 3.0,
     "says": SAYS},
    {"check": "work", "measure": "calls", "case": longer, "sizes": (8, 16, 32), "growth_at_most": 1.0,
     "bound": lambda size: 10, "says": SAYS},
]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    spec = {
        "entry": ["total"],
        "required": ["loads", "matches-reference", "work", "memory"],
        "forbidden": [],
        "mistakes": {},
    }
    return write_challenge(tmp_path_factory.mktemp("growth"), spec, REFERENCE, INPUTS, {})


@pytest.mark.parametrize(
    "line",
    [
        "return x.sum(0)",
        "return x.mean(0) * len(x)",
        "return x.mT @ x.new_ones(len(x))",
        "return x.flip(0).cumsum(0)[-1]",
    ],
)
def test_linear_ways_are_accepted_whatever_they_call(folder, line):
    report = grade(folder, f"def total(x):\n    {line}\n")
    assert report["verdict"] == "accepted", report


def test_quadratic_work_and_memory_are_rejected_with_a_projection(folder):
    source = "import torch\ndef total(x):\n    return (torch.ones(len(x), len(x), dtype=x.dtype) @ x)[0]\n"
    report = grade(folder, source)
    assert check(report, "work")["reason"] == check(report, "memory")["reason"] == "growth"
    assert "it grows too fast" in check(report, "work")["message"]
    assert "at size 65,536 it would hold 16.0 GiB" in check(report, "memory")["message"]


def test_a_loop_over_the_length_is_seen_by_its_calls(folder):
    source = "def total(x):\n    t = x[0]\n    for row in x[1:]:\n        t = t + row\n    return t\n"
    assert "calls of torch" in check(grade(folder, source), "work")["message"]


@given(st.tuples(*[st.integers(0, 50)] * 3), st.integers(1, 100_000))
def test_a_quadratic_is_extrapolated_exactly(coefficients, size):
    a, b, c = coefficients

    def value(n: int) -> float:
        return float(a + b * n + c * n * n)

    sizes = (16, 64, 200)
    assert extrapolate(sizes, [value(n) for n in sizes], size) == pytest.approx(value(size), rel=1e-6, abs=1e-3)
