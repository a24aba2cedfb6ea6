"""Compare clipping with torch.nn.utils.clip_grad_norm_; norms of 0 or non-finite ones are checked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from ..conftest import IMPL, load

clip_grad_norm = load(IMPL / "optimisers/clip-grad-norm/reference.py").clip_grad_norm


@pytest.mark.parametrize("shapes", [[(3,)], [(2, 3), (4,), ()], [(1,)] * 20])
@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e3])
@pytest.mark.parametrize("max_norm", [0.0, 1e-6, 1.0, 1e9])
def test_clipping_is_torchs(shapes: list[tuple[int, ...]], scale: float, max_norm: float) -> None:
    grads = [torch.randn(shape, dtype=torch.float64) * scale for shape in shapes]
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in grads]
    for parameter, g in zip(parameters, grads, strict=True):
        parameter.grad = g.clone()
    theirs = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    clipped, total = clip_grad_norm(grads, max_norm)
    assert torch.allclose(total, theirs, rtol=1e-14)
    for mine, parameter in zip(clipped, parameters, strict=True):
        assert torch.allclose(mine, parameter.grad, rtol=1e-14, atol=0)


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_comes_back_as_it_was(odd: float) -> None:
    grads = [torch.tensor([3.0, odd]), torch.tensor([4.0])]
    clipped, total = clip_grad_norm(grads, 1.0)
    assert not math.isfinite(total)
    assert all(torch.equal(mine.nan_to_num(7.0), g.nan_to_num(7.0)) for mine, g in zip(clipped, grads, strict=True))


def test_float16_squares_are_summed_in_float32() -> None:
    clipped, total = clip_grad_norm([torch.full((4,), 300.0).half(), torch.zeros(2).half()], 6.0)
    assert total.dtype == torch.float32 and total == 600.0 and clipped[0].tolist() == [3.0] * 4
