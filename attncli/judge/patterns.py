"""Find a pattern in wrong answers that no known mistake explains: transposed, off by one, scaled, rounded.

A pattern must explain every answer at the wrong parts of the result, for the shrunk case and further ones. Enough of
these must have been able to refute it: tensors of different sizes, with several entries that are not all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from attncli.i18n import Localised
from attncli.judge.case import Case, Input
from attncli.judge.challenge import Folder, named_arguments
from attncli.judge.compare import EPSILONS, NEAR, VARIES, Path, Rules, agreeing, compare, leaves
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.reference import Expectation, Observed, exact, run_reference

# The least number of tensors, of at least two sizes, that must have been able to refute a pattern. One wrong place may
# be wrong by chance, so it takes more of them.
LEAST_TELLING = 2
LEAST_AT_ONE_PLACE = 4
MOST_DIMENSIONS = 5
# A tensor with fewer entries fits too many explanations to prove one.
LEAST_ENTRIES = 4
# In 16 bits the tolerance is too wide to distinguish entries.
WIDE = (torch.float32, torch.float64)
NARROWER = (torch.float32, torch.bfloat16, torch.float16)

NamedPattern = tuple[str, Localised]


# Samples: each tensor of an answer with the expected one


@dataclass(frozen=True, slots=True)
class Sample:
    """One tensor of an answer, the expected one in float64, and the measured slack of its tolerance.

    `part` leads to it inside the result, `axes` are the names of its dimensions, `sizes` those of the whole call.
    """

    expected: Tensor
    actual: Tensor
    slack: Tensor | None
    entry: str
    part: Path
    axes: Sequence[str]
    sizes: Mapping[str, int]
    case: Case = field(repr=False)
    key: int = 0

    def is_right(self) -> bool:
        return self.fits(self.expected, self.slack)

    def fits(self, candidate: Tensor, slack: Tensor | None) -> bool:
        """Return True if the answer equals `candidate`, within the tolerance."""
        return candidate.shape == self.actual.shape and bool(self.matching(candidate, slack).all())

    def matching(self, candidate: Tensor, slack: Tensor | None) -> Tensor:
        return agreeing(candidate, self.actual, Rules(lambda path: slack, {}))

    def same_shape(self) -> bool:
        return self.actual.shape == self.expected.shape

    def is_telling(self) -> bool:
        """Return True if the sample can prove anything: several entries, not all the same, finite, and wrong."""
        usual = self.expected.numel() >= LEAST_ENTRIES and bool(self.expected.isfinite().all())
        varied = usual and _varies(self.expected) and self.actual.numel() > 0 and _varies(self.actual)
        return varied and not self.is_right()


def _varies(tensor: Tensor) -> bool:
    value = tensor.to(torch.float64)
    return bool((value - value.reshape(-1)[0]).abs().max() > VARIES * value.abs().max())


def samples(case: Case, observed: Observed, expectation: Expectation, folder: Folder) -> list[Sample] | None:
    """Return every floating-point tensor of an answer; None if anything else is wrong, or the digits are few."""
    found: list[Sample] = []
    truth, native, actual = expectation.truth.parts(case), expectation.native.parts(case), observed.parts(case)
    for key, value in truth.items():
        if isinstance(key, str):
            if key not in actual or compare(value, native[key], actual[key], Rules(lambda path: None, {})) is not None:
                return None
            continue
        mine, wanted, given = dict(leaves(actual[key])), dict(leaves(value)), dict(leaves(native[key]))
        if mine.keys() != wanted.keys():
            return None
        sizes = _sizes(case, key, folder)
        for part, expected in wanted.items():
            values = (expected, given.get(part), mine[part])
            sample = _sample(case, key, part, values, expectation, folder, sizes)
            if sample is not None:
                found.append(sample)
            elif not _equal(expected, mine[part]):
                return None
    return found


def _sample(
    case: Case,
    key: int,
    part: Path,
    values: tuple[Any, Any, Any],
    expectation: Expectation,
    folder: Folder,
    sizes: Mapping[str, int],
) -> Sample | None:
    """Return one part of a result as a sample, None unless it is a tensor of the expected wide dtype."""
    expected, native, actual = values
    if not all(isinstance(value, Tensor) for value in values):
        return None
    if actual.dtype not in WIDE or actual.dtype != native.dtype:
        return None
    entry = str(case.steps[key].get("name", ""))
    place = "return" + "".join(f"[{name!r}]" for name in part)
    axes = folder.axes(entry, place, expected.dim()) or [""] * expected.dim()
    slack = expectation.slack.get((key, *part))
    return Sample(expected.detach().to(torch.float64), actual.detach(), slack, entry, part, axes, sizes, case, key)


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, Tensor) and isinstance(actual, Tensor):
        forms = [(value.shape, value.dtype, value.device, value.layout) for value in (expected, actual)]
        return forms[0] == forms[1] and not expected.is_floating_point() and torch.equal(expected, actual)
    return type(expected) is type(actual) and bool(expected == actual)


def _sizes(case: Case, step: int, folder: Folder) -> dict[str, int]:
    """Return the sizes of a call by the names of their axes; a name with two sizes is left out."""
    found: dict[str, set[int]] = {}
    entry = str(case.steps[step].get("name", ""))
    for name, tree in named_arguments(folder.reference, case.steps[step]):
        if tree[0] == "t":
            shape = case.inputs[tree[1]].value.shape
            for axis, size in zip(folder.axes(entry, name, len(shape)), shape, strict=False):
                if axis.isidentifier():
                    found.setdefault(axis, set()).add(size)
    return {axis: numbers.pop() for axis, numbers in found.items() if len(numbers) == 1}


def wrong_parts(found: Sequence[Sample]) -> list[Sample]:
    """Return the samples of those parts of a result that are wrong anywhere."""
    wrong = {(sample.entry, sample.part) for sample in found if not sample.is_right()}
    return [sample for sample in found if (sample.entry, sample.part) in wrong]


def subject(wrong: Sequence[Sample], found: Sequence[Sample]) -> Localised:
    """Return the subject of a message: the result, or the one part of it that is wrong."""
    parts = {sample.part for sample in wrong}
    if len(parts) > 1 or parts == {sample.part for sample in found}:
        return say("the-result")
    return say("part-of-the-result", part="".join(f"[{name!r}]" for name in next(iter(parts))))


def axis_name(found: Sequence[Sample], axis: int) -> str:
    """Return the name of an axis (counted from the last) in all samples that have it, else its number."""
    names = {sample.axes[axis] for sample in found if sample.expected.dim() >= -axis}
    return names.pop() if len(names) == 1 and "" not in names else str(axis)


# Patterns


def pattern_of(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    """Return the first pattern that all samples prove: its name, and a sentence about `what`."""
    for pattern in (_scaled, _shifted, _transposed, _off_by_one, _one_place):
        found = pattern(wrong, what)
        if found is not None:
            return found
    return None


def enough(telling: Sequence[Sample]) -> bool:
    """Return True if these samples are enough for a proof."""
    return len(telling) >= LEAST_TELLING and len({tuple(sample.expected.shape) for sample in telling}) > 1


def _scaled(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    telling = [s for s in wrong if s.is_telling() and s.same_shape()]
    if not enough(telling):
        return None
    # The factor that fits best, by least squares.
    ratios = [(s.actual.to(torch.float64) * s.expected).sum() / (s.expected * s.expected).sum() for s in telling]
    measured = [(float(ratio), s.sizes) for ratio, s in zip(ratios, telling, strict=True)]
    if all(near(ratio, measured[0][0]) for ratio, _ in measured):
        name, factor = named_constant(measured[0][0])
        if factor == 0 or not all(_is_times(sample, factor) for sample in wrong):
            return None
        if factor == -1:
            return "sign-flipped", say("sign-flipped", what=what)
        return "scaled", say("scaled", what=what, factor=name)
    found = []
    for name, axis, function in constants_of_a_size(measured):
        factors = [function(sample.sizes[axis]) if axis in sample.sizes else math.nan for sample in wrong]
        if all(_is_times(sample, factor) for sample, factor in zip(wrong, factors, strict=True)):
            found.append(name)
    return ("scaled", say("scaled", what=what, factor=found[0])) if len(found) == 1 else None


def _is_times(sample: Sample, factor: float) -> bool:
    return sample.fits(sample.expected * factor, None if sample.slack is None else sample.slack * abs(factor))


def _shifted(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    telling = [s for s in wrong if s.is_telling() and s.same_shape()]
    if not enough(telling):
        return None
    amounts = [float((s.actual.to(torch.float64) - s.expected).mean()) for s in telling]
    name, amount = named_constant(sum(amounts) / len(amounts))
    if amount == 0 or not all(sample.fits(sample.expected + amount, sample.slack) for sample in wrong):
        return None
    return "shifted", say("too-large-by" if amount > 0 else "too-small-by", what=what, amount=name.removeprefix("−"))


def _transposed(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    for last, first in combinations(range(-1, -MOST_DIMENSIONS - 1, -1), 2):
        if not all(_fits_transposed(sample, first, last) for sample in wrong):
            continue
        deep = [s for s in wrong if s.expected.dim() >= -first and s.is_telling()]
        telling = [s for s in deep if 1 not in (s.expected.shape[first], s.expected.shape[last])]
        if enough(telling):
            names = [axis_name(telling, axis) for axis in (first, last)]
            return "transposed", say("transposed", what=what, first=names[0], second=names[1])
    return None


def _fits_transposed(sample: Sample, first: int, last: int) -> bool:
    if sample.expected.dim() < -first:
        return sample.is_right()
    slack = sample.slack
    if slack is not None and slack.dim():
        slack = slack.transpose(first, last)
    return sample.fits(sample.expected.transpose(first, last), slack)


def _off_by_one(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    for axis in range(-1, -MOST_DIMENSIONS - 1, -1):
        for key, late in (("one-late", True), ("one-early", False)):
            if not all(_fits_moved(sample, axis, late) for sample in wrong):
                continue
            telling = [s for s in wrong if s.expected.dim() >= -axis and s.expected.shape[axis] >= 3 and s.is_telling()]
            telling = [s for s in telling if not _fits_moved(s, axis, not late)]
            # Where neighbours along the axis are equal, an off-by-one answer is right.
            apart = [s.expected.diff(dim=axis).abs().max() for s in telling]
            telling = [s for s, by in zip(telling, apart, strict=True) if bool(by > VARIES * s.expected.abs().max())]
            if enough(telling):
                return "off-by-one", say(key, what=what, axis=axis_name(telling, axis))
    return None


def _fits_moved(sample: Sample, axis: int, late: bool) -> bool:
    """Return True if each position has the value of its neighbour; the position without one may have any value."""
    if sample.expected.dim() < -axis or not sample.same_shape():
        return sample.is_right()
    rest = max(0, sample.expected.shape[axis] - 1)
    first = sample.expected.shape[axis] - rest
    to, from_ = (first, 0) if late else (0, first)
    candidate = sample.actual.to(torch.float64).clone()
    candidate.narrow(axis, to, rest).copy_(sample.expected.narrow(axis, from_, rest))
    slack = sample.slack
    if slack is not None and slack.numel():
        slack = slack.amax()
    return sample.fits(candidate, slack)


def _one_place(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    """Look for one head, one item of the batch, the first or the last position that alone is wrong."""
    telling = [s for s in wrong if s.same_shape() and s.expected.numel() >= LEAST_ENTRIES and not s.is_right()]
    if len(telling) < LEAST_AT_ONE_PLACE or any(not s.same_shape() for s in wrong):
        return None
    differing = [~s.matching(s.expected, s.slack) for s in wrong]
    places = []
    for axis in range(-MOST_DIMENSIONS, 0):
        sizes = {s.expected.shape[axis] for s in telling if s.expected.dim() >= -axis}
        if len(sizes) < 2 or max(sizes) < 3:
            continue
        indices = (k for k in (0, 1, 2, 3, -1, -2) if all(_only_at(mask, axis, k) for mask in differing))
        if (index := next(indices, None)) is not None:
            places.append(f"{axis_name(wrong, axis)} = {str(index).replace('-', '−')}")
    return ("one-place-wrong", say("one-place-wrong", what=what, place=", ".join(places))) if places else None


def _only_at(mask: Tensor, axis: int, index: int) -> bool:
    """Return True if entries differ at that index of the axis only; without such an index, if no entry differs."""
    if mask.dim() < -axis or not -mask.shape[axis] <= index < mask.shape[axis]:
        return not bool(mask.any())
    there = mask.select(axis, index)
    return bool(there.any()) and int(mask.sum()) == int(there.sum())


# Constants by which answers are off

_KNOWN: dict[str, float] = {
    "√2": math.sqrt(2),
    "1/√2": 1 / math.sqrt(2),
    "log 2": math.log(2),
    "1/log 2": 1 / math.log(2),
    "log 10": math.log(10),
    "1/log 10": 1 / math.log(10),
    "π": math.pi,
    "2π": 2 * math.pi,
    "1/π": 1 / math.pi,
    "1/(2π)": 1 / (2 * math.pi),
    "e": math.e,
    "1/e": 1 / math.e,
}
_OF_SIZE: dict[str, Callable[[int], float]] = {
    "√{n}": math.sqrt,
    "1/√{n}": lambda n: 1 / math.sqrt(n),
    "{n}": float,
    "1/{n}": lambda n: 1 / n,
    "{n}²": lambda n: float(n * n),
    "1/{n}²": lambda n: 1 / n**2,
    "{n}/({n} − 1)": lambda n: n / (n - 1) if n > 1 else math.nan,
    "({n} − 1)/{n}": lambda n: (n - 1) / n,
    "√({n}/({n} − 1))": lambda n: math.sqrt(n / (n - 1)) if n > 1 else math.nan,
    "√(({n} − 1)/{n})": lambda n: math.sqrt((n - 1) / n),
}
_LARGEST_DENOMINATOR = 16


def near(first: float, second: float) -> bool:
    """Return True if two measurements may be of one constant."""
    return math.isclose(first, second, rel_tol=NEAR)


def named_constant(value: float) -> tuple[str, float]:
    """Return the name of a constant and its exact value; without a name, its first digits and the value itself."""
    for sign, size in (("", value), ("−", -value)):
        if near(size, round(size)) and round(size) != 0:
            return f"{sign}{round(size)}", float(round(value))
        for below in range(2, _LARGEST_DENOMINATOR + 1):
            if near(size, 1 / below):
                return f"{sign}1/{below}", value / size / below
        for name, known in _KNOWN.items():
            if near(size, known):
                return sign + name, value / size * known
    return f"{value:.5g}".replace("-", "−"), value


def constants_of_a_size(
    measured: Sequence[tuple[float, Mapping[str, int]]],
) -> list[tuple[str, str, Callable[[int], float]]]:
    """Return each size-derived constant that explains all measurements: its name, its axis, and its function of a size.

    A measurement is a value with the sizes of its call.
    """
    common = set.intersection(*(set(sizes) for _, sizes in measured))
    return [
        (text.format(n=axis), axis, function)
        for axis in sorted(common)
        for text, function in _OF_SIZE.items()
        if all(near(value, function(sizes[axis])) for value, sizes in measured)
    ]


# Lost digits


def rounding_of(wrong: Sequence[Sample], what: Localised, folder: Folder) -> NamedPattern | None:
    """Return the dtype whose digits all answers have, or to which the inputs must have been rounded."""
    telling = [sample for sample in wrong if sample.is_telling()]
    if not enough(telling):
        return None
    for dtype in NARROWER:
        if not all(torch.finfo(dtype).eps > torch.finfo(sample.actual.dtype).eps for sample in wrong):
            continue
        name = str(dtype).removeprefix("torch.")
        if all(_has_digits_of(sample, dtype) for sample in wrong):
            return f"rounded-to-{name}", say("digits-of", what=what, dtype=name)
        if _right_for_rounded_inputs(wrong, dtype, folder):
            return f"inputs-rounded-to-{name}", say("inputs-rounded", what=what, dtype=name)
    return None


def _has_digits_of(sample: Sample, dtype: torch.dtype) -> bool:
    """Return True if every entry is a number of that dtype, and right within its rounding."""
    expected, actual = sample.expected, sample.actual
    if not sample.same_shape() or not torch.equal(actual.to(dtype).to(actual.dtype), actual):
        return False
    size = expected.abs()
    reach = size.amax(-1, keepdim=True) if size.dim() and size.numel() else size
    allowed = EPSILONS[dtype] * torch.finfo(dtype).eps * (size + reach) + torch.finfo(dtype).tiny
    return bool(((actual.to(torch.float64) - expected).abs() <= allowed).all())


def _right_for_rounded_inputs(wrong: Sequence[Sample], dtype: torch.dtype, folder: Folder) -> bool:
    rounded: dict[int, Observed] = {}
    for sample in wrong:
        if id(sample.case) not in rounded:
            rounded[id(sample.case)] = _of_rounded(sample.case, dtype, folder)
        value = rounded[id(sample.case)].outcomes[sample.key]
        for name in sample.part:
            value = value[name]
        if not isinstance(value, Tensor) or not sample.fits(value.detach().to(torch.float64), sample.slack):
            return False
    return True


@alone
def _of_rounded(case: Case, dtype: torch.dtype, folder: Folder) -> Observed:
    """Run the reference in float64 on inputs that were rounded to a dtype."""

    def cast(item: Input) -> Tensor:
        return item.value.detach().to(dtype).to(torch.float64) if item.follow else exact(item)

    return run_reference(folder.reference, case, cast)
