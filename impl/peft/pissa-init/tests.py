"""The equations that define the factors, checked in float64 on weights with known singular values: the signs of A and B are free."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}


def orthonormal(rows, columns):
    return torch.linalg.qr(torch.randn(rows, columns, dtype=torch.float64)).Q


def weight(O, I, dtype=torch.float32, scale=1.0):
    """A weight with the singular values 1, 2, …, n, so that its principal directions are certain."""
    n = min(O, I)
    S = torch.arange(n, 0, -1, dtype=torch.float64)
    return (scale * (orthonormal(O, n) * S) @ orthonormal(I, n).T).to(dtype)


def assert_right(pissa_init, W, r):
    A, B, rest = pissa_init(W, r)
    (O, I), dtype = W.shape, W.dtype
    assert A.shape == (r, I) and B.shape == (O, r) and rest.shape == (O, I)
    assert A.dtype == B.dtype == rest.dtype == dtype
    A, B, rest, W = A.double(), B.double(), rest.double(), W.double()
    U, S, Vh = torch.linalg.svd(W, full_matrices=False)
    close = {"rtol": 0.0, "atol": TOLERANCES[dtype] * S[0].item()}
    assert_close(B @ A, (U[:, :r] * S[:r]) @ Vh[:r], **close)
    assert_close(rest + B @ A, W, **close)
    assert_close(A @ A.T, torch.diag(S[:r]), **close)
    assert_close(B.T @ B, torch.diag(S[:r]), **close)


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_any_shape_and_any_rank(pissa_init, O, I, data):
    assert_right(pissa_init, weight(O, I), data.draw(st.integers(1, min(O, I))))


def test_both_wide_and_tall_weights(pissa_init):
    for O, I in ((40, 12), (12, 40), (20, 20)):
        for r in (1, 4, 12):
            assert_right(pissa_init, weight(O, I), r)


def test_a_diagonal_weight_by_hand(pissa_init):
    A, B, rest = pissa_init(torch.diag(torch.tensor([4.0, -9.0, 1.0])), 2)
    assert_close(A.abs(), torch.tensor([[0.0, 3.0, 0.0], [2.0, 0.0, 0.0]]))
    assert_close(B.abs(), torch.tensor([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
    assert_close(rest, torch.diag(torch.tensor([0.0, 0.0, 1.0])), rtol=0.0, atol=1e-5)


def test_the_residual_has_the_other_singular_values(pissa_init):
    *_, rest = pissa_init(weight(8, 6), 2)
    assert_close(torch.linalg.svdvals(rest), torch.tensor([4.0, 3.0, 2.0, 1.0, 0.0, 0.0]), rtol=0.0, atol=1e-4)


def test_full_rank_leaves_no_residual(pissa_init):
    *_, rest = pissa_init(weight(8, 6), 6)
    assert_close(rest, torch.zeros(8, 6), rtol=0.0, atol=1e-4)


def test_directions_beyond_the_rank_may_be_equal_or_missing(pissa_init):
    W = (orthonormal(7, 3) * torch.tensor([5.0, 2.0, 2.0])) @ orthonormal(6, 3).T
    assert_right(pissa_init, W.float(), 1)
    assert_right(
        pissa_init, (orthonormal(7, 2) @ torch.diag(torch.tensor([3.0, 1.0]).double()) @ orthonormal(6, 2).T).float(), 2
    )


def test_the_scale_of_the_weight_does_not_matter(pissa_init):
    for scale in (1e-4, 1e4):
        assert_right(pissa_init, weight(8, 6, scale=scale), 3)


def test_float64_keeps_its_digits_and_16_bits_their_dtype(pissa_init):
    for dtype in TOLERANCES:
        for O, I in ((10, 7), (30, 40)):
            assert_right(pissa_init, weight(O, I, dtype), 4)


def test_any_memory_layout(pissa_init):
    assert_right(pissa_init, weight(6, 8).T, 3)
    assert_right(pissa_init, weight(16, 6)[::2], 3)
    assert_right(pissa_init, torch.tensor([[1.0, -2.0, 3.0]]).expand(4, 3), 1)


def test_no_gradient_is_asked_for(pissa_init):
    W = torch.nn.Parameter(weight(8, 6))
    assert_right(pissa_init, W.detach(), 3)
    for part in pissa_init(W, 3):
        assert part.isfinite().all()


def test_the_results_lie_on_the_device_of_the_weight(pissa_init):
    assert [part.device.type for part in pissa_init(weight(8, 6).to("meta"), 3)] == ["meta"] * 3


def test_the_weight_stays_as_it_is_and_the_results_own_their_memory(pissa_init):
    W = weight(8, 6)
    before = W.clone()
    results = pissa_init(W, 3)
    kept = [part.clone() for part in results]
    for i in range(3):
        results[i].zero_()
        assert torch.equal(W, before)
        assert all(map(torch.equal, results[i + 1 :], kept[i + 1 :]))
    assert all(map(torch.equal, pissa_init(W, 3), kept))
