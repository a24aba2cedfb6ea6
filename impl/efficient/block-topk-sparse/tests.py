"""An oracle that chooses and attends query by query in float64; the extremes of k_blocks must be known attentions."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, block, k_blocks):
    q, k, v = q.double(), k.double(), v.double()
    out = []
    for queries, keys, values in zip(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), strict=True):
        for t, query in enumerate(queries):
            own = t // block
            promises = [(query @ keys[n * block : (n + 1) * block].mean(0)).item() for n in range(own)]
            past = sorted(range(own), key=lambda n: -promises[n])[: k_blocks - 1]
            seen = [j for j in range(t + 1) if j // block in (own, *past)]
            weights = (keys[seen] @ query / q.shape[-1] ** 0.5).softmax(-1)
            out.append(weights @ values[seen])
    return torch.stack(out).reshape(q.shape)


def assert_right(actual, q, *others):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == q.dtype
    unit = torch.finfo(q.dtype).eps if q.dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if q.dtype == torch.float64 else 2e-5
    assert_close(actual.double(), expected(q, *others), rtol=tolerance + unit / 2, atol=tolerance)


def drawn(B=2, H=2, T=11, d=4, scale=1.0, dtype=torch.float32):
    return tuple((factor * torch.randn(B, H, T, d)).to(dtype) for factor in (scale, 1.0, 1.0))


@given(
    st.integers(1, 2), st.integers(1, 2), st.integers(1, 14), st.integers(1, 5), st.integers(1, 5), st.integers(1, 6)
)  # fmt: skip
def test_any_shape_block_and_number_of_blocks(topk_block_attention, B, H, T, d, block, k_blocks):
    q, k, v = drawn(B, H, T, d)
    assert_right(topk_block_attention(q, k, v, block, k_blocks), q, k, v, block, k_blocks)


def test_enough_blocks_are_full_causal_attention(topk_block_attention):
    q, k, v = drawn()
    exact = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    for block, k_blocks in ((3, 4), (3, 100), (11, 1), (64, 2)):
        assert_close(topk_block_attention(q, k, v, block, k_blocks), exact)


def test_one_block_is_causal_attention_within_it(topk_block_attention):
    q, k, v = drawn()
    for start in range(0, 11, 4):
        own = [x[:, :, start : start + 4] for x in (q, k, v)]
        exact = F.scaled_dot_product_attention(*own, is_causal=True)
        assert_close(topk_block_attention(q, k, v, 4, 1)[:, :, start : start + 4], exact)


def test_the_past_block_with_the_best_mean_is_read_beside_the_own_one(topk_block_attention):
    # Block 1 has the best mean, block 0 the best single key; the own block is far worse, but always read.
    k = torch.tensor([9.0, -9.0, 2.0, 2.0, 0.0, 1.0, -5.0, -5.0])[:, None]
    q, v = torch.ones(8, 1), torch.arange(8.0)[:, None]
    out = topk_block_attention(*(x[None, None] for x in (q, k, v)), 2, 2)[0, 0, -1]
    weights = torch.tensor([2.0, 2.0, -5.0, -5.0]).softmax(-1)
    assert_close(out, weights @ torch.tensor([[2.0], [3.0], [6.0], [7.0]]))


def test_later_tokens_have_no_influence(topk_block_attention):
    q, k, v = drawn()
    before = topk_block_attention(q, k, v, 3, 2)
    for t in (1, 4, 9):
        later = [torch.cat((x[:, :, :t], 50.0 * torch.randn(2, 2, 11 - t, 4)), dim=2) for x in (q, k, v)]
        assert_close(topk_block_attention(*later, 3, 2)[:, :, :t], before[:, :, :t])


def test_every_head_and_item_chooses_for_itself(topk_block_attention):
    q, k, v = drawn(B=3, H=3)
    together = topk_block_attention(q, k, v, 2, 3)
    for b in range(3):
        for h in range(3):
            alone = (x[b : b + 1, h : h + 1] for x in (q, k, v))
            assert_close(together[b, h], topk_block_attention(*alone, 2, 3)[0, 0])


def test_gradients(topk_block_attention):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        tensors, up = [x.requires_grad_() for x in drawn(dtype=dtype)], torch.randn(2, 2, 11, 4, dtype=dtype)
        actual = torch.autograd.grad(topk_block_attention(*tensors, 3, 2), tensors, up)
        exact = torch.autograd.grad(expected(*tensors, 3, 2), tensors, up.double())
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_large_scores(topk_block_attention):
    q, k, v = drawn(scale=150.0, dtype=torch.float64)
    exact = expected(q, k, v, 3, 2)
    assert_close(topk_block_attention(*(x.float() for x in (q, k, v)), 3, 2).double(), exact, rtol=1e-3, atol=1e-3)


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(topk_block_attention):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        q, k, v = drawn(T=20, d=16, dtype=dtype)
        assert_right(topk_block_attention(q, k, v, 3, 3), q, k, v, 3, 3)


def test_any_memory_layout(topk_block_attention):
    q, k = torch.randn(2, 11, 2, 4).transpose(1, 2), torch.randn(2, 2, 11, 8)[..., ::2]
    v = torch.randn(1, 2, 11, 4).expand(2, 2, 11, 4)
    assert_right(topk_block_attention(q, k, v, 3, 2), q, k, v, 3, 2)


def test_device_arguments_and_memory(topk_block_attention):
    assert topk_block_attention(*(x.to("meta") for x in drawn()), 3, 2).device.type == "meta"
    for T in (1, 5):  # one token: the result equals v, in other memory
        tensors = drawn(T=T)
        before = [x.clone() for x in tensors]
        result = topk_block_attention(*tensors, 2, 2)
        kept = result.clone()
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert torch.equal(result, kept)
