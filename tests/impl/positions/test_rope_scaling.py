"""Compare scaled frequencies with a loop over single numbers, and check the first and last pair."""

import math
from typing import Any

import pytest

from ..conftest import IMPL, load

rope_inv_freq = load(IMPL / "positions/rope-scaling/reference.py").rope_inv_freq
YARN = {"type": "yarn", "factor": 8.0, "original_max_position": 4096}


def one(i: int, d: int, base: float, scaling: dict[str, Any]) -> float:
    s = scaling["factor"]
    if scaling["type"] == "ntk":
        return float((base * s ** (d / (d - 2))) ** (-2 * i / d))
    f = base ** (-2 * i / d)
    if scaling["type"] == "linear":
        return float(f / s)
    turns = [scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)]
    ends = [d * math.log(scaling["original_max_position"] / (2 * math.pi * t)) / (2 * math.log(base)) for t in turns]
    lo, hi = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), d - 1)
    share = min(max((i - lo) / (hi - lo), 0.0), 1.0)
    return float((1 - share) * f + share * f / s)


@pytest.mark.parametrize("d", [4, 16, 128])
@pytest.mark.parametrize("base", [10000.0, 500000.0])
@pytest.mark.parametrize(
    "scaling", [{"type": "linear", "factor": 4.0}, {"type": "ntk", "factor": 4.0}, YARN, YARN | {"beta_fast": 16}]
)
def test_every_frequency_is_that_of_its_formula(d: int, base: float, scaling: dict[str, Any]) -> None:
    inv, factor = rope_inv_freq(d, base, scaling)
    assert inv.tolist() == pytest.approx([one(i, d, base, scaling) for i in range(d // 2)], rel=1e-6)
    assert factor == (pytest.approx(0.1 * math.log(8) + 1) if scaling["type"] == "yarn" else 1.0)


def test_the_slowest_pair_is_divided_by_s_and_the_fastest_stays() -> None:
    plain, _ = rope_inv_freq(128, 10000.0, {"type": "linear", "factor": 1.0})
    for scaling in ({"type": "ntk", "factor": 8.0}, YARN):
        ratio = (plain / rope_inv_freq(128, 10000.0, scaling)[0]).tolist()
        assert ratio[0] == 1.0 and ratio[-1] == pytest.approx(8.0, rel=1e-5) and ratio == sorted(ratio)


def test_yarn_keeps_the_first_21_pairs_of_llama_2_and_divides_the_last_18() -> None:
    plain, _ = rope_inv_freq(128, 10000.0, {"type": "linear", "factor": 1.0})
    ratio = plain / rope_inv_freq(128, 10000.0, YARN)[0]
    assert int((ratio == 1.0).sum()) == 21 and int((ratio > 7.9999).sum()) == 18
