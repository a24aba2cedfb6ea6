"""Attention with all scores in float64 as the oracle, for sizes around those of blocks, and queries that see little or nothing."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

INF = float("inf")


def expected(q, k, v, causal=False):
    q, k, v = q.double(), k.double(), v.double()
    T, S = q.shape[-2], k.shape[-2]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:  # query i sees the keys j ≤ i + S − T
        seen = torch.arange(S)[None, :] <= torch.arange(T)[:, None] + S - T
        scores = scores.masked_fill(~seen, -INF)
    lse = torch.logsumexp(scores, dim=-1)
    return torch.softmax(scores, dim=-1).nan_to_num(0.0) @ v, lse


def drawn(B=1, H=2, T=9, S=9, d=8, dtype=torch.float32):
    return [torch.randn(B, H, n, d).to(dtype) for n in (T, S, S)]


def assert_right(flash_forward, q, k, v, causal=False, tolerance=2e-5):
    out, lse = flash_forward(q, k, v, causal)
    exact, exact_lse = expected(q, k, v, causal)
    assert out.shape == q.shape and out.dtype == q.dtype
    assert lse.shape == q.shape[:-1] and lse.dtype == torch.float32
    close = tolerance + (2 * torch.finfo(q.dtype).eps if q.dtype == torch.float16 else 0.0)
    assert_close(out.double(), exact, rtol=close, atol=close * max(1.0, v.abs().max().item()))
    assert_close(lse.double(), exact_lse, rtol=2e-5, atol=1e-4)


@settings(max_examples=15)
@given(st.integers(1, 2), st.integers(1, 2), st.integers(1, 20), st.integers(0, 20), st.integers(1, 20), st.booleans())
def test_any_shape(flash_forward, B, H, T, more, d, causal):
    assert_right(flash_forward, *drawn(B, H, T, T + more, d), causal)


def test_sizes_around_those_of_blocks(flash_forward):
    for T, S in ((1, 1), (1, 130), (31, 33), (63, 64), (65, 65), (70, 129), (130, 130)):
        for causal in (False, True):
            assert_right(flash_forward, *drawn(1, 1, T, S), causal)


def test_more_queries_than_keys(flash_forward):
    assert_right(flash_forward, *drawn(T=70, S=3))


def test_batch_entries_and_heads_do_not_mix(flash_forward):
    q, k, v = drawn(3, 4)
    out, lse = flash_forward(q, k, v)
    for b in range(3):
        for h in (0, 3):
            one, its_lse = flash_forward(*(part[b : b + 1, h : h + 1] for part in (q, k, v)))
            assert_close(one[0, 0], out[b, h], rtol=1e-5, atol=1e-5)
            assert_close(its_lse[0, 0], lse[b, h], rtol=1e-5, atol=1e-5)


def test_a_later_key_has_no_influence(flash_forward):
    q, k, v = drawn(1, 1, 40, 40)
    out, lse = flash_forward(q, k, v, True)
    k[:, :, 25:], v[:, :, 25:] = 50.0, -50.0
    after, after_lse = flash_forward(q, k, v, True)
    assert_close(after[:, :, :25], out[:, :, :25])
    assert_close(after_lse[:, :, :25], lse[:, :, :25])


def test_a_single_key_gives_its_value_and_its_score(flash_forward):
    q, k, v = drawn(1, 2, 5, 1)
    out, lse = flash_forward(q, k, v)
    assert_close(out, v.expand(1, 2, 5, 8))
    assert_close(lse, (q @ k.transpose(-2, -1))[..., 0] / 8**0.5, rtol=1e-5, atol=1e-5)


def test_scores_that_rise_or_fall_from_block_to_block(flash_forward):
    S = 150
    q, k, v = torch.ones(1, 1, 20, 4), torch.zeros(1, 1, S, 4), torch.randn(1, 1, S, 4)
    for lowest, highest in ((-5, 5), (-300, 300), (-1000, -800), (800, 1000)):
        rising = torch.linspace(lowest, highest, S)
        for scores in (rising, rising.flip(0)):
            k[0, 0, :, 0] = 2 * scores  # over √d
            for causal in (False, True):
                assert_right(flash_forward, q, k, v, causal, tolerance=2e-4)


def test_queries_that_see_no_key(flash_forward):
    for T, S in ((2, 1), (20, 3), (70, 5), (100, 33)):
        q, k, v = drawn(1, 1, T, S)
        assert_right(flash_forward, q, k, v, True)
        out, lse = flash_forward(q, k, v, True)
        assert not out[:, :, : T - S].any() and (lse[:, :, : T - S] == -INF).all()


def test_float16_is_summed_in_float32(flash_forward):
    for causal in (False, True):
        assert_right(flash_forward, *drawn(1, 2, 20, 70, dtype=torch.float16), causal)
    q, k, _ = drawn(1, 1, 3, 300, dtype=torch.float16)
    v = (5 + torch.rand(1, 1, 300, 8)).half()
    out, _ = flash_forward(0 * q, k, v)
    assert_close(out.double(), expected(0 * q, k, v)[0], rtol=1e-3, atol=0.0)


def test_views(flash_forward):
    q, k = torch.randn(1, 9, 2, 8).transpose(1, 2), torch.randn(8, 11, 2, 1).permute(3, 2, 1, 0)
    v = torch.randn(1, 2, 22, 16)[:, :, ::2, ::2]
    for causal in (False, True):
        assert_right(flash_forward, q, k, v, causal)
        assert_right(flash_forward, q[:, :1].expand(1, 2, 9, 8), v, k[:, :, :1].expand(1, 2, 11, 8), causal)


def test_the_elements_around_a_view_have_no_influence(flash_forward):
    k, v = torch.full((1, 2, 64, 8), float("nan")), torch.full((1, 2, 64, 8), float("nan"))
    k[:, :, :20], v[:, :, :20] = torch.randn(1, 2, 20, 8), torch.randn(1, 2, 20, 8)
    assert_right(flash_forward, torch.randn(1, 2, 9, 8), k[:, :, :20], v[:, :, :20])


def test_arguments_stay_as_they_are(flash_forward):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = flash_forward(*arguments, True)
    assert all(map(torch.equal, arguments, before))
    assert all(map(torch.equal, flash_forward(*arguments, True), first))
