"""Torch's attention in float64 under a whole mask is the oracle; a key that the mask hides must not show at all."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def seen(T, window, n_sink=0, causal=True):
    """Return the (T, T) mask: True where query i sees key j."""
    i, j = torch.arange(T)[:, None], torch.arange(T)
    near = (j > i - window) & (j < i + window)
    return (near | (j < n_sink)) & (j <= i) if causal else near | (j < n_sink)


def expected(q, k, v, *settings):
    mask = seen(q.shape[2], *settings)
    return F.scaled_dot_product_attention(q.double(), k.double(), v.double(), attn_mask=mask)


def assert_right(actual, q, *others, tolerance=1e-5):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == q.dtype
    unit = torch.finfo(q.dtype).eps if q.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if q.dtype == torch.float64 else tolerance
    assert_close(actual.double(), expected(q, *others), rtol=tolerance + unit / 2, atol=tolerance)


def drawn(B=2, H=2, T=9, d=4, dtype=torch.float32):
    return tuple(torch.randn(B, H, T, d).to(dtype) for _ in range(3))


@given(
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 12), st.integers(1, 5), st.integers(1, 15), st.integers(0, 15),
    st.booleans(),
)  # fmt: skip
def test_any_shape_window_and_number_of_sinks(sliding_window_attention, B, H, T, d, window, n_sink, causal):
    q, k, v = drawn(B, H, T, d)
    assert_right(sliding_window_attention(q, k, v, window, n_sink, causal), q, k, v, window, n_sink, causal)


def test_causal_without_sinks_by_default(sliding_window_attention):
    q, k, v = drawn()
    assert_right(sliding_window_attention(q, k, v, 3), q, k, v, 3, 0, True)


def test_a_window_over_everything_is_plain_attention(sliding_window_attention):
    q, k, v = drawn()
    for window, n_sink in ((9, 0), (9, 4), (1, 9), (50, 50)):
        for causal in (True, False):
            exact = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            assert_close(sliding_window_attention(q, k, v, window, n_sink, causal), exact)


def test_hidden_keys_have_no_influence_and_no_gradient(sliding_window_attention):
    q, k, v = drawn()
    for settings in ((3, 0, True), (3, 2, True), (2, 0, False), (2, 1, False)):
        before, mask = sliding_window_attention(q, k, v, *settings), seen(9, *settings)
        for i in range(9):
            hidden = ~mask[i]
            changed_k, changed_v = k.clone(), v.clone()
            changed_k[:, :, hidden] = 1e3 * q[:, :, i : i + 1]  # the largest score by far
            changed_v[:, :, hidden] = 1e6
            changed_k.requires_grad_(), changed_v.requires_grad_()
            row = sliding_window_attention(q, changed_k, changed_v, *settings)[:, :, i]
            assert_close(row, before[:, :, i])
            for slope in torch.autograd.grad(row.sum(), (changed_k, changed_v)):
                assert not slope[:, :, hidden].any()


def test_many_tokens(sliding_window_attention):
    for T in (33, 64, 100):
        q, k, v = drawn(1, 1, T)
        for settings in ((7, 0, True), (40, 3, True), (5, 40, True), (7, 3, False), (33, 0, False)):
            assert_right(sliding_window_attention(q, k, v, *settings), q, k, v, *settings)


def test_visible_scores_far_below_the_hidden_ones(sliding_window_attention):
    # With d = 1 and q = 1 the scores are the keys; whole numbers of this size are exact in float32.
    q, v = torch.ones(1, 1, 9, 1), torch.randn(1, 1, 9, 1)
    for settings in ((3, 0, True), (3, 2, True), (2, 1, False)):
        for i, row in enumerate(seen(9, *settings)):
            k = torch.where(row, torch.randint(3, (9,)) - 30_000.0, 30_000.0).reshape(1, 1, 9, 1)
            actual = sliding_window_attention(q, k, v, *settings)[:, :, i]
            assert_close(actual.double(), expected(q, k, v, *settings)[:, :, i], rtol=1e-5, atol=1e-5)


def test_gradients(sliding_window_attention):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        for settings in ((3, 0, True), (3, 2, True), (2, 3, False), (20, 20, True)):
            tensors, up = [x.requires_grad_() for x in drawn(dtype=dtype)], torch.randn(2, 2, 9, 4, dtype=dtype)
            actual = torch.autograd.grad(sliding_window_attention(*tensors, *settings), tensors, up)
            exact = torch.autograd.grad(expected(*tensors, *settings), tensors, up.double())
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(sliding_window_attention):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for settings in ((6, 0, True), (6, 2, True), (6, 2, False)):
            q, k, v = drawn(T=20, d=16, dtype=dtype)
            assert_right(sliding_window_attention(q, k, v, *settings), q, k, v, *settings)


def test_any_memory_layout(sliding_window_attention):
    q, k = torch.randn(2, 9, 2, 4).transpose(1, 2), torch.randn(2, 2, 9, 8)[..., ::2]
    v = torch.randn(1, 2, 9, 4).expand(2, 2, 9, 4)
    for settings in ((3, 2, True), (3, 2, False)):
        assert_right(sliding_window_attention(q, k, v, *settings), q, k, v, *settings)


def test_device_arguments_and_memory(sliding_window_attention):
    for settings in ((1, 0, True), (3, 2, True), (3, 2, False)):
        tensors = drawn()
        assert sliding_window_attention(*(x.to("meta") for x in tensors), *settings).device.type == "meta"
        before = [x.clone() for x in tensors]
        result = sliding_window_attention(*tensors, *settings)
        kept = result.clone()
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert torch.equal(result, kept)
