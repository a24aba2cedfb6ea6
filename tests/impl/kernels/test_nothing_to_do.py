"""Run kernels with nothing to compute: empty batches, as at the end of a data set, and ignored rows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.impl.kernels.conftest import DEVICE, IMPL, kernel_of

# The entry point, the shapes of its tensors, and what else it takes.
NO_ROWS: Mapping[str, tuple[str, list[tuple[int, ...]], dict[str, Any]]] = MappingProxyType(
    {
        "attention/softmax-stable": ("softmax", [(0, 5)], {}),
        "norms/layer-norm": ("layer_norm", [(2, 0, 5), (5,), (5,)], {}),
        "norms/rms-norm": ("rms_norm", [(0, 5), (5,)], {}),
        "blocks/swiglu": ("swiglu_ffn", [(0, 3), (3, 5), (3, 5), (5, 3)], {}),
        "cache/gqa": ("gqa", [(0, 4, 3, 5), (0, 2, 3, 5), (0, 2, 3, 5)], {"causal": True}),
        "efficient/flash-attention": ("flash_attention", [(0, 4, 3, 5), (0, 4, 3, 5), (0, 4, 3, 5)], {}),
        "efficient/linear-attention": (
            "linear_attention",
            [(0, 4, 3, 5), (0, 4, 3, 5), (0, 4, 3, 2)],
            {"causal": True},
        ),
        "quantisation/int8-quant": ("quantize_int8", [(0, 5)], {"axis": 0, "symmetric": False}),
    }
)
# Whole numbers have no gradient.
WITHOUT_BACKWARD = {"quantisation/int8-quant"}


@pytest.mark.parametrize("place", NO_ROWS)
def test_a_batch_without_rows_gives_a_result_without_rows_and_gradients_of_zeros(place: str) -> None:
    name, shapes, others = NO_ROWS[place]
    inputs = [torch.ones(shape, device=DEVICE, requires_grad=True) for shape in shapes]
    results = getattr(kernel_of(IMPL / place), name)(*inputs, **others)
    results = [results] if isinstance(results, Tensor) else results
    assert [result.numel() for result in results] == [0] * len(results)
    assert [result.requires_grad for result in results] == [place not in WITHOUT_BACKWARD] * len(results)
    if place not in WITHOUT_BACKWARD:
        gradients = torch.autograd.grad([result.sum() for result in results], inputs)
        assert [(gradient.shape, gradient.count_nonzero().item()) for gradient in gradients] == [
            (shape, 0) for shape in shapes
        ]


def test_softmax_of_nothing_and_cross_entropy_of_an_ignored_row_that_holds_nan() -> None:
    softmax = kernel_of(IMPL / "attention/softmax-stable").softmax
    assert softmax(torch.ones(3, 0, 4, device=DEVICE), dim=0).shape == (3, 0, 4)
    loss = kernel_of(IMPL / "losses/linear-cross-entropy").linear_cross_entropy
    x, w = torch.ones(3, 2, device=DEVICE), torch.eye(4, 2, device=DEVICE)
    target = torch.tensor([1, -100, 2], device=DEVICE)
    due = loss(x, w, target)
    x[1] = torch.nan
    assert torch.equal(loss(x, w, target), due)
