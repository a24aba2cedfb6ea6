"""The unsplit MLP in float64 as the oracle, and an all-reduce that records what it is given."""

import math

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, w1, b1, w2, b2, act):
    """Join the shards and compute the plain MLP."""
    w1, b1, w2 = torch.cat(w1, 1).double(), torch.cat(b1).double(), torch.cat(w2, 0).double()
    return act(x.double() @ w1 + b1) @ w2 + b2.double()


def inputs(widths=(3, 5, 2), lead=(2, 4), D=6, dtype=torch.float32):
    w1 = [(torch.randn(D, width) / math.sqrt(D)).to(dtype) for width in widths]
    w2 = [(torch.randn(width, D) / math.sqrt(sum(widths))).to(dtype) for width in widths]
    return [
        torch.randn(*lead, D).to(dtype),
        w1,
        [torch.randn(width).to(dtype) for width in widths],
        w2,
        torch.randn(D).to(dtype),
    ]


def total(tensors):
    return torch.stack(list(tensors)).sum(0)


def assert_right(tp_mlp, arguments, act=F.gelu, rtol=1e-4, atol=1e-5):
    out = tp_mlp(*arguments, act, total)
    assert out.dtype == arguments[0].dtype and out.shape == arguments[0].shape
    assert_close(out.double(), expected(*arguments, act), rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.lists(st.integers(1, 3), max_size=3), st.integers(1, 5))
def test_any_ranks_and_any_shapes(tp_mlp, widths, lead, D):
    assert_right(tp_mlp, inputs(widths, lead, D))


def test_any_activation(tp_mlp):
    # An activation with act(0) ≠ 0 and one that is not monotonic are activations as well.
    for act in (F.relu, F.gelu, torch.tanh, torch.cos, torch.square, lambda z: z):
        assert_right(tp_mlp, inputs(), act)


def test_the_cut_does_not_show(tp_mlp):
    x, w1, b1, w2, b2 = inputs([12])
    results = []
    for widths in ([12], [4, 4, 4], [1, 11], [1] * 12):
        shards = w1[0].split(widths, 1), b1[0].split(widths), w2[0].split(widths)
        results.append(tp_mlp(x, *(list(parts) for parts in shards), b2, F.gelu, total))
        assert_close(results[-1], results[0], rtol=1e-4, atol=1e-5)


def test_there_is_one_all_reduce_with_one_tensor_for_each_rank(tp_mlp):
    calls = []
    for widths in ([4], [2, 2], [3, 1, 5, 2]):
        calls.clear()
        x, *weights = inputs(widths)
        tp_mlp(x, *weights, F.gelu, lambda tensors: calls.append(list(tensors)) or total(tensors))
        assert len(calls) == 1 and len(calls[0]) == len(widths)
        assert all(t.shape[-1] == 6 and t.numel() == x.numel() for t in calls[0])


def test_the_result_is_what_the_all_reduce_returns(tp_mlp):
    # Whoever adds the ranks up without it does not see that it returns something else here.
    arguments, marker = inputs(), torch.randn(2, 4, 6)
    arguments[4] = torch.zeros(6)
    assert_close(tp_mlp(*arguments, F.gelu, lambda tensors: marker.reshape(tensors[0].shape)), marker)


def test_a_rank_knows_its_own_shards_alone(tp_mlp):
    def terms(arguments):
        calls = []
        tp_mlp(*arguments, F.gelu, lambda tensors: calls.append([t.clone() for t in tensors]) or total(tensors))
        return calls[0]

    arguments = inputs()
    before = terms(arguments)
    for place in (1, 2, 3):
        for p in range(3):
            changed = list(arguments)
            changed[place] = [shard + 1.0 if r == p else shard for r, shard in enumerate(arguments[place])]
            for r, (old, new) in enumerate(zip(before, terms(changed), strict=True)):
                assert torch.equal(old, new) == (r != p)


def test_the_second_bias_is_added_once(tp_mlp):
    x, w1, b1, w2, b2 = inputs([2] * 6)
    zeros = [torch.zeros_like(w) for w in w2]
    assert_close(tp_mlp(x, w1, b1, zeros, b2, F.gelu, total), b2.expand_as(x))


def test_the_activation_never_sees_more_than_a_shard(tp_mlp):
    widths, seen = [3, 5, 2], []
    tp_mlp(*inputs(widths), lambda z: seen.append(z.shape[-1]) or z.relu(), total)
    assert sorted(seen) == sorted(widths)


def test_float64_keeps_its_digits(tp_mlp):
    assert_right(tp_mlp, inputs(dtype=torch.float64), F.gelu, 1e-10, 1e-10)


def test_16_bits(tp_mlp):
    for dtype in (torch.float16, torch.bfloat16):
        tolerance = 6 * torch.finfo(dtype).eps
        assert_right(tp_mlp, inputs([8, 16, 8], D=16, dtype=dtype), F.gelu, tolerance, tolerance)


def test_transposed_strided_and_expanded_inputs(tp_mlp):
    _, w1, b1, w2, b2 = inputs()
    w1, w2 = [w.t().contiguous().t() for w in w1], [w.repeat(1, 2).t().contiguous().t()[:, :6] for w in w2]
    b1, b2 = [b[:1].expand_as(b) for b in b1], b2.repeat_interleave(2)[::2]
    for x in (
        torch.randn(4, 2, 6).transpose(0, 1),
        torch.randn(2, 4, 12)[..., ::2],
        torch.randn(1, 4, 6).expand(2, 4, 6),
    ):
        assert_right(tp_mlp, [x, w1, b1, w2, b2])


def test_the_result_lies_on_the_device_of_the_inputs(tp_mlp):
    x, w1, b1, w2, b2 = inputs()
    shards = ([t.to("meta") for t in parts] for parts in (w1, b1, w2))
    assert tp_mlp(x.to("meta"), *shards, b2.to("meta"), F.gelu, total).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(tp_mlp):
    for widths in ([4], [3, 5, 2]):
        arguments = inputs(widths)
        tensors = [t for part in arguments for t in ([part] if isinstance(part, torch.Tensor) else part)]
        lengths, before = [len(part) for part in arguments], [t.clone() for t in tensors]
        # An activation and an all-reduce may return what they were given: nothing of it may be overwritten.
        for act, reduce in ((F.gelu, total), (lambda z: z, lambda parts: parts[0])):
            tp_mlp(*arguments, act, reduce)
            first = tp_mlp(*arguments, act, reduce)
            kept = first.clone()
            tp_mlp(*arguments, act, reduce).add_(1.0)
            assert torch.equal(first, kept)
        assert_close(tensors, before, rtol=0, atol=0)
        assert [len(part) for part in arguments] == lengths
