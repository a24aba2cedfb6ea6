"""An oracle in float64, gradients that tell the two averages apart, and what the state must hold."""

import torch
from hypothesis import given
from hypothesis import strategies as st


class Oracle:
    """Run Lion on one parameter in float64, as the statement has it."""

    def __init__(self, p):
        self.p, self.m = p.detach().double(), 0.0

    def step(self, g, lr, betas=(0.9, 0.99), weight_decay=0.0):
        g = g.double()
        c = betas[0] * self.m + (1 - betas[0]) * g
        self.p = self.p * (1 - lr * weight_decay) - lr * c.sign()
        self.m = betas[1] * self.m + (1 - betas[1]) * g
        return self.p


def test_a_step_is_lr_against_the_sign_of_the_gradient(lion_step):
    g = torch.tensor([1e-12, -3.0, 500.0, 0.0])
    new = lion_step(torch.ones(4), g, {}, 0.1)
    torch.testing.assert_close(new, torch.tensor([0.9, 1.1, 0.9, 1.0]))


def test_the_sign_rests_on_beta_1_and_the_old_moment(lion_step):
    # 0.5·1 − 0.5·0.9 is positive; with the new moment or with 0.1 for β₁ it would be negative.
    p, state = torch.zeros(1), {"m": torch.ones(1)}
    torch.testing.assert_close(lion_step(p, torch.tensor([-0.9]), state, 0.1, (0.5, 0.1)), torch.tensor([-0.1]))
    torch.testing.assert_close(lion_step(p, torch.tensor([-1.0]), {"m": torch.ones(1)}, 0.1, (0.1, 0.9)), p + 0.1)


def test_the_moment_goes_on_with_beta_2(lion_step):
    state, g = {}, torch.tensor([2.0, -1.0])
    lion_step(torch.zeros(2), g, state, 0.1, betas=(0.5, 0.75))
    assert set(state) == {"m"}
    torch.testing.assert_close(state["m"], 0.25 * g)
    lion_step(torch.zeros(2), -g, state, 0.1, betas=(0.5, 0.75))
    torch.testing.assert_close(state["m"], -0.0625 * g)


@given(st.tuples(st.floats(0, 0.99), st.floats(0, 0.999)), st.floats(0, 1), st.sampled_from([(), (1,), (3, 4)]))
def test_any_hyper_parameters_which_may_change(lion_step, betas, decay, shape):
    p, state = torch.randn(shape, dtype=torch.float64), {}
    oracle = Oracle(p)
    # lr = 0 must still update the state.
    for scale, lr in [(1.0, 0.1), (10.0, 0.0), (0.1, 0.5), (1e-12, 0.01), (1.0, 0.3)]:
        g = scale * torch.randn(shape, dtype=torch.float64)
        p = lion_step(p, g, state, lr, betas, decay)
        torch.testing.assert_close(p, oracle.step(g, lr, betas, decay))
        torch.testing.assert_close(state["m"], oracle.m)


def test_without_gradient_only_the_decay_acts(lion_step):
    p, state = torch.randn(4, dtype=torch.float64), {}
    torch.testing.assert_close(lion_step(p, torch.zeros_like(p), state, 0.1), p)
    torch.testing.assert_close(lion_step(p, torch.zeros_like(p), state, 0.1, weight_decay=0.3), p * 0.97)
    assert not state["m"].any()


def test_parameters_in_turns_do_not_share_a_state(lion_step):
    p, gradients = torch.randn(3), torch.randn(4, 3)
    alone, first, second = {}, {}, {}
    for g in gradients:
        expected = lion_step(p, g, alone, 0.1)
        lion_step(p, -100 * g, second, 0.1)
        torch.testing.assert_close(lion_step(p, g, first, 0.1), expected)


def test_transposed_and_strided_inputs(lion_step):
    p, g, state = torch.randn(3, 4).T, torch.randn(4, 6)[:, ::2], {}
    torch.testing.assert_close(lion_step(p, g, state, 0.1).double(), Oracle(p).step(g, 0.1))


def test_arguments_stay_and_nothing_is_on_a_graph(lion_step):
    for lr in (0.1, 0.0):
        p, g, state = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True), {}
        old_p, old_g = p.detach().clone(), g.detach().clone()
        for _ in range(2):
            new = lion_step(p, g, state, lr)
            assert not new.requires_grad and not state["m"].requires_grad
            new.add_(1.0)  # shares no memory with p
        assert torch.equal(p, old_p) and torch.equal(g, old_g)


def test_the_moment_is_float32_or_wider_whatever_the_gradient(lion_step):
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    for p_dtype in (half, bfloat, single, double):
        for g_dtype in (half, bfloat, single, double):
            g, state = torch.tensor([1.003, 3e-5]).to(g_dtype), {}
            new = lion_step(torch.ones(2, dtype=p_dtype), g, state, 0.25)
            wide = torch.promote_types(p_dtype, single)
            assert new.dtype == p_dtype and state["m"].dtype == wide
            torch.testing.assert_close(new, torch.full_like(new, 0.75))
            torch.testing.assert_close(state["m"], 0.01 * g.to(wide))


def test_a_16_bit_parameter_is_rounded_once(lion_step):
    for dtype in (torch.float16, torch.bfloat16):
        p, g = torch.linspace(1.2, 1.8, 500).to(dtype), torch.randn(500)
        new, exact = lion_step(p, g, {}, 0.1, weight_decay=0.3), Oracle(p).step(g, 0.1, weight_decay=0.3)
        # From 1 to 2 neighbours lie eps apart: the nearest one is half of that away, and a little for float32.
        torch.testing.assert_close(new.double(), exact, rtol=0, atol=0.51 * torch.finfo(dtype).eps)
