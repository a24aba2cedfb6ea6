"""The oracle counts choice by choice in float64; the known values of even and collapsed load come first."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(probs, idx, alpha):
    (N, E), k = probs.shape, idx.shape[1]
    load = [0] * E
    for expert in idx.flatten().tolist():
        load[expert] += 1
    means = probs.double().mean(0)
    return alpha * E * sum(load[e] / (N * k) * means[e] for e in range(E))


def assert_right(actual, probs, idx, alpha):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.shape == () and actual.dtype == probs.dtype
    unit = torch.finfo(probs.dtype).eps if probs.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if probs.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), expected(probs, idx, alpha), rtol=tolerance + unit / 2, atol=1e-7 if unit else 0.0)


def drawn(N=9, E=5, k=2, dtype=torch.float32):
    """Return probabilities, and choices that are not the most probable experts."""
    return torch.randn(N, E).softmax(-1).to(dtype), torch.rand(N, E).argsort(-1)[:, :k]


@given(st.integers(1, 9), st.integers(1, 6), st.data(), st.sampled_from([1e-2, 0.5, 1.0]))
def test_any_shape_and_any_factor(switch_aux_loss, N, E, data, alpha):
    probs, idx = drawn(N, E, data.draw(st.integers(1, E)))
    assert_right(switch_aux_loss(probs, idx, alpha), probs, idx, alpha)


def test_uniform_load_gives_alpha(switch_aux_loss):
    for E, k in ((4, 1), (4, 2), (8, 4), (3, 3)):
        idx = (torch.arange(2 * E)[:, None] + torch.arange(k)) % E
        loss = switch_aux_loss(torch.full((2 * E, E), 1 / E), idx, 0.01)
        assert_close(loss, torch.tensor(0.01))


def test_collapse_onto_k_experts_gives_alpha_E_over_k(switch_aux_loss):
    for E, k in ((4, 1), (8, 2), (6, 3)):
        probs = torch.zeros(10, E)
        probs[:, :k] = 1 / k
        loss = switch_aux_loss(probs, torch.arange(k).expand(10, k), 0.01)
        assert_close(loss, torch.tensor(0.01 * E / k))


def test_the_choices_are_those_given_and_not_the_most_probable(switch_aux_loss):
    probs = torch.tensor([[0.7, 0.2, 0.1]]).expand(4, 3)
    for expert in range(3):
        loss = switch_aux_loss(probs, torch.full((4, 1), expert), 1.0)
        assert_close(loss, 3 * probs[0, expert])


def test_the_mean_probability_is_over_all_tokens(switch_aux_loss):
    probs = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    idx = torch.tensor([[0], [1], [1], [1]])
    assert_close(switch_aux_loss(probs, idx, 1.0), torch.tensor(2 * (0.25 * 0.45 + 0.75 * 0.55)))


def test_rows_are_used_as_given(switch_aux_loss):
    _, idx = drawn()
    for probs in (torch.rand(9, 5), 3.0 * torch.rand(9, 5), torch.full((9, 5), 0.999)):
        assert_right(switch_aux_loss(probs, idx, 0.1), probs, idx, 0.1)


def test_the_gradient_is_the_load_alone(switch_aux_loss):
    for dtype in (torch.float64, torch.float32):
        probs, idx = drawn(dtype=dtype)
        idx[idx == 4] = 0  # nobody chooses expert 4
        probs.requires_grad_()
        (slope,) = torch.autograd.grad(3.0 * switch_aux_loss(probs, idx, 0.1), probs)
        load = torch.bincount(idx.flatten(), minlength=5).to(dtype) / 18
        assert_close(slope, (3.0 * 0.1 * 5 / 9 * load).expand(9, 5))
        assert not slope[:, 4].any()


def test_an_expert_beyond_the_last_choice_still_counts_in_E(switch_aux_loss):
    probs, _ = drawn(E=8)
    idx = torch.zeros(9, 1, dtype=torch.int64)
    assert_close(switch_aux_loss(probs, idx, 1.0), 8 * probs[:, 0].mean())


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(switch_aux_loss):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for N in (9, 3000):  # in bfloat16 a count stops at 256, and a sum soon after
            for E in (2, 5):
                probs, idx = drawn(N, E, dtype=dtype)
                assert_right(switch_aux_loss(probs, idx, 0.01), probs, idx, 0.01)
                assert_right(switch_aux_loss(probs, idx, 1.0), probs, idx, 1.0)


def test_any_memory_layout(switch_aux_loss):
    probs, idx = torch.rand(5, 9).T, torch.rand(9, 5).argsort(-1)[:, ::2]
    assert_right(switch_aux_loss(probs, idx, 0.1), probs, idx, 0.1)
    probs, idx = torch.rand(1, 5).expand(9, 5), torch.tensor([3, 1]).expand(9, 2)
    assert_right(switch_aux_loss(probs, idx, 0.1), probs, idx, 0.1)


def test_the_result_lies_on_the_device_of_the_inputs(switch_aux_loss):
    probs, idx = (tensor.to("meta") for tensor in drawn())
    try:
        loss = switch_aux_loss(probs, idx, 0.1)
    except NotImplementedError:  # torch cannot run every operation on this device
        return
    assert loss.device.type == "meta"


def test_arguments_stay_as_they_are(switch_aux_loss):
    probs, idx = drawn()
    probs_before, idx_before = probs.clone(), idx.clone()
    first = switch_aux_loss(probs, idx, 0.1)
    assert torch.equal(probs, probs_before) and torch.equal(idx, idx_before)
    assert torch.equal(switch_aux_loss(probs, idx, 0.1), first)
