"""An oracle that sums the discounted TD errors of each episode forwards in float64, and what an end must stop."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(rewards, values, dones, last_value, gamma, lam):
    rewards, values, dones, last_value = (part.double() for part in (rewards, values, dones, last_value))
    B, T = rewards.shape
    following = torch.cat([values[:, 1:], last_value[:, None]], dim=1)
    delta = rewards + gamma * (1 - dones) * following - values
    adv = torch.zeros(B, T, dtype=torch.float64)
    for b in range(B):
        for t in range(T):
            for later in range(t, T):
                adv[b, t] += (gamma * lam) ** (later - t) * delta[b, later]
                if dones[b, later]:
                    break
    return adv, adv + values


def rollout(B=3, T=8, dtype=torch.float32):
    rewards, values, last_value = torch.randn(B, T), torch.randn(B, T), torch.randn(B)
    return rewards.to(dtype), values.to(dtype), torch.rand(B, T) < 0.3, last_value.to(dtype)


def assert_right(gae, arguments, gamma=0.9, lam=0.8):
    dtype = arguments[0].dtype
    # 16 bits: half a unit in the last place, and what float32 adds to it.
    rounding = 0.5 * torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    for actual, exact in zip(gae(*arguments, gamma, lam), expected(*arguments, gamma, lam), strict=True):
        assert actual.dtype == dtype
        assert_close(actual.double(), exact, rtol=rounding + tolerance, atol=tolerance)


@given(st.integers(1, 4), st.integers(1, 9), st.sampled_from([0.0, 0.9, 1.0]), st.sampled_from([0.0, 0.8, 1.0]))
def test_any_shape_and_any_discount(gae, B, T, gamma, lam):
    assert_right(gae, rollout(B, T), gamma, lam)


def test_lambda_1_returns_the_discounted_rewards(gae):
    _, values, _, last_value = rollout(1, 3)
    rewards = torch.tensor([[1.0, 2.0, 4.0]])
    _, returns = gae(rewards, values, torch.tensor([[0, 0, 1]]), last_value, 0.5, 1.0)
    assert_close(returns, torch.tensor([[3.0, 4.0, 4.0]]))
    _, returns = gae(rewards, values, torch.zeros(1, 3), torch.tensor([8.0]), 0.5, 1.0)
    assert_close(returns, torch.tensor([[4.0, 6.0, 8.0]]))


def test_an_end_is_a_wall(gae):
    rewards, values, dones, last_value = rollout()
    dones[:], dones[:, 3] = False, True
    before = gae(rewards, values, dones, last_value, 0.9, 0.8)
    rewards[:, 4:], values[:, 4:], last_value[:], dones[:, 6] = 1e4, -1e4, 1e4, True
    after = gae(rewards, values, dones, last_value, 0.9, 0.8)
    for first, second in zip(before, after, strict=True):
        assert torch.equal(first[:, :4], second[:, :4])
        assert not torch.isclose(first[:, 4:], second[:, 4:]).any()


def test_after_a_final_end_the_last_value_has_no_influence(gae):
    rewards, values, dones, last_value = rollout()
    dones[:, -1] = True
    before = gae(rewards, values, dones, last_value, 0.9, 0.8)
    assert all(map(torch.equal, gae(rewards, values, dones, last_value + 1e4, 0.9, 0.8), before))


def test_an_episode_that_is_cut_off_counts_its_last_value(gae):
    rewards, values, dones, last_value = rollout()
    dones[:] = False
    adv, _ = gae(rewards, values, dones, last_value, 0.9, 0.8)
    shifted, _ = gae(rewards, values, dones, last_value + 1, 0.9, 0.8)
    assert_close(shifted - adv, (0.9 * 0.72 ** torch.arange(7.0, -1, -1)).expand(3, 8), rtol=1e-4, atol=1e-5)


def test_dones_may_have_any_dtype(gae):
    rewards, values, dones, last_value = rollout()
    for dtype in (torch.int64, torch.uint8, torch.int8, torch.float16, torch.float32, torch.float64):
        assert_right(gae, (rewards, values, dones.to(dtype), last_value))


def test_rows_do_not_mix(gae):
    rewards, values, dones, last_value = rollout()
    whole = gae(rewards, values, dones, last_value, 0.9, 0.8)
    for b in range(3):
        row = gae(rewards[b : b + 1], values[b : b + 1], dones[b : b + 1], last_value[b : b + 1], 0.9, 0.8)
        assert_close(row, tuple(part[b : b + 1] for part in whole))


def test_the_results_are_targets_without_a_graph(gae):
    rewards, values, dones, last_value = rollout()
    for part in (rewards, values, last_value):
        part.requires_grad_()
        assert not any(result.requires_grad for result in gae(rewards, values, dones, last_value, 0.9, 0.8))
        part.requires_grad_(False)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(gae):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert_right(gae, rollout(3, 40, dtype), 0.99, 0.95)


def test_any_memory_layout(gae):
    rewards, values = torch.randn(2, 6, 3).permute(0, 2, 1)
    dones = torch.tensor([[0, 1, 0, 0, 1, 0]]).expand(3, 6)
    assert_right(gae, (rewards, values, dones, torch.randn(6)[::2]))
    assert_right(gae, (torch.tensor([[1.0]]).expand(3, 6), values, dones, torch.tensor([2.0]).expand(3)))


def test_the_results_lie_on_the_device_of_the_arguments(gae):
    results = gae(*(part.to("meta") for part in rollout()), 0.9, 0.8)
    assert [result.device.type for result in results] == ["meta", "meta"]


def test_arguments_stay_as_they_are_and_results_own_their_memory(gae):
    arguments = rollout()
    before = [argument.clone() for argument in arguments]
    adv, returns = gae(*arguments, 0.9, 0.8)
    kept = returns.clone()
    adv.zero_()  # the returns and the arguments must not share this memory
    assert torch.equal(returns, kept)
    returns.zero_()
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(gae(*arguments, 0.9, 0.8)[1], kept)
