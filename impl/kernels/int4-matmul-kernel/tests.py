"""A weight that is unpacked code by code in float64 as the oracle, and products with unit vectors, which show the weight itself."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def unpacked(packed, scales, zeros, group):
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(1).double()  # the low half first
    scales, zeros = (part.double().repeat_interleave(group, dim=1) for part in (scales, zeros))
    return (codes - zeros) * scales


def drawn(M, N, K, group, dtype=torch.float32):
    x = torch.randn(M, K).to(dtype)
    packed = torch.randint(256, (N, K // 2), dtype=torch.uint8)
    scales = (0.02 + 0.1 * torch.rand(N, K // group)).to(dtype)
    return x, packed, scales, torch.randint(16, (N, K // group), dtype=torch.uint8), group


def assert_right(int4_matmul, x, packed, scales, zeros, group):
    actual = int4_matmul(x, packed, scales, zeros, group)
    w = unpacked(packed, scales, zeros, group)
    assert actual.shape == (x.shape[0], packed.shape[0]) and actual.dtype == x.dtype
    # Errors are relative to the terms of a sum; 16 bits are rounded once.
    size = (x.double().abs() @ w.abs().T).max().item() + 1e-30
    rounding = 0.6 * torch.finfo(x.dtype).eps if x.dtype == torch.float16 else 0.0
    assert_close(actual.double(), x.double() @ w.T, rtol=1e-5 + rounding, atol=2e-6 * size)


@settings(max_examples=15)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 5), st.sampled_from([2, 4, 6, 10]))
def test_any_shape_and_any_group(int4_matmul, M, N, groups, group):
    assert_right(int4_matmul, *drawn(M, N, groups * group, group))


def test_sizes_around_those_of_tiles(int4_matmul):
    for M, N, K, group in (
        (1, 1, 2, 2),
        (16, 16, 32, 32),
        (17, 65, 66, 6),
        (65, 17, 64, 16),
        (3, 130, 40, 8),
        (130, 5, 12, 4),
    ):
        assert_right(int4_matmul, *drawn(M, N, K, group))


def test_many_groups_in_a_tile_and_many_tiles_in_a_group(int4_matmul):
    for K, group in ((300, 2), (300, 300), (300, 50), (256, 128), (384, 96)):
        assert_right(int4_matmul, *drawn(3, 5, K, group))


def test_unit_vectors_show_the_weight(int4_matmul):
    for N, K, group in ((5, 24, 6), (20, 70, 14)):
        _, packed, scales, zeros, _ = drawn(1, N, K, group)
        actual = int4_matmul(torch.eye(K), packed, scales, zeros, group)
        assert_close(actual.T.double(), unpacked(packed, scales, zeros, group), rtol=1e-6, atol=1e-6)


def test_every_code_and_every_zero_point(int4_matmul):
    low, high = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
    packed = (low + 16 * high).to(torch.uint8)  # (16, 16): all 256 bytes
    zeros = torch.arange(16, dtype=torch.uint8)[:, None]
    assert_right(int4_matmul, torch.eye(32), packed, torch.ones(16, 1), zeros, 32)


def test_a_code_at_its_zero_point_is_zero(int4_matmul):
    zeros = torch.tensor([[3], [15], [0]], dtype=torch.uint8)
    packed = (17 * zeros).expand(3, 10).contiguous()
    # Who sums codes and x apart loses some digits here.
    assert int4_matmul(torch.randn(4, 20), packed, torch.ones(3, 1), zeros, 20).abs().max() < 1e-4


def test_scales_may_be_negative_or_zero(int4_matmul):
    x, packed, scales, zeros, group = drawn(4, 5, 24, 6)
    scales[0], scales[1] = -scales[0], 0.0
    assert_right(int4_matmul, x, packed, scales, zeros, group)


def test_float16_is_summed_in_float32(int4_matmul):
    for M, N, K, group in ((4, 5, 24, 6), (3, 7, 600, 60)):
        assert_right(int4_matmul, *drawn(M, N, K, group, torch.float16))
    ones, packed = torch.ones(1, 3000).half(), torch.full((2, 1500), 0x11, dtype=torch.uint8)
    zeros = torch.zeros(2, 1, dtype=torch.uint8)
    actual = int4_matmul(ones, packed, torch.ones(2, 1).half(), zeros, 3000)
    assert_close(actual, torch.full((1, 2), 3000.0).half())  # sums in float16 stop at 2,048


def test_weights_are_not_rounded_to_16_bits(int4_matmul):
    x, packed, _, zeros, group = drawn(4, 5, 24, 6, torch.float16)
    scales = 1.0 + torch.rand(5, 4)  # float32 beside x in float16
    x[:, 1::2] = -x[:, ::2]
    assert_right(int4_matmul, x, packed, scales, zeros, group)
    assert_right(int4_matmul, x, packed, scales.half(), zeros, group)


def test_views(int4_matmul):
    _, packed, scales, zeros, group = drawn(4, 5, 24, 6)
    x = torch.randn(24, 4).T
    assert_right(int4_matmul, x, *(part.T.contiguous().T for part in (packed, scales, zeros)), group)
    assert_right(int4_matmul, torch.randn(4, 48)[:, ::2], torch.cat([packed, packed], 1)[:, 6:18], scales, zeros, group)
    assert_right(int4_matmul, x[:1].expand(4, 24), packed, scales[:, :1].expand(5, 4), zeros[:1].expand(5, 4), group)


def test_arguments_stay_as_they_are(int4_matmul):
    *tensors, group = drawn(4, 5, 24, 6)
    before = [tensor.clone() for tensor in tensors]
    first = int4_matmul(*tensors, group)
    assert all(map(torch.equal, tensors, before)) and torch.equal(int4_matmul(*tensors, group), first)
