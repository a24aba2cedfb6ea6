"""An oracle in float64, block by block and channel by channel, and what must hold for any cache."""

import torch
from hypothesis import given
from hypothesis import strategies as st

CASES = [(m, S, overlap) for m in (1, 2, 4) for S in (1, 4, 7, 12) for overlap in (False, True)]


def pooled(kv, gate, bias, m, overlap):
    kv, gate, bias = kv.double(), gate.double(), bias.double()
    B, S, D = kv.shape
    width = D // 2 if overlap else D
    out = kv.new_empty(B, S // m, width)
    for w in range(S // m):
        for channel in range(width):
            # (token, its place in its block, its channel)
            entries = [(w * m + i, i, channel + (D - width)) for i in range(m)]
            if overlap and w > 0:
                entries += [((w - 1) * m + i, i, channel) for i in range(m)]
            scores = torch.stack([gate[:, t, c] + bias[i, c] for t, i, c in entries], dim=-1)
            values = torch.stack([kv[:, t, c] for t, i, c in entries], dim=-1)
            out[:, w, channel] = (scores.softmax(-1) * values).sum(-1)
    return out


def inputs(S, m, dtype=torch.float32, D=6):
    return torch.randn(2, S, D).to(dtype), torch.randn(2, S, D).to(dtype), torch.randn(m, D).to(dtype)


def test_values(compress_kv):
    for m, S, overlap in CASES:
        kv, gate, bias = inputs(S, m)
        torch.testing.assert_close(
            compress_kv(kv, gate, bias, m, overlap), pooled(kv, gate, bias, m, overlap).float(), rtol=1e-4, atol=1e-5
        )


def test_equal_tokens_give_themselves(compress_kv):
    kv = torch.tensor([1.0, -2.0, 1.0, -2.0]).expand(1, 6, 4)
    gate, bias = torch.randn(1, 6, 4), torch.randn(3, 4)
    torch.testing.assert_close(compress_kv(kv, gate, bias, 3, False), kv[:, :2].contiguous())
    torch.testing.assert_close(compress_kv(kv, gate, bias, 3, True), kv[:, :2, 2:].contiguous())


def test_fewer_tokens_than_a_block_give_nothing(compress_kv):
    assert compress_kv(*inputs(3, 4), 4, False).shape == (2, 0, 6)
    assert compress_kv(*inputs(3, 4), 4, True).shape == (2, 0, 3)


def test_tokens_after_the_last_block_have_no_influence(compress_kv):
    kv, gate, bias = inputs(11, 4)
    for overlap in (False, True):
        whole = compress_kv(kv, gate, bias, 4, overlap)
        torch.testing.assert_close(compress_kv(kv[:, :8], gate[:, :8], bias, 4, overlap), whole)


def test_sequences_of_a_batch_are_independent(compress_kv):
    kv, gate, bias = inputs(8, 2)
    for overlap in (False, True):
        rows = [compress_kv(kv[b : b + 1], gate[b : b + 1], bias, 2, overlap) for b in range(2)]
        torch.testing.assert_close(compress_kv(kv, gate, bias, 2, overlap), torch.cat(rows))


def test_large_gates_are_stable(compress_kv):
    for m, S, overlap in CASES:
        kv, gate, bias = inputs(S, m)
        for large in (200 * gate.sign(), gate + 200, gate - 200):
            expected = pooled(kv, large, bias, m, overlap).float()
            torch.testing.assert_close(compress_kv(kv, large, bias, m, overlap), expected, rtol=1e-3, atol=1e-4)


def test_16_bits_are_computed_wider_and_rounded_once(compress_kv):
    for dtype in (torch.float16, torch.bfloat16):
        for m, S, overlap in CASES:
            kv, gate, bias = inputs(S, m, dtype)
            actual, exact = compress_kv(kv, gate, bias, m, overlap), pooled(kv, gate, bias, m, overlap)
            assert actual.dtype == dtype
            torch.testing.assert_close(actual.double(), exact, rtol=0.51 * torch.finfo(dtype).eps, atol=1e-5)


def test_transposed_and_strided_inputs(compress_kv):
    kv, gate, bias = torch.randn(6, 8, 2).permute(2, 1, 0), torch.randn(2, 8, 12)[..., ::2], torch.randn(6, 4).T
    for overlap in (False, True):
        expected = pooled(kv, gate, bias, 4, overlap).float()
        torch.testing.assert_close(compress_kv(kv, gate, bias, 4, overlap), expected, rtol=1e-4, atol=1e-5)


def test_gradients_are_those_of_the_oracle(compress_kv):
    for m, S, overlap in CASES:
        if m <= S:
            leaves = [x.requires_grad_() for x in inputs(S, m, torch.float64)]
            actual = torch.autograd.grad(compress_kv(*leaves, m, overlap).square().sum(), leaves)
            expected = torch.autograd.grad(pooled(*leaves, m, overlap).square().sum(), leaves)
            torch.testing.assert_close(actual, expected)


def test_arguments_stay_and_the_result_is_new(compress_kv):
    for m, S, overlap in CASES:
        arguments = inputs(S, m)
        before = [x.clone() for x in arguments]
        compress_kv(*arguments, m, overlap).add_(1.0)
        torch.testing.assert_close(list(arguments), before, rtol=0, atol=0)


@given(st.integers(1, 6), st.integers(0, 6), st.integers(1, 5), st.integers(0, 20))
def test_a_block_is_visible_from_its_last_token_on(block_visible, T, n, m, start):
    visible = block_visible(T, n, m, start)
    assert visible.shape == (T, n) and visible.dtype == torch.bool
    assert visible.tolist() == [[(w + 1) * m - 1 <= start + t for w in range(n)] for t in range(T)]


def test_without_start_the_first_query_is_at_0(block_visible):
    assert block_visible(4, 2, 2).tolist() == [[False, False], [True, False], [True, False], [True, True]]
