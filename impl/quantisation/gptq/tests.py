"""Each column's best correction solved from the layer's output as the oracle, and what quantising must achieve."""

import torch
from hypothesis import given
from hypothesis import strategies as st


def hessian(X, damp):
    H = X.double().T @ X.double()
    return H + damp * H.diagonal().mean() * torch.eye(len(H), dtype=torch.float64)


def expected(W, X, bits, group, damp=0.01, corrected=True):
    """Round column by column; the columns after it take the values that minimise the error of the output.

    That is a linear system in the columns that are left, so no factor of an inverse is needed.
    """
    w, H, top = W.double().clone(), hessian(X, damp), 2 ** (bits - 1) - 1
    for j in range(w.shape[1]):
        if j % group == 0:
            scale = (w if corrected else W.double())[:, j : j + group].abs().amax(1) / top
        codes = torch.where(scale == 0, 0.0, w[:, j] / scale).round().clamp(-top, top)
        error = w[:, j] - codes * scale
        w[:, j] = codes * scale
        if j + 1 < w.shape[1]:
            w[:, j + 1 :] += torch.outer(error, torch.linalg.solve(H[j + 1 :, j + 1 :], H[j + 1 :, j]))
    return w


def check(gptq, W, X, bits, group, damp=0.01, tolerance=1e-7):
    """Compare with the oracle; a group's scale may come from the corrected or from the original weights."""
    actual = gptq(W, X, bits, group, damp)
    assert actual.dtype == W.dtype and actual.shape == W.shape
    options = [expected(W, X, bits, group, damp, corrected) for corrected in (True, False)]
    if not any(torch.allclose(actual.double(), one, rtol=tolerance, atol=tolerance) for one in options):
        torch.testing.assert_close(actual.double(), options[0], rtol=tolerance, atol=tolerance)


def layer(O=5, I=8, N=30, dtype=torch.float64, seed=0):
    """Make weights, and inputs whose columns depend on one another."""
    generator = torch.Generator().manual_seed(seed)
    mixed = torch.randn(I, I, generator=generator, dtype=torch.float64) + 2 * torch.eye(I)
    X = torch.randn(N, I, generator=generator, dtype=torch.float64) @ mixed
    return torch.randn(O, I, generator=generator, dtype=torch.float64).to(dtype), X.to(dtype)


def output_error(W, Q, X):
    return float(((W - Q).double() @ X.double().T).square().sum())


@given(st.sampled_from([(8, 8), (8, 4), (8, 2), (6, 3), (6, 1)]), st.integers(2, 8), st.integers(0, 1000))
def test_any_bits_and_groups(gptq, sizes, bits, seed):
    I, group = sizes
    check(gptq, *layer(3, I, seed=seed), bits, group)


def test_a_single_column_is_rounded_to_its_own_size(gptq):
    W, X = torch.tensor([[0.7], [-3.0]]).double(), torch.ones(4, 1).double()
    torch.testing.assert_close(gptq(W, X, 4, 1), W)


def test_independent_inputs_need_no_correction(gptq):
    # XᵀX is a multiple of I, so every weight is rounded by itself.
    W, X = layer()[0], 3 * torch.eye(8, dtype=torch.float64)
    scale = W.abs().amax(1, keepdim=True) / 7
    torch.testing.assert_close(gptq(W, X, 4, 8), (W / scale).round() * scale)


def test_corrections_cross_the_borders_of_groups(gptq):
    W, X = layer()
    check(gptq, W, X, 3, 2)
    moved = W.clone()
    moved[:, 0] += 0.3
    assert not torch.allclose(gptq(moved, X, 3, 2)[:, 2:], gptq(W, X, 3, 2)[:, 2:])


def test_every_row_by_itself(gptq):
    W, X = layer()
    rows = [gptq(W[i : i + 1], X, 4, 4) for i in range(5)]
    torch.testing.assert_close(gptq(W, X, 4, 4), torch.cat(rows))


def test_every_group_has_few_values_on_a_symmetric_grid(gptq):
    W, X = layer(I=16, N=60)
    for bits in (2, 3):
        top = 2 ** (bits - 1) - 1
        for part in gptq(W, X, bits, 8).split(8, dim=1):
            for row in part:
                sizes = row.abs()[row.abs() > 1e-9].unique()
                steps = [sizes / (sizes.max() / code) for code in range(1, top + 1)] if len(sizes) else []
                assert not steps or any(torch.allclose(step, step.round(), atol=1e-6) for step in steps)


def test_the_output_changes_less_than_by_rounding_to_the_nearest(gptq):
    for seed in range(5):
        W, X = layer(O=16, I=32, N=100, seed=seed)
        scale = W.unflatten(1, (-1, 16)).abs().amax(-1).repeat_interleave(16, dim=1) / 3
        nearest = (W / scale).round() * scale
        assert output_error(W, gptq(W, X, 3, 16), X) < 0.8 * output_error(W, nearest, X)


def test_fewer_rows_than_columns_and_inputs_that_are_always_0(gptq):
    W, X = layer(N=3)
    for damp in (0.01, 0.1, 1.0):
        check(gptq, W, X, 4, 4, damp, 1e-6)
    W, X = layer()
    X[:, [0, 5]] = 0.0
    check(gptq, W, X, 4, 4)


def test_the_default_damping_is_a_hundredth_of_the_mean_diagonal(gptq):
    W, X = layer(N=6)
    torch.testing.assert_close(gptq(W, X, 4, 8), gptq(W, X, 4, 8, 0.01))
    check(gptq, W, 1000 * X, 4, 8)
    torch.testing.assert_close(gptq(W, 1000 * X, 4, 8), gptq(W, X, 4, 8))


def test_a_group_of_zeros_becomes_zeros(gptq):
    W, X = layer()
    W[1, :4] = 0.0
    check(gptq, W, X, 4, 4)
    assert not gptq(W, X, 4, 4)[1, :4].any()
    W = torch.zeros(2, 8, dtype=torch.float64)
    assert not gptq(W, X, 2, 8).any()


def test_16_bit_weights_are_quantised_in_float32_or_wider(gptq):
    for dtype in (torch.float16, torch.bfloat16):
        for seed in range(5):
            W, X = layer(dtype=dtype, seed=seed)
            check(gptq, W, X, 4, 4, tolerance=torch.finfo(dtype).eps)
            check(gptq, W, X.float(), 4, 4, tolerance=torch.finfo(dtype).eps)


def test_transposed_and_strided_arguments_stay_as_they_are(gptq):
    W, X = layer()
    W, X = W.T.contiguous().T, X.repeat_interleave(2, dim=0)[::2]
    before = W.clone(), X.clone()
    check(gptq, W, X, 4, 4)
    gptq(W, X, 8, 8).zero_()
    assert torch.equal(W, before[0]) and torch.equal(X, before[1])
