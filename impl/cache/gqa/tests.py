"""torch's own attention over repeated heads as the oracle, and what must hold for any groups."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st


def expected(q, k, v, causal=False):
    """Attend in float64; each key head is repeated for the query heads of its group."""
    R, T, S = q.shape[1] // k.shape[1], q.shape[2], k.shape[2]
    k, v = (x.double().repeat_interleave(R, dim=1) for x in (k, v))
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else None
    return F.scaled_dot_product_attention(q.double(), k, v, mask)


def inputs(H=4, G=2, T=3, S=5, d=8, dtype=torch.float32):
    return torch.randn(2, H, T, d).to(dtype), torch.randn(2, G, S, d).to(dtype), torch.randn(2, G, S, d).to(dtype)


def test_from_multi_head_to_multi_query(gqa):
    for sizes in [(4, 4), (4, 2), (4, 1), (16, 2, 9, 130)]:
        for causal in (False, True):
            q, k, v = inputs(*sizes)
            torch.testing.assert_close(gqa(q, k, v, causal), expected(q, k, v, causal).float(), rtol=1e-4, atol=1e-5)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3), st.sampled_from([1, 2, 5]))
def test_any_sizes(gqa, G, R, T, past, d):
    q, k, v = inputs(G * R, G, T, T + past, d)
    for causal in (False, True):
        torch.testing.assert_close(gqa(q, k, v, causal), expected(q, k, v, causal).float(), rtol=1e-4, atol=1e-5)


def test_fewer_keys_than_queries_are_fine_without_causal(gqa):
    q, k, v = inputs(T=5, S=2)
    torch.testing.assert_close(gqa(q, k, v), expected(q, k, v).float(), rtol=1e-4, atol=1e-5)


def test_consecutive_heads_share_a_group(gqa):
    # With one key the result is its value: 0 for the first group, 1 for the second.
    q, k = torch.randn(1, 6, 1, 4), torch.randn(1, 2, 1, 4)
    v = torch.tensor([0.0, 1.0]).reshape(1, 2, 1, 1).expand(1, 2, 1, 4)
    assert gqa(q, k, v)[0, :, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]


def test_queries_one_by_one_equal_all_at_once(gqa):
    q, k, v = inputs(T=5, S=7)
    whole = gqa(q, k, v, causal=True)
    for i in range(5):
        seen = 7 - 5 + i + 1
        one = gqa(q[:, :, i : i + 1], k[:, :, :seen], v[:, :, :seen], causal=True)
        torch.testing.assert_close(one, whole[:, :, i : i + 1], rtol=1e-4, atol=1e-5)


def test_bad_shapes_are_refused(gqa):
    with pytest.raises(ValueError):
        gqa(*inputs(H=4, G=3))
    with pytest.raises(ValueError):
        gqa(*inputs(H=2, G=4))
    with pytest.raises(ValueError):
        gqa(*inputs(T=5, S=3), causal=True)


def test_large_scores_are_stable(gqa):
    for size in (30.0, 1e3):
        for causal in (False, True):
            q, k, v = inputs()
            q = size * q
            torch.testing.assert_close(gqa(q, k, v, causal), expected(q, k, v, causal).float(), rtol=1e-3, atol=1e-3)


def test_a_hidden_key_has_no_influence_however_large_its_score(gqa):
    # Visible scores are near −30,000, hidden ones at 30,000.
    q, v = torch.full((1, 2, 3, 1), 300.0), torch.randn(1, 1, 3, 1)
    k = torch.tensor([-100.0, 100.0, 100.0]).reshape(1, 1, 3, 1)
    torch.testing.assert_close(gqa(q, k, v, causal=True)[:, :, 0], v[:, :, 0].expand(1, 2, 1))
    k = k[:, :, [0, 0, 1]] + torch.tensor([0.0, 0.001, 0.0]).reshape(1, 1, 3, 1)
    torch.testing.assert_close(gqa(q, k, v, True), expected(q, k, v, True).float(), rtol=1e-2, atol=1e-2)


def test_16_bits_are_computed_in_float32_and_rounded_once(gqa):
    for dtype in (torch.float16, torch.bfloat16):
        for G in (4, 2, 1):
            q, k, v = inputs(G=G, T=8, S=20, dtype=dtype)
            actual, exact = gqa(4 * q, k, v, causal=True), expected(4 * q, k, v, causal=True)
            assert actual.dtype == dtype
            torch.testing.assert_close(actual.double(), exact, rtol=0.52 * torch.finfo(dtype).eps, atol=1e-5)


def test_transposed_strided_and_expanded_inputs(gqa):
    q, k = torch.randn(2, 3, 4, 8).transpose(1, 2), torch.randn(2, 2, 8, 5).transpose(2, 3)
    v = torch.randn(1, 1, 5, 16)[..., ::2].expand(2, 2, 5, 8)
    torch.testing.assert_close(gqa(q, k, v, True), expected(q, k, v, True).float(), rtol=1e-4, atol=1e-5)


def test_gradients_are_those_of_the_oracle(gqa):
    for G in (4, 2, 1):
        for causal in (False, True):
            leaves = [x.requires_grad_() for x in inputs(G=G, dtype=torch.float64)]
            actual = torch.autograd.grad(gqa(*leaves, causal).square().sum(), leaves)
            torch.testing.assert_close(actual, torch.autograd.grad(expected(*leaves, causal).square().sum(), leaves))


def test_arguments_stay_and_the_result_is_new(gqa):
    arguments = inputs(T=1, S=1)
    before = [x.clone() for x in arguments]
    gqa(*arguments, causal=True).add_(1.0)
    torch.testing.assert_close(list(arguments), before, rtol=0, atol=0)
