"""beam-search: a beam of one is greedy, a wide one is exhaustive, and each score is that of its ids."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

beam_search = load(IMPL / "decoding/beam-search/reference.py").beam_search
V, BOS, EOS = 3, 0, 2


def model(seed: int) -> Tensor:
    """Return log-probabilities that depend on the two newest tokens."""
    return torch.randn(V, V, V, generator=torch.Generator().manual_seed(seed)).double().log_softmax(-1)


def stepping(table: Tensor):
    return lambda ids: table[ids[:, -2] if ids.shape[1] > 1 else ids[:, -1], ids[:, -1]]


def sum_of(table: Tensor, ids: list[int]) -> float:
    text = [BOS, BOS, *ids]
    return sum(float(table[a, b, c]) for a, b, c in zip(text, text[1:], text[2:], strict=False))


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_every_text_and_its_score(seed: int, alpha: float) -> None:
    table = model(seed)
    texts = [t[: t.index(EOS) + 1] if EOS in t else t for t in map(list, itertools.product(range(V), repeat=4))]
    due = {tuple(t): sum_of(table, t) / ((5 + len(t)) / 6) ** alpha for t in texts}
    got = beam_search(stepping(table), BOS, EOS, 99, 4, alpha)
    assert {tuple(ids) for ids, _ in got} == set(due) and len(got) == len(due)
    assert all(math.isclose(score, due[tuple(ids)], rel_tol=1e-12) for ids, score in got)
    assert [score for _, score in got] == sorted((score for _, score in got), reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy_and_none_is_larger_than_the_beam(seed: int) -> None:
    table, text = model(seed), [BOS, BOS]
    while len(text) < 8 and (text[-1] != EOS or len(text) == 2):
        text.append(int(table[text[-2], text[-1]].argmax()))
    [(ids, score)] = beam_search(stepping(table), BOS, EOS, 1, 6, 0.0)
    assert ids == text[2:] and math.isclose(score, sum_of(table, ids), rel_tol=1e-12)
    for beam in (2, 3, 5):
        assert len(beam_search(stepping(table), BOS, EOS, beam, 6, 1.0)) <= beam
