"""An oracle that takes the pairs one by one in float64, and what holds for any scores: only differences count."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(chosen, rejected, margin=None):
    lead = chosen.double() - rejected.double()
    if margin is not None:
        lead = lead - margin.double()
    # −log σ(x) = max(−x, 0) + log(1 + e^−|x|) holds without overflow.
    return sum((-x).clamp(min=0) + torch.log1p(torch.exp(-x.abs())) for x in lead) / len(lead)


def drawn(B=5, dtype=torch.float32):
    return (2 * torch.randn(B)).to(dtype), (2 * torch.randn(B)).to(dtype), torch.randn(B).to(dtype)


def assert_right(rm_loss, *arguments):
    actual, exact = rm_loss(*arguments), expected(*arguments)
    assert actual.shape == () and actual.dtype == arguments[0].dtype
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(actual.dtype).eps if actual.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if actual.dtype == torch.float64 else 2e-6
    # A right pair's loss may be 0 once it is below the rounding of 1.
    assert_close(actual.double(), exact, rtol=rounding + tolerance, atol=tolerance)


@given(st.integers(1, 9), st.booleans())
def test_any_number_of_pairs(rm_loss, B, with_margin):
    chosen, rejected, margin = drawn(B)
    assert_right(rm_loss, chosen, rejected, margin if with_margin else None)


def test_equal_scores_lose_log_2(rm_loss):
    chosen, _, _ = drawn()
    assert_close(rm_loss(chosen, chosen.clone()), torch.tensor(math.log(2)))


def test_the_loss_falls_as_the_chosen_answer_gains(rm_loss):
    chosen, rejected, margin = drawn()
    loss = rm_loss(chosen, rejected, margin)
    assert rm_loss(chosen + 1, rejected, margin) < loss < rm_loss(chosen, rejected + 1, margin)
    assert loss < rm_loss(chosen, rejected, margin + 1)


def test_an_offset_of_both_scores_has_no_influence(rm_loss):
    chosen, rejected, margin = drawn()
    assert_close(rm_loss(chosen + 5, rejected + 5, margin), rm_loss(chosen, rejected, margin), rtol=1e-5, atol=1e-5)


def test_a_margin_of_zero_is_no_margin(rm_loss):
    chosen, rejected, margin = drawn()
    assert_close(rm_loss(chosen, rejected, torch.zeros(5)), rm_loss(chosen, rejected))
    assert_close(rm_loss(chosen, rejected, margin), rm_loss(chosen - margin, rejected))


def test_the_loss_is_the_mean_of_the_losses_of_single_pairs(rm_loss):
    chosen, rejected, margin = drawn(6)
    single = [rm_loss(chosen[i : i + 1], rejected[i : i + 1], margin[i : i + 1]) for i in range(6)]
    assert_close(rm_loss(chosen, rejected, margin), torch.stack(single).mean())


def test_large_scores_cost_their_difference(rm_loss):
    zero = torch.zeros(1)
    for lead in (30.0, 100.0, 1000.0, 1e4):
        score = torch.tensor([lead])
        assert_close(rm_loss(-score, score), torch.tensor(2 * lead))
        assert_close(rm_loss(zero, zero, score), torch.tensor(lead))
        assert_close(rm_loss(score, zero), torch.tensor(0.0), rtol=0.0, atol=1e-6)


def test_gradients_of_both_scores(rm_loss):
    for dtype, scale, tolerance in (
        (torch.float64, 1.0, 1e-10),
        (torch.float32, 1.0, 1e-5),
        (torch.float32, 4e3, 1e-5),
    ):
        chosen, rejected, margin = (scale * part for part in drawn(dtype=dtype))
        scores = chosen.requires_grad_(), rejected.requires_grad_()
        for extra in ((), (margin,)):
            actual = torch.autograd.grad(3 * rm_loss(*scores, *extra), scores)
            exact = torch.autograd.grad(3 * expected(*scores, *extra), scores)
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_equal_scores_have_a_gradient(rm_loss):
    chosen, rejected = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    grad_chosen, grad_rejected = torch.autograd.grad(rm_loss(chosen, rejected), (chosen, rejected))
    assert_close(grad_chosen, torch.full((2,), -0.25))  # −σ(0) / B
    assert_close(grad_rejected, torch.full((2,), 0.25))


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(rm_loss):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for B in (1, 5, 700):
            assert_right(rm_loss, *drawn(B, dtype))
            assert_right(rm_loss, *drawn(B, dtype)[:2])


def test_any_memory_layout(rm_loss):
    chosen, rejected = torch.randn(6, 2).T
    assert_right(rm_loss, chosen, rejected, torch.tensor([0.5]).expand(6))
    assert_right(rm_loss, torch.randn(12)[::2], rejected, chosen)


def test_the_result_lies_on_the_device_of_the_arguments(rm_loss):
    chosen, rejected, margin = (part.to("meta") for part in drawn())
    assert rm_loss(chosen, rejected).device.type == rm_loss(chosen, rejected, margin).device.type == "meta"


def test_arguments_stay_as_they_are(rm_loss):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = rm_loss(*arguments)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(rm_loss(*arguments), first)
