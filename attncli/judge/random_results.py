"""Tests of random results, from which challenges make their properties.

Each returns a complaint, in English and in Chinese, or None. A sound solution gets one less than once in 10⁹ times:
single counts are judged by Chernoff's bound, all else by tails of normal distributions that are as rare.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Complaint, DigitsLost

# A sound solution exceeds these with a probability below e⁻²⁵, about 10⁻¹¹, on either side.
RARE = 25.0
SIGMAS = math.sqrt(2 * RARE)
_IMPOSSIBLE = 1e-12
_FEWEST_DUE = 8
# The variance from rounding a count to whole numbers: a smaller one proves nothing.
_WHOLE_NUMBERS = 1 / 12
# The dimensions of a random result, in English and in Chinese.
NAMES = {
    "calls": ("calls", "调用"),
    "batch": ("items of the batch", "序列"),
    "heads": ("heads", "头"),
    "queries": ("queries", " query "),
    "keys": ("keys", " key "),
    "tokens": ("tokens", " token "),
    "experts": ("experts", "专家"),
}


def one_of(actual: Tensor, *levels: Tensor | float, gradient: bool = False) -> Complaint | None:
    """Demand that each entry is one of the levels, apart from the rounding of its dtype.

    `gradient`: the complaint names it as a gradient.
    """
    exact = actual.detach().double()
    expected = [torch.as_tensor(level, dtype=torch.float64) for level in levels]
    wrong = _elsewhere(exact, expected, 1e-5, actual.dtype)
    digits_only = actual.dtype == torch.float64 and not wrong.any()
    wrong = _elsewhere(exact, expected, 1e-9, actual.dtype) if digits_only else wrong
    if not wrong.any():
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    digits = ".15g" if digits_only else ".6g"
    here = " or ".join(
        f"{level:{digits}}" for level in sorted({float(level.expand(actual.shape)[at]) for level in expected})
    )
    of, zh = (" of the gradient", "梯度的 ") if gradient else ("", "")
    complaint = (
        f"entry {list(at)}{of} is {float(exact[at]):{digits}}; it must be {here}",
        f"{zh}{list(at)} 处为 {float(exact[at]):{digits}}，只能是 {here.replace('or', '或')}",
    )
    return DigitsLost(complaint) if digits_only else complaint


def _elsewhere(exact: Tensor, expected: Sequence[Tensor], relative: float, dtype: torch.dtype) -> Tensor:
    """Return the entries that equal none of the levels."""
    wrong = torch.ones_like(exact, dtype=torch.bool)
    for level in expected:
        wrong &= ~((exact - level).abs() <= _rounding(level, relative, dtype))
    return wrong


def _rounding(expected: Tensor, relative: float, dtype: torch.dtype) -> Tensor:
    """Return the allowed error: a share of the largest entry, plus half a step in 16 bits (float32, rounded)."""
    within = expected.abs().max() * (relative if dtype.is_floating_point else 0.0)
    if not dtype.is_floating_point or dtype.itemsize > 2:
        return within
    return within + expected.abs().log2().floor().exp2() * torch.finfo(dtype).eps / 2


def distinct(actual: Tensor) -> Complaint | None:
    """Demand finite numbers that differ from each other, except a few that rounding makes equal."""
    different = actual.detach().unique().numel()
    if bool(actual.isfinite().all()) and different > 0.75 * actual.numel():
        return None
    return (
        f"only {different} different values among {actual.numel()} entries: they must be random and finite",
        f"{actual.numel()} 个元素里只有 {different} 个不同的值：必须是随机的有限数",
    )


def arrives(gradient: Tensor, name: str) -> Complaint | None:
    """Demand a gradient that is not 0 everywhere."""
    return None if bool((gradient != 0).any()) else (f"no gradient arrives at {name}", f"{name} 收不到梯度")


def share(drawn: Tensor, expected: float | tuple[float, float], name: str, zh: str) -> Complaint | None:
    """Demand a share of True among independent draws, or a share between two bounds."""
    low, high = expected if isinstance(expected, tuple) else (expected, expected)
    count, draws = int(drawn.sum()), drawn.numel()
    if low <= count / draws <= high or not _too_far(count, draws, low if count < low * draws else high):
        return None
    due = f"{low:.2%}" if low == high else f"{low:.2%} … {high:.2%}"
    return (
        f"{name}: {count / draws:.2%} of {draws:,}, expected {due}",
        f"{zh}：{draws:,} 次里占 {count / draws:.2%}，应为 {due}",
    )


def _too_far(count: int, draws: int, expected: float) -> bool:
    """Return True if the count is too rare by Chernoff's bound, e^(−draws·D); D is the divergence of the shares."""
    part = count / draws
    return draws * (_divergence(part, expected) + _divergence(1 - part, 1 - expected)) > RARE


def _divergence(part: float, expected: float) -> float:
    if part <= 0:
        return 0.0
    return math.inf if expected <= _IMPOSSIBLE else part * math.log(part / expected)


def frequencies(
    sample: Tensor | Mapping[Any, int], chances: Mapping[Any, float] | Sequence[Sequence[float]], *names: str
) -> Complaint | None:
    """Demand that outcomes (a tally, or the rows of a tensor) come as often as their `chances` say.

    Outcomes are tuples, whose parts are called `names`. A list of distributions means independent parts, which are
    numbers from 0 on.
    """
    tally = sample if isinstance(sample, Mapping) else Counter(map(tuple, sample.flatten(1).tolist()))
    if isinstance(chances, Mapping):
        expected = chances
    else:
        keys = itertools.product(*(range(len(part)) for part in chances))
        expected = {key: math.prod(part[k] for part, k in zip(chances, key, strict=True)) for key in keys}
    for key in tally:
        if expected.get(key, 0.0) < _IMPOSSIBLE:
            return f"returned {key!r}, which can never come", f"返回了 {key!r}，这个结果不可能出现"
    found = (_part(tally, expected, place, name) for place, name in enumerate(names))
    return next(filter(None, found), None) or _chi_squared(tally, expected)


