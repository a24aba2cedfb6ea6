"""torch's own casts as the oracle, bit for bit, on every 16-bit number, what lies halfway, and random bits."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def assert_bits(actual, x, dtype):
    """Compare with a cast to `dtype` and back; NaNs may differ in their payload."""
    wanted = x.to(dtype).float()
    assert actual.dtype == torch.float32 and actual.shape == x.shape
    assert torch.equal(actual.isnan(), x.isnan())
    same = actual.contiguous().view(torch.int32) == wanted.contiguous().view(torch.int32)
    wrong = x[~same & ~x.isnan()]
    assert not len(wrong), f"{len(wrong)} numbers are not rounded as torch does, among them {wrong[:3].tolist()}"


def from_bits(bits):
    return bits.to(torch.int32).view(torch.float32)


def halfway(dtype):
    """Return all numbers of `dtype`, those halfway between neighbours, and the float32 next to these on both sides."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype).float()
    every = every[every.isfinite()].sort().values
    middle = every[:-1] / 2 + every[1:] / 2
    infinity = torch.tensor(math.inf)
    return torch.cat([every, middle, middle.nextafter(infinity), middle.nextafter(-infinity)])


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_any_numbers(round_to_bf16, round_to_fp16, numbers):
    x = torch.tensor(numbers)
    assert_bits(round_to_bf16(x), x, torch.bfloat16)
    assert_bits(round_to_fp16(x), x, torch.float16)


def test_random_bits(round_to_bf16, round_to_fp16):
    x = from_bits(torch.randint(-(2**31), 2**31, (300_000,)))
    assert_bits(round_to_bf16(x), x, torch.bfloat16)
    assert_bits(round_to_fp16(x), x, torch.float16)


def test_ordinary_numbers(round_to_bf16, round_to_fp16):
    for size in (1e-8, 1e-6, 1e-4, 1.0, 1e4):
        x = size * torch.randn(20_000)
        assert_bits(round_to_bf16(x), x, torch.bfloat16)
        assert_bits(round_to_fp16(x), x, torch.float16)


def test_every_number_stays_and_ties_go_to_even(round_to_bf16, round_to_fp16):
    for function, dtype in ((round_to_bf16, torch.bfloat16), (round_to_fp16, torch.float16)):
        x = halfway(dtype)
        assert_bits(function(x), x, dtype)


def test_rounding_twice_changes_nothing(round_to_bf16, round_to_fp16):
    x = 100 * torch.randn(1_000)
    for function in (round_to_bf16, round_to_fp16):
        once = function(x)
        assert torch.equal(function(once), once)


def test_every_exponent_with_every_kind_of_mantissa(round_to_bf16, round_to_fp16):
    mantissas = torch.tensor(
        [0, 1, 0xFFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x7FFF, 0x8000, 0x8001, 0x18000, 0x7FF000, 0x7F8000, 0x7FFFFF]
    )
    magnitudes = (torch.arange(256)[:, None] << 23) + mantissas
    for sign in (0, -(2**31)):
        x = from_bits(magnitudes + sign)
        assert_bits(round_to_bf16(x), x, torch.bfloat16)
        assert_bits(round_to_fp16(x), x, torch.float16)


def test_overflow_begins_half_a_step_above_the_largest(round_to_bf16, round_to_fp16):
    below = torch.tensor(65520.0).nextafter(torch.tensor(0.0))
    assert round_to_fp16(torch.stack([below, -below])).tolist() == [65504.0, -65504.0]
    assert round_to_fp16(torch.tensor([65520.0, -65520.0, 1e38])).tolist() == [math.inf, -math.inf, math.inf]
    largest = 255 * 2.0**120
    step = from_bits(torch.tensor([0x7F7F7FFF, 0x7F7F8000]))
    assert round_to_bf16(step).tolist() == [largest, math.inf]
    for function in (round_to_bf16, round_to_fp16):
        assert function(torch.tensor([math.inf, -math.inf])).tolist() == [math.inf, -math.inf]


def test_any_nan_stays_nan(round_to_bf16, round_to_fp16):
    # A payload in the lowest bits alone is lost by a cut, a payload of ones carries.
    payloads = torch.tensor([1, 2, 0xFFF, 0x1000, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x400000, 0x7FFFFF])
    for sign in (0, -(2**31)):
        x = from_bits(0x7F800000 + payloads + sign)
        assert x.isnan().all()
        assert round_to_bf16(x).isnan().all() and round_to_fp16(x).isnan().all()


def test_the_sign_of_zero_is_kept(round_to_bf16, round_to_fp16):
    x = torch.tensor([0.0, -0.0, 1e-45, -1e-45, 1e-42, -1e-42])
    for function in (round_to_bf16, round_to_fp16):
        out = function(x)
        assert torch.equal(out, torch.zeros(6))
        assert out.signbit().tolist() == [False, True] * 3


def test_any_shape_and_memory_layout(round_to_bf16, round_to_fp16):
    base = torch.randn(6, 8)
    shapes = (torch.tensor(1.2345678), torch.randn(1), torch.randn(2, 3, 4), torch.randn(0, 3))
    for x in (*shapes, base.t(), base[:, ::2], base[1:, 1:], base[:1].expand(5, 8), base[:, :1].expand(6, 3)):
        assert_bits(round_to_bf16(x), x, torch.bfloat16)
        assert_bits(round_to_fp16(x), x, torch.float16)


def test_the_result_lies_on_the_device_of_the_input(round_to_bf16, round_to_fp16):
    x = torch.randn(2, 3, device="meta")
    for function in (round_to_bf16, round_to_fp16):
        out = function(x)
        assert out.device.type == "meta" and out.shape == (2, 3) and out.dtype == torch.float32


def test_the_argument_stays_and_the_result_is_new(round_to_bf16, round_to_fp16):
    for function in (round_to_bf16, round_to_fp16):
        # Some numbers need no rounding, some do.
        for x in (torch.tensor([1.0, -2.0]), torch.tensor([1.2345678, math.nan, 1e-45, 7e37])):
            before = x.clone()
            first = function(x)
            kept = first.clone()
            function(x).fill_(5.0)
            assert torch.equal(x.view(torch.int32), before.view(torch.int32))
            assert torch.equal(first.view(torch.int32), kept.view(torch.int32))
