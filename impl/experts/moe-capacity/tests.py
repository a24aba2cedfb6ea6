"""The oracle is a queue per expert, filled choice by choice; capacities are counted in whole numbers."""

import torch
from hypothesis import given
from hypothesis import strategies as st


def capacity_of(N, k, E, capacity_factor):
    return -(-round(4 * capacity_factor) * N * k // (4 * E))  # the factor is a multiple of ¼; rounded up


def expected(idx, E, capacity_factor):
    capacity = capacity_of(*idx.shape, E, capacity_factor)
    taken = [0] * E
    slots = []
    for choices in idx.tolist():
        row = []
        for expert in choices:
            row.append(taken[expert] if taken[expert] < capacity else -1)
            taken[expert] += 1
        slots.append(row)
    slot = torch.tensor(slots)
    return slot, slot >= 0


def assert_right(actual, idx, *others):
    slot, keep = actual
    exact_slot, exact_keep = expected(idx, *others)
    assert slot.dtype == torch.int64 and keep.dtype == torch.bool
    assert torch.equal(slot, exact_slot) and torch.equal(keep, exact_keep)


def chosen(N, k, E):
    """Draw k distinct experts for each token, the first ones more often."""
    return (torch.rand(N, E) * torch.arange(1, E + 1)).argsort(-1)[:, :k]


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 5), st.integers(1, 12))
def test_any_number_of_tokens_choices_and_experts(dispatch_with_capacity, N, k, more, quarters):
    idx = chosen(N, k, k + more)
    assert_right(dispatch_with_capacity(idx, k + more, quarters / 4), idx, k + more, quarters / 4)


def test_an_even_load_just_fits(dispatch_with_capacity):
    idx = torch.arange(12).reshape(6, 2) % 4
    slot, keep = dispatch_with_capacity(idx, 4, 1.0)
    assert keep.all()
    assert slot.flatten().tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_all_choices_of_a_token_come_before_the_next_token(dispatch_with_capacity):
    # Expert 1 is the second choice of token 0 and the first choice of token 1; it has room for one.
    slot, keep = dispatch_with_capacity(torch.tensor([[0, 1], [1, 2]]), 4, 1.0)
    assert slot.tolist() == [[0, 0], [-1, 0]]
    assert keep.tolist() == [[True, True], [False, True]]


def test_one_expert_chosen_by_all(dispatch_with_capacity):
    idx = torch.full((10, 1), 2)
    slot, keep = dispatch_with_capacity(idx, 4, 1.0)  # ⌈10/4⌉ = 3 places
    assert slot.flatten().tolist() == [0, 1, 2] + [-1] * 7
    assert keep.sum() == 3


def test_capacity_is_rounded_up_and_counts_all_choices(dispatch_with_capacity):
    for N, k, E, factor in ((5, 1, 4, 1.0), (7, 2, 3, 0.25), (3, 2, 8, 1.25), (1, 1, 8, 0.25), (10, 3, 4, 1.5)):
        idx = torch.stack([torch.arange(k)] * N)  # all tokens choose the first k experts
        _, keep = dispatch_with_capacity(idx, E, factor)
        assert keep.sum(0).tolist() == [min(N, capacity_of(N, k, E, factor))] * k


def test_a_capacity_that_is_a_whole_number_stays_that_number(dispatch_with_capacity):
    for E in (3, 7, 10, 22, 41, 49, 55, 60, 98, 100):
        for places in (1, 3, 7, 11):
            for factor in (0.25, 1.0, 1.25, 1.75):
                N = round(E * places / factor)
                if N * factor == E * places:
                    _, keep = dispatch_with_capacity(torch.zeros(N, 1, dtype=torch.int64), E, factor)
                    assert keep.sum() == min(N, places)


def test_more_room_than_choices(dispatch_with_capacity):
    idx = chosen(6, 2, 3)
    slot, keep = dispatch_with_capacity(idx, 3, 100.0)
    assert keep.all()
    for expert in range(3):
        queue = slot[idx == expert]
        assert queue.tolist() == list(range(len(queue)))  # in the order of the tokens, without gaps


def test_a_dropped_choice_takes_no_place(dispatch_with_capacity):
    idx = chosen(40, 3, 5)
    slot, keep = dispatch_with_capacity(idx, 5, 0.75)
    assert torch.equal(keep, slot >= 0) and (slot[~keep] == -1).all()
    for expert in range(5):
        kept = slot[(idx == expert) & keep]
        assert kept.tolist() == list(range(min(int((idx == expert).sum()), capacity_of(40, 3, 5, 0.75))))


def test_queues_beyond_what_small_numbers_count(dispatch_with_capacity):
    idx = torch.zeros(3000, 1, dtype=torch.int64)
    assert_right(dispatch_with_capacity(idx, 2, 2.0), idx, 2, 2.0)
    assert_right(dispatch_with_capacity(idx, 2, 1.0), idx, 2, 1.0)


def test_any_memory_layout(dispatch_with_capacity):
    idx = chosen(8, 3, 5)
    for view in (idx.T.contiguous().T, idx[::2], idx[:, ::2], torch.tensor([2, 0]).expand(6, 2)):
        assert_right(dispatch_with_capacity(view, 5, 0.75), view, 5, 0.75)


def test_device_arguments_and_repeated_calls(dispatch_with_capacity):
    idx = chosen(6, 2, 4)
    assert [x.device.type for x in dispatch_with_capacity(idx.to("meta"), 4, 1.0)] == ["meta"] * 2
    before = idx.clone()
    first = [x.clone() for x in dispatch_with_capacity(idx, 4, 1.0)]
    assert torch.equal(idx, before)
    assert all(map(torch.equal, dispatch_with_capacity(idx, 4, 1.0), first))
    slot, keep = dispatch_with_capacity(torch.zeros(1, 1, dtype=torch.int64), 1, 1.0)
    assert slot.tolist() == [[0]] and keep.tolist() == [[True]]
