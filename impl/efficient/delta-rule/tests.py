"""The recurrence in float64, as written in the statement, and what a delta rule promises: a key has one value."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, beta, S0=None):
    q, k, v, beta = (x.double() for x in (q, k, v, beta))
    B, H, T, d = q.shape
    S = torch.zeros(B, H, v.shape[-1], d, dtype=torch.float64) if S0 is None else S0.double()
    rows = []
    for t in range(T):
        key, rate = k[:, :, t, :, None], beta[:, :, t, None, None]
        S = S @ (torch.eye(d, dtype=torch.float64) - rate * key @ key.mT) + rate * v[:, :, t, :, None] @ key.mT
        rows.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(rows, dim=2), S


def assert_right(actual, *arguments):
    """Compare with the oracle, relative to the largest entry; 16 bits may be off by half a unit in the last place."""
    assert len(actual) == 2
    for ours, exact in zip(actual, expected(*arguments), strict=True):
        dtype = arguments[0].dtype
        assert ours.dtype == dtype and ours.shape == exact.shape
        unit = torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
        tolerance = 1e-12 if dtype == torch.float64 else 1e-5
        assert_close(ours.double(), exact, rtol=unit / 2, atol=tolerance * max(1.0, exact.abs().max().item()))


def drawn(B=2, H=2, T=7, d=4, dv=3, dtype=torch.float32):
    q, k, v = torch.randn(B, H, T, d), torch.randn(B, H, T, d), torch.randn(B, H, T, dv)
    return tuple(x.to(dtype) for x in (q, unit(k), v, torch.rand(B, H, T), torch.randn(B, H, dv, d)))


def unit(k):
    return k / k.norm(dim=-1, keepdim=True)


@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 9), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_any_shape_with_and_without_a_state(delta_rule, B, H, T, d, dv, goes_on):
    *tensors, S0 = drawn(B, H, T, d, dv)
    arguments = (*tensors, S0) if goes_on else tensors
    assert_right(delta_rule(*arguments), *arguments)


def test_keys_of_any_length_are_taken_as_they_are(delta_rule):
    q, k, v, beta, S0 = drawn()
    for length in (0.1, 1.4):
        assert_right(delta_rule(q, length * k, v, beta, S0), q, length * k, v, beta, S0)
    mixed = torch.randn(2, 2, 7, 4)
    assert_right(delta_rule(q, mixed, v, beta / 4), q, mixed, v, beta / 4)


def test_a_token_is_written_before_it_is_read(delta_rule):
    _, k, v, _, _ = drawn(T=1)
    y, S = delta_rule(k, k, v, torch.ones(2, 2, 1))
    assert_close(y, v)  # with a rate of 1, a key of length 1 recalls its value exactly
    assert_close(S, v.mT @ k)


def test_writing_a_key_again_replaces_its_value(delta_rule):
    _, k, v, _, S0 = drawn(T=1)
    both = [torch.cat(pair, dim=2) for pair in ((k, k), (k, k), (v + 5.0, v))]
    y, S = delta_rule(*both, torch.ones(2, 2, 2), S0)
    assert_close(y, both[2])
    assert_close(S, delta_rule(k, k, v, torch.ones(2, 2, 1), S0)[1])


def test_a_call_goes_on_where_another_stopped(delta_rule):
    *tensors, S0 = drawn(T=9)
    whole, last = delta_rule(*tensors, S0)
    for cut in (1, 4, 8):
        first, S = delta_rule(*(x[:, :, :cut] for x in tensors), S0)
        second, S = delta_rule(*(x[:, :, cut:] for x in tensors), S)
        assert_close(torch.cat((first, second), dim=2), whole, rtol=1e-4, atol=1e-4)
        assert_close(S, last, rtol=1e-4, atol=1e-4)


def test_many_tokens(delta_rule):
    for T in (63, 130, 257):
        arguments = drawn(1, 1, T, 8, 4)
        assert_right(delta_rule(*arguments), *arguments)


def test_gradients_of_all_arguments(delta_rule):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        arguments = [x.requires_grad_() for x in drawn(dtype=dtype)]
        up = torch.randn(2, 2, 7, 3, dtype=dtype), torch.randn(2, 2, 3, 4, dtype=dtype)
        actual = torch.autograd.grad(delta_rule(*arguments), arguments, up)
        exact = torch.autograd.grad(expected(*arguments), arguments, [x.double() for x in up])
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(delta_rule):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        arguments = drawn(T=40, d=8, dtype=dtype)
        assert_right(delta_rule(*arguments), *arguments)


def test_any_memory_layout(delta_rule):
    q, k, v = (0.5 * torch.randn(2, 6, 2, 8).transpose(1, 2)[..., ::2] for _ in range(3))
    arguments = q, k, v, torch.tensor(0.5).expand(2, 2, 6), torch.randn(2, 2, 4, 4).mT
    assert_right(delta_rule(*arguments), *arguments)


def test_device_arguments_and_memory(delta_rule):
    for count in (4, 5):  # without and with a state
        assert [x.device.type for x in delta_rule(*(x.to("meta") for x in drawn()[:count]))] == ["meta"] * 2
    for rate in (1.0, 0.0):  # if nothing is written, the state still is a new tensor
        *tensors, beta, S0 = drawn()
        arguments = (*tensors, rate * beta, S0)
        before = [x.clone() for x in arguments]
        results = delta_rule(*arguments)
        kept = [x.clone() for x in results]
        assert all(map(torch.equal, arguments, before))
        [x.zero_() for x in arguments]
        assert all(map(torch.equal, results, kept))
