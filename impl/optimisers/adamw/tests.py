"""An oracle in float64, step by step, and what the state must hold after any step."""

import torch
from hypothesis import given
from hypothesis import strategies as st


class Oracle:
    """Run AdamW on one parameter in float64, as the statement has it."""

    def __init__(self, p):
        self.p, self.t, self.m, self.v = p.detach().double(), 0, 0.0, 0.0

    def step(self, g, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        g = g.double()
        self.t += 1
        self.m = betas[0] * self.m + (1 - betas[0]) * g
        self.v = betas[1] * self.v + (1 - betas[1]) * g**2
        m_hat, v_hat = self.m / (1 - betas[0] ** self.t), self.v / (1 - betas[1] ** self.t)
        self.p = self.p * (1 - lr * weight_decay) - lr * m_hat / (v_hat**0.5 + eps)
        return self.p


def test_a_hundred_steps_in_float64(adamw_step):
    for shape in [(), (1,), (3, 4)]:
        p, state = torch.randn(shape, dtype=torch.float64), {}
        oracle = Oracle(p)
        for _ in range(100):
            g = torch.randn(shape, dtype=torch.float64)
            p = adamw_step(p, g, state, lr=0.03)
            torch.testing.assert_close(p, oracle.step(g, 0.03), rtol=0, atol=1e-9)


@given(st.tuples(st.floats(0, 0.99), st.floats(0, 0.999)), st.sampled_from([1e-8, 0.3]), st.floats(0, 1))
def test_any_hyper_parameters_which_may_change(adamw_step, betas, eps, decay):
    p, state = torch.randn(5, dtype=torch.float64), {}
    oracle = Oracle(p)
    # lr = 0 must still update the state.
    for scale, lr in [(1.0, 0.1), (1e-3, 0.0), (10.0, 0.5), (1.0, 0.01)]:
        g = scale * torch.randn(5, dtype=torch.float64)
        p = adamw_step(p, g, state, lr, betas, eps, decay)
        torch.testing.assert_close(p, oracle.step(g, lr, betas, eps, decay), rtol=1e-8, atol=1e-9)


def test_without_gradient_only_the_decay_acts(adamw_step):
    p, state = torch.randn(4, dtype=torch.float64), {}
    expected = p * (1 - 0.1 * 0.3) ** 3
    for _ in range(3):
        p = adamw_step(p, torch.zeros_like(p), state, 0.1, weight_decay=0.3)
    torch.testing.assert_close(p, expected)
    assert not state["m"].any() and not state["v"].any()


def test_the_state_holds_uncorrected_moments(adamw_step):
    state, g = {}, torch.tensor([2.0, -1.0])
    adamw_step(torch.zeros(2), g, state, 0.1, betas=(0.9, 0.99))
    adamw_step(torch.zeros(2), g, state, 0.1, betas=(0.9, 0.99))
    assert set(state) == {"t", "m", "v"} and state["t"] == 2
    torch.testing.assert_close(state["m"], g * (1 - 0.9**2))
    torch.testing.assert_close(state["v"], g**2 * (1 - 0.99**2))


def test_parameters_in_turns_do_not_share_a_state(adamw_step):
    p, gradients = torch.randn(3), torch.randn(4, 3)
    alone, first, second = {}, {}, {}
    for g in gradients:
        expected = adamw_step(p, g, alone, 0.1)
        adamw_step(p, 100 * g, second, 0.1)
        torch.testing.assert_close(adamw_step(p, g, first, 0.1), expected)


def test_a_checkpoint_goes_on_where_it_stopped(adamw_step):
    # Every moment constant, so the corrected ones are known at any t.
    for t in (1, 20, 900):
        g = torch.tensor([0.5, -3.0], dtype=torch.float64)
        state = {"t": t, "m": g * (1 - 0.9**t), "v": g**2 * (1 - 0.999**t)}
        new = adamw_step(torch.ones_like(g), g, state, 0.1)
        torch.testing.assert_close(new, 1 - 0.1 * 0.01 - 0.1 * g.sign())
        assert state["t"] == t + 1


def test_zero_tiny_and_huge_gradients_give_no_nan(adamw_step):
    p = torch.randn(())
    for scales in [(0.0, 1.0), (1e-20, 1e-20), (1.0, 1e6, 1.0)]:
        state, new, oracle = {}, p, Oracle(p)
        for g in torch.tensor(scales):
            new = adamw_step(new, g, state, 0.1)
            torch.testing.assert_close(new.double(), oracle.step(g, 0.1), rtol=1e-5, atol=1e-5)


def test_arguments_stay_and_nothing_is_on_a_graph(adamw_step):
    for lr in (0.1, 0.0):
        p, g, state = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True), {}
        old_p, old_g = p.detach().clone(), g.detach().clone()
        for _ in range(2):
            new = adamw_step(p, g, state, lr)
            assert not new.requires_grad and not state["m"].requires_grad and not state["v"].requires_grad
            new.add_(1.0)  # shares no memory with p
        assert torch.equal(p, old_p) and torch.equal(g, old_g)


def test_moments_are_float32_or_wider_whatever_the_gradient(adamw_step):
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    for p_dtype in (half, bfloat, single, double):
        for g_dtype in (half, bfloat, single, double):
            # 1e-4 and 300 have no square in float16.
            g, state = torch.tensor([1e-4, 300.0]).to(g_dtype), {}
            new = adamw_step(torch.ones(2, dtype=p_dtype), g, state, 0.1, betas=(0.5, 0.75))
            wide = torch.promote_types(p_dtype, single)
            assert new.dtype == p_dtype and state["m"].dtype == state["v"].dtype == wide
            torch.testing.assert_close(state["m"], 0.5 * g.to(wide))
            torch.testing.assert_close(state["v"], 0.25 * g.to(wide) ** 2)


def test_a_16_bit_parameter_is_rounded_once(adamw_step):
    for dtype in (torch.float16, torch.bfloat16):
        p, g = torch.linspace(1.1, 1.3, 500).to(dtype), -torch.rand(500)
        new, exact = adamw_step(p, g, {}, 0.9, eps=0.3), Oracle(p).step(g, 0.9, eps=0.3)
        # From 1 to 2 neighbours lie eps apart: the nearest one is half of that away, and a little for float32.
        torch.testing.assert_close(new.double(), exact, rtol=0, atol=0.51 * torch.finfo(dtype).eps)
