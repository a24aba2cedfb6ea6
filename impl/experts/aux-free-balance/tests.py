"""The oracle compares E times each count with the sum, in Python's whole numbers: it never rounds."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(bias, counts, gamma):
    quarters = [round(4 * count) for count in counts.double().tolist()]  # counts are whole numbers or multiples of ¼
    signs = []
    for count in quarters:
        missing = sum(quarters) - len(quarters) * count
        signs.append((missing > 0) - (missing < 0))
    return bias.double() + gamma * torch.tensor(signs, dtype=torch.float64)


def assert_right(actual, bias, counts, gamma):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == bias.dtype and actual.shape == bias.shape
    rtol = {torch.float64: 1e-12, torch.float32: 1e-6}.get(bias.dtype, 0.501 * torch.finfo(bias.dtype).eps)
    assert_close(actual.double(), expected(bias, counts, gamma), rtol=rtol, atol=1e-7 if rtol > 1e-9 else 1e-15)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.sampled_from([1e-3, 0.1, 2.0]))
def test_any_counts_and_any_step(update_bias, counts, gamma):
    bias = torch.randn(len(counts))
    for dtype in (torch.int64, torch.float32):
        given_counts = torch.tensor(counts, dtype=dtype)
        assert_right(update_bias(bias, given_counts, gamma), bias, given_counts, gamma)


def test_too_little_goes_up_and_too_much_down_however_far(update_bias):
    counts = torch.tensor([9, 11, 0, 1000, 500, 1480])  # the mean is 500
    moved = update_bias(torch.zeros(6), counts, 0.01)
    assert_close(moved, torch.tensor([0.01, 0.01, 0.01, -0.01, 0.0, -0.01]))


def test_the_mean_load_moves_nothing(update_bias):
    bias = torch.randn(5)
    for counts in (torch.full((5,), 7), torch.zeros(5, dtype=torch.int64), torch.zeros(5), torch.full((5,), 0.75)):
        assert torch.equal(update_bias(bias, counts, 0.1), bias)
    # A third and a tenth of the sum are no floating-point numbers, but the mean is exact.
    for E in (3, 7, 10, 49):
        counts = torch.full((E,), 0.25)
        assert torch.equal(update_bias(torch.ones(E), counts, 0.1), torch.ones(E))


def test_a_single_expert_always_has_the_mean_load(update_bias):
    assert update_bias(torch.tensor([0.3]), torch.tensor([12]), 0.1).item() == torch.tensor(0.3).item()


def test_idle_experts_pull_the_mean_down_and_rise(update_bias):
    counts = torch.tensor([0, 0, 0, 0, 1, 4])
    assert_close(update_bias(torch.zeros(6), counts, 1.0), torch.tensor([1.0, 1, 1, 1, -1, -1]))


def test_the_mean_may_lie_between_whole_numbers(update_bias):
    for counts in ([1, 2], [3, 3, 4], [0, 1, 1, 1], [5, 6, 6, 6, 6]):
        for dtype in (torch.int32, torch.int64, torch.uint8):
            tensor, bias = torch.tensor(counts, dtype=dtype), torch.zeros(len(counts))
            assert_right(update_bias(bias, tensor, 0.5), bias, tensor, 0.5)


def test_floating_counts_in_quarters(update_bias):
    counts = torch.tensor([1.25, 1.5, 1.75, 1.5])
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        assert_right(update_bias(torch.zeros(4), counts.to(dtype), 0.1), torch.zeros(4), counts.to(dtype), 0.1)


def test_counts_that_float32_cannot_tell_apart(update_bias):
    for base in (2**24, 2**30):
        for dtype in (torch.int64, torch.float64):
            for more in ([0, 1, 2], [0, 0, 1, 1], [1, 1, 1], [0, 2, 0, 2, 1]):
                counts, bias = (torch.tensor(more) + base).to(dtype), torch.randn(len(more))
                assert_right(update_bias(bias, counts, 0.1), bias, counts, 0.1)


def test_counts_in_16_bits_whose_sum_does_not_fit(update_bias):
    # 40 · 2000 is more than float16 holds; from 256 on bfloat16 rounds sums.
    for dtype in (torch.float16, torch.bfloat16):
        for odd in (1984.0, 2000.0, 2016.0):
            counts = torch.full((40,), 2000.0).to(dtype)
            counts[7] = odd
            assert_right(update_bias(torch.zeros(40), counts, 0.1), torch.zeros(40), counts, 0.1)


def test_the_result_has_the_dtype_of_the_bias_and_is_rounded_once(update_bias):
    for of_bias in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        for of_counts in (torch.int64, torch.float64, torch.float32, torch.float16):
            for gamma in (1e-3, 0.1, 0.3):  # none of them is a 16-bit number
                bias, counts = 0.3 * torch.randn(6), torch.tensor([1, 2, 3, 4, 0, 2]).to(of_counts)
                bias = bias.to(of_bias)
                assert_right(update_bias(bias, counts, gamma), bias, counts, gamma)


def test_the_result_is_part_of_no_graph(update_bias):
    for of_bias in (False, True):
        bias = torch.randn(3, requires_grad=of_bias)
        counts = torch.tensor([1.0, 2.0, 5.0], requires_grad=not of_bias)
        result = update_bias(bias, counts, 0.1)
        assert not result.requires_grad
        assert torch.is_grad_enabled()


def test_any_memory_layout(update_bias):
    bias, counts = torch.randn(12)[::2], torch.tensor([[1, 5], [2, 5], [3, 5], [4, 5], [0, 5], [2, 5]])[:, 0]
    assert_right(update_bias(bias, counts, 0.1), bias, counts, 0.1)
    assert_right(update_bias(torch.tensor(0.5).expand(6), counts, 0.1), torch.tensor(0.5).expand(6), counts, 0.1)


def test_device_arguments_and_memory(update_bias):
    assert update_bias(torch.ones(3, device="meta"), torch.ones(3, device="meta"), 0.1).device.type == "meta"
    for counts in (torch.tensor([1, 2, 6]), torch.tensor([2, 2, 2])):  # moved, or left where it is
        bias = torch.randn(3)
        bias_before, counts_before = bias.clone(), counts.clone()
        result = update_bias(bias, counts, 0.1)
        kept = result.clone()
        assert torch.equal(bias, bias_before) and torch.equal(counts, counts_before)
        bias.fill_(9.0)
        assert torch.equal(result, kept)
