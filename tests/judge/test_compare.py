"""Measure near misses again, and clear misses only once."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attncli.judge.compare import Rules, compare

TRUTH = torch.linspace(1.0, 100.0, 12, dtype=torch.float64).reshape(3, 4)
NATIVE = TRUTH.float()
SIXTEEN_BITS = st.sampled_from([torch.float16, torch.bfloat16])


def rules(slack: float, closer: float, asked: list[str]) -> Rules:
    def measured(name: str, size: float):
        def ask(path):
            asked.append(name)
            return torch.full_like(TRUTH, size)

        return ask

    return Rules(measured("slack", slack), {}, closer=measured("closer", closer))


def test_more_is_measured_only_where_it_may_matter_and_a_mistake_of_a_thousandth_is_never_granted():
    for error, accepted, asks in (
        (1e-5, True, []),
        (3e-3, True, ["slack"]),
        (3.8e-3, True, ["slack", "closer"]),
        (8e-3, True, ["slack", "closer"]),
        (1.2e-2, False, ["slack", "closer"]),
        (2e-2, False, ["slack"]),
    ):
        asked: list[str] = []
        answer = NATIVE.clone()
        answer[-1, -1] += error
        found = compare(TRUTH, NATIVE, answer, rules(2e-3, 2.5e-3, asked))
        assert ((found is None), asked) == (accepted, asks), error
    assert compare(TRUTH, NATIVE, NATIVE * 1.001, rules(3e-2, 3e-2, [])) is not None


def test_what_is_known_to_be_allowed_is_not_measured_again():
    asked: list[str] = []
    known = Rules(rules(2e-3, 2e-3, asked).slack, {}, kept={})
    answer = NATIVE.clone()
    answer[-1, -1] += 3e-3
    assert compare(TRUTH, NATIVE, answer, known) is None
    assert compare(TRUTH, NATIVE, answer, known) is None
    assert asked == ["slack"]
    answer[0, 0] = float("nan")
    assert compare(TRUTH, NATIVE, answer, known) is not None


def rounded_once(dtype: torch.dtype, truth: torch.Tensor, got: torch.Tensor):
    def unasked(path):
        raise AssertionError("nothing is measured for a result that is rounded once")

    return compare(truth, truth.to(dtype), got, Rules(unasked, {}, float32_inside=True))


@given(st.lists(st.floats(-60_000, 60_000), min_size=1, max_size=9), SIXTEEN_BITS, st.integers(0, 2**31))
def test_what_float32_computes_and_rounds_once_is_accepted(values, dtype, seed):
    truth = torch.tensor(values, dtype=torch.float64)
    noise = torch.rand(truth.shape, generator=torch.Generator().manual_seed(seed)).double() * 2 - 1
    computed = truth + noise * 8 * torch.finfo(torch.float32).eps * truth.abs()
    assert rounded_once(dtype, truth, computed.float().to(dtype)) is None


@given(st.floats(0.01, 60_000), SIXTEEN_BITS, st.sampled_from([-torch.inf, torch.inf]))
def test_the_neighbour_of_the_nearest_number_is_another_number(value, dtype, towards):
    truth = torch.tensor([value], dtype=torch.float64)
    nearest = truth.to(dtype)
    neighbour = torch.nextafter(nearest, torch.full_like(nearest, towards))
    same_spacing = min(nearest.item(), neighbour.item()) >= 2.0 ** math.floor(math.log2(value))
    nearly_a_tie = abs((nearest.double() + neighbour.double()) / 2 - truth) <= 2e-5 * truth
    assume(same_spacing and not nearly_a_tie)
    found = rounded_once(dtype, truth, neighbour)
    assert found is not None and found.reason in ("values", "not-finite")


def unmeasured() -> Rules:
    return Rules(lambda path: None, {})


@pytest.mark.parametrize(
    ("dtype", "epsilons"), [(torch.float64, 64), (torch.float32, 64), (torch.float16, 8), (torch.bfloat16, 4)]
)
def test_the_rounding_tolerance_of_each_dtype_is_exact(dtype, epsilons):
    info = torch.finfo(dtype)
    for value, step, steps in ((1.0, info.eps, 2 * epsilons), (0.0, info.tiny * info.eps, 8)):
        truth = torch.full((2,), value, dtype=torch.float64)
        for more, accepted in ((0, True), (1, False)):
            answer = (truth + (steps + more) * step).to(dtype)
            assert (compare(truth, truth.to(dtype), answer, unmeasured()) is None) is accepted, (value, more)


def test_rounding_is_that_of_the_value_and_of_the_largest_in_its_row():
    truth = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    eps = torch.finfo(torch.float32).eps
    for place, most in (((0, 0), 128), ((0, 1), 64), ((1, 0), 0)):
        for steps, accepted in ((most, True), (most + 1, False)):
            answer = truth.float()
            answer[place] += steps * eps
            assert (compare(truth, truth.float(), answer, unmeasured()) is None) is accepted, (place, steps)


def test_plain_numbers_agree_to_nine_digits():
    for expected, near, far in ((1.0, 1 + 0.9e-9, 1 + 1.1e-9), (0.0, 0.9e-12, 1.1e-12)):
        assert compare(expected, expected, near, unmeasured()) is None
        assert compare(expected, expected, far, unmeasured()) is not None


def test_a_tolerance_that_means_equality_is_told_as_such():
    for expected, said in ((0.0, "must be exact"), (1.0, "tolerance ")):
        truth = torch.tensor([expected], dtype=torch.float64)
        found = compare(truth, truth.float(), truth.float() + 1e-3, Rules(lambda path: None, {}))
        assert found is not None and said in found.message.en
