"""The definition, one query at a time in float64, and heads whose score is known."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(attn, period):
    T = attn.shape[-1]
    wide = attn.double()
    return sum(wide[:, :, i, i - period + 1] for i in range(period, T)) / (T - period)


def assert_right(actual, attn, period):
    assert actual.dtype == attn.dtype and actual.shape == attn.shape[:2]
    # 16 bits: the mean is rounded once.
    rtol = {torch.float64: 1e-12, torch.float32: 1e-5}.get(attn.dtype, 0.52 * torch.finfo(attn.dtype).eps)
    assert_close(
        actual.double(), expected(attn, period), rtol=rtol, atol=1e-6 if attn.dtype != torch.float64 else 1e-12
    )


def looking(T, offset):
    """Return the weights of one head that puts all weight of query i on key i + offset, if there is one."""
    attn = torch.zeros(1, 1, T, T)
    for i in range(T):
        attn[0, 0, i, max(0, min(T - 1, i + offset))] = 1.0
    return attn


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 12))
def test_any_sizes(induction_score, L, H, period, beyond):
    attn = torch.rand(L, H, period + beyond, period + beyond)
    assert_right(induction_score(attn, period), attn, period)


def test_an_induction_head_scores_one(induction_score):
    for period in (2, 3, 5):
        for T in (period + 1, 2 * period, 3 * period + 1):
            assert_close(induction_score(looking(T, 1 - period), period), torch.ones(1, 1))


def test_other_heads_score_zero(induction_score):
    period, T = 4, 14
    # To the same token, one too far, the one before, and to itself.
    for offset in (-period, 2 - period, -1, 0):
        assert induction_score(looking(T, offset), period).item() == 0.0


def test_with_a_period_of_one_a_head_looks_at_itself(induction_score):
    attn = torch.rand(2, 2, 6, 6)
    assert_close(induction_score(attn, 1), attn.diagonal(dim1=-2, dim2=-1)[..., 1:].mean(-1))


def test_the_first_period_does_not_count(induction_score):
    attn = torch.rand(2, 3, 9, 9)
    changed = attn.clone()
    changed[:, :, :4] = 1e6
    assert_close(induction_score(changed, 4), induction_score(attn, 4), rtol=0, atol=0)


def test_only_the_key_behind_the_copy_counts(induction_score):
    attn = torch.rand(2, 3, 9, 9)
    mask = torch.zeros(9, 9, dtype=torch.bool)
    for i in range(4, 9):
        mask[i, i - 3] = True
    assert_close(induction_score(torch.where(mask, attn, -1e6), 4), induction_score(attn, 4), rtol=0, atol=0)


def test_weights_are_taken_as_they_are(induction_score):
    attn = torch.randn(2, 2, 8, 8)
    for size in (0.0, -3.0, 1e6):
        assert_close(induction_score(size * attn, 3), size * induction_score(attn, 3), rtol=1e-4, atol=1e-6)


def test_layers_and_heads_do_not_influence_each_other(induction_score):
    attn = torch.rand(3, 4, 10, 10)
    together = induction_score(attn, 3)
    for layer in range(3):
        for head in range(4):
            one = induction_score(attn[layer : layer + 1, head : head + 1], 3)
            assert_close(together[layer, head], one[0, 0])


def test_gradients_are_those_of_the_mean(induction_score):
    attn, up = torch.rand(2, 3, 7, 7, dtype=torch.float64, requires_grad=True), torch.randn(2, 3, dtype=torch.float64)
    for period in (1, 3, 6):
        actual = torch.autograd.grad(induction_score(attn, period), attn, up)
        assert_close(actual, torch.autograd.grad(expected(attn, period), attn, up))


def test_other_dtypes(induction_score):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        attn = torch.rand(2, 2, 400, 400).to(dtype)
        for period in (1, 50, 399):
            assert_right(induction_score(attn, period), attn, period)


def test_float16_weights_may_add_up_to_more_than_it_holds(induction_score):
    attn = torch.full((1, 1, 300, 300), 1000.0).half()
    assert induction_score(attn, 10).item() == 1000.0


def test_any_memory_layout(induction_score):
    base = torch.rand(3, 2, 8, 16)
    for attn in (
        base[..., ::2].mT,
        base[..., ::2],
        base[..., :8].transpose(0, 1),
        base[:1, :1, :, :8].expand(2, 3, 8, 8),
    ):
        assert_right(induction_score(attn, 3), attn, 3)


def test_the_result_lies_on_the_device_of_the_input(induction_score):
    assert induction_score(torch.rand(2, 3, 8, 8, device="meta"), 3).device.type == "meta"


def test_the_argument_stays_and_the_result_is_new(induction_score):
    for T in (4, 9):
        attn = torch.rand(2, 3, T, T)
        before = attn.clone()
        first = induction_score(attn, 3)
        kept = first.clone()
        induction_score(attn, 3).add_(1.0)
        assert torch.equal(attn, before) and torch.equal(first, kept)
        attn.mul_(2.0)
        assert torch.equal(first, kept)
        assert_right(induction_score(attn, 3), attn, 3)
