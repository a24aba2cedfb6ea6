"""Answers that miss by little are measured again; those that miss by more are not."""

from __future__ import annotations

import pytest
import torch

from attncli.judge.compare import Rules, compare

TRUTH = torch.linspace(1.0, 100.0, 12, dtype=torch.float64).reshape(3, 4)
NATIVE = TRUTH.float()


def rules(slack: float, closer: float, asked: list[str]) -> Rules:
    def measured(name: str, size: float):
        def ask(path):
            asked.append(name)
            return torch.full_like(TRUTH, size)

        return ask

    return Rules(measured("slack", slack), {}, closer=measured("closer", closer))


@pytest.mark.parametrize(
    ("error", "accepted", "asks"),
    [
        (1e-5, True, []),
        (3e-3, True, ["slack"]),
        (3.8e-3, True, ["slack", "closer"]),
        (8e-3, True, ["slack", "closer"]),
        (2e-2, False, ["slack"]),
    ],
)
def test_more_is_measured_only_where_it_may_matter(error, accepted, asks):
    asked: list[str] = []
    answer = NATIVE.clone()
    answer[-1, -1] += error
    found = compare(TRUTH, NATIVE, answer, rules(2e-3, 2.5e-3, asked))
    assert (found is None) is accepted
    assert asked == asks


def test_a_mistake_of_a_thousandth_is_never_granted():
    answer = NATIVE * 1.001
    assert compare(TRUTH, NATIVE, answer, rules(3e-2, 3e-2, [])) is not None


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
