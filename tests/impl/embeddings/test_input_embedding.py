"""Compare embeddings with torch's own, in values and gradients."""

import math

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

embed_tokens = load(IMPL / "embeddings/input-embedding/reference.py").embed_tokens


@pytest.mark.parametrize(("B", "T", "V", "D"), [(1, 1, 1, 1), (2, 5, 3, 4), (3, 2, 50, 7)])
@pytest.mark.parametrize("scale", [False, True])
def test_rows_and_their_gradients_are_torchs(B: int, T: int, V: int, D: int, scale: bool) -> None:
    ids = torch.randint(V, (B, T))
    ids[-1, -1] = V - 1
    table = torch.randn(V, D, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(B, T, D, dtype=torch.float64)
    due = F.embedding(ids, table) * (math.sqrt(D) if scale else 1.0)
    got = embed_tokens(ids, table, scale)
    assert torch.equal(got, due)
    mine, theirs = (torch.autograd.grad(y, table, upstream)[0] for y in (got, due))
    assert torch.allclose(mine, theirs, rtol=1e-14, atol=0)


def test_a_repeated_token_collects_the_sum_of_its_gradients() -> None:
    table = torch.ones(3, 2, requires_grad=True)
    embed_tokens(torch.tensor([[1, 1, 1, 2]]), table, False).sum().backward()
    assert table.grad is not None and table.grad.tolist() == [[0.0, 0.0], [3.0, 3.0], [1.0, 1.0]]
