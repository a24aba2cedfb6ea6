"""A rotation by complex numbers in float64 as the oracle, and what holds for any rotation: lengths stay, angles add up."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def tables(T, pairs, dtype=torch.float32):
    angles = 6.3 * torch.rand(T, pairs, dtype=torch.float64)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def expected(x, cos, sin):
    a, b = x.double().chunk(2, dim=-1)
    turned = torch.complex(a, b) * torch.complex(cos.double(), sin.double())
    return torch.cat([turned.real, turned.imag], dim=-1)


def assert_right(rope, x, cos, sin):
    actual = rope(x, cos, sin)
    assert actual.shape == x.shape and actual.dtype == x.dtype
    # The two products may cancel, so the tolerance is relative to the largest of them.
    size = x.abs().max().item()
    rounding = 0.5 * torch.finfo(x.dtype).eps if x.dtype == torch.float16 else 0.0
    assert_close(actual.double(), expected(x, cos, sin), rtol=1e-6 + rounding, atol=max(1e-6 * size, 1e-7))


@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 9), st.integers(1, 9))
def test_any_shape(rope, B, H, T, pairs):
    assert_right(rope, torch.randn(B, H, T, 2 * pairs), *tables(T, pairs))


def test_sizes_around_those_of_blocks(rope):
    for T, pairs in ((1, 1), (17, 1), (33, 5), (129, 3), (70, 20), (5, 33), (3, 65), (2, 130)):
        assert_right(rope, torch.randn(2, 3, T, 2 * pairs), *tables(T, pairs))


def test_an_angle_of_zero_changes_nothing(rope):
    x = torch.randn(2, 3, 5, 8)
    assert torch.equal(rope(x, torch.ones(5, 4), torch.zeros(5, 4)), x)


def test_a_quarter_turn_by_hand(rope):
    x = torch.arange(1.0, 7.0).view(1, 1, 1, 6)
    actual = rope(x, torch.zeros(1, 3), torch.ones(1, 3))
    assert torch.equal(actual, torch.tensor([-4.0, -5.0, -6.0, 1.0, 2.0, 3.0]).view(1, 1, 1, 6))


def test_a_turn_keeps_lengths_and_can_be_undone(rope):
    x, (cos, sin) = torch.randn(2, 3, 5, 8), tables(5, 4)
    y = rope(x, cos, sin)
    assert_close(y.norm(dim=-1), x.norm(dim=-1))
    assert_close(rope(y, cos, -sin), x, rtol=1e-5, atol=1e-5)


def test_every_head_and_batch_item_turns_alike(rope):
    x, (cos, sin) = torch.randn(1, 1, 5, 8), tables(5, 4)
    one = rope(x, cos, sin)
    assert_close(rope(x.repeat(3, 4, 1, 1), cos, sin), one.expand(3, 4, 5, 8))


def test_a_token_depends_on_its_own_row_alone(rope):
    x, (cos, sin) = torch.randn(2, 3, 40, 8), tables(40, 4)
    before = rope(x, cos, sin)
    x[:, :, 20], cos[20] = 9.0, 0.5
    after = rope(x, cos, sin)
    others = torch.arange(40) != 20
    assert torch.equal(after[:, :, others], before[:, :, others]) and not torch.equal(after[:, :, 20], before[:, :, 20])


def test_16_bits_are_rounded_once(rope):
    for scale in (1.0, 100.0, 2e4):
        x = (scale * torch.randn(2, 3, 17, 20)).clamp(-3e4, 3e4).to(torch.float16)
        assert_right(rope, x, *tables(17, 10, torch.float16))


def test_the_heads_of_a_projection(rope):
    assert_right(rope, torch.randn(2, 9, 3, 8).transpose(1, 2), *tables(9, 4))


def test_any_other_view(rope):
    x, (cos, sin) = torch.randn(2, 3, 9, 8), tables(9, 4)
    assert_right(rope, torch.randn(8, 9, 3, 2).permute(3, 2, 1, 0), cos, sin)
    assert_right(rope, torch.randn(2, 3, 18, 16)[:, :, ::2, ::2], cos, sin)
    assert_right(rope, torch.randn(2, 1, 1, 8).expand(2, 3, 9, 8), cos, sin)
    assert_right(rope, x, *(table.T.contiguous().T for table in (cos, sin)))
    assert_right(rope, x, cos[:1].expand(9, 4), torch.cat([sin, cos], dim=1)[:, :4])


def test_the_elements_around_a_view_have_no_influence(rope):
    wide, (cos, sin) = torch.full((4, 5, 11, 12), float("nan")), tables(9, 4)
    wide[1:3, 1:4, 1:10, 2:10] = torch.randn(2, 3, 9, 8)
    assert_right(rope, wide[1:3, 1:4, 1:10, 2:10], cos, sin)


def test_arguments_stay_as_they_are(rope):
    arguments = torch.randn(2, 3, 5, 8), *tables(5, 4)
    before = [argument.clone() for argument in arguments]
    first = rope(*arguments)
    kept = first.clone()
    assert all(map(torch.equal, arguments, before))
    arguments[0].zero_()
    assert torch.equal(first, kept)
