"""A stable sort as the oracle of the choice, a softmax in float64 as that of the weights, and rows with many ties."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

INF = float("inf")


def assert_right(topk_router, logits, k):
    weights, indices = topk_router(logits, k)
    T = logits.shape[0]
    assert weights.shape == indices.shape == (T, k)
    assert weights.dtype == torch.float32 and indices.dtype == torch.int64
    # A stable sort keeps equal logits in the order of their experts.
    best, order = torch.sort(logits.double(), dim=1, descending=True, stable=True)
    assert torch.equal(indices, order[:, :k])
    assert_close(weights.double(), torch.softmax(best[:, :k], dim=1), rtol=1e-5, atol=1e-7)


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 12), st.data())
def test_any_shape(topk_router, T, E, data):
    assert_right(topk_router, torch.randn(T, E), data.draw(st.integers(1, E)))


def test_sizes_around_those_of_blocks(topk_router):
    for T in (1, 15, 16, 17, 33, 70, 130):
        assert_right(topk_router, torch.randn(T, 5), 3)
    for E in (1, 31, 32, 33, 60, 64, 65, 130):
        assert_right(topk_router, torch.randn(3, E), min(E, 6))


def test_all_experts_may_be_chosen(topk_router):
    for E in (1, 3, 8, 13):
        assert_right(topk_router, torch.randn(5, E), E)


def test_weights_add_up_to_1_and_fall(topk_router):
    weights, indices = topk_router(torch.randn(20, 9), 5)
    assert_close(weights.sum(dim=1), torch.ones(20))
    assert (weights.diff(dim=1) <= 0).all()
    assert all(len(set(row.tolist())) == 5 for row in indices)


def test_experts_that_are_not_chosen_have_no_influence_on_the_weights(topk_router):
    logits = torch.tensor([[3.0, 2.0, 1.0, 0.5, 0.0]])
    lower = torch.tensor([[3.0, 2.0, -9.0, -9.0, -9.0]])
    assert_close(topk_router(logits, 2)[0], topk_router(lower, 2)[0])


def test_the_lowest_of_equal_experts_comes_first(topk_router):
    for E, k in ((5, 3), (8, 8), (33, 6)):
        assert_right(topk_router, torch.zeros(4, E), k)
        assert_right(topk_router, torch.randint(0, 3, (20, E)).float(), k)


def test_large_logits_and_logits_of_one_sign(topk_router):
    logits = torch.randn(6, 9)
    for shift in (-1e4, -100.0, 100.0, 1e4):
        assert_right(topk_router, logits + shift, 4)
    for scale in (100.0, 5e3):
        assert_right(topk_router, scale * logits.clamp(-2, 2), 4)
    assert_right(topk_router, -logits.abs() - 1, 9)


def test_experts_that_are_switched_off_come_last_without_weight(topk_router):
    for E in (6, 9):
        logits = torch.randn(6, E)
        logits[0, 1:], logits[1, :-1], logits[2, ::2], logits[3, E // 2] = -INF, -INF, -INF, -INF
        for k in (1, 3, E):
            assert_right(topk_router, logits, k)
            weights, indices = topk_router(logits, k)
            assert not weights[logits.gather(1, indices) == -INF].any()


def test_float16_logits_have_float32_weights(topk_router):
    for scale in (1.0, 5.0):
        assert_right(topk_router, (scale * torch.randn(20, 9)).half(), 4)
    assert_right(topk_router, torch.full((2, 9), -1e4).half(), 4)


def test_views(topk_router):
    assert_right(topk_router, torch.randn(9, 5).T, 3)
    assert_right(topk_router, torch.randn(5, 18)[:, ::2], 3)
    assert_right(topk_router, torch.randn(1, 9).expand(5, 9), 3)
    assert_right(topk_router, torch.randn(5, 20)[:, 3:12], 3)


def test_the_elements_around_a_view_have_no_influence(topk_router):
    for value in (1e4, INF):
        wide = torch.full((1000,), value)
        wide[100:165] = torch.randn(65)
        assert_right(topk_router, wide[100:165].view(5, 13), 13)


def test_the_logits_stay_as_they_are(topk_router):
    logits = torch.randn(6, 9)
    before = logits.clone()
    first = topk_router(logits, 4)
    assert torch.equal(logits, before) and all(map(torch.equal, topk_router(logits, 4), first))
