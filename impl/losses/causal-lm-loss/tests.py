"""An oracle that sums the targets one by one in float64, and what must have no influence: whatever is no target."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(logits, ids, loss_mask=None, z_coef=0.0):
    logits = logits.double()
    total, count = (logits * 0).sum(), 0
    for b in range(ids.shape[0]):
        for t in range(1, ids.shape[1]):
            if loss_mask is None or loss_mask[b, t]:
                lse = logits[b, t - 1].logsumexp(-1)
                total = total + lse - logits[b, t - 1, ids[b, t]] + z_coef * lse**2
                count += 1
    return total / max(count, 1)


def assert_right(actual, logits, *others):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.shape == () and actual.dtype == logits.dtype
    unit = torch.finfo(logits.dtype).eps if logits.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if logits.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), expected(logits, *others), rtol=tolerance + 0.5 * unit, atol=tolerance)


def drawn(B=3, T=6, V=7, scale=2.0, dtype=torch.float32):
    return (scale * torch.randn(B, T, V)).to(dtype), torch.randint(V, (B, T)), torch.rand(B, T) < 0.6


@given(st.integers(1, 4), st.integers(2, 6), st.integers(1, 9), st.sampled_from([0.0, 1e-4, 0.5]), st.booleans())
def test_any_shape(lm_loss, B, T, V, z_coef, masked):
    logits, ids, mask = drawn(B, T, V)
    mask = mask if masked else None
    assert_right(lm_loss(logits, ids, mask, z_coef), logits, ids, mask, z_coef)


def test_a_uniform_model_loses_log_V(lm_loss):
    _, ids, mask = drawn(V=50)
    assert_close(lm_loss(torch.zeros(3, 6, 50), ids, mask), torch.tensor(math.log(50)))


def test_the_last_logits_and_the_first_id_have_no_influence(lm_loss):
    logits, ids, mask = drawn()
    before = lm_loss(logits, ids, mask, 0.1)
    logits[:, -1], ids[:, 0], mask[:, 0] = 100.0, 3, ~mask[:, 0]
    assert torch.equal(lm_loss(logits, ids, mask, 0.1), before)


def test_what_is_no_target_has_no_influence(lm_loss):
    logits, ids, mask = drawn()
    before = lm_loss(logits, ids, mask, 0.1)
    ids[~mask] = 0
    logits[:, :-1][~mask[:, 1:]] *= 50.0
    assert_close(lm_loss(logits, ids, mask, 0.1), before)


def test_the_mask_may_have_any_dtype(lm_loss):
    logits, ids, mask = drawn()
    for dtype in (torch.int64, torch.uint8, torch.float32, torch.float64, torch.float16):
        assert_close(lm_loss(logits, ids, mask.to(dtype), 0.1), lm_loss(logits, ids, mask, 0.1))


def test_no_target_gives_zero_and_no_gradient(lm_loss):
    logits, ids, _ = drawn()
    mask = torch.zeros(3, 6, dtype=torch.bool)
    mask[:, 0] = True  # the first id is never a target
    logits.requires_grad_()
    loss = lm_loss(logits, ids, mask, 0.1)
    assert loss == 0.0
    if loss.requires_grad:  # a constant will do
        assert not torch.autograd.grad(loss, logits)[0].any()


def test_large_logits(lm_loss):
    logits, ids, mask = drawn(scale=1e4)
    assert_right(lm_loss(logits, ids, mask), logits, ids, mask)
    assert_right(lm_loss(logits, ids, mask, 1e-4), logits, ids, mask, 1e-4)


def test_gradients(lm_loss):
    wide, narrow = torch.float64, torch.float32
    for dtype, scale, tolerance in ((wide, 2.0, 1e-10), (narrow, 2.0, 1e-5), (narrow, 1e3, 1e-4)):
        logits, ids, mask = drawn(scale=scale, dtype=dtype)
        logits.requires_grad_()
        (actual,) = torch.autograd.grad(3.0 * lm_loss(logits, ids, mask, 1e-3), logits)
        (exact,) = torch.autograd.grad(3.0 * expected(logits, ids, mask, 1e-3), logits)
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(lm_loss):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for T in (8, 9, 300):  # in bfloat16 a count beyond 256 is rounded, and so are sums
            logits, ids, mask = drawn(T=T, dtype=dtype)
            assert_right(lm_loss(logits, ids, mask, 0.01), logits, ids, mask, 0.01)


def test_any_memory_layout(lm_loss):
    logits, ids = torch.randn(7, 6, 3).permute(2, 1, 0), torch.randint(7, (6, 3)).T
    mask = torch.tensor([[0, 1, 1, 0, 1, 1]]).expand(3, 6)
    assert_right(lm_loss(logits, ids, mask), logits, ids, mask)


def test_the_result_lies_on_the_device_of_the_logits(lm_loss):
    logits, ids, mask = (tensor.to("meta") for tensor in drawn())
    assert lm_loss(logits, ids).device.type == lm_loss(logits, ids, mask, 0.1).device.type == "meta"


def test_arguments_stay_as_they_are(lm_loss):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = lm_loss(*arguments, 0.1)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(lm_loss(*arguments, 0.1), first)
