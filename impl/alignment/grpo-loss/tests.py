"""An oracle that walks through prompts, answers and tokens in float64, and what must have no influence: masked tokens, a shift of rewards."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(logp, old_logp, ref_logp, rewards, mask, clip, kl_coef, adv_eps=1e-4):
    logp, old_logp, ref_logp, rewards = (part.double() for part in (logp, old_logp, ref_logp, rewards))
    B, G, T = logp.shape
    total = torch.zeros((), dtype=torch.float64)
    for b in range(B):
        mean = rewards[b].sum() / G
        std = ((rewards[b] - mean) ** 2).mean().sqrt()
        for g in range(G):
            A = (rewards[b, g] - mean) / (std + adv_eps)
            gains = []
            for t in [t for t in range(T) if mask[b, g, t]]:
                ratio, d = (logp[b, g, t] - old_logp[b, g, t]).exp(), ref_logp[b, g, t] - logp[b, g, t]
                gains.append(torch.min(ratio * A, ratio.clamp(1 - clip, 1 + clip) * A) - kl_coef * (d.exp() - d - 1))
            total = total + sum(gains) / max(len(gains), 1)
    return -total / (B * G)


def batch(B=2, G=4, T=5, dtype=torch.float32):
    logp = -2 + 0.5 * torch.randn(B, G, T)
    old, ref = (logp + 0.3 * torch.randn(B, G, T) for _ in range(2))
    tensors = [part.to(dtype) for part in (logp, old, ref, torch.randn(B, G))]
    return (*tensors, torch.rand(B, G, T) < 0.7)


def assert_right(grpo, tensors, *options):
    actual, exact = grpo(*tensors, *options), expected(*tensors, *options)
    assert actual.shape == () and actual.dtype == tensors[0].dtype
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(actual.dtype).eps if actual.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if actual.dtype == torch.float64 else 5e-6
    assert_close(actual.double(), exact, rtol=rounding + tolerance, atol=tolerance)


@given(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from([0.05, 0.2]),
    st.sampled_from([0.0, 0.04, 2.0]),
)
def test_any_shape_clip_and_coefficient(grpo, B, G, T, clip, kl_coef):
    assert_right(grpo, batch(B, G, T), clip, kl_coef)


def test_adv_eps_is_added_to_the_spread(grpo):
    for adv_eps in (1e-8, 0.1, 1.0):
        assert_right(grpo, batch(), 0.2, 0.04, adv_eps)


def test_equal_rewards_leave_only_the_kl(grpo):
    logp, old, ref, _, mask = batch()
    rewards = torch.full((2, 4), 3.0)
    assert_close(grpo(logp, old, ref, rewards, mask, 0.2, 0.0), torch.tensor(0.0))
    assert_right(grpo, (logp, old, ref, rewards, mask), 0.2, 0.5)
    assert grpo(logp, old, ref, rewards, mask, 0.2, 0.5) > 0.0  # k3 is never negative


def test_only_rewards_within_a_group_are_compared(grpo):
    logp, old, ref, rewards, mask = batch()
    before = grpo(logp, old, ref, rewards, mask, 0.2, 0.04)
    offset = torch.tensor([[4.0], [-7.0]])
    assert_close(grpo(logp, old, ref, rewards + offset, mask, 0.2, 0.04), before, rtol=1e-4, atol=1e-5)


def test_a_gain_is_capped_and_a_loss_is_not(grpo):
    zero, mask, rewards = torch.zeros(1, 2, 1), torch.ones(1, 2, 1), torch.tensor([[1.0, -1.0]])
    for log_ratio, gain in ((0.5, 1.2), (-0.5, 0.6065307)):  # of the better answer: min(ρ, 1.2)
        logp = torch.tensor([[[log_ratio], [0.0]]])
        assert_close(grpo(logp, zero, logp, rewards, mask, 0.2, 0.0, 0.0), torch.tensor(-(gain - 1) / 2))
    for log_ratio, gain in ((0.5, -1.6487213), (-0.5, -0.8)):  # of the worse answer: −max(ρ, 0.8)
        logp = torch.tensor([[[0.0], [log_ratio]]])
        assert_close(grpo(logp, zero, logp, rewards, mask, 0.2, 0.0, 0.0), torch.tensor(-(1 + gain) / 2))


def test_every_answer_counts_the_same_whatever_its_length(grpo):
    logp, old, ref, rewards, mask = batch()
    mask[:] = False
    mask[0, 0, 0] = mask[0, 2, 3] = True
    mask[0, 1] = mask[1, 3, 1:3] = True  # four answers are left without tokens
    assert_right(grpo, (logp, old, ref, rewards, mask), 0.2, 0.04)
    mask[:] = False
    assert grpo(logp, old, ref, rewards, mask, 0.2, 0.04) == 0.0


def test_a_masked_token_has_no_influence_and_no_gradient(grpo):
    logp, old, ref, rewards, mask = batch()
    before = grpo(logp, old, ref, rewards, mask, 0.2, 0.04)
    for value in (1e4, -1e4, float("inf"), -float("inf")):
        for other in (0.0, -value, value):
            loud = logp.masked_fill(~mask, value).requires_grad_()
            after = grpo(loud, *(part.masked_fill(~mask, other) for part in (old, ref)), rewards, mask, 0.2, 0.04)
            assert_close(after, before)
            (gradient,) = torch.autograd.grad(after, loud)
            assert gradient.isfinite().all() and not gradient[~mask].any()


def test_the_mask_may_have_any_dtype(grpo):
    *tensors, mask = batch()
    for dtype in (torch.int64, torch.uint8, torch.float32, torch.float64, torch.float16):
        assert_right(grpo, (*tensors, mask.to(dtype)), 0.2, 0.04)


def test_gradients_of_the_policy(grpo):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
        logp, *others = batch(dtype=dtype)
        logp.requires_grad_()
        for kl_coef in (0.0, 0.5):
            (actual,) = torch.autograd.grad(3 * grpo(logp, *others, 0.2, kl_coef), logp)
            (exact,) = torch.autograd.grad(3 * expected(logp, *others, 0.2, kl_coef), logp)
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(grpo):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for shape in ((2, 4, 5), (1, 2, 300)):  # beyond 256 tokens bfloat16 loses count
            assert_right(grpo, batch(*shape, dtype), 0.2, 0.04)


def test_any_memory_layout(grpo):
    logp, old, ref = (
        (0.3 * torch.randn(5, 4, 2)).permute(2, 1, 0),
        torch.zeros(1, 1, 5).expand(2, 4, 5),
        torch.zeros(2, 4, 10)[..., ::2],
    )
    mask = torch.tensor([1, 1, 0, 1, 0]).expand(2, 4, 5)
    assert_right(grpo, (logp, old, ref, torch.randn(4, 2).T, mask), 0.2, 0.04)


def test_the_result_lies_on_the_device_of_the_arguments(grpo):
    assert grpo(*(part.to("meta") for part in batch()), 0.2, 0.04).device.type == "meta"


def test_arguments_stay_as_they_are(grpo):
    arguments = batch()
    before = [argument.clone() for argument in arguments]
    first = grpo(*arguments, 0.2, 0.04)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(grpo(*arguments, 0.2, 0.04), first)
