"""The recurrence in float64, token after token, is the oracle; neither chunks nor the strength of decays may show."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, beta, log_decay, S0=None):
    q, k, v, beta, g = (x.double() for x in (q, k, v, beta, log_decay))
    B, H, T, d = q.shape
    S = torch.zeros(B, H, d, v.shape[-1], dtype=torch.float64) if S0 is None else S0.double()
    rows = []
    for t in range(T):
        key, value, rate = k[:, :, t, :, None], v[:, :, t, None], beta[:, :, t, None, None]
        decay = g[:, :, t, None, None] if g.dim() == 3 else g[:, :, t, :, None]
        S = decay.exp() * S
        S = S + key @ (rate * (value - key.mT @ S))
        rows.append((q[:, :, t, None] @ S)[:, :, 0])
    return torch.stack(rows, dim=2), S


def assert_right(actual, *arguments, tolerance=2e-5):
    """Compare with the oracle. 16 bits may be off by half a unit in the last place; their state may be float32."""
    assert len(actual) == 2
    dtype = arguments[0].dtype
    wide = torch.float32 if dtype.itemsize == 2 else dtype
    tolerance = 1e-11 if dtype == torch.float64 else tolerance
    for ours, exact, dtypes in zip(actual, expected(*arguments), ((dtype,), (dtype, wide)), strict=True):
        assert ours.dtype in dtypes
        unit = torch.finfo(ours.dtype).eps if ours.dtype.itemsize == 2 else 0.0
        assert_close(ours.double(), exact, rtol=unit / 2, atol=tolerance * max(1.0, exact.abs().max().item()))


def drawn(B=2, H=2, T=9, d=4, dv=3, channels=False, strongest=2.0, dtype=torch.float32):
    """Return keys shorter than 1, rates from 0 to 1 and decays from -strongest to 0, per head or per channel."""
    q, k, v = torch.randn(B, H, T, d), torch.randn(B, H, T, d), torch.randn(B, H, T, dv)
    k = k / k.norm(dim=-1, keepdim=True) * torch.rand(B, H, T, 1)
    g = -strongest * torch.rand((B, H, T, d) if channels else (B, H, T))
    return tuple(x.to(dtype) for x in (q, k, v, torch.rand(B, H, T), g, torch.randn(B, H, d, dv)))


@given(
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 9), st.integers(1, 5), st.integers(1, 5), st.integers(1, 10),
    st.booleans(), st.booleans(),
)  # fmt: skip
def test_any_shape_any_chunk_and_both_gates(gated_delta_rule, B, H, T, d, dv, chunk, channels, goes_on):
    *tensors, S0 = drawn(B, H, T, d, dv, channels)
    S0 = S0 if goes_on else None
    assert_right(gated_delta_rule(*tensors, S0, chunk), *tensors, S0)


def test_the_default_chunk_and_no_state_by_default(gated_delta_rule):
    for T in (5, 64, 150):
        for channels in (False, True):
            *tensors, _ = drawn(1, 1, T, channels=channels, strongest=0.1)
            assert_right(gated_delta_rule(*tensors), *tensors)


def test_a_token_forgets_before_it_writes(gated_delta_rule):
    q, k, v, beta, g, S0 = drawn(T=1)
    y, S = gated_delta_rule(q, k, v, torch.zeros_like(beta), g, S0)
    assert_close(S, g.exp()[..., None] * S0)  # a rate of 0 writes nothing
    assert_close(y, q @ S)


def test_a_call_goes_on_where_another_stopped(gated_delta_rule):
    *tensors, S0 = drawn(channels=True)
    whole = gated_delta_rule(*tensors, S0, 4)
    for cut in (1, 4, 6):
        first, S = gated_delta_rule(*(x[:, :, :cut] for x in tensors), S0, 4)
        second, S = gated_delta_rule(*(x[:, :, cut:] for x in tensors), S, 4)
        assert_close((torch.cat((first, second), dim=2), S), whole, rtol=1e-4, atol=1e-4)


def test_strong_decays(gated_delta_rule):
    for channels in (False, True):
        for chunk in (1, 5, 64):
            arguments = drawn(T=30, channels=channels, strongest=60.0)
            arguments[4][:, :, ::3] = -60.0
            arguments[4][:, :, 1::3] /= 60.0  # some tokens remember
            assert_right(gated_delta_rule(*arguments, chunk), *arguments, tolerance=1e-3)


def test_gradients_of_all_arguments(gated_delta_rule):
    for channels in (False, True):
        for dtype, strongest, tolerance in ((torch.float64, 2.0, 1e-9), (torch.float32, 60.0, 1e-3)):
            arguments = [x.requires_grad_() for x in drawn(channels=channels, strongest=strongest, dtype=dtype)]
            up = torch.randn(2, 2, 9, 3, dtype=dtype), torch.randn(2, 2, 4, 3, dtype=dtype)
            exact = torch.autograd.grad(expected(*arguments), arguments, [x.double() for x in up])
            for chunk in (4, 64):
                actual = torch.autograd.grad(gated_delta_rule(*arguments, chunk), arguments, up)
                assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(gated_delta_rule):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for channels in (False, True):
            arguments = drawn(T=40, d=8, channels=channels, strongest=0.3, dtype=dtype)
            assert_right(gated_delta_rule(*arguments, 16), *arguments)


def test_any_memory_layout(gated_delta_rule):
    q, k, v = (0.4 * torch.randn(2, 6, 2, 8).transpose(1, 2)[..., ::2] for _ in range(3))
    beta, S0 = torch.tensor(0.5).expand(2, 2, 6), torch.randn(2, 2, 4, 4).mT
    for g in (-torch.rand(6, 2, 2).permute(1, 2, 0), -torch.rand(6, 1).expand(2, 2, 6, 4)):
        k = k / k.norm(dim=-1, keepdim=True).clamp(min=1.0)
        assert_right(gated_delta_rule(q, k, v, beta, g, S0, 4), q, k, v, beta, g, S0)


def test_device_arguments_and_memory(gated_delta_rule):
    for channels in (False, True):
        *tensors, beta, g, S0 = drawn(channels=channels)
        on_meta = gated_delta_rule(*(x.to("meta") for x in (*tensors, beta, g, S0)), 4)
        assert [x.device.type for x in on_meta] == ["meta"] * 2
        for factor in (1.0, 0.0):  # without decay and writing, the state still is a new tensor
            arguments = (*tensors, factor * beta, factor * g, S0.clone())
            before = [x.clone() for x in arguments]
            results = gated_delta_rule(*arguments, 4)
            kept = [x.clone() for x in results]
            assert all(map(torch.equal, arguments, before))
            arguments[-1].zero_()
            assert all(map(torch.equal, results, kept))
