"""An oracle with all T x T products in float64; the causal form, steps and chunks must not differ from it."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def phi(x):
    return F.elu(x) + 1


def both_signs(x):
    """A feature map with zeros that doubles the last dimension."""
    return torch.cat((x.relu(), (-x).relu()), dim=-1)


def expected(q, k, v, causal, feature=phi):
    products = feature(q.double()) @ feature(k.double()).mT
    if causal:
        products = products.tril()
    return products @ v.double() / (products.sum(-1, keepdim=True) + 1e-6)


def assert_right(actual, exact, dtype):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == dtype and actual.shape == exact.shape
    unit = torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    assert_close(actual.double(), exact, rtol=tolerance + unit / 2, atol=tolerance)


def drawn(B=2, H=2, T=7, d=4, dv=3, dtype=torch.float32):
    return tuple(torch.randn(B, H, T, width).to(dtype) for width in (d, d, dv))


@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 9), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_any_shape_causal_or_not(linear_attention, B, H, T, d, dv, causal):
    q, k, v = drawn(B, H, T, d, dv)
    assert_right(linear_attention(q, k, v, causal), expected(q, k, v, causal), q.dtype)
    assert_right(linear_attention(q, k, v, causal, both_signs), expected(q, k, v, causal, both_signs), q.dtype)


def test_many_tokens(linear_attention):
    for T in (64, 129, 300):
        q, k, v = drawn(1, 1, T)
        for causal in (False, True):
            assert_right(linear_attention(q, k, v, causal), expected(q, k, v, causal), q.dtype)


def test_features_of_zero_give_zeros_and_small_ones_meet_the_millionth(linear_attention):
    q, k, v = drawn()
    weak = (lambda x: 0.0 * both_signs(x), lambda x: 1e-6 * both_signs(x), lambda x: 1e-3 * both_signs(x))
    for feature in weak:
        for causal in (False, True):
            actual = linear_attention(q, k, v, causal, feature)
            assert_close(actual.double(), expected(q, k, v, causal, feature), rtol=1e-4, atol=0)


def test_entries_up_to_140(linear_attention, linear_attention_step):
    for values in ((-140.0, 140.0), (140.0,), (-140.0,)):
        q, k = (torch.tensor(values)[torch.randint(len(values), (1, 2, 5, 4))].requires_grad_() for _ in range(2))
        v = torch.randn(1, 2, 5, 3)
        for causal in (False, True):
            y = linear_attention(q, k, v, causal)
            assert_close(y.double(), expected(q, k, v, causal), rtol=1e-4, atol=1e-5)
            assert all(slope.isfinite().all() for slope in torch.autograd.grad(y.sum(), (q, k)))
        zeros = torch.zeros(1, 2, 4, 3), torch.zeros(1, 2, 4)
        y, _ = linear_attention_step(zeros, q[:, :, 0], k[:, :, 0], v[:, :, 0])
        assert all(slope.isfinite().all() for slope in torch.autograd.grad(y.sum(), (q, k)))


def test_gradients_also_of_the_parameters_of_a_feature(linear_attention):
    weight = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    for causal in (False, True):
        for feature, more in ((phi, ()), (lambda x: (x @ weight).exp(), (weight,))):
            tensors = *(x.requires_grad_() for x in drawn(dtype=torch.float64)), *more
            up = torch.randn(2, 2, 7, 3, dtype=torch.float64)
            actual = torch.autograd.grad(linear_attention(*tensors[:3], causal, feature), tensors, up)
            exact = torch.autograd.grad(expected(*tensors[:3], causal, feature), tensors, up)
            assert_close(actual, exact, rtol=1e-9, atol=1e-9)


def test_steps_equal_the_causal_form_and_so_do_their_gradients(linear_attention_step):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        tensors, up = [x.requires_grad_() for x in drawn(dtype=dtype)], torch.randn(2, 2, 7, 3, dtype=dtype)
        state, rows = (torch.zeros(2, 2, 4, 3, dtype=dtype), torch.zeros(2, 2, 4, dtype=dtype)), []
        for t in range(7):
            y, state = linear_attention_step(state, *(x[:, :, t] for x in tensors))
            rows.append(y)
        steps, whole = torch.stack(rows, dim=2), expected(*tensors, True)
        assert_close(steps.double(), whole, rtol=tolerance, atol=tolerance)
        _, k, v = tensors
        assert_close(state, (phi(k).mT @ v, phi(k).sum(2)), rtol=tolerance, atol=tolerance)
        exact = torch.autograd.grad(whole, tensors, up.double())
        assert_close(torch.autograd.grad(steps, tensors, up), exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(linear_attention):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        q, k, v = drawn(T=40, d=8, dtype=dtype)
        for causal in (False, True):
            for feature in (phi, lambda x: x.square() / 3):
                assert_right(linear_attention(q, k, v, causal, feature), expected(q, k, v, causal, feature), dtype)


def test_a_step_keeps_the_dtypes_of_its_state_and_reads_from_float32(linear_attention_step):
    for dtype in (torch.float16, torch.bfloat16):
        for of_state in (dtype, torch.float32):
            q, k, v = (x[:, :, 0] for x in drawn(d=16, dtype=dtype))
            S, z = torch.randn(2, 2, 16, 3).to(of_state), 9 * torch.rand(2, 2, 16).to(of_state)
            y, (new_S, new_z) = linear_attention_step((S, z), q, k, v)
            exact_S = S.double() + phi(k.double())[..., None] * v.double()[..., None, :]
            exact_z = z.double() + phi(k.double())
            top, bottom = ((phi(q.double())[:, :, None] @ x)[:, :, 0] for x in (exact_S, exact_z[..., None]))
            assert_right(y, top / (bottom + 1e-6), dtype)
            assert_right(new_S, exact_S, of_state)
            assert_right(new_z, exact_z, of_state)


def test_layout_device_arguments_and_memory(linear_attention, linear_attention_step):
    q, k = torch.randn(2, 7, 2, 4).transpose(1, 2), torch.randn(2, 2, 7, 8)[..., ::2]
    v = torch.randn(3).expand(2, 2, 7, 3)
    for causal in (False, True):
        assert_right(linear_attention(q, k, v, causal), expected(q, k, v, causal), q.dtype)
        assert linear_attention(*(x.to("meta") for x in drawn()), causal).device.type == "meta"
    state = torch.randn(2, 2, 4, 3), torch.rand(2, 2, 4)
    before = [x.clone() for x in (*state, q, k, v)]
    y, new = linear_attention_step(state, q[:, :, 0], k[:, :, 0], v[:, :, 0])
    kept = [x.clone() for x in (y, *new)]
    assert all(map(torch.equal, (*state, q, k, v), before))
    [x.zero_() for x in state]
    assert all(map(torch.equal, (y, *new), kept))
