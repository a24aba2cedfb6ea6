"""What is wrong with random results: complaints in English and Chinese, or None. Properties are made of them.

A sound solution is accused less than once in 10⁹ times: a single count by Chernoff's bound, all else where independent
draws come as rarely.
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

# Independent draws get as far with a probability below e⁻²⁵, about 10⁻¹¹, on either side.
RARE = 25.0
SIGMAS = math.sqrt(2 * RARE)
_IMPOSSIBLE = 1e-12
_FEWEST_DUE = 8
# The mean square by which rounding to whole numbers moves a count: less says nothing.
_WHOLE_NUMBERS = 1 / 12
# What the dimensions of a random result are called.
NAMES = {
    "calls": ("calls", "调用"),
    "batch": ("items of the batch", "序列"),
    "heads": ("heads", "头"),
    "queries": ("queries", " query "),
    "keys": ("keys", " key "),
    "tokens": ("tokens", " token "),
    "experts": ("experts", "专家"),
}


def one_of(got: Tensor, *levels: Tensor | float, gradient: bool = False) -> Complaint | None:
    """Each entry is one of these, apart from how its dtype rounds. `gradient`: it is spoken of as a gradient's."""
    exact = got.detach().double()
    due = [torch.as_tensor(level, dtype=torch.float64) for level in levels]
    wrong = _elsewhere(exact, due, 1e-5, got.dtype)
    digits_only = got.dtype == torch.float64 and not wrong.any()
    wrong = _elsewhere(exact, due, 1e-9, got.dtype) if digits_only else wrong
    if not wrong.any():
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    digits = ".15g" if digits_only else ".6g"
    due_here = " or ".join(
        f"{level:{digits}}" for level in sorted({float(level.expand(got.shape)[at]) for level in due})
    )
    of, zh = (" of the gradient", "梯度的 ") if gradient else ("", "")
    complaint = (
        f"entry {list(at)}{of} is {float(exact[at]):{digits}}; it must be {due_here}",
        f"{zh}{list(at)} 处为 {float(exact[at]):{digits}}，只能是 {due_here.replace('or', '或')}",
    )
    return DigitsLost(complaint) if digits_only else complaint


def _elsewhere(exact: Tensor, due: Sequence[Tensor], relative: float, dtype: torch.dtype) -> Tensor:
    """The entries that are none of those that are due."""
    wrong = torch.ones_like(exact, dtype=torch.bool)
    for level in due:
        wrong &= ~((exact - level).abs() <= _rounding(level, relative, dtype))
    return wrong


def _rounding(due: Tensor, relative: float, dtype: torch.dtype) -> Tensor:
    """What may be missed against the largest entry, and half a step of 16 bits, to which float32 is rounded once."""
    within = due.abs().max() * (relative if dtype.is_floating_point else 0.0)
    if not dtype.is_floating_point or dtype.itemsize > 2:
        return within
    return within + due.abs().log2().floor().exp2() * torch.finfo(dtype).eps / 2


def distinct(got: Tensor) -> Complaint | None:
    """Random numbers differ from each other, but for a few that rounding makes equal."""
    different = got.detach().unique().numel()
    if bool(got.isfinite().all()) and different > 0.75 * got.numel():
        return None
    return (
        f"only {different} different values among {got.numel()} entries: they must be random and finite",
        f"{got.numel()} 个元素里只有 {different} 个不同的值：必须是随机的有限数",
    )


def arrives(gradient: Tensor, name: str) -> Complaint | None:
    """Something of a gradient is not 0."""
    return None if bool((gradient != 0).any()) else (f"no gradient arrives at {name}", f"{name} 收不到梯度")


def share(drawn: Tensor, due: float | tuple[float, float], name: str, zh: str) -> Complaint | None:
    """The share of True among independent draws is the due one, or between two."""
    low, high = due if isinstance(due, tuple) else (due, due)
    count, draws = int(drawn.sum()), drawn.numel()
    if low <= count / draws <= high or not _too_far(count, draws, low if count < low * draws else high):
        return None
    then = f"{low:.2%}" if low == high else f"{low:.2%} … {high:.2%}"
    return (
        f"{name}: {count / draws:.2%} of {draws:,}, where {then} are due",
        f"{zh}：{draws:,} 次里占 {count / draws:.2%}，应为 {then}",
    )


def _too_far(count: int, draws: int, due: float) -> bool:
    """Chernoff: so few or so many have a probability of e^(−draws·D), where D is the divergence of the shares."""
    return (
        draws * sum(_divergence(part, of) for part, of in ((count / draws, due), (1 - count / draws, 1 - due))) > RARE
    )


def _divergence(part: float, due: float) -> float:
    if part <= 0:
        return 0.0
    return math.inf if due <= _IMPOSSIBLE else part * math.log(part / due)


def frequencies(
    sample: Tensor | Mapping[Any, int], chances: Mapping[Any, float] | Sequence[Sequence[float]], *names: str
) -> Complaint | None:
    """Outcomes come as often as they should: a tally, or the rows of a tensor, against the chance of each.

    Outcomes are tuples, whose parts are called `names`. A list of distributions stands for independent parts, which
    are numbers from 0 on.
    """
    tally = sample if isinstance(sample, Mapping) else Counter(map(tuple, sample.flatten(1).tolist()))
    due = chances if isinstance(chances, Mapping) else _independent_parts(chances)
    for key in tally:
        if due.get(key, 0.0) < _IMPOSSIBLE:
            return f"returned {key!r}, which can never come", f"返回了 {key!r}，这个结果不可能出现"
    found = (_part(tally, due, place, name) for place, name in enumerate(names))
    return next(filter(None, found), None) or _chi_squared(tally, due)


