"""An oracle that takes the pairs one by one in float64, and what the formula says about pairs that are easy to solve by hand."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(pc, pr, rc, rr, beta):
    pc, pr, rc, rr = (part.double() for part in (pc, pr, rc, rr))
    losses = []
    for i in range(pc.shape[0]):
        x = beta * ((pc[i] - pr[i]) - (rc[i] - rr[i]))
        # −log σ(x) = max(−x, 0) + log(1 + e^−|x|) holds without overflow.
        losses.append((-x).clamp(min=0) + torch.log1p(torch.exp(-x.abs())))
    return torch.stack(losses).mean()


def log_probabilities(B=5, dtype=torch.float32, spread=3.0):
    return [(-20 - spread * torch.randn(B)).to(dtype) for _ in range(4)]


def assert_right(dpo_loss, parts, beta):
    actual, exact = dpo_loss(*parts, beta), expected(*parts, beta)
    assert actual.shape == () and actual.dtype == parts[0].dtype
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(actual.dtype).eps if actual.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if actual.dtype == torch.float64 else 2e-6
    # A right pair's loss may be 0 once it is below the rounding of 1.
    assert_close(actual.double(), exact, rtol=rounding + tolerance, atol=tolerance)


@given(st.integers(1, 9), st.floats(0.01, 5))
def test_any_number_of_pairs_and_any_beta(dpo_loss, B, beta):
    assert_right(dpo_loss, log_probabilities(B), beta)


def test_a_policy_that_agrees_with_the_reference_loses_log_2(dpo_loss):
    pc, pr, _, _ = log_probabilities()
    for beta in (0.01, 0.1, 1.0, 30.0):
        assert_close(dpo_loss(pc, pr, pc.clone(), pr.clone(), beta), torch.tensor(math.log(2)))


def test_the_loss_falls_as_the_chosen_answer_gains_on_the_rejected_one(dpo_loss):
    pc, pr, rc, rr = log_probabilities()
    loss = dpo_loss(pc, pr, rc, rr, 0.5)
    assert dpo_loss(pc + 1, pr, rc, rr, 0.5) < loss < dpo_loss(pc, pr + 1, rc, rr, 0.5)
    assert dpo_loss(pc, pr, rc, rr + 1, 0.5) < loss < dpo_loss(pc, pr, rc + 1, rr, 0.5)


def test_only_the_margin_counts(dpo_loss):
    pc, pr, rc, rr = log_probabilities()
    assert_close(dpo_loss(pc - 7, pr - 7, rc + 3, rr + 3, 0.3), dpo_loss(pc, pr, rc, rr, 0.3), rtol=1e-5, atol=1e-5)


def test_the_loss_is_the_mean_of_the_losses_of_single_pairs(dpo_loss):
    parts = log_probabilities(6)
    single = [dpo_loss(*(part[i : i + 1] for part in parts), 0.4) for i in range(6)]
    assert_close(dpo_loss(*parts, 0.4), torch.stack(single).mean())


def test_a_hopeless_pair_costs_its_margin(dpo_loss):
    zero = torch.zeros(1)
    for margin in (30.0, 100.0, 1000.0, 4000.0):
        x = torch.tensor([margin])
        assert_close(dpo_loss(zero, x, zero, zero, 1.0), torch.tensor(margin))
        assert_close(dpo_loss(x, zero, zero, zero, 1.0), torch.tensor(0.0), rtol=0.0, atol=1e-6)


def test_unlikely_answers_leave_the_margin_exact(dpo_loss):
    pc, pr, rc, rr = (torch.full((3,), -1e4) for _ in range(4))
    pc += torch.tensor([1.0, -2.0, 50.0])
    assert_right(dpo_loss, (pc, pr, rc, rr), 0.1)


def test_gradients_of_the_policy(dpo_loss):
    for dtype, scale, tolerance in (
        (torch.float64, 1.0, 1e-10),
        (torch.float32, 1.0, 1e-5),
        (torch.float32, 300.0, 1e-5),
    ):
        pc, pr, rc, rr = (scale * part for part in log_probabilities(dtype=dtype))
        pc.requires_grad_(), pr.requires_grad_()
        actual = torch.autograd.grad(3 * dpo_loss(pc, pr, rc, rr, 0.7), (pc, pr))
        exact = torch.autograd.grad(3 * expected(pc, pr, rc, rr, 0.7), (pc, pr))
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_a_pair_without_margin_has_a_gradient(dpo_loss):
    parts = [torch.full((2,), -3.0, requires_grad=True) for _ in range(4)]
    grad_pc, grad_pr = torch.autograd.grad(dpo_loss(*parts, 0.2), parts[:2])
    assert_close(grad_pc, torch.full((2,), -0.05))  # −β σ(0) / B
    assert_close(grad_pr, torch.full((2,), 0.05))


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(dpo_loss):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for B in (1, 5, 700):
            for spread in (3.0, 300.0):
                assert_right(dpo_loss, log_probabilities(B, dtype, spread), 0.3)


def test_any_memory_layout(dpo_loss):
    pc, pr = torch.randn(6, 2).T
    rc, rr = torch.randn(12)[::2], torch.tensor([-1.0]).expand(6)
    assert_right(dpo_loss, (pc, pr, rc, rr), 0.5)


def test_the_result_lies_on_the_device_of_the_arguments(dpo_loss):
    assert dpo_loss(*(part.to("meta") for part in log_probabilities()), 0.1).device.type == "meta"


def test_arguments_stay_as_they_are(dpo_loss):
    parts = log_probabilities()
    before = [part.clone() for part in parts]
    first = dpo_loss(*parts, 0.1)
    assert all(map(torch.equal, parts, before))
    assert torch.equal(dpo_loss(*parts, 0.1), first)
