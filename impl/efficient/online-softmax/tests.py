"""The oracle joins all chunks and looks at them twice; however the rows are cut, one pass must give the same."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(chunks):
    x = torch.cat([chunk.double() for chunk in chunks], dim=-1)
    m = x.amax(-1)
    shift = m.masked_fill(m == -math.inf, 0.0)
    return m, (x - shift[..., None]).exp().sum(-1)


def assert_right(actual, chunks):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert len(actual) == 2
    dtype = chunks[0].dtype
    unit = torch.finfo(dtype).eps if dtype.itemsize == 2 else 0.0
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    for ours, exact in zip(actual, expected(chunks), strict=True):
        assert ours.dtype == dtype and ours.shape == exact.shape
        assert_close(ours.double(), exact, rtol=tolerance + unit / 2, atol=tolerance)


def drawn(*widths, lead=(2, 3), scale=1.0, dtype=torch.float32):
    return [(scale * torch.randn(*lead, width)).to(dtype) for width in widths]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.lists(st.integers(1, 3), max_size=3))
def test_any_widths_and_any_leading_dimensions(online_softmax_stats, widths, lead):
    chunks = drawn(*widths, lead=lead)
    assert_right(online_softmax_stats(chunks), chunks)


def test_an_iterator_is_walked_over_once(online_softmax_stats):
    chunks = drawn(3, 1, 4)
    assert_right(online_softmax_stats(iter(chunks)), chunks)
    assert_right(online_softmax_stats(chunk for chunk in chunks), chunks)


def test_the_cuts_do_not_show(online_softmax_stats):
    (x,) = drawn(12, scale=5.0)
    whole = online_softmax_stats([x])
    for widths in ((1,) * 12, (5, 7), (1, 10, 1), (4, 4, 4)):
        assert_close(online_softmax_stats(x.split(widths, dim=-1)), whole)


def test_scores_up_to_ten_thousand(online_softmax_stats):
    for offset in (1e4, -1e4, 0.0):
        chunks = [chunk + offset for chunk in drawn(3, 2, 4)]
        assert_right(online_softmax_stats(chunks), chunks)
    for steps in ((-1e4, 0.0, 1e4), (1e4, 0.0, -1e4), (0.0, 1e4, -1e4)):
        chunks = [chunk + step for chunk, step in zip(drawn(3, 2, 4), steps, strict=True)]
        assert_right(online_softmax_stats(chunks), chunks)


def hidden(rows, dtype=torch.float32):
    """Return three chunks of two scores, where row r hides the chunks named in rows[r]."""
    chunks = drawn(2, 2, 2, lead=(len(rows),), dtype=dtype)
    for row, hidden_chunks in enumerate(rows):
        for number in hidden_chunks:
            chunks[number][row] = -math.inf
    return chunks


def test_hidden_chunks_and_rows(online_softmax_stats):
    chunks = hidden([(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2), ()])
    m, l = online_softmax_stats(chunks)
    assert_right((m, l), chunks)
    assert m[6] == -math.inf and l[6] == 0.0


def test_gradients_through_both_results(online_softmax_stats):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
        for results in ((0,), (1,), (0, 1)):
            chunks = [chunk.requires_grad_() for chunk in drawn(3, 1, 4, dtype=dtype)]
            ups = [torch.randn(2, 3, dtype=dtype) for _ in results]
            ours, right = online_softmax_stats(chunks), expected(chunks)
            actual = torch.autograd.grad([ours[n] for n in results], chunks, ups, materialize_grads=True)
            exact = torch.autograd.grad([right[n] for n in results], chunks, [up.double() for up in ups])
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_gradients_where_chunks_are_hidden(online_softmax_stats):
    chunks = [chunk.requires_grad_() for chunk in hidden([(0,), (1,), (2,), (0, 1), (1, 2), (0, 2)], torch.float64)]
    ups = torch.randn(2, 6, dtype=torch.float64).unbind()
    actual = torch.autograd.grad(online_softmax_stats(chunks), chunks, ups)
    assert_close(actual, torch.autograd.grad(expected(chunks), chunks, ups))


def test_float64_keeps_its_digits_and_16_bits_are_rounded_once(online_softmax_stats):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for widths in ((20, 30), (1,) * 40):  # many roundings would add up
            chunks = drawn(*widths, dtype=dtype)
            assert_right(online_softmax_stats(chunks), chunks)


def test_any_memory_layout(online_softmax_stats):
    chunks = [torch.randn(4, 3, 2).permute(2, 1, 0), torch.randn(2, 3, 6)[..., ::2], torch.randn(3, 1).expand(2, 3, 5)]
    assert_right(online_softmax_stats(chunks), chunks)


def test_device_arguments_and_memory(online_softmax_stats):
    on_meta = online_softmax_stats([chunk.to("meta") for chunk in drawn(3, 2)])
    assert [x.device.type for x in on_meta] == ["meta"] * 2
    for widths in ((1,), (3, 2)):  # one score: m equals it, in other memory
        chunks = drawn(*widths)
        before = [chunk.clone() for chunk in chunks]
        results = online_softmax_stats(chunks)
        kept = [x.clone() for x in results]
        assert len(chunks) == len(before) and all(map(torch.equal, chunks, before))
        [chunk.zero_() for chunk in chunks]
        assert all(map(torch.equal, results, kept))
