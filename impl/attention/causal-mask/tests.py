"""The definition, one entry at a time, and what must hold for any number of queries and keys."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st


def expected(T, S):
    return [[j <= i + (S - T) for j in range(S)] for i in range(T)]


@given(st.integers(1, 9), st.integers(0, 9))
def test_any_number_of_queries_and_keys(causal_mask, T, past):
    mask = causal_mask(T, T + past)
    assert mask.dtype == torch.bool and mask.shape == (T, T + past)
    assert mask.tolist() == expected(T, T + past)


def test_as_many_keys_as_queries_by_default(causal_mask):
    for T in (1, 2, 7):
        assert causal_mask(T).dtype == torch.bool
        assert causal_mask(T).tolist() == causal_mask(T, T).tolist() == expected(T, T)


def test_the_example_of_the_statement(causal_mask):
    assert causal_mask(2, 5).int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_a_single_query_sees_all_keys(causal_mask):
    for S in (1, 2, 64):
        assert causal_mask(1, S).all()


def test_queries_that_continue_a_past_are_the_last_rows_of_the_whole(causal_mask):
    whole = causal_mask(8)
    for T in range(1, 9):
        assert torch.equal(causal_mask(T, 8), whole[8 - T :])


def test_positions_are_exact_for_tens_of_thousands_of_keys(causal_mask):
    # int16, float16 and bfloat16 cannot count this far.
    for S in (300, 2_050, 40_000, 70_000):
        counts = causal_mask(5, S).sum(-1)
        assert counts.tolist() == [S - 4, S - 3, S - 2, S - 1, S]
        assert not causal_mask(5, S)[0, -4:].any()


def test_many_queries(causal_mask):
    mask = causal_mask(1_500)
    assert torch.equal(mask, torch.ones(1_500, 1_500, dtype=torch.bool).tril())


def test_fewer_keys_than_queries_are_refused(causal_mask):
    for T, S in ((2, 1), (5, 4), (9, 3)):
        with pytest.raises(ValueError):
            causal_mask(T, S)


def test_the_mask_is_made_where_it_is_asked_for(causal_mask):
    for device in ("meta", torch.device("meta")):
        for sizes in ((3,), (3, 3), (1, 4), (3, 7)):
            mask = causal_mask(*sizes, device=device)
            assert mask.device.type == "meta" and mask.dtype == torch.bool and mask.shape == (sizes[0], sizes[-1])
    assert causal_mask(3, 5, device="cpu").tolist() == expected(3, 5)


def test_without_a_device_the_default_one_is_used(causal_mask):
    assert causal_mask(3, 5).device.type == "cpu"
    with torch.device("meta"):
        assert causal_mask(3, 5).device.type == "meta"
        assert causal_mask(3, 5, device="cpu").tolist() == expected(3, 5)
    assert causal_mask(3, 5).tolist() == expected(3, 5)


def test_each_call_makes_its_own_mask(causal_mask):
    for sizes in ((4, 4), (1, 4), (3, 7)):
        causal_mask(*sizes).logical_not_()
        assert causal_mask(*sizes).tolist() == expected(*sizes)


def test_every_entry_has_its_own_memory(causal_mask):
    for sizes in ((1, 4), (3, 3), (3, 7)):
        mask = causal_mask(*sizes)
        mask[0, 0] = False
        mask[-1, -1] = False
        assert (~mask).sum().item() == sum(row.count(False) for row in expected(*sizes)) + 2
