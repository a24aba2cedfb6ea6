"""silu(gate)·up in float64 as the oracle, on halves of a projection, separate tensors and mixtures of both."""

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def halves(*shape, dtype=torch.float32, scale=2.0):
    """The left and the right half of one projection."""
    return (scale * torch.randn(*shape[:-1], 2 * shape[-1])).to(dtype).chunk(2, dim=-1)


def assert_right(swiglu_gate, gate, up):
    actual, exact = swiglu_gate(gate, up), F.silu(gate.double()) * up.double()
    assert actual.shape == gate.shape and actual.dtype == gate.dtype and actual.is_contiguous()
    # 16 bits: half a unit in the last place, and half the smallest number.
    rounding = 0.5 * torch.finfo(gate.dtype).eps if gate.dtype == torch.float16 else 0.0
    assert_close(actual.double(), exact, rtol=1e-5 + rounding, atol=1e-7)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 4), max_size=3), st.integers(1, 40))
def test_halves_of_any_shape(swiglu_gate, leading, width):
    assert_right(swiglu_gate, *halves(*leading, width))


def test_separate_tensors_of_any_size(swiglu_gate):
    for shape in ((1,), (7,), (1023,), (1025,), (3000,), (3, 5), (9, 257), (2, 3, 4, 5)):
        assert_right(swiglu_gate, torch.randn(shape), torch.randn(shape))


def test_halves_around_the_sizes_of_blocks(swiglu_gate):
    for rows, width in ((1, 1023), (1, 1025), (3, 700), (37, 29), (5, 1024)):
        assert_right(swiglu_gate, *halves(rows, width))


def test_only_one_of_them_may_be_a_view(swiglu_gate):
    gate, up = halves(6, 35)
    assert_right(swiglu_gate, gate, torch.randn(6, 35))
    assert_right(swiglu_gate, torch.randn(6, 35), up)


def test_the_halves_may_change_places_or_come_from_two_projections(swiglu_gate):
    gate, up = halves(6, 35)
    assert_right(swiglu_gate, up, gate)
    assert_right(swiglu_gate, gate, gate)
    assert_right(swiglu_gate, halves(6, 35)[1], torch.randn(6, 100)[:, 10:45])


def test_gates_that_are_shut_or_open(swiglu_gate):
    gate = torch.tensor([0.0, -20.0, 20.0, -88.0, 88.0, -200.0, 200.0, -1e4, 1e4, -3e4, 3e4])
    assert_right(swiglu_gate, gate, torch.full((11,), 3.0))
    assert not swiglu_gate(gate, torch.zeros(11)).any()


def test_up_is_linear(swiglu_gate):
    gate, up = halves(6, 35)
    assert_close(swiglu_gate(gate, 2 * up), 2 * swiglu_gate(gate, up))


def test_16_bits_are_rounded_once(swiglu_gate):
    for scale in (1.0, 10.0):
        assert_right(swiglu_gate, *halves(40, 64, dtype=torch.float16, scale=scale))


def test_any_other_view(swiglu_gate):
    gate, up = halves(5, 6)
    assert_right(swiglu_gate, torch.randn(6, 5).T, up)
    assert_right(swiglu_gate, gate, torch.randn(5, 12)[:, ::2])
    assert_right(swiglu_gate, torch.randn(5, 1).expand(5, 6), torch.randn(1, 6).expand(5, 6))
    assert_right(swiglu_gate, *(half.transpose(0, 1) for half in halves(3, 4, 6)))
    assert_right(swiglu_gate, halves(3, 4, 6)[0], torch.randn(4, 3, 6).transpose(0, 1))


def test_the_elements_around_a_view_have_no_influence(swiglu_gate):
    wide = torch.full((9, 40), float("nan"))
    wide[2:7, 5:25] = torch.randn(5, 20)
    assert_right(swiglu_gate, wide[2:7, 5:15], wide[2:7, 15:25])


def test_arguments_stay_as_they_are(swiglu_gate):
    gate, up = halves(6, 35)
    before = gate.clone(), up.clone()
    first = swiglu_gate(gate, up)
    kept = first.clone()
    assert torch.equal(gate, before[0]) and torch.equal(up, before[1])
    gate.zero_()
    assert torch.equal(first, kept)
