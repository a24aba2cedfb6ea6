"""split-kv-decode: any split of the keys gives one softmax over all of them, and merging is associative."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

merge_partials = load(IMPL / "efficient/split-kv-decode/reference.py").merge_partials


def part(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return attention over these keys alone; over none, a finite output and −inf."""
    scores = q @ k.mT
    if not k.shape[1]:
        return torch.full((*q.shape[:2], v.shape[2]), 7.0, dtype=q.dtype), torch.full(q.shape[:2], -torch.inf).double()
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def merged(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    return merge_partials(*(torch.stack(side) for side in zip(*parts, strict=True)))


@pytest.mark.parametrize("scale", [1.0, 40.0])
@pytest.mark.parametrize("sizes", [[9], [1] * 9, [4, 5], [0, 9], [3, 0, 6], [8, 1, 0, 0]])
def test_any_split_is_one_softmax_with_its_gradients(sizes: list[int], scale: float) -> None:
    q, k, v = (torch.randn(2, n, 4, dtype=torch.float64) * scale for n in (3, 9, 9))
    whole = part(q, k.requires_grad_(), v.requires_grad_())
    got = merged([part(q, *pair) for pair in zip(k.split(sizes, 1), v.split(sizes, 1), strict=True)])
    for mine, due in zip(got, whole, strict=True):
        assert torch.allclose(mine, due, rtol=1e-10, atol=1e-10)
        pairs = [torch.autograd.grad(t.sin().sum(), k, retain_graph=True)[0] for t in (mine, due)]
        assert torch.allclose(*pairs, rtol=1e-8, atol=1e-8)


def test_rounds_in_any_order_give_the_same() -> None:
    outs, lses = torch.randn(4, 2, 3, dtype=torch.float64), torch.randn(4, 2, dtype=torch.float64) * 50
    parts = list(zip(outs, lses, strict=True))
    tree = merged([merged([parts[3], parts[1]]), merged([parts[0], parts[2]])])
    for mine, due in zip(tree, merged(parts), strict=True):
        assert torch.allclose(mine, due, rtol=1e-12)


def test_where_nothing_is_seen_the_result_is_the_empty_part() -> None:
    out, lse = merge_partials(torch.randn(3, 2, 4), torch.full((3, 2), -torch.inf))
    assert torch.equal(out, torch.zeros(2, 4)) and bool(lse.isneginf().all())
