"""The gradients as one vector: its norm, its direction, and what must hold when numbers run out."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def flat(grads):
    return torch.cat([g.double().flatten() for g in grads])


def expected(grads, max_norm):
    vector = flat(grads)
    total = vector.norm()
    return vector * min(1.0, max_norm / (float(total) + 1e-6)), total


def test_three_and_four_make_five(clip_grad_norm):
    clipped, total = clip_grad_norm([torch.tensor([3.0]), torch.tensor([4.0])], 1.0)
    assert total.shape == ()
    torch.testing.assert_close(total, torch.tensor(5.0))
    torch.testing.assert_close(flat(clipped), torch.tensor([0.6, 0.8]).double(), rtol=1e-5, atol=0)


@given(
    st.lists(st.sampled_from([(), (1,), (7,), (2, 3), (2, 1, 4)]), min_size=1, max_size=5),
    st.sampled_from([1e-6, 1e-3, 1.0, 1e3]),
    st.sampled_from([0.0, 1e-6, 0.5, 3.0, 1e4]),
)
def test_any_shapes_and_sizes(clip_grad_norm, shapes, scale, max_norm):
    grads = [scale * torch.randn(shape) for shape in shapes]
    clipped, total = clip_grad_norm(grads, max_norm)
    vector, length = expected(grads, max_norm)
    assert [g.shape for g in clipped] == shapes
    torch.testing.assert_close(total.double(), length, rtol=1e-5, atol=0)
    torch.testing.assert_close(flat(clipped), vector, rtol=1e-5, atol=0)


def test_short_gradients_stay_as_they_are(clip_grad_norm):
    grads = [torch.tensor([0.3, -0.1]), torch.tensor(0.2)]
    clipped, _ = clip_grad_norm(grads, 1.0)
    torch.testing.assert_close(clipped, grads, rtol=0, atol=0)


def test_zeros_stay_zeros(clip_grad_norm):
    for max_norm in (0.0, 1.0):
        clipped, total = clip_grad_norm([torch.zeros(3), torch.zeros(())], max_norm)
        assert total == 0 and not flat(clipped).any()


def test_the_result_is_new_and_the_gradients_stay(clip_grad_norm):
    for max_norm in (0.1, 100.0):
        grads = [torch.randn(2, 3), torch.randn(4)]
        before = [g.clone() for g in grads]
        clipped, _ = clip_grad_norm(grads, max_norm)
        for g in clipped:
            g.add_(1.0)
        torch.testing.assert_close(grads, before, rtol=0, atol=0)


def test_transposed_and_expanded_gradients(clip_grad_norm):
    grads = [torch.randn(3, 2).T, torch.randn(2, 1).expand(2, 4), torch.randn(6)[::2]]
    clipped, total = clip_grad_norm(grads, 0.5)
    vector, length = expected(grads, 0.5)
    torch.testing.assert_close(total.double(), length)
    torch.testing.assert_close(flat(clipped), vector, rtol=1e-5, atol=1e-7)


def test_16_bit_gradients_are_summed_in_float32(clip_grad_norm):
    # 300² is too large for float16, and bfloat16 has three digits.
    for dtype in (torch.float16, torch.bfloat16):
        grads = [torch.full((50,), 300.0).to(dtype), torch.randn(7).to(dtype)]
        clipped, total = clip_grad_norm(grads, 1.0)
        vector, length = expected(grads, 1.0)
        assert total.dtype == torch.float32
        torch.testing.assert_close(total.double(), length, rtol=1e-5, atol=0)
        torch.testing.assert_close(flat(clipped), vector, rtol=torch.finfo(dtype).eps, atol=1e-4)


def test_each_gradient_keeps_its_dtype(clip_grad_norm):
    dtypes = [torch.float16, torch.float32, torch.bfloat16]
    for more, widest in [([], torch.float32), ([torch.float64], torch.float64)]:
        grads = [torch.randn(3).to(dtype) for dtype in dtypes + more]
        clipped, total = clip_grad_norm(grads, 0.5)
        assert [g.dtype for g in clipped] == dtypes + more
        assert total.dtype == widest
        torch.testing.assert_close(total.double(), expected(grads, 0.5)[1], rtol=1e-5, atol=0)


def test_a_total_that_is_not_finite_leaves_the_gradients_as_they_are(clip_grad_norm):
    for bad in (math.inf, -math.inf, math.nan):
        grads = [torch.tensor([1.0, bad]), torch.randn(3)]
        clipped, total = clip_grad_norm(grads, 1.0)
        assert not torch.isfinite(total) and torch.isnan(total) == math.isnan(bad)
        torch.testing.assert_close(clipped, grads, rtol=0, atol=0, equal_nan=True)
