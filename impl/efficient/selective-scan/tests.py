"""The recurrence in float64, token by token, is the oracle; no step size from 0 to 100 may overflow."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, dt, A, Bm, C):
    x, dt, A, Bm, C = (tensor.double() for tensor in (x, dt, A, Bm, C))
    delta = torch.logaddexp(dt, torch.zeros_like(dt))  # softplus
    h = torch.zeros(x.shape[0], *A.shape, dtype=torch.float64)
    rows = []
    for t in range(x.shape[1]):
        step = delta[:, t, :, None]  # (B, D, 1)
        h = (step * A).exp() * h + step * Bm[:, t, None] * x[:, t, :, None]
        rows.append((C[:, t, None] * h).sum(-1))
    return torch.stack(rows, dim=1)


def assert_right(actual, *arguments):
    """Compare with the oracle, relative to the largest entry; 16 bits may be off by half a unit in the last place."""
    x, exact = arguments[0], expected(*arguments)
    assert actual.dtype == x.dtype and actual.shape == x.shape
    unit = torch.finfo(x.dtype).eps if x.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if x.dtype == torch.float64 else 1e-5
    assert_close(actual.double(), exact, rtol=unit / 2, atol=tolerance * max(1.0, exact.abs().max().item()))


def drawn(B=2, T=7, D=3, N=4, dtype=torch.float32):
    """Return x, dt, A, Bm, C."""
    x, dt, Bm, C = (torch.randn(B, T, width) for width in (D, D, N, N))
    return tuple(y.to(dtype) for y in (x, dt, -torch.rand(D, N) - 0.1, Bm, C))


@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 5), st.integers(1, 5))
def test_any_shape(ssm_scan, B, T, D, N):
    arguments = drawn(B, T, D, N)
    assert_right(ssm_scan(*arguments), *arguments)


def test_one_token_is_read_after_it_is_written(ssm_scan):
    x, dt, A, Bm, C = drawn(T=1)
    step = torch.nn.functional.softplus(dt)
    assert_close(ssm_scan(x, dt, A, Bm, C), step * x * (Bm * C).sum(-1, keepdim=True))


def test_a_state_decays_exactly(ssm_scan):
    # One token writes, the others have no input: e^(ΔA) per step, whatever the size of the step.
    x, Bm, C, A = torch.zeros(1, 5, 1), torch.ones(1, 5, 1), torch.ones(1, 5, 1), torch.tensor([[-0.7]])
    x[0, 0] = 1.0
    for dt in (-3.0, 0.0, 4.0):
        step = torch.tensor(dt).exp().log1p()
        exact = step * (step * -0.7 * torch.arange(5.0)).exp()
        assert_close(ssm_scan(x, torch.full((1, 5, 1), dt), A, Bm, C)[0, :, 0], exact)


def test_a_step_of_zero_leaves_the_state_as_it_is(ssm_scan):
    x, dt, A, Bm, C = drawn()
    dt[:, 3:5] = -200.0
    C[:, 3:5] = C[:, 2:3]
    y = ssm_scan(x, dt, A, Bm, C)
    assert_close(y[:, 3], y[:, 2])
    assert_close(y[:, 4], y[:, 2])
    assert_right(y, x, dt, A, Bm, C)


def test_large_and_small_steps(ssm_scan):
    x, dt, A, Bm, C = drawn()
    for size in (100.0, -20.0, -100.0):
        for dts in (torch.full_like(dt, size), torch.where(torch.rand(dt.shape) < 0.5, size, dt)):
            tensors = [y.requires_grad_() for y in (x, dts, A, Bm, C)]
            y = ssm_scan(*tensors)
            assert_right(y, *tensors)
            assert all(slope.isfinite().all() for slope in torch.autograd.grad(y.sum(), tensors))


def test_fast_and_slow_states(ssm_scan):
    x, dt, _, Bm, C = drawn(T=20)
    for A in (torch.full((3, 4), -1e-4), torch.full((3, 4), -50.0), -torch.arange(1.0, 5.0).expand(3, 4)):
        assert_right(ssm_scan(x, dt, A, Bm, C), x, dt, A, Bm, C)


def test_many_tokens_keep_a_long_memory(ssm_scan):
    x, dt, _, Bm, C = drawn(B=1, T=300)
    A = torch.full((3, 4), -1e-3)
    assert_right(ssm_scan(x, dt - 3.0, A, Bm, C), x, dt - 3.0, A, Bm, C)


def test_gradients_of_all_arguments(ssm_scan):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        tensors, up = [y.requires_grad_() for y in drawn(dtype=dtype)], torch.randn(2, 7, 3, dtype=dtype)
        actual = torch.autograd.grad(ssm_scan(*tensors), tensors, up)
        exact = torch.autograd.grad(expected(*tensors), tensors, up.double())
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(ssm_scan):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        arguments = drawn(T=100, D=5, dtype=dtype)
        assert_right(ssm_scan(*arguments), *arguments)


def test_any_memory_layout(ssm_scan):
    x, dt = torch.randn(3, 7, 2).permute(2, 1, 0), torch.randn(2, 7, 6)[..., ::2]
    A, Bm, C = -torch.rand(4, 3).T, torch.randn(4).expand(2, 7, 4), torch.randn(7, 2, 4).transpose(0, 1)
    assert_right(ssm_scan(x, dt, A, Bm, C), x, dt, A, Bm, C)


def test_device_and_arguments(ssm_scan):
    assert ssm_scan(*(y.to("meta") for y in drawn())).device.type == "meta"
    arguments = drawn()
    before = [y.clone() for y in arguments]
    first = ssm_scan(*arguments)
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(ssm_scan(*arguments), first)
