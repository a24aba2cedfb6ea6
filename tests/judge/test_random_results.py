"""Judge random results: every error is found, and a correct sample fails less than once in 10⁹ times."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
import torch
from torch import Tensor

from attncli.judge import random_results as results
from attncli.judge.case import Complaint

ONCE_IN_A_BILLION = 1e-9
SEEDS = range(200)
DIMENSIONS = ("calls", "batch", "heads", "queries", "keys")


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def dropped(p: float, *shape: int, seed: int = 0) -> Tensor:
    return torch.rand(shape, generator=seeded(seed)) < p


def said(complaint: Complaint | None) -> str:
    assert complaint is not None
    english, chinese = complaint
    assert chinese != english
    return english


def test_an_entry_is_one_of_its_levels_in_every_dtype_or_is_told_with_its_place_and_its_levels() -> None:
    due = torch.tensor([1 / 3, 0.7, 5.0], dtype=torch.float64)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        assert results.one_of(due.to(dtype), due) is None
        assert results.one_of(torch.zeros(3, dtype=dtype), 0.0, due) is None
    assert results.one_of(-due.bfloat16(), -due) is None
    assert results.one_of(torch.tensor([1, 2]), torch.tensor([1, 2])) is None
    assert results.one_of(torch.tensor([1, 2]), torch.tensor([1, 1])) is not None
    got, due = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.full((2, 2), 2.0)
    assert said(results.one_of(got, 0.0, due)) == "entry [1, 1] is 1; it must be 0 or 2"
    assert said(results.one_of(got, 0.0, due, gradient=True)).startswith("entry [1, 1] of the gradient is 1;")
    assert "nan" in said(results.one_of(torch.tensor([math.nan]), 0.0))


def test_an_entry_may_miss_by_digits_of_float32_at_its_tensors_largest_and_by_no_more() -> None:
    due = torch.tensor([1.0, 1e-4])
    assert results.one_of(due + 5e-6, due) is None
    assert results.one_of(due + 5e-5, due) is not None
    for step in ((due[:1].bfloat16() + 2**-7), due[:1] + 2**-16):
        assert results.one_of(step, due[:1]) is not None, "a step of sixteen bits"


def test_random_entries_differ_but_for_a_few_and_a_gradient_arrives_where_anything_is_not_zero() -> None:
    drawn = torch.rand(28, generator=seeded(0))
    assert results.distinct(drawn) is None
    drawn[:3] = drawn[3]
    assert results.distinct(drawn) is None
    assert said(results.distinct(torch.ones(28))).startswith("only 1 different values among 28 entries")
    drawn[0] = math.inf
    assert results.distinct(drawn) is not None
    assert results.arrives(torch.tensor([0.0, 1e-9]), "Q") is None
    assert said(results.arrives(torch.zeros(2), "Q")) == "no gradient arrives at Q"


def binomial(draws: int, due: float) -> list[float]:
    logs = [math.lgamma(draws + 1) - math.lgamma(k + 1) - math.lgamma(draws - k + 1) for k in range(draws + 1)]
    return [math.exp(logs[k] + k * math.log(due) + (draws - k) * math.log1p(-due)) for k in range(draws + 1)]


@pytest.mark.parametrize("draws", [20, 500, 1500])
@pytest.mark.parametrize("due", [0.0001, 0.002, 0.1, 0.5, 0.9])
def test_a_sound_share_is_accused_less_than_once_in_a_billion_times(draws: int, due: float) -> None:
    drawn = [torch.arange(draws) < count for count in range(draws + 1)]
    chances = binomial(draws, due)
    accused = sum(chances[count] for count in range(draws + 1) if results.share(drawn[count], due, "it", "它"))
    assert accused < ONCE_IN_A_BILLION
    tallies = ({(1,): count, (0,): draws - count} for count in range(draws + 1))
    found = (results.frequencies(tally, [(1 - due, due)], "it") for tally in tallies)
    assert sum(chance for chance, accused in zip(chances, found, strict=True) if accused) < ONCE_IN_A_BILLION


def test_another_share_is_told() -> None:
    drawn = torch.arange(1000) < 700
    assert said(results.share(drawn, 0.5, "dropped", "丢掉的")) == "dropped: 70.00% of 1,000, expected 50.00%"
    assert said(results.share(drawn, (0.1, 0.5), "dropped", "丢掉的")).endswith("expected 10.00% … 50.00%")
    assert results.share(drawn, (0.65, 0.9), "dropped", "丢掉的") is None
    assert said(results.share(drawn, (0.9, 1.0), "dropped", "丢掉的")).startswith("dropped: 70.00%")
    assert results.share(torch.arange(1000) < 1, 0.0, "dropped", "丢掉的") is not None, "it has no chance"


def test_other_frequencies_are_told_by_the_names_of_their_parts() -> None:
    assert said(results.frequencies({(0, 2): 1}, {(0, 1): 1.0}, "accepted")) == "returned (0, 2), which can never come"
    tally = {(0, 0): 500, (0, 1): 500, (1, 1): 500}
    found = results.frequencies(tally, [(0.5, 0.5), (0.5, 0.5)], "accepted", "next")
    assert said(found) == "accepted = 0 in 66.7% of 1,500 draws, expected 50.0%"
    rows = torch.tensor([[0, 0], [1, 1]]).repeat(300, 1)  # parts that hang together
    found = results.frequencies(rows, [(0.5, 0.5), (0.5, 0.5)], "first", "second")
    assert said(found) == "χ² = 600 over 4 outcomes of 600 draws: not the expected distribution"


def test_sound_frequencies_are_accused_on_no_seed() -> None:
    parts = [(0.5, 0.3, 0.2), (0.05, 0.15, 0.8)]
    for seed in SEEDS:
        columns = [
            torch.multinomial(torch.tensor(p), 1500, True, generator=seeded(2 * seed + k)) for k, p in enumerate(parts)
        ]
        assert results.frequencies(torch.stack(columns, 1), parts, "first", "second") is None
        tally = Counter(zip(*(column.tolist() for column in columns), strict=True))
        joint = {(a, b): p * q for a, p in enumerate(parts[0]) for b, q in enumerate(parts[1])}
        assert results.frequencies(tally, joint) is None


@pytest.mark.parametrize("p", [0.1, 0.5, 0.73])
def test_independent_draws_are_accused_on_no_seed(p: float) -> None:
    for seed in SEEDS:
        drawn = dropped(p, 8, 3, 2, 8, 16, seed=seed)
        assert results.independent(drawn, p, *DIMENSIONS) is None
        seen = drawn[:, 0, 0]
        assert results.independent(seen, torch.full(seen.shape, p), "batch", "queries", "keys") is None


@pytest.mark.parametrize(("dim", "name"), list(enumerate(DIMENSIONS)))
def test_entries_that_repeat_along_a_dimension_are_found(dim: int, name: str) -> None:
    drawn = dropped(0.5, 16, 6, 4, 16, 16)
    drawn = drawn.narrow(dim, 0, 1).expand(drawn.shape)
    assert "does not vary as independent draws do" in said(results.independent(drawn, 0.5, *DIMENSIONS))
    told = said(results.independent(drawn, torch.full(drawn.shape, 0.5), *DIMENSIONS))
    assert told == f"different {results.NAMES[name][0]} are not drawn independently of each other"


def test_a_fixed_share_of_each_call_is_found() -> None:
    order = torch.rand(16, 24 * 256, generator=seeded(0)).argsort(1).argsort(1)
    drawn = (order < 24 * 128).reshape(16, 6, 4, 16, 16)
    assert "in each of the calls" in said(results.independent(drawn, 0.5, *DIMENSIONS))


def test_the_same_count_in_every_call_is_accused_only_where_it_comes_less_than_once_in_a_billion_times() -> None:
    assert results.independent(torch.tensor([[True, False]]), 0.5, "calls", "keys") is None
    for count, draws in itertools.product((1, 4, 16), (2, 10, 100, 10_000)):
        always = torch.full((count,), draws / 2)
        if results._spread(always, draws, 0.5, "in each", "每个里"):
            logarithm = math.lgamma(draws + 1) - 2 * math.lgamma(draws / 2 + 1) - draws * math.log(2)
            assert math.exp(count * logarithm) < ONCE_IN_A_BILLION


def test_a_sound_mean_is_accused_on_no_seed_and_another_is_told() -> None:
    due = torch.tensor([[1.0, -2.0]])
    for seed in SEEDS:
        drawn = due * 2 * dropped(0.5, 600, 1, seed=seed)
        assert results.mean(drawn, due) is None
    assert said(results.mean(due * torch.ones(600, 1), 2 * due)) == "the mean over 600 draws is -2 at [1], expected -4"


def test_equal_states_draw_the_same_and_a_second_call_anew() -> None:
    first, second = torch.tensor([1, 2]), torch.tensor([2, 1])
    assert results.same_draws(first, first) is None
    assert "comes from elsewhere" in said(results.same_draws(first, second))
    assert results.other_draws(first, second) is None
    assert "repeats the draws of the first" in said(results.other_draws(first, first))
    assert results.same_draws({(0, 1): 3}, {(0, 1): 3}) is None
    assert results.other_draws({(0, 1): 3}, {(0, 1): 2}) is None
