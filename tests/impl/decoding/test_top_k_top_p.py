"""top-k-top-p: compare with the smallest set by definition, in exact fractions, token by token."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ..conftest import IMPL, load

filter_logits = load(IMPL / "decoding/top-k-top-p/reference.py").filter_logits


def kept(row: list[float], top_k: int, top_p: float, min_p: float) -> set[int]:
    ranking = sorted(range(len(row)), key=lambda i: (-row[i], i))[: top_k or None]
    weights = [Fraction(math.exp(row[i])) for i in ranking]
    keep = set()
    for place, i in enumerate(ranking):
        nucleus = not 0 < top_p < 1 or sum(weights[:place]) < Fraction(top_p) * sum(weights)
        if nucleus and weights[place] >= Fraction(min_p) * weights[0]:
            keep.add(i)
    return keep


@settings(deadline=None, derandomize=True, database=None, max_examples=150)
@given(
    st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=7),
    st.integers(0, 9),
    st.sampled_from([0.0, 0.1234, 0.5017, 0.871, 0.9903, 1.0]),
    st.sampled_from([0.0, 0.0313, 0.507]),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_what_stays_is_the_set_of_the_definition(
    row: list[float], top_k: int, top_p: float, min_p: float, temperature: float
) -> None:
    logits = torch.tensor([row], dtype=torch.float64)
    got = filter_logits(logits, top_k, top_p, min_p, temperature)[0]
    scaled = (logits[0] / temperature).tolist()
    assert {i for i, value in enumerate(got.tolist()) if value > -math.inf} == kept(scaled, top_k, top_p, min_p)
    assert all(value in (-math.inf, scaled[i]) for i, value in enumerate(got.tolist()))
