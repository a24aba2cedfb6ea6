"""torch's own sum as the oracle, on sizes around those of a block, on views, and on memory that must stay untouched."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st


def pair(*shape, dtype=torch.float32):
    return torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)


def assert_right(vector_add, x, y):
    actual = vector_add(x, y)
    assert actual.shape == x.shape and actual.dtype == x.dtype
    assert torch.equal(actual, x + y)  # one rounding, so no tolerance


@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), max_size=4))
def test_any_shape(vector_add, shape):
    assert_right(vector_add, *pair(*shape))


def test_sizes_around_those_of_blocks(vector_add):
    for n in (1, 2, 127, 128, 129, 255, 257, 1023, 1024, 1025, 2049, 5000):
        assert_right(vector_add, *pair(n))


def test_each_element_is_added_once(vector_add):
    n = 3001
    assert torch.equal(vector_add(torch.arange(n).float(), torch.full((n,), 0.5)), torch.arange(n) + 0.5)


def test_an_input_may_be_given_twice(vector_add):
    x, _ = pair(300)
    assert torch.equal(vector_add(x, x), 2 * x)


def test_infinities_and_nan_stay_where_they_are(vector_add):
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0])
    actual = vector_add(x, torch.ones(4))
    assert torch.equal(actual[[0, 1, 3]], torch.tensor([float("inf"), -float("inf"), 2.0])) and actual[2].isnan()


def test_float16(vector_add):
    assert_right(vector_add, *pair(1500, dtype=torch.float16))


def test_views(vector_add):
    square, row = torch.randn(40, 40), torch.randn(1, 40)
    assert_right(vector_add, square.T, square)
    assert_right(vector_add, square, square.T)
    assert_right(vector_add, row.expand(40, 40), square)
    assert_right(vector_add, torch.randn(600)[::2], torch.randn(600)[1::2])
    assert_right(vector_add, torch.randn(310)[10:], torch.randn(310)[:300])


def test_the_elements_around_a_view_have_no_influence(vector_add):
    x, y = torch.full((500,), float("nan")), torch.full((500,), float("nan"))
    x[100:400], y[50:350] = torch.randn(300), torch.randn(300)
    assert_right(vector_add, x[100:400], y[50:350])


def test_arguments_stay_as_they_are_and_the_result_is_new(vector_add):
    x, y = pair(300)
    before = x.clone(), y.clone()
    actual = vector_add(x, y)
    kept = actual.clone()
    assert torch.equal(x, before[0]) and torch.equal(y, before[1])
    x.zero_(), y.zero_()
    assert torch.equal(actual, kept)
