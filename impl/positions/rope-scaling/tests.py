"""The formulas in plain Python, one pair at a time, and the aim of each scaling: fast pairs stay, slow ones stretch."""

import math

import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from pytest import approx
from torch.testing import assert_close


def pair_that_turns(turns, d, base, length):
    return d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def expected(d, base, scaling):
    s = scaling["factor"]
    plain = [base ** (-2 * i / d) for i in range(d // 2)]
    if scaling["type"] == "linear":
        return [f / s for f in plain], 1.0
    if scaling["type"] == "ntk":
        return [(base * s ** (d / (d - 2))) ** (-2 * i / d) for i in range(d // 2)], 1.0
    length = scaling["original_max_position"]
    lo = max(math.floor(pair_that_turns(scaling.get("beta_fast", 32), d, base, length)), 0)
    hi = min(math.ceil(pair_that_turns(scaling.get("beta_slow", 1), d, base, length)), d - 1)
    keep = [1 - min(max((i - lo) / (hi - lo), 0), 1) for i in range(d // 2)]
    return [k * f + (1 - k) * f / s for k, f in zip(keep, plain, strict=True)], 0.1 * math.log(s) + 1 if s > 1 else 1.0


def assert_right(result, d, base, scaling):
    frequencies, factor = result
    exact, exact_factor = expected(d, base, scaling)
    assert frequencies.dtype == torch.float32 and frequencies.shape == (d // 2,)
    # Relative to each frequency: the slow pairs are the ones that matter.
    assert_close(frequencies.double(), torch.tensor(exact, dtype=torch.float64), rtol=1e-5, atol=0)
    assert type(factor) is float and factor == approx(exact_factor)


def yarn(s, length=4096, **betas):
    return {"type": "yarn", "factor": s, "original_max_position": length, **betas}


@given(st.integers(2, 64), st.sampled_from([100.0, 1e4, 5e5]), st.sampled_from(["linear", "ntk"]), st.floats(0.5, 32))
def test_linear_and_ntk(rope_inv_freq, half, base, kind, s):
    scaling = {"type": kind, "factor": s}
    assert_right(rope_inv_freq(2 * half, base, scaling), 2 * half, base, scaling)


@given(
    st.integers(4, 64), st.sampled_from([500.0, 1e4, 5e5]), st.integers(64, 40_000), st.floats(0.5, 64),
    st.floats(8, 64), st.floats(0.5, 4),
)  # fmt: skip
def test_yarn(rope_inv_freq, half, base, length, s, fast, slow):
    d = 2 * half
    ends = [pair_that_turns(turns, d, base, length) for turns in (fast, slow)]
    assume(all(abs(end - round(end)) > 1e-3 for end in ends))  # never near an integer
    assume(min(math.ceil(ends[1]), d - 1) > max(math.floor(ends[0]), 0))
    scaling = yarn(s, length, beta_fast=fast, beta_slow=slow)
    assert_right(rope_inv_freq(d, base, scaling), d, base, scaling)


def test_yarn_takes_32_and_1_turns_where_no_betas_are_given(rope_inv_freq):
    for betas in ({}, {"beta_fast": 16}, {"beta_slow": 2}):
        assert_right(rope_inv_freq(128, 1e4, yarn(4.0, **betas)), 128, 1e4, yarn(4.0, **betas))


def test_a_factor_of_one_changes_nothing(rope_inv_freq):
    plain = torch.tensor([1e4 ** (-i / 32) for i in range(32)])
    for scaling in ({"type": "linear", "factor": 1.0}, {"type": "ntk", "factor": 1.0}, yarn(1.0)):
        frequencies, factor = rope_inv_freq(64, 1e4, scaling)
        assert_close(frequencies, plain, rtol=1e-5, atol=0)
        assert factor == 1.0


def test_ntk_keeps_the_fastest_pair_and_divides_the_slowest_by_the_factor(rope_inv_freq):
    for d in (4, 64, 128):
        frequencies, _ = rope_inv_freq(d, 1e4, {"type": "ntk", "factor": 8.0})
        assert frequencies[0] == approx(1.0)
        assert frequencies[-1].item() == approx(1e4 ** (-(d - 2) / d) / 8.0, rel=1e-5)


def test_yarn_keeps_fast_pairs_and_divides_slow_ones(rope_inv_freq):
    plain = torch.tensor([1e4 ** (-i / 64) for i in range(64)])
    kept = rope_inv_freq(128, 1e4, yarn(16.0))[0] / plain
    turns = 4096 * plain / (2 * math.pi)  # in the context of training
    assert_close(kept[turns > 40], torch.ones(int((turns > 40).sum())), rtol=1e-5, atol=0)
    assert_close(kept[turns < 0.8], torch.full((int((turns < 0.8).sum()),), 1 / 16), rtol=1e-5, atol=0)
    assert (kept.diff() <= 1e-6).all()


def test_the_ends_of_the_ramp_are_clamped_to_the_pairs(rope_inv_freq):
    # A context so short that no pair makes 32 turns; one so long that the slowest makes more than one.
    for d, base, length in ((64, 1e4, 128), (16, 1e4, 100), (64, 100.0, 4000), (32, 50.0, 20_000)):
        assert_right(rope_inv_freq(d, base, yarn(4.0, length)), d, base, yarn(4.0, length))


def test_only_yarn_beyond_one_sharpens_attention(rope_inv_freq):
    for s in (0.5, 1.0, 1.5, 40.0):
        assert rope_inv_freq(64, 1e4, yarn(s))[1] == approx(0.1 * math.log(max(s, 1.0)) + 1.0)
        for kind in ("linear", "ntk"):
            assert rope_inv_freq(64, 1e4, {"type": kind, "factor": s})[1] == 1.0


def test_the_settings_stay_as_they_are_and_results_are_new(rope_inv_freq):
    for scaling in ({"type": "linear", "factor": 2.0}, {"type": "ntk", "factor": 2.0}, yarn(2.0)):
        before = dict(scaling)
        frequencies, _ = rope_inv_freq(64, 1e4, scaling)
        kept = frequencies.clone()
        assert scaling == before
        frequencies.zero_()
        assert torch.equal(rope_inv_freq(64, 1e4, scaling)[0], kept)
