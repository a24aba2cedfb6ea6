"""Check functions of quantising kernels beyond the challenge's entry: decoding, and products with coded weights."""

import pytest
import torch

from tests.impl.conftest import load
from tests.impl.kernels.conftest import DEVICE, IMPL, kernel_of

SHAPES = [((), 5, 6), ((1,), 16, 64), ((2, 9), 20, 34)]
DTYPES = [torch.float32, torch.float16, torch.bfloat16]

every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_shape = pytest.mark.parametrize(("lead", "O", "I"), SHAPES)


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device=DEVICE, dtype=dtype)


def near(got: torch.Tensor, due: torch.Tensor, dtype: torch.dtype) -> bool:
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
