"""torch's own attention over the joined chunks as the oracle: how a sequence is cut must not show in the result."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q_chunks, k_chunks, v_chunks, causal):
    """Attend over the whole sequence in float64."""
    q, k, v = (torch.cat(chunks, 2).double() for chunks in (q_chunks, k_chunks, v_chunks))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def cut(x, lengths):
    return list(x.split(lengths, 2))


def inputs(lengths=(3, 2, 4), B=2, H=2, d=8, dtype=torch.float32, size=1.0):
    T = sum(lengths)
    return [cut((factor * torch.randn(B, H, T, d)).to(dtype), list(lengths)) for factor in (size, 1.0, 1.0)]


def assert_right(ring_attention, chunks, causal, rtol=1e-4, atol=1e-5):
    out = ring_attention(*chunks, causal)
    assert isinstance(out, list) and [c.shape for c in out] == [c.shape for c in chunks[0]]
    assert all(c.dtype == chunks[0][0].dtype for c in out)
    assert_close(torch.cat(out, 2).double(), expected(*chunks, causal), rtol=rtol, atol=atol)


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(1, 2),
    st.integers(1, 3),
    st.sampled_from([1, 2, 5]),
)
def test_any_ranks_and_any_lengths(ring_attention, lengths, B, H, d):
    for causal in (False, True):
        assert_right(ring_attention, inputs(lengths, B, H, d), causal)


def test_one_rank_is_ordinary_attention(ring_attention):
    for causal in (False, True):
        for T in (1, 20):
            assert_right(ring_attention, inputs([T]), causal)


def test_the_cut_does_not_show(ring_attention):
    whole = [torch.randn(2, 2, 24, 8) for _ in range(3)]
    for causal in (False, True):
        results = []
        for lengths in ([24], [8] * 3, [1] * 24, [1, 20, 3], [3, 20, 1], [12, 12]):
            results.append(torch.cat(ring_attention(*(cut(x, lengths) for x in whole), causal), 2))
        for result in results:
            assert_close(result, results[0], rtol=1e-4, atol=1e-5)


def test_later_ranks_have_no_influence_if_causal(ring_attention):
    chunks = inputs()
    out = ring_attention(*chunks, True)
    changed = [[*parts[:2], 1e4 * torch.ones_like(parts[2])] for parts in chunks]
    for before, after in zip(out[:2], ring_attention(*changed, True)[:2], strict=True):
        assert_close(after, before, rtol=0, atol=0)


def test_the_first_query_sees_itself_alone_if_causal(ring_attention):
    q, k, v = inputs([1, 2, 3])
    assert_close(ring_attention(q, k, v, True)[0], v[0])


def test_large_scores_are_stable_whichever_chunk_comes_first(ring_attention):
    for size in (30.0, 1e3, 1e5):
        for causal in (False, True):
            assert_right(ring_attention, inputs(size=size), causal, 1e-3, 1e-2)
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        # Every score of one chunk is −200, 0 or 200 higher than those of the others: with d = 1 it is the key.
        levels = [[-200.0, 0.0, 200.0][i] for i in order]
        k = [level + torch.randn(1, 1, 3, 1) for level in levels]
        q, v = [torch.ones(1, 1, 3, 1) for _ in range(3)], [torch.randn(1, 1, 3, 1) for _ in range(3)]
        for sign in (1.0, -1.0):
            for causal in (False, True):
                assert_right(ring_attention, [[sign * x for x in q], k, v], causal, 1e-3, 1e-3)


def test_gradients_are_those_of_the_oracle(ring_attention):
    for causal in (False, True):
        for size in (1.0, 20.0):
            chunks = inputs(dtype=torch.float64, size=size)
            leaves = [x.detach().requires_grad_() for parts in chunks for x in parts]
            chunks = [leaves[:3], leaves[3:6], leaves[6:]]
            up = torch.randn(2, 2, 9, 8, dtype=torch.float64)
            actual = torch.autograd.grad(torch.cat(ring_attention(*chunks, causal), 2), leaves, up)
            assert_close(actual, torch.autograd.grad(expected(*chunks, causal), leaves, up))


def test_float64_keeps_its_digits(ring_attention):
    for causal in (False, True):
        assert_right(ring_attention, inputs(dtype=torch.float64), causal, 1e-9, 1e-9)


def test_16_bits_are_computed_in_float32_and_rounded_once(ring_attention):
    for dtype in (torch.float16, torch.bfloat16):
        for causal in (False, True):
            for size in (1.0, 4.0):
                chunks = inputs([8, 3, 16, 5], d=16, dtype=dtype, size=size)
                assert_right(ring_attention, chunks, causal, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_transposed_strided_and_expanded_inputs(ring_attention):
    q = [torch.randn(2, t, 3, 8).transpose(1, 2) for t in (3, 2)]
    k = [torch.randn(2, 3, 8, t).mT for t in (3, 2)]
    v = [torch.randn(1, 1, t, 16)[..., ::2].expand(2, 3, t, 8) for t in (3, 2)]
    for causal in (False, True):
        assert_right(ring_attention, [q, k, v], causal)


def test_results_lie_on_the_device_of_the_inputs(ring_attention):
    chunks = [[x.to("meta") for x in parts] for parts in inputs()]
    for causal in (False, True):
        assert all(c.device.type == "meta" for c in ring_attention(*chunks, causal))


def test_arguments_stay_and_results_are_new(ring_attention):
    for lengths in ([1], [1, 1], [3, 2, 4]):
        for causal in (False, True):
            chunks = inputs(lengths)
            lists, before = [list(parts) for parts in chunks], [[x.clone() for x in parts] for parts in chunks]
            first = ring_attention(*chunks, causal)
            kept = [c.clone() for c in first]
            for c in ring_attention(*chunks, causal):
                c.add_(1.0)
            for parts, same, old in zip(chunks, lists, before, strict=True):
                assert len(parts) == len(same) and all(x is y for x, y in zip(parts, same, strict=True))
                assert_close(parts, old, rtol=0, atol=0)
            assert_close(first, kept, rtol=0, atol=0)
