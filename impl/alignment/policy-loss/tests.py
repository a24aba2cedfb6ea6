"""An oracle that walks token by token in float64, run under every combination of the switches, and the limits of each switch."""

import itertools
import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

RATIOS, AGGS = ("token", "sequence"), ("token", "sequence", "const")
SWITCHES = [
    {"ratio": ratio, "agg": agg, "cispo": cispo, "clip_low": low, "clip_high": high}
    for ratio, agg, cispo, (low, high) in itertools.product(RATIOS, AGGS, (False, True), ((0.2, 0.2), (0.1, 0.4)))
]


def expected(
    logp, old_logp, adv, mask, ratio="token", clip_low=0.2, clip_high=0.2, agg="token", cispo=False, max_len=None
):
    logp, old_logp, adv = logp.double(), old_logp.double(), adv.double()
    N, T = logp.shape
    row_sums, counts = [], []
    for n in range(N):
        kept = [t for t in range(T) if mask[n, t]]
        deltas = [logp[n, t] - old_logp[n, t] for t in kept]
        if ratio == "sequence":
            deltas = [sum(deltas) / max(len(kept), 1)] * len(kept)
        total = torch.zeros((), dtype=torch.float64)
        for t, delta in zip(kept, deltas, strict=True):
            r = delta.exp()
            if cispo:
                total = total + r.detach().clamp(max=1 + clip_high) * adv[n] * logp[n, t]
            else:
                total = total + torch.min(r * adv[n], r.clamp(1 - clip_low, 1 + clip_high) * adv[n])
        row_sums.append(total)
        counts.append(len(kept))
    if agg == "sequence":
        return -sum(total / max(count, 1) for total, count in zip(row_sums, counts, strict=True)) / N
    return -sum(row_sums) / (max(sum(counts), 1) if agg == "token" else N * (T if max_len is None else max_len))


def batch(N=4, T=6, dtype=torch.float32):
    logp = -2 + 0.5 * torch.randn(N, T)
    tensors = [part.to(dtype) for part in (logp, logp + 0.3 * torch.randn(N, T) - 0.1, torch.randn(N))]
    return (*tensors, torch.rand(N, T) < 0.7)


def assert_right(policy_loss, tensors, **switches):
    actual, exact = policy_loss(*tensors, **switches), expected(*tensors, **switches)
    assert actual.shape == () and actual.dtype == tensors[0].dtype
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(actual.dtype).eps if actual.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if actual.dtype == torch.float64 else 5e-6
    assert_close(actual.double(), exact, rtol=rounding + tolerance, atol=tolerance)


@given(st.integers(1, 4), st.integers(1, 6), st.sampled_from(SWITCHES))
def test_any_shape_and_any_switch(policy_loss, N, T, switches):
    assert_right(policy_loss, batch(N, T), **switches)


def test_the_defaults(policy_loss):
    assert_right(policy_loss, batch())


def test_max_len_is_the_constant_divisor(policy_loss):
    for max_len in (1, 6, 50):
        assert_right(policy_loss, batch(), agg="const", max_len=max_len)
        assert_right(policy_loss, batch(), agg="token", max_len=max_len)  # where it has no meaning


def test_each_bound_clips_its_own_side(policy_loss):
    zero, mask = torch.zeros(1, 1), torch.ones(1, 1)
    for ratio, A, gain in ((2.0, 1.0, 1.4), (0.5, 1.0, 0.5), (2.0, -1.0, -2.0), (0.5, -1.0, -0.9)):
        loss = policy_loss(
            torch.tensor([[math.log(ratio)]]), zero, torch.tensor([A]), mask, clip_low=0.1, clip_high=0.4
        )
        assert_close(loss, torch.tensor(-gain))


def test_rows_without_tokens(policy_loss):
    logp, old, adv, mask = batch()
    mask[1] = False
    for switches in SWITCHES:
        assert_right(policy_loss, (logp, old, adv, mask), **switches)


def test_no_token_at_all_gives_zero_and_no_gradient(policy_loss):
    logp, old, adv, mask = batch()
    logp.requires_grad_()
    for switches in SWITCHES:
        loss = policy_loss(logp, old, adv, torch.zeros_like(mask), **switches)
        assert loss == 0.0
        if loss.requires_grad:  # a constant will do
            assert not torch.autograd.grad(loss, logp)[0].any()


def test_a_masked_token_has_no_influence_and_no_gradient(policy_loss):
    logp, old, adv, mask = batch()
    for switches, value in itertools.product(SWITCHES, (50.0, 1e4, -1e4, 1e30, -1e30)):
        before = policy_loss(logp, old, adv, mask, **switches)
        loud = logp.masked_fill(~mask, value).requires_grad_()
        after = policy_loss(loud, old.masked_fill(~mask, -value), adv, mask, **switches)
        assert_close(after, before)
        (gradient,) = torch.autograd.grad(after, loud)
        assert gradient.isfinite().all() and not gradient[~mask].any()


def test_the_mask_may_have_any_dtype(policy_loss):
    *tensors, mask = batch()
    for dtype, switches in itertools.product((torch.int64, torch.uint8, torch.float32, torch.float16), SWITCHES):
        assert_close(policy_loss(*tensors, mask.to(dtype), **switches), policy_loss(*tensors, mask, **switches))


def test_gradients_of_the_policy(policy_loss):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
        logp, *others = batch(dtype=dtype)
        logp.requires_grad_()
        for switches in SWITCHES:
            (actual,) = torch.autograd.grad(3 * policy_loss(logp, *others, **switches), logp)
            (exact,) = torch.autograd.grad(3 * expected(logp, *others, **switches), logp)
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(policy_loss):
    for dtype, switches in itertools.product((torch.float64, torch.float16, torch.bfloat16), SWITCHES[::2]):
        assert_right(policy_loss, batch(dtype=dtype), **switches)
    assert_right(policy_loss, batch(2, 300, torch.bfloat16))  # beyond 256 tokens bfloat16 loses count


def test_any_memory_layout(policy_loss):
    tensors = 0.3 * torch.randn(6, 4).T, torch.zeros(1, 1).expand(4, 6), torch.randn(8)[::2]
    for switches in SWITCHES:
        assert_right(policy_loss, (*tensors, torch.tensor([1, 1, 0, 1, 0, 1]).expand(4, 6)), **switches)


def test_the_result_lies_on_the_device_of_the_arguments(policy_loss):
    tensors = [part.to("meta") for part in batch()]
    assert all(policy_loss(*tensors, **switches).device.type == "meta" for switches in SWITCHES)


def test_arguments_stay_as_they_are(policy_loss):
    arguments = batch()
    before = [argument.clone() for argument in arguments]
    for switches in SWITCHES:
        first = policy_loss(*arguments, **switches)
        assert all(map(torch.equal, arguments, before))
        assert torch.equal(policy_loss(*arguments, **switches), first)
