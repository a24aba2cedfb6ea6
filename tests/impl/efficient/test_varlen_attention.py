"""Compare packed sequences with torch's attention of each alone; nothing may cross a boundary."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

reference = load(IMPL / "efficient/varlen-attention/reference.py")


@pytest.mark.parametrize("lengths", [[1], [3, 5], [0, 4, 0, 0, 2], [2, 1, 1, 7, 0]])
@pytest.mark.parametrize("causal", [True, False])
def test_each_sequence_is_torchs_attention(lengths, causal):
    seqs = [[torch.randn(n, 3, 4, dtype=torch.float64) for n in lengths] for _ in range(3)]
    (q, cu), (k, _), (v, _) = map(reference.pack, seqs)
    assert cu.dtype == torch.int32 and cu.tolist() == [sum(lengths[:r]) for r in range(len(lengths) + 1)]
    got = reference.varlen_attention(q, k, v, cu, causal).split(lengths)
    for mine, *qkv in zip(got, *seqs, strict=True):
        heads = (t.transpose(0, 1) for t in qkv)
        assert torch.allclose(
            mine, F.scaled_dot_product_attention(*heads, is_causal=causal).transpose(0, 1), atol=1e-12
        )


def test_nothing_crosses_a_boundary():
    q, k, v = (torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True) for _ in range(3))
    out = reference.varlen_attention(q, k, v, torch.tensor([0, 2, 6], dtype=torch.int32), False)
    for gradient in torch.autograd.grad(out[:2].square().sum(), (q, k, v)):
        assert torch.equal(gradient[2:], torch.zeros(4, 2, 3, dtype=torch.float64)) and bool(gradient[:2].any())


def test_packing_passes_gradients_to_every_sequence():
    seqs = [torch.randn(n, 1, 2, requires_grad=True) for n in (2, 0, 3)]
    for seq, gradient in zip(seqs, torch.autograd.grad((reference.pack(seqs)[0] * 2).sum(), seqs), strict=True):
        assert torch.equal(gradient, torch.full_like(seq, 2.0))
