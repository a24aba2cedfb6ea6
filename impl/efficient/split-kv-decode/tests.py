"""Parts are cut from attention over all keys, computed in float64; merged, they must give the whole again."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def attended(scores, values):
    """Return output and log-sum-exp of scores (..., S) over values (..., S, d)."""
    return (scores.softmax(-1)[..., None] * values).sum(-2), scores.logsumexp(-1)


def expected(outs, lses):
    """Merge in float64; parts whose lse is -inf have no weight."""
    weights = (lses.double() - lses.double().amax(0)).exp()
    out = (weights[..., None] * outs.double()).sum(0) / weights.sum(0)[..., None]
    return out, lses.double().logsumexp(0)


def assert_right(actual, outs, lses, exact=None, tolerance=1e-5):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert len(actual) == 2
    for ours, right, like in zip(actual, exact or expected(outs, lses), (outs, lses), strict=True):
        assert ours.dtype == like.dtype and ours.shape == like.shape[1:]
        unit = torch.finfo(ours.dtype).eps if ours.dtype.itemsize == 2 else 0.0
        tolerance = 1e-12 if outs.dtype == lses.dtype == torch.float64 else tolerance
        assert_close(ours.double(), right, rtol=tolerance + unit / 2, atol=tolerance)


def drawn(N=4, lead=(2, 3), d=5, dtype=torch.float32, scale=2.0):
    return torch.randn(N, *lead, d).to(dtype), (scale * torch.randn(N, *lead)).to(dtype)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.lists(st.integers(1, 3), max_size=3), st.integers(1, 4))
def test_parts_of_any_size_merge_to_attention_over_all_keys(merge_partials, sizes, lead, d):
    scores, values = torch.randn(*lead, sum(sizes)), torch.randn(*lead, sum(sizes), d)
    parts = [attended(*part) for part in zip(scores.split(sizes, -1), values.split(sizes, -2), strict=True)]
    outs, lses = (torch.stack(each) for each in zip(*parts, strict=True))
    whole = attended(scores.double(), values.double())
    assert_right(merge_partials(outs, lses), outs, lses, whole)


def test_merging_in_rounds_and_in_any_order(merge_partials):
    outs, lses = drawn(N=5)
    whole = merge_partials(outs, lses)
    order = torch.tensor([3, 0, 4, 2, 1])
    assert_close(merge_partials(outs[order], lses[order]), whole)
    for cut in (1, 2, 4):
        rounds = zip(merge_partials(outs[:cut], lses[:cut]), merge_partials(outs[cut:], lses[cut:]), strict=True)
        assert_close(merge_partials(*(torch.stack(pair) for pair in rounds)), whole)


def test_empty_parts_have_no_influence(merge_partials):
    outs, lses = drawn(N=3)
    for place in range(3):
        filled, holes = outs.clone(), lses.clone()
        filled[place], holes[place] = 1e30, -math.inf
        others = [n for n in range(3) if n != place]
        assert_close(merge_partials(filled, holes), merge_partials(outs[others], lses[others]))


def test_all_parts_empty_give_zero(merge_partials):
    outs, lses = drawn(N=3, lead=(2,))
    lses[:, 1] = -math.inf
    out, lse = merge_partials(outs, lses)
    assert not out[1].any() and lse[1] == -math.inf
    assert_right((out[:1], lse[:1]), outs[:, :1], lses[:, :1])


def test_lses_of_any_size(merge_partials):
    for offset in (1e4, -1e4, -1000.0):
        outs, lses = drawn()
        # A weight may come from the merged lse, which is rounded.
        assert_right(merge_partials(outs, lses + offset), outs, lses + offset, tolerance=2e-7 * abs(offset))
    outs, lses = drawn(scale=1e4)
    assert_right(merge_partials(outs, lses), outs, lses, tolerance=2e-3)
    outs, lses = drawn(lead=(3,))
    lses += torch.tensor([1e4, 0.0, -1e4])  # very different from query to query
    assert_right(merge_partials(outs, lses), outs, lses, tolerance=2e-3)


def test_gradients_to_both_arguments(merge_partials):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        for hole in (False, True):
            tensors = drawn(dtype=dtype)
            if hole:
                tensors[1][1, 0], tensors[1][0, 1] = -math.inf, -math.inf
            [x.requires_grad_() for x in tensors]
            up = torch.randn(2, 3, 5, dtype=dtype), torch.randn(2, 3, dtype=dtype)
            actual = torch.autograd.grad(merge_partials(*tensors), tensors, up)
            exact = torch.autograd.grad(expected(*tensors), tensors, [x.double() for x in up])
            for ours, right, where in zip(actual, exact, (..., tensors[1].isfinite()), strict=True):  # -inf cannot move
                assert_close(ours[where], right[where], rtol=tolerance, atol=tolerance)


def test_each_result_keeps_its_dtype_and_is_rounded_once(merge_partials):
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for of_outs in dtypes:
        for of_lses in dtypes:
            outs, lses = drawn(N=20)[0].to(of_outs), drawn(N=20)[1].to(of_lses)
            assert_right(merge_partials(outs, lses), outs, lses)


def test_any_memory_layout(merge_partials):
    outs, lses = torch.randn(5, 3, 2, 4).permute(3, 2, 1, 0), torch.randn(4, 2, 6)[..., ::2]
    assert_right(merge_partials(outs, lses), outs, lses)
    outs, lses = torch.randn(4, 1, 1, 5).expand(4, 2, 3, 5), torch.randn(4, 2, 1).expand(4, 2, 3)
    assert_right(merge_partials(outs, lses), outs, lses)


def test_device_arguments_and_memory(merge_partials):
    assert [x.device.type for x in merge_partials(*(x.to("meta") for x in drawn()))] == ["meta"] * 2
    for N in (1, 4):  # a single part: its values, in other memory
        tensors = drawn(N)
        before = [x.clone() for x in tensors]
        results = merge_partials(*tensors)
        kept = [x.clone() for x in results]
        assert all(map(torch.equal, tensors, before))
        [x.zero_() for x in tensors]
        assert all(map(torch.equal, results, kept))