def _part(tally: Mapping[Any, int], chances: Mapping[Any, float], place: int, name: str) -> Complaint | None:
    draws = sum(tally.values())
    for value in sorted({key[place] for key in chances}):
        expected = sum(chance for key, chance in chances.items() if key[place] == value)
        count = sum(number for key, number in tally.items() if key[place] == value)
        if _too_far(count, draws, expected):
            return (
                f"{name} = {value} in {count / draws:.1%} of {draws:,} draws, expected {expected:.1%}",
                f"抽 {draws:,} 次，{name} = {value} 占 {count / draws:.1%}，应为 {expected:.1%}",
            )
    return None


def _chi_squared(tally: Mapping[Any, int], chances: Mapping[Any, float]) -> Complaint | None:
    draws = sum(tally.values())
    likely = {key: chance * draws for key, chance in chances.items() if chance * draws >= _FEWEST_DUE}
    squares = sum((tally.get(key, 0) - expected) ** 2 / expected for key, expected in likely.items())
    if squares <= len(likely) + 8 * math.sqrt(2 * len(likely)) + 40:
        return None
    return (
        f"χ² = {squares:.0f} over {len(likely)} outcomes of {draws:,} draws: not the expected distribution",
        f"抽 {draws:,} 次，{len(likely)} 种结果的 χ² = {squares:.0f}：分布不对",
    )


def independent(drawn: Tensor, expected: float | Tensor, *dimensions: str) -> Complaint | None:
    """Demand entries that are drawn independently along these dimensions, True with probability `expected`.

    The test judges the variance of the counts along each dimension and in each entry of the first one, and the products
    of neighbours; if `expected` is a tensor of probabilities, only the neighbours.
    """
    entries = drawn.float()
    if not isinstance(expected, Tensor):
        for dim, name in enumerate(dimensions):
            if found := _spread(
                entries.sum(dim), entries.shape[dim], expected, f"along the {name}", f"沿{NAMES[name][1]}方向"
            ):
                return found
        whole = entries.flatten(1).sum(1)
        one = NAMES[dimensions[0]]
        if found := _spread(whole, entries[0].numel(), expected, f"in each of the {one[0]}", f"在每个{one[1]}里"):
            return found
    return _neighbours(entries - expected, expected * (1 - expected), dimensions)


def _spread(counts: Tensor, draws: int, expected: float, where: str, zh: str) -> Complaint | None:
    """Judge the variance of counts: n normal squares add up to r times their mean with e^(−n/2·(r − 1 − ln r))."""
    variance = draws * expected * (1 - expected)
    ratio = max(float((counts - draws * expected).square().mean()), _WHOLE_NUMBERS) / variance
    heavier = max(0.0, 1 / variance - 6 / draws)
    freedom = counts.numel() * 2 / (2 + heavier)
    if freedom / 2 * (ratio - 1 - math.log(ratio)) <= RARE:
        return None
    return (f"how many are drawn {where} does not vary as independent draws do", f"{zh}抽中的个数，波动与独立抽取不符")


def _neighbours(centred: Tensor, variance: float | Tensor, dimensions: Sequence[str]) -> Complaint | None:
    for dim, name in enumerate(dimensions):
        count = centred.shape[dim] - 1
        if count < 1:
            continue
        product = centred.narrow(dim, 1, count) * centred.narrow(dim, 0, count)
        if isinstance(variance, Tensor):
            spread = math.sqrt((variance.narrow(dim, 1, count) * variance.narrow(dim, 0, count)).sum())
        else:
            spread = variance * math.sqrt(product.numel())
        if abs(float(product.sum())) > SIGMAS * spread:
            en, zh = NAMES[name]
            return f"different {en} are not drawn independently of each other", f"不同的{zh}之间不是独立抽取的"
    return None


def mean(drawn: Tensor, expected: Tensor) -> Complaint | None:
    """Demand this mean over the first dimension."""
    drawn, expected = drawn.detach().double(), expected.detach().double().expand(drawn.shape)[0]
    error = (drawn.mean(0) - expected).abs() - SIGMAS * drawn.std(0) / len(drawn) ** 0.5
    if not (error > 1e-6).any():
        return None
    at = tuple((error == error.max()).nonzero()[0].tolist())
    now, right = f"{float(drawn.mean(0)[at]):.4g}", f"{float(expected[at]):.4g}"
    return (
        f"the mean over {len(drawn):,} draws is {now} at {list(at)}, expected {right}",
        f"{len(drawn):,} 次抽取的均值在 {list(at)} 处为 {now}，应为 {right}",
    )


def same_draws(first: Any, second: Any) -> Complaint | None:
    """Demand equal draws under equal states of a generator."""
    if _alike(first, second):
        return None
    return (
        "equal states of the generator, other draws: some randomness comes from elsewhere",
        "随机数状态相同，抽到的却不同：有随机数来自别处",
    )


def other_draws(first: Any, second: Any) -> Complaint | None:
    """Demand different draws from a second call."""
    if not _alike(first, second):
        return None
    return (
        "a second call repeats the draws of the first: no state moved on",
        "再调用一次，抽到的与第一次完全相同：状态没有往前走",
    )


def _alike(first: Any, second: Any) -> bool:
    return torch.equal(first, second) if isinstance(first, Tensor) else bool(first == second)
