"""Check kernels beyond the exam: empty inputs, decoding, coded weights, merged splits, and fully visible blocks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.impl.conftest import load
from tests.impl.kernels.conftest import DEVICE, IMPL, kernel_of
from tests.impl.kernels.test_kernels import challenge_at

SHAPES = [((), 5, 6), ((1,), 16, 64), ((2, 9), 20, 34)]
DTYPES = [torch.float32, torch.float16, torch.bfloat16]

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_shape = pytest.mark.parametrize(("lead", "O", "I"), SHAPES)


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device=DEVICE, dtype=dtype)


def near(got: Tensor, due: Tensor, dtype: torch.dtype) -> bool:
    """Return True if the difference is within four roundings of the largest number of the row."""
    allowed = 4 * torch.finfo(dtype).eps * due.abs().amax(-1, keepdim=True)
    return got.dtype == dtype and got.shape == due.shape and bool(((got.double() - due).abs() <= allowed).all())


@every_dtype
@every_shape
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_product_with_int8_codes_is_that_with_what_they_stand_for(lead, O, I, dtype, symmetric):
    kernel = kernel_of(IMPL / "quantisation/int8-quant")
    q, scale, zero = kernel.quantize_int8(drawn(O, I), 0, symmetric)
    x = drawn(*lead, I, dtype=dtype)
    due = x.double() @ ((q.double() - zero.double()) * scale.double()).T
    assert near(kernel.int8_matmul(x, q, scale, zero), due, dtype)


def test_the_product_takes_activations_and_codes_as_they_lie():
    kernel = kernel_of(IMPL / "quantisation/int8-quant")
    q, scale, zero = kernel.quantize_int8(drawn(20, 34), 0, False)
    x = drawn(34, 7).T
    due = kernel.int8_matmul(x.contiguous(), q, scale, zero)
    assert torch.equal(kernel.int8_matmul(x, q.T.contiguous().T, scale, zero), due)


def weights_of_int4(packed, scales):
    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).double()  # (O, I)
    codes = torch.where(codes > 7, codes - 16, codes)
    return codes * scales.double().repeat_interleave(codes.shape[1] // scales.shape[1], 1)


@every_dtype
@every_shape
@pytest.mark.parametrize("groups", [1, 2])
def test_the_product_with_int4_codes_is_that_with_what_they_stand_for(lead, O, I, dtype, groups):
    kernel = kernel_of(IMPL / "quantisation/int4-group-quant")
    packed, scales = kernel.quantize_int4(drawn(O, I), I // groups)
    x = drawn(*lead, I, dtype=dtype)
    assert near(kernel.int4_matmul(x, packed, scales), x.double() @ weights_of_int4(packed, scales).T, dtype)


@every_dtype
@pytest.mark.parametrize(("shape", "block"), [((6,), 3), ((5, 64), 64), ((2, 3, 130), 26)])
def test_nf4_decodes_to_the_levels_that_its_codes_name(shape, block, dtype):
    kernel = kernel_of(IMPL / "quantisation/nf4")
    packed, absmax = kernel.nf4_quantize(drawn(*shape), block)
    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    table = load(IMPL / "quantisation/nf4/reference.py").levels().to(DEVICE)
    due = (table.float()[codes] * absmax.repeat_interleave(block, -1)).to(dtype)
    assert torch.equal(kernel.nf4_dequantize(packed, absmax, dtype), due)


# The entry point, the shapes of its tensors, and what else it takes.
NO_ROWS: Mapping[str, tuple[str, list[tuple[int, ...]], dict[str, Any]]] = MappingProxyType(
    {
        "attention/softmax-stable": ("softmax", [(0, 5)], {}),
        "norms/layer-norm": ("layer_norm", [(2, 0, 5), (5,), (5,)], {}),
        "norms/rms-norm": ("rms_norm", [(0, 5), (5,)], {}),
        "blocks/swiglu": ("swiglu_ffn", [(0, 3), (3, 5), (3, 5), (5, 3)], {}),
        "cache/gqa": ("gqa", [(0, 4, 3, 5), (0, 2, 3, 5), (0, 2, 3, 5)], {"causal": True}),
        "efficient/flash-attention": ("flash_attention", [(0, 4, 3, 5), (0, 4, 3, 5), (0, 4, 3, 5)], {}),
        "efficient/linear-attention": ("linear_attention", [*[(0, 4, 3, 5)] * 2, (0, 4, 3, 2)], {"causal": True}),
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
        assert [gradient.shape for gradient in gradients] == shapes and not any(map(torch.count_nonzero, gradients))


def test_softmax_of_nothing_and_cross_entropy_of_an_ignored_row_that_holds_nan() -> None:
    softmax = kernel_of(IMPL / "attention/softmax-stable").softmax
    assert softmax(torch.ones(3, 0, 4, device=DEVICE), dim=0).shape == (3, 0, 4)
    loss = kernel_of(IMPL / "losses/linear-cross-entropy").linear_cross_entropy
    x, w = torch.ones(3, 2, device=DEVICE), torch.eye(4, 2, device=DEVICE)
    target = torch.tensor([1, -100, 2], device=DEVICE)
    due = loss(x, w, target)
    x[1] = torch.nan
    assert torch.equal(loss(x, w, target), due)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("B", "H", "G", "S", "d", "n_splits"), [(2, 6, 2, 45, 5, 2), (1, 3, 3, 3, 33, 5), (1, 1, 1, 1, 1, 1)]
)
def test_the_parts_merge_into_attention_over_the_whole_cache(B, H, G, S, d, n_splits, dtype):
    q = torch.randn(B, H, d, dtype=dtype, device=DEVICE) * 3
    k, v = (torch.randn(B, S, G, d, dtype=dtype, device=DEVICE).transpose(1, 2) for _ in "kv")
    out, lse = kernel_of(IMPL / "efficient/split-kv-decode").split_kv_decode(q, k, v, n_splits)
    keys, values = (x.double().repeat_interleave(H // G, dim=1) for x in (k, v))  # (B, H, S, d)
    scores = torch.einsum("bhd,bhsd->bhs", q.double(), keys) * d**-0.5
    due = torch.einsum("bhs,bhsd->bhd", scores.softmax(dim=-1), values)
    assert out.dtype == dtype and torch.allclose(out.double(), due, rtol=4 * torch.finfo(dtype).eps, atol=1e-6)
    assert torch.allclose(lse.double(), scores.logsumexp(dim=-1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("T", "window", "n_sink"), [(100, 50, 3), (70, 70, 0), (90, 33, 40), (100, 70, 20)])
def test_steps_seen_whole_count_once(T: int, window: int, n_sink: int, causal: bool) -> None:
    torch.manual_seed(T + window)
    folder = IMPL / "efficient/sparse-attention"
    inputs = [torch.randn(1, 2, T, 5, requires_grad=True, device=DEVICE) for _ in range(3)]
    weights = torch.randn(1, 2, T, 5, device=DEVICE)
    results = []
    for names in (vars(kernel_of(folder)), challenge_at(folder).reference):
        out = names["sliding_window_attention"](*inputs, window, n_sink=n_sink, causal=causal)
        results.append([out, *torch.autograd.grad((out * weights).sum(), inputs)])
    for mine, due in zip(*results, strict=True):
        torch.testing.assert_close(mine, due, atol=2e-5, rtol=1e-4)
