"""Compare the induction score with a loop over single weights, and for heads with a known score."""

from __future__ import annotations

import pytest
import torch

from tests.impl.conftest import IMPL, load

induction_score = load(IMPL / "research/induction-score/reference.py").induction_score


@pytest.mark.parametrize(("T", "period"), [(2, 1), (7, 1), (7, 3), (8, 4), (9, 8), (10, 4)])
def test_it_is_the_mean_of_single_weights(T, period):
    attn = torch.rand(2, 3, T, T, dtype=torch.float64)
    for layer in range(2):
        for head in range(3):
            due = [float(attn[layer, head, i, i - period + 1]) for i in range(period, T)]
            assert float(induction_score(attn, period)[layer, head]) == pytest.approx(sum(due) / len(due), rel=1e-12)


def test_a_head_that_finds_the_token_behind_the_same_one_scores_one():
    ids = torch.randperm(50).repeat(3)[:130]
    before = torch.cat([ids.new_full((1,), -1), ids[:-1]])
    match = (ids[:, None] == before[None, :]).tril()  # keys behind the same token
    latest = match.double() * torch.arange(130)
    attn = torch.nn.functional.one_hot(latest.argmax(-1), 130).double()
    assert induction_score(attn[None, None], 50).item() == 1.0
    assert induction_score(attn[None, None], 49).item() < 0.1


def test_uniform_causal_attention_scores_as_the_follow_up_says():
    attn = (torch.ones(100, 100, dtype=torch.float64).tril() / torch.arange(1, 101)[:, None])[None, None]
    assert induction_score(attn, 50).item() == pytest.approx(0.0138, abs=1e-4)
