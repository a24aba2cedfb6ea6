"""Every sequence is attended to alone by torch in float64; nothing may cross the boundary to its neighbours."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, lengths, causal=True):
    parts = zip(*(x.double().transpose(0, 1).split(lengths, dim=1) for x in (q, k, v)), strict=True)  # (H, n, d) each
    return torch.cat([F.scaled_dot_product_attention(*part, is_causal=causal) for part in parts], dim=1).transpose(0, 1)


def bounds(lengths):
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def assert_right(actual, q, *others, tolerance=1e-5):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == q.dtype
    unit = torch.finfo(q.dtype).eps if q.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if q.dtype == torch.float64 else tolerance
    assert_close(actual.double(), expected(q, *others), rtol=tolerance + unit / 2, atol=tolerance)


def drawn(lengths=(3, 1, 5), H=2, d=4, dtype=torch.float32):
    return tuple(torch.randn(sum(lengths), H, d).to(dtype) for _ in range(3))


some_lengths = st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any)


@given(some_lengths, st.integers(1, 3), st.integers(1, 4))
def test_packing_puts_all_tokens_in_order_and_counts_them(pack, lengths, H, d):
    seqs = [torch.randn(n, H, d) for n in lengths]
    x, cu_seqlens = pack(seqs)
    assert torch.equal(x, torch.cat(seqs))
    assert cu_seqlens.dtype == torch.int32 and torch.equal(cu_seqlens, bounds(lengths))


@given(some_lengths, st.integers(1, 3), st.integers(1, 5), st.booleans())
def test_each_sequence_attends_within_itself(varlen_attention, lengths, H, d, causal):
    q, k, v = drawn(lengths, H, d)
    assert_right(varlen_attention(q, k, v, bounds(lengths), causal), q, k, v, lengths, causal)


def test_causal_by_default(varlen_attention):
    q, k, v = drawn()
    assert_right(varlen_attention(q, k, v, bounds((3, 1, 5))), q, k, v, (3, 1, 5), True)


def test_nothing_crosses_a_boundary(varlen_attention):
    q, k, v = drawn((3, 4, 2))
    for causal in (True, False):
        before = varlen_attention(q, k, v, bounds((3, 4, 2)), causal)
        tensors = [x.clone() for x in (q, k, v)]
        for x in tensors:
            x[:3], x[7:] = 1e4, -1e4
            x.requires_grad_()
        after = varlen_attention(*tensors, bounds((3, 4, 2)), causal)
        assert_close(after[3:7], before[3:7])
        for slope in torch.autograd.grad(after[3:7].sum(), tensors):
            assert not slope[:3].any() and not slope[7:].any()


def test_later_tokens_of_the_sequence_are_hidden_when_causal(varlen_attention):
    q, k, v = drawn((3, 5))
    before = varlen_attention(q, k, v, bounds((3, 5)))
    for i in range(3, 7):
        changed_k, changed_v = k.clone(), v.clone()
        changed_k[i + 1 :], changed_v[i + 1 :] = 1e3, 1e6
        assert_close(varlen_attention(q, changed_k, changed_v, bounds((3, 5)))[: i + 1], before[: i + 1])


def test_packed_sequences_attend(pack, varlen_attention):
    seqs = [torch.randn(n, 2, 4, dtype=torch.float64, requires_grad=True) for n in (2, 0, 4)]
    x, cu_seqlens = pack(seqs)
    up = torch.randn(6, 2, 4, dtype=torch.float64)
    actual = torch.autograd.grad(varlen_attention(x, x, x, cu_seqlens), seqs, up)
    whole = torch.cat(seqs)
    assert_close(actual, torch.autograd.grad(expected(whole, whole, whole, (2, 0, 4)), seqs, up))


def test_large_scores(varlen_attention):
    q, k, v = drawn()
    for causal in (True, False):
        actual = varlen_attention(100.0 * q, k, v, bounds((3, 1, 5)), causal)
        assert_right(actual, 100.0 * q, k, v, (3, 1, 5), causal, tolerance=1e-3)


def test_gradients(varlen_attention):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        for causal in (True, False):
            tensors, up = [x.requires_grad_() for x in drawn(dtype=dtype)], torch.randn(9, 2, 4, dtype=dtype)
            actual = torch.autograd.grad(varlen_attention(*tensors, bounds((3, 1, 5)), causal), tensors, up)
            exact = torch.autograd.grad(expected(*tensors, (3, 1, 5), causal), tensors, up.double())
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(pack, varlen_attention):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        q, k, v = drawn((20, 7), d=16, dtype=dtype)
        assert torch.equal(pack([q, k])[0], torch.cat((q, k)))
        for causal in (True, False):
            assert_right(varlen_attention(q, k, v, bounds((20, 7)), causal), q, k, v, (20, 7), causal)


def test_any_memory_layout(varlen_attention):
    q, k, v = torch.randn(2, 9, 4).transpose(0, 1), torch.randn(9, 2, 8)[..., ::2], torch.randn(2, 4).expand(9, 2, 4)
    wide = torch.stack((bounds((3, 1, 5)), bounds((9, 0, 0))), dim=1)
    assert_right(varlen_attention(q, k, v, wide[:, 0]), q, k, v, (3, 1, 5))


def test_device_arguments_and_memory(pack, varlen_attention):
    assert [x.device.type for x in pack([torch.ones(2, 1, 3, device="meta")])] == ["meta"] * 2
    (seq, *_), ones = drawn(), drawn((1,))
    for call, tensors in ((lambda x: pack([x])[0], [seq]), (varlen_attention, [*ones, bounds((1,))])):
        before = [x.clone() for x in tensors]
        result = call(*tensors)
        kept = result.clone()
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert torch.equal(result, kept)
