"""The two neighbours of a number, from its bits, how often each is chosen, and that all draws are independent."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def from_bits(bits):
    return bits.to(torch.int32).view(torch.float32)


def neighbours(x):
    """Return the neighbour towards 0, the one away from 0, and the probability of the latter."""
    bits = x.contiguous().view(torch.int32).long()
    low = bits & -(2**16)
    return from_bits(low), from_bits(torch.where(bits == low, low, low + 2**16)), (bits - low).double() / 2**16


def bits_of(x):
    return x.contiguous().view(torch.int32)


def assert_one_of_two(actual, x):
    assert actual.dtype == torch.float32 and actual.shape == x.shape
    assert torch.equal(actual.isnan(), x.isnan())
    low, high, _ = neighbours(x)
    fits = (bits_of(actual) == bits_of(low)) | (bits_of(actual) == bits_of(high))
    same = bits_of(actual) == bits_of(x)
    assert (torch.where(x.isfinite(), fits, same) | x.isnan()).all()


def assert_binomial(counts, n, p):
    """Compare the mean and the spread of `counts` with those of n independent draws, within 5 standard deviations."""
    counts, G, variance = counts.double().flatten(), counts.numel(), n * p * (1 - p)
    assert abs(counts.mean().item() - n * p) <= 5 * math.sqrt(variance / G)
    spread = (counts - n * p).square().mean().item() / variance
    assert abs(spread - 1) <= 5 * math.sqrt((2 + 1 / variance) / G)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_any_number_goes_to_one_of_its_neighbours(stochastic_round_bf16, numbers):
    x = torch.tensor(numbers)
    assert_one_of_two(stochastic_round_bf16(x), x)


def test_random_bits(stochastic_round_bf16):
    x = from_bits(torch.randint(-(2**31), 2**31, (200_000,)))
    assert_one_of_two(stochastic_round_bf16(x), x)


def test_numbers_that_bfloat16_has_stay(stochastic_round_bf16):
    x = from_bits(torch.arange(-(2**15), 2**15) << 16)
    for seed in range(3):
        out = stochastic_round_bf16(x, seeded(seed))
        assert torch.equal(bits_of(out)[~x.isnan()], bits_of(x)[~x.isnan()]) and torch.equal(out.isnan(), x.isnan())


def test_any_nan_stays_nan(stochastic_round_bf16):
    # A payload in the lower half alone is lost by a cut, a payload of ones carries.
    payloads = torch.tensor([1, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x400000, 0x7FFFFF])
    for sign in (0, -(2**31)):
        x = from_bits(0x7F800000 + payloads + sign).repeat(200)
        assert stochastic_round_bf16(x).isnan().all()


def test_the_fraction_of_the_step_is_the_probability(stochastic_round_bf16):
    n = 200_000
    for fraction in (1, 2**8, 2**14, 2**15, 3 * 2**14, 2**16 - 1):
        # Normal, subnormal, next to a power of two, next to infinity; of both signs.
        for high in (0x3F80, 0x3FFF, 0x0000, 0x0005, 0x007F, 0x7F7F, 0xBF80, 0x8000, 0xFF7F):
            x = from_bits(torch.tensor([(high << 16 | fraction) - (2**32 if high >= 0x8000 else 0)]))
            out = stochastic_round_bf16(x.expand(n), seeded(fraction + high))
            _, up, p = neighbours(x)
            p, ups = p.item(), (bits_of(out) == bits_of(up)).sum().item()
            assert abs(ups - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1


def test_the_mean_of_many_draws_is_the_number(stochastic_round_bf16):
    x = torch.randn(50)
    low, high, p = neighbours(x)
    draws = stochastic_round_bf16(x.expand(10_000, 50), seeded()).double()
    deviation = (high.double() - low.double()).abs() * (p * (1 - p) / 10_000).sqrt()
    assert ((draws.mean(0) - x.double()).abs() <= 5 * deviation).all()


def test_small_updates_are_not_lost_on_average(stochastic_round_bf16):
    weight, generator = torch.ones(5_000), seeded()
    for _ in range(100):
        weight = stochastic_round_bf16(weight + 1e-3, generator)
    assert abs(weight.mean().item() - 1.1) < 0.01


def test_every_entry_is_drawn_by_itself_in_every_call(stochastic_round_bf16):
    generator, x = seeded(), torch.full((6, 8, 10), 1.0 + 0.3 * 2**-7)
    p = neighbours(x)[2].flatten()[0].item()
    ups = torch.stack([stochastic_round_bf16(x, generator) > 1.0 for _ in range(100)])
    for dim in range(4):
        assert_binomial(ups.sum(dim), ups.shape[dim], p)
        others = [other for other in range(4) if other != dim]
        assert_binomial(ups.sum(others), ups.numel() // ups.shape[dim], p)


def test_equal_states_give_equal_results(stochastic_round_bf16):
    x, generator = torch.randn(500), seeded(7)
    first, second = stochastic_round_bf16(x, generator), stochastic_round_bf16(x, generator)
    assert not torch.equal(first, second)
    assert torch.equal(first, stochastic_round_bf16(x, seeded(7)))
    assert not torch.equal(first, stochastic_round_bf16(x, seeded(8)))


def test_a_generator_leaves_the_global_one_alone(stochastic_round_bf16):
    x, state = torch.randn(50), torch.get_rng_state()
    stochastic_round_bf16(x, seeded())
    assert torch.equal(torch.get_rng_state(), state)


def test_without_a_generator_the_global_one_is_used(stochastic_round_bf16):
    x, state = torch.randn(500), torch.get_rng_state()
    first, second = stochastic_round_bf16(x), stochastic_round_bf16(x)
    assert not torch.equal(first, second)
    torch.set_rng_state(state)
    assert torch.equal(stochastic_round_bf16(x), first)


def test_any_shape_and_memory_layout(stochastic_round_bf16):
    base = torch.randn(6, 8)
    for x in (
        torch.tensor(1.2345678),
        base,
        base.t(),
        base[:, ::2],
        base[1:, 1:],
        base[:1].expand(50, 8),
        torch.randn(0, 3),
    ):
        assert_one_of_two(stochastic_round_bf16(x), x)
    # Copies of one number are drawn one by one.
    assert len(stochastic_round_bf16(torch.tensor(1.0 + 2**-8).expand(50)).unique()) == 2


def test_the_result_lies_on_the_device_of_the_input(stochastic_round_bf16):
    assert stochastic_round_bf16(torch.randn(2, 3, device="meta")).device.type == "meta"


def test_the_argument_stays_and_the_result_is_new(stochastic_round_bf16):
    for x in (torch.tensor([1.0, -2.0]), torch.randn(20), torch.tensor([math.inf, math.nan])):
        before = x.clone()
        stochastic_round_bf16(x).fill_(5.0)
        assert torch.equal(bits_of(x), bits_of(before))