def _independent_parts(parts: Sequence[Sequence[float]]) -> dict[Any, float]:
    keys = itertools.product(*(range(len(part)) for part in parts))
    return {key: math.prod(part[k] for part, k in zip(parts, key, strict=True)) for key in keys}


def _part(tally: Mapping[Any, int], chances: Mapping[Any, float], place: int, name: str) -> Complaint | None:
    draws = sum(tally.values())
    for value in sorted({key[place] for key in chances}):
        due = sum(chance for key, chance in chances.items() if key[place] == value)
        count = sum(number for key, number in tally.items() if key[place] == value)
        if _too_far(count, draws, due):
            return (
                f"{name} = {value} in {count / draws:.1%} of {draws:,} draws, where {due:.1%} are due",
                f"抽 {draws:,} 次，{name} = {value} 占 {count / draws:.1%}，应为 {due:.1%}",
            )
    return None


def _chi_squared(tally: Mapping[Any, int], chances: Mapping[Any, float]) -> Complaint | None:
    draws = sum(tally.values())
    likely = {key: chance * draws for key, chance in chances.items() if chance * draws >= _FEWEST_DUE}
    squares = sum((tally.get(key, 0) - due) ** 2 / due for key, due in likely.items())
    if squares <= len(likely) + 8 * math.sqrt(2 * len(likely)) + 40:
        return None
    return (
        f"χ² = {squares:.0f} over {len(likely)} outcomes of {draws:,} draws: not the distribution that is due",
        f"抽 {draws:,} 次，{len(likely)} 种结果的 χ² = {squares:.0f}：分布不对",
    )


def independent(drawn: Tensor, due: float | Tensor, *dimensions: str) -> Complaint | None:
    """Entries are drawn each on its own along these dimensions: True with probability `due`.

    How many come along a dimension varies as it must, and so does how many come in one entry of the first; neighbours
    are not alike. Where `due` is a tensor of probabilities, neighbours alone are judged.
    """
    entries = drawn.float()
    if not isinstance(due, Tensor):
        for dim, name in enumerate(dimensions):
            if found := _spread(
                entries.sum(dim), entries.shape[dim], due, f"along the {name}", f"沿{NAMES[name][1]}方向"
            ):
                return found
        whole = entries.flatten(1).sum(1)
        one = NAMES[dimensions[0]]
        if found := _spread(whole, entries[0].numel(), due, f"in each of the {one[0]}", f"在每个{one[1]}里"):
            return found
    return _neighbours(entries - due, due * (1 - due), dimensions)


def _spread(counts: Tensor, draws: int, due: float, where: str, zh: str) -> Complaint | None:
    """n squares of normal numbers add up to r times their mean with a probability of e^(−n/2·(r − 1 − ln r))."""
    variance = draws * due * (1 - due)
    ratio = max(float((counts - draws * due).square().mean()), _WHOLE_NUMBERS) / variance
    heavier = max(0.0, 1 / variance - 6 / draws)
    freedom = counts.numel() * 2 / (2 + heavier)
    if freedom / 2 * (ratio - 1 - math.log(ratio)) <= RARE:
        return None
    return (
        f"how many are drawn {where} does not vary as independent draws do",
        f"{zh}抽中的个数，波动与独立抽取不符",
    )


def _neighbours(centred: Tensor, variance: float | Tensor, dimensions: Sequence[str]) -> Complaint | None:
    for dim, name in enumerate(dimensions):
        count = centred.shape[dim] - 1
        if count < 1:
            continue
        product = centred.narrow(dim, 1, count) * centred.narrow(dim, 0, count)
        if abs(float(product.sum())) > SIGMAS * _spread_of_products(variance, dim, product):
            en, zh = NAMES[name]
            return f"different {en} are not drawn independently of each other", f"不同的{zh}之间不是独立抽取的"
    return None


def _spread_of_products(variance: float | Tensor, dim: int, product: Tensor) -> float:
    if not isinstance(variance, Tensor):
        return variance * math.sqrt(product.numel())
    count = product.shape[dim]
    return math.sqrt((variance.narrow(dim, 1, count) * variance.narrow(dim, 0, count)).sum())


def mean(drawn: Tensor, due: Tensor) -> Complaint | None:
    """The mean over the first dimension is what is due."""
    drawn, then = drawn.detach().double(), due.detach().double().expand(drawn.shape)[0]
    error = (drawn.mean(0) - then).abs() - SIGMAS * drawn.std(0) / len(drawn) ** 0.5
    if not (error > 1e-6).any():
        return None
    at = tuple((error == error.max()).nonzero()[0].tolist())
    now, right = f"{float(drawn.mean(0)[at]):.4g}", f"{float(then[at]):.4g}"
    return (
        f"the mean over {len(drawn):,} draws is {now} at {list(at)}, where {right} is due",
        f"{len(drawn):,} 次抽取的均值在 {list(at)} 处为 {now}，应为 {right}",
    )


def same_draws(first: Any, second: Any) -> Complaint | None:
    """Draws under equal states of a generator are equal."""
    if _alike(first, second):
        return None
    return (
        "equal states of the generator, other draws: some randomness comes from elsewhere",
        "随机数状态相同，抽到的却不同：有随机数来自别处",
    )


def other_draws(first: Any, second: Any) -> Complaint | None:
    """A second call draws anew."""
    if not _alike(first, second):
        return None
    return (
        "a second call repeats the draws of the first: no state moved on",
        "再调用一次，抽到的与第一次完全相同：状态没有往前走",
    )


def _alike(first: Any, second: Any) -> bool:
    return torch.equal(first, second) if isinstance(first, Tensor) else bool(first == second)
