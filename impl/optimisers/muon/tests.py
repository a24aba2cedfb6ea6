"""An oracle on singular values in float64, and the rules that the momentum and the state follow."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SHAPES = [(1, 1), (1, 5), (5, 1), (4, 4), (3, 7), (7, 3)]


def orthogonalised(G, steps=5):
    """Apply the polynomial to each singular value by itself."""
    U, sigma, V = torch.linalg.svd(G.double(), full_matrices=False)
    sigma = sigma / (sigma.norm() + 1e-7)  # the Frobenius norm is that of the singular values
    for _ in range(steps):
        sigma = 3.4445 * sigma - 4.7750 * sigma**3 + 2.0315 * sigma**5
    return U @ torch.diag(sigma) @ V


class Oracle:
    """Run Muon on one matrix in float64, as the statement has it."""

    def __init__(self, W):
        self.W, self.buf = W.detach().double(), 0.0

    def step(self, g, lr, momentum=0.95, nesterov=True):
        self.buf = momentum * self.buf + g.double()
        u = g.double() + momentum * self.buf if nesterov else self.buf
        O, I = g.shape
        self.W = self.W - lr * max(1.0, O / I) ** 0.5 * orthogonalised(u)
        return self.W


def test_each_singular_value_goes_through_the_polynomial(newton_schulz5):
    for shape in SHAPES:
        G = torch.randn(shape, dtype=torch.float64)
        for steps in (0, 1, 2, 5):
            torch.testing.assert_close(newton_schulz5(G, steps), orthogonalised(G, steps))
        torch.testing.assert_close(newton_schulz5(G), orthogonalised(G, 5))


def test_float32_is_computed_in_float32(newton_schulz5):
    for shape in SHAPES:
        G = torch.randn(shape)
        torch.testing.assert_close(newton_schulz5(G).double(), orthogonalised(G), rtol=1e-3, atol=1e-4)


@given(st.sampled_from([1e-3, 1.0, 1e6]), st.sampled_from([(3, 7), (7, 3)]))
def test_the_scale_of_the_gradient_does_not_matter(newton_schulz5, scale, shape):
    G = torch.randn(shape, dtype=torch.float64)
    torch.testing.assert_close(newton_schulz5(scale * G), newton_schulz5(G), rtol=1e-2, atol=1e-3)


def test_the_transpose_gives_the_transpose(newton_schulz5):
    G = torch.randn(6, 3, dtype=torch.float64)
    torch.testing.assert_close(newton_schulz5(G.T), newton_schulz5(G).T)


def test_a_matrix_of_zeros_stays(newton_schulz5):
    assert not newton_schulz5(torch.zeros(3, 2)).any()


@given(st.sampled_from(SHAPES), st.floats(0, 0.99), st.booleans())
def test_steps_with_any_momentum(muon_step, shape, momentum, nesterov):
    W, state = torch.randn(shape, dtype=torch.float64), {}
    oracle = Oracle(W)
    for scale in (1.0, 0.1, 3.0):
        g = scale * torch.randn(shape, dtype=torch.float64)
        W = muon_step(W, g, state, 0.1, momentum, nesterov)
        torch.testing.assert_close(W, oracle.step(g, 0.1, momentum, nesterov), rtol=1e-5, atol=1e-6)
        assert set(state) == {"buf"}
        torch.testing.assert_close(state["buf"], oracle.buf)


def test_the_defaults_are_momentum_095_with_nesterov(muon_step):
    W, state = torch.randn(3, 2, dtype=torch.float64), {}
    oracle = Oracle(W)
    for _ in range(3):
        g = torch.randn(3, 2, dtype=torch.float64)
        W = muon_step(W, g, state, 0.1)
        torch.testing.assert_close(W, oracle.step(g, 0.1), rtol=1e-5, atol=1e-6)


def test_anything_but_a_matrix_is_refused(newton_schulz5, muon_step):
    for shape in [(), (3,), (2, 3, 4)]:
        with pytest.raises(ValueError):
            newton_schulz5(torch.randn(shape))
        with pytest.raises(ValueError):
            muon_step(torch.randn(shape), torch.randn(shape), {}, 0.1)


def test_arguments_stay_and_nothing_is_on_a_graph(muon_step):
    for lr in (0.1, 0.0):
        W, g, state = torch.randn(3, 2, requires_grad=True), torch.randn(3, 2, requires_grad=True), {}
        old_W, old_g = W.detach().clone(), g.detach().clone()
        for _ in range(2):
            new = muon_step(W, g, state, lr)
            assert not new.requires_grad and not state["buf"].requires_grad
            new.add_(1.0)  # shares no memory with W
        assert torch.equal(W, old_W) and torch.equal(g, old_g)


def test_the_buffer_is_float32_or_wider_whatever_the_gradient(muon_step):
    half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
    for W_dtype in (half, bfloat, single, double):
        for g_dtype in (half, bfloat, single, double):
            W, state = torch.randn(3, 2).to(W_dtype), {}
            wide, total = torch.promote_types(W_dtype, single), 0.0
            for _ in range(3):
                g = torch.randn(3, 2).to(g_dtype)
                new = muon_step(W, g, state, 0.1, momentum=0.5)
                total = 0.5 * total + g.to(wide)
            assert new.dtype == W_dtype and state["buf"].dtype == wide
            torch.testing.assert_close(state["buf"], total)
