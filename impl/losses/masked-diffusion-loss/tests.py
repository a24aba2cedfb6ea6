"""An oracle that sums the hidden places one by one in float64, and what must have no influence: the visible ones."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(logits, ids, mask, t):
    log_probs = logits.double().log_softmax(-1)
    total = (logits.double() * 0).sum()
    for b, i in mask.nonzero().tolist():
        total = total - log_probs[b, i, ids[b, i]] / t[b].double()
    return total / mask.numel()


def assert_right(actual, logits, *others):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.shape == () and actual.dtype == logits.dtype
    unit = torch.finfo(logits.dtype).eps if logits.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if logits.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), expected(logits, *others), rtol=tolerance + 0.5 * unit, atol=tolerance)


def drawn(B=3, T=6, V=7, scale=2.0, dtype=torch.float32):
    t = torch.rand(B).to(dtype) * 0.9 + 0.1
    return (scale * torch.randn(B, T, V)).to(dtype), torch.randint(V, (B, T)), torch.rand(B, T) < t[:, None], t


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 9))
def test_any_shape(mdlm_loss, B, T, V):
    arguments = drawn(B, T, V)
    assert_right(mdlm_loss(*arguments), *arguments)


def test_a_uniform_model_loses_log_V_for_each_hidden_token(mdlm_loss):
    _, ids, _, _ = drawn(B=2, T=4, V=50)
    mask = torch.tensor([[True, False, False, False], [True, True, True, False]])
    t = torch.tensor([0.25, 0.5])
    loss = mdlm_loss(torch.zeros(2, 4, 50), ids, mask, t)
    assert_close(loss, torch.tensor(math.log(50) * (1 / 0.25 + 3 / 0.5) / 8))


def test_a_small_rate_is_used_as_given(mdlm_loss):
    logits, ids, mask, _ = drawn()
    t = torch.tensor([1e-4, 1e-2, 1.0])
    assert_right(mdlm_loss(logits, ids, mask, t), logits, ids, mask, t)


def test_visible_places_have_no_influence_and_no_gradient(mdlm_loss):
    logits, ids, mask, t = drawn()
    before = mdlm_loss(logits, ids, mask, t)
    logits[~mask] = 1e4 * torch.randn(int((~mask).sum()), 7)
    ids[~mask] = 0
    logits.requires_grad_()
    after = mdlm_loss(logits, ids, mask, t)
    assert_close(after, before)
    (slope,) = torch.autograd.grad(after, logits)
    assert not slope[~mask].any() and slope[mask].any()


def test_a_row_without_hidden_tokens_counts_zero_but_stays_in_the_mean(mdlm_loss):
    logits, ids, mask, t = drawn()
    mask[1], t[1] = False, 0.0  # 0/0 must not come out of it
    logits.requires_grad_()
    loss = mdlm_loss(logits, ids, mask, t)
    assert_right(loss, logits, ids, mask, t)
    (slope,) = torch.autograd.grad(loss, logits)
    assert_close(slope, torch.autograd.grad(expected(logits, ids, mask, t), logits)[0])


def test_nothing_hidden_gives_zero_and_no_gradient(mdlm_loss):
    logits, ids, mask, t = drawn()
    logits.requires_grad_()
    for rates in (t, torch.zeros_like(t)):
        loss = mdlm_loss(logits, ids, torch.zeros_like(mask), rates)
        assert loss == 0.0
        if loss.requires_grad:
            assert not torch.autograd.grad(loss, logits)[0].any()


def test_gradients_also_of_large_logits(mdlm_loss):
    wide, narrow = torch.float64, torch.float32
    for dtype, scale, tolerance in ((wide, 2.0, 1e-10), (narrow, 2.0, 1e-5), (narrow, 1e4, 1e-3)):
        logits, *others = drawn(scale=scale, dtype=dtype)
        logits.requires_grad_()
        assert_right(mdlm_loss(logits, *others), logits, *others)
        (actual,) = torch.autograd.grad(3.0 * mdlm_loss(logits, *others), logits)
        (exact,) = torch.autograd.grad(3.0 * expected(logits, *others), logits)
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(mdlm_loss):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        # A long sum must not be rounded on the way, and may exceed 65504, float16's largest number.
        for T, scale in ((8, 2.0), (300, 2.0), (300, 100.0)):
            arguments = drawn(T=T, scale=scale, dtype=dtype)
            assert_right(mdlm_loss(*arguments), *arguments)


def test_any_memory_layout(mdlm_loss):
    logits, ids = torch.randn(7, 6, 3).permute(2, 1, 0), torch.randint(7, (6, 3)).T
    mask, t = torch.tensor([[True, False, True, True, False, True]]).expand(3, 6), torch.tensor(0.6).expand(3)
    assert_right(mdlm_loss(logits, ids, mask, t), logits, ids, mask, t)


def test_arguments_stay_as_they_are(mdlm_loss):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = mdlm_loss(*arguments)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(mdlm_loss(*arguments), first)
