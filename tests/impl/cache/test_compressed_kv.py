"""Compare pooled entries number by number, and check results for prefixes of the tokens."""

from __future__ import annotations

import math

import pytest
import torch

from tests.impl.conftest import IMPL, load

reference = load(IMPL / "cache/compressed-kv/reference.py")


def entry(kv, gate, bias, m, overlap, w, c):
    """Return one number of the result for one sequence, by the statement's formula."""
    half = kv.shape[1] // 2
    terms = [(w * m + p, p, c + half * overlap) for p in range(m)]
    if overlap and w > 0:
        terms += [((w - 1) * m + p, p, c) for p in range(m)]
    weights = [math.exp(float(gate[s, k] + bias[p, k])) for s, p, k in terms]
    return sum(a * float(kv[s, k]) for a, (s, _, k) in zip(weights, terms, strict=True)) / sum(weights)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize(("S", "m"), [(7, 3), (4, 1), (2, 3), (8, 4), (3, 3)])
def test_each_number_is_its_own_softmax(S, m, overlap):
    kv, gate, bias = torch.randn(1, S, 6).double(), torch.randn(1, S, 6).double(), torch.randn(m, 6).double()
    got = reference.compress_kv(kv, gate, bias, m, overlap)
    assert got.shape == (1, S // m, 3 if overlap else 6)
    for w, row in enumerate(got[0]):
        due = [entry(kv[0], gate[0], bias, m, overlap, w, c) for c in range(len(row))]
        assert row.tolist() == pytest.approx(due, rel=1e-12)


@pytest.mark.parametrize("overlap", [False, True])
def test_a_prefix_of_the_tokens_gives_a_prefix_of_the_blocks(overlap):
    kv, gate, bias = torch.randn(2, 12, 4), torch.randn(2, 12, 4), torch.randn(3, 4)
    whole = reference.compress_kv(kv, gate, bias, 3, overlap)
    for S in range(1, 13):
        part = reference.compress_kv(kv[:, :S], gate[:, :S], bias, 3, overlap)
        assert torch.allclose(part, whole[:, : S // 3], atol=1e-6)


@pytest.mark.parametrize(("m", "start"), [(1, 0), (3, 0), (4, 7)])
def test_a_block_is_seen_from_its_last_token_on(m, start):
    seen = reference.block_visible(9, 6, m, start)
    for t in range(9):
        assert seen[t].tolist() == [w * m + m - 1 <= start + t for w in range(6)]
