"""All sequences of a small model, scored one by one, as the oracle; and a plain search that follows the statement."""

import itertools
import math
from functools import partial

import torch
from hypothesis import given
from hypothesis import strategies as st

BOS, EOS = 1, 0


class Model:
    """Give each prefix a row of log-probabilities, made from its ids, and record what it is asked."""

    def __init__(self, V, seed=0, impossible=0.0, digits=None):
        self.V, self.seed, self.impossible, self.digits, self.calls = V, seed, impossible, digits, []

    def row(self, ids):
        generator = torch.Generator().manual_seed(sum((i + 7) * 31**n for n, i in enumerate(ids)) % 10**9 + self.seed)
        logits = torch.randn(self.V, generator=generator, dtype=torch.float64)
        if self.digits is not None:
            return -(logits.abs() + 0.5).round(decimals=self.digits)  # with ties
        logits[torch.rand(self.V, generator=generator) < self.impossible] = -math.inf
        return logits.log_softmax(-1) if logits.max() > -math.inf else logits

    def __call__(self, ids):
        self.calls.append(ids.tolist())
        return torch.stack([self.row(row) for row in ids.tolist()])


def score(ids, total, alpha):
    return total / ((5 + len(ids)) / 6) ** alpha


def every_sequence(model, max_len, alpha):
    """Score all sequences that end in EOS, or have max_len ids without one."""
    scored = []
    for length in range(1, max_len + 1):
        for ids in itertools.product(range(model.V), repeat=length):
            if EOS not in ids[:-1] and (ids[-1] == EOS or length == max_len):
                total = sum(float(model.row([BOS, *ids[:n]])[i]) for n, i in enumerate(ids))
                scored.append((list(ids), score(ids, total, alpha)))
    return scored


def plain_search(model, beam, max_len, alpha):
    live, finished = [([], 0.0)], []
    for _ in range(max_len):
        grown = [
            (-(total + logp), n, i)
            for n, (ids, total) in enumerate(live)
            for i, logp in enumerate(model.row([BOS, *ids]).tolist())
            if logp > -math.inf
        ]
        # Sorted by sum, then row, then id.
        best = [([*live[n][0], i], -loss) for loss, n, i in sorted(grown)[: beam - len(finished)]]
        finished += [one for one in best if one[0][-1] == EOS]
        live = [one for one in best if one[0][-1] != EOS]
        if not live:
            break
    return [(ids, score(ids, total, alpha)) for ids, total in finished + live]


def check(actual, expected):
    """Compare ids and scores; the order must be that of the scores."""
    scores = [one for _, one in actual]
    assert all(earlier >= later - 1e-6 for earlier, later in itertools.pairwise(scores))
    actual, expected = ({tuple(ids): one for ids, one in side} for side in (actual, expected))
    assert actual.keys() == expected.keys()
    assert all(math.isclose(actual[ids], expected[ids], rel_tol=1e-5, abs_tol=1e-6) for ids in expected)


def test_a_wide_beam_finds_every_sequence(beam_search):
    for alpha in (0.0, 1.0):
        for V, max_len in [(2, 4), (3, 3)]:
            model = Model(V)
            check(beam_search(model, BOS, EOS, 1000, max_len, alpha), every_sequence(model, max_len, alpha))


def test_a_beam_of_one_is_greedy(beam_search):
    for seed in range(10):
        model, ids = Model(6, seed), []
        while len(ids) < 5 and ids[-1:] != [EOS]:
            ids.append(int(model.row([BOS, *ids]).argmax()))
        assert [one for one, _ in beam_search(model, BOS, EOS, 1, 5, 0.7)] == [ids]


@given(st.integers(2, 7), st.integers(1, 6), st.integers(1, 6), st.floats(0, 2), st.integers(0, 1000))
def test_any_beam(beam_search, V, beam, max_len, alpha, seed):
    model = Model(V, seed)
    check(beam_search(model, BOS, EOS, beam, max_len, alpha), plain_search(model, beam, max_len, alpha))


@given(st.integers(1, 5), st.floats(0.1, 0.95), st.integers(0, 1000))
def test_an_impossible_token_never_survives(beam_search, beam, impossible, seed):
    model = Model(4, seed, impossible)
    check(beam_search(model, BOS, EOS, beam, 4, 0.5), plain_search(model, beam, 4, 0.5))


@given(st.integers(1, 5), st.integers(0, 1000))
def test_among_equal_sums_the_lower_row_and_then_the_lower_id_survives(beam_search, beam, seed):
    model = Model(5, seed, digits=0)
    check(beam_search(model, BOS, EOS, beam, 4, 0.5), plain_search(model, beam, 4, 0.5))


def test_live_rows_alone_are_asked_once_a_step_best_first(beam_search):
    for seed in range(10):
        model = Model(5, seed)
        beam_search(model, BOS, EOS, 3, 4, 1.0)
        calls = model.calls
        assert calls[0] == [[BOS]] and 1 <= len(calls) <= 4
        for t, call in enumerate(calls):
            expected = [ids for ids, _ in plain_search(model, 3, t, 0.0) if EOS not in ids] if t else [[]]
            sums = [sum(float(model.row(row[:n])[row[n]]) for n in range(1, len(row))) for row in call]
            assert sorted(call) == sorted([BOS, *ids] for ids in expected) and sums == sorted(sums, reverse=True)


def always(logp, ids):
    return logp.expand(len(ids), -1)


def test_ids_and_scores_are_plain_numbers_of_any_bos_and_eos(beam_search):
    for bos, eos in [(2, 3), (0, 0), (9, 1)]:  # bos may be eos, or no token of the vocabulary
        probs = torch.full((4,), 0.1)
        probs[eos] = 0.7
        (ids, value), *_ = beam_search(partial(always, probs.log()), bos, eos, 2, 3, 1.0)
        assert ids == [eos] and isinstance(ids[0], int) and isinstance(value, float)
        assert math.isclose(value, math.log(0.7), rel_tol=1e-5)
