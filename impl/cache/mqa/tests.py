"""torch's own attention, one head after the other in float64, as the oracle, and what must hold for any weights."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st


def expected(x, wq, wk, wv, wo, H, causal=True):
    x, wq, wk, wv, wo = (t.double() for t in (x, wq, wk, wv, wo))
    d = wk.shape[1]
    heads = [
        F.scaled_dot_product_attention(x @ wq[:, h * d : (h + 1) * d], x @ wk, x @ wv, is_causal=causal)
        for h in range(H)
    ]
    return torch.cat(heads, dim=-1) @ wo


def inputs(H=2, T=5, D=6, d=4, B=2, dtype=torch.float32):
    shapes = [(B, T, D), (D, H * d), (D, d), (D, d), (H * d, D)]
    x, *weights = (torch.randn(shape) for shape in shapes)
    return [x.to(dtype), *((w / len(w) ** 0.5).to(dtype) for w in weights)]


def close(actual, exact, tolerance=1e-4):
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance)


@given(st.integers(1, 4), st.integers(1, 6), st.sampled_from([1, 4, 6]), st.integers(1, 5), st.integers(1, 3))
def test_any_sizes(mqa, H, T, D, d, B):
    arguments = inputs(H, T, D, d, B)
    for causal in (False, True):
        close(mqa(*arguments, H, causal), expected(*arguments, H, causal))
    close(mqa(*arguments, H), expected(*arguments, H, causal=True))


def test_a_long_sequence_with_many_heads(mqa):
    arguments = inputs(H=9, T=140, D=16)
    for causal in (False, True):
        close(mqa(*arguments, 9, causal), expected(*arguments, 9, causal))


def test_heads_are_joined_in_their_order(mqa):
    # Token 1 sees value 1 or the mean of 0 and 1: head 0 looks at token 1 alone, head 1 at both.
    x = torch.eye(2).unsqueeze(0)
    wq, wk, wv = torch.tensor([[0.0, 0.0], [50.0, 0.0]]), torch.tensor([[-1.0], [1.0]]), torch.tensor([[0.0], [1.0]])
    torch.testing.assert_close(mqa(x, wq, wk, wv, torch.eye(2), 2)[0, 1], torch.tensor([1.0, 0.5]))


def test_later_tokens_have_no_influence(mqa):
    x, *weights = inputs()
    whole = mqa(x, *weights, 2)
    for T in range(1, 6):
        torch.testing.assert_close(mqa(x[:, :T], *weights, 2), whole[:, :T], rtol=1e-4, atol=1e-5)


def test_without_causal_the_order_of_the_tokens_does_not_matter(mqa):
    x, *weights = inputs()
    order = torch.randperm(5)
    torch.testing.assert_close(
        mqa(x[:, order], *weights, 2, False), mqa(x, *weights, 2, False)[:, order], rtol=1e-4, atol=1e-5
    )


def test_large_scores_are_stable(mqa):
    x, wq, *others = inputs()
    for size in (30.0, 300.0):
        for causal in (False, True):
            close(mqa(x, size * wq, *others, 2, causal), expected(x, size * wq, *others, 2, causal), 1e-3)
    # All scores far below 0, then far above: softmax takes no notice of a common shift.
    one = torch.ones(1, 1)
    x = torch.tensor([1.0, 1.01, 0.99]).reshape(1, 3, 1)
    for sign in (-1.0, 1.0):
        arguments = (x, sign * 200 * one, one, one, one)
        for causal in (False, True):
            close(mqa(*arguments, 1, causal), expected(*arguments, 1, causal), 1e-3)


def test_16_bits_are_computed_in_float32_and_rounded_once(mqa):
    for dtype in (torch.float16, torch.bfloat16):
        for causal in (False, True):
            arguments = inputs(T=20, D=16, dtype=dtype)
            actual, exact = mqa(*arguments, 2, causal), expected(*arguments, 2, causal)
            assert actual.dtype == dtype
            torch.testing.assert_close(actual.double(), exact, rtol=0.52 * torch.finfo(dtype).eps, atol=1e-5)


def test_gradients_are_those_of_the_oracle(mqa):
    for causal in (False, True):
        leaves = [t.requires_grad_() for t in inputs(dtype=torch.float64)]
        actual = torch.autograd.grad(mqa(*leaves, 2, causal).square().sum(), leaves)
        torch.testing.assert_close(actual, torch.autograd.grad(expected(*leaves, 2, causal).square().sum(), leaves))


def test_transposed_strided_and_expanded_inputs(mqa):
    x, wq, wk = torch.randn(1, 5, 6).expand(2, 5, 6), torch.randn(8, 6).T, torch.randn(6, 8)[:, ::2]
    wv, wo = torch.randn(6, 1).expand(6, 4), torch.randn(6, 8).T
    for causal in (False, True):
        close(mqa(x, wq, wk, wv, wo, 2, causal), expected(x, wq, wk, wv, wo, 2, causal), 1e-3)


def test_arguments_stay_and_the_result_is_new(mqa):
    arguments = inputs()
    before = [t.clone() for t in arguments]
    mqa(*arguments, 2).add_(1.0)
    torch.testing.assert_close(arguments, before, rtol=0, atol=0)
