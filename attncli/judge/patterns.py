"""What wrong answers have in common, where no known mistake gives them: transposed, off by one, scaled, rounded.

A pattern is told when it explains every answer at the parts of the result that are wrong, the shrunk case and further
ones, and when enough of them could have refuted it: tensors of several entries that are not all the same, of different
sizes. What fits one probe alone proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from attncli.domain.grade_report import Diagnosis
from attncli.domain.text import Localised
from attncli.judge.case import Case, Input
from attncli.judge.challenge import Demands, named_arguments
from attncli.judge.compare import EPSILONS, NEAR, VARIES, Path, Rules, agreeing, compare, leaves
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.reference import Expectation, Observed, exact, run_reference

# So many tensors, of two sizes at least, must have been able to refute a pattern; more of them where one place is
# wrong, which it may be by chance.
LEAST_TELLING = 2
LEAST_AT_ONE_PLACE = 4
MOST_DIMENSIONS = 5

NamedPattern = tuple[str, Localised]


def pattern_of(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    """The first pattern that all samples prove, as its word and a sentence about `what`."""
    for pattern in (_scaled, _shifted, _transposed, _off_by_one, _one_place):
        found = pattern(wrong, what)
        if found is not None:
            return found
    return None


def enough(telling: Sequence[Sample]) -> bool:
    """Whether so many of these are a proof."""
    return len(telling) >= LEAST_TELLING and len({tuple(sample.due.shape) for sample in telling}) > 1


def _scaled(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    telling = [s for s in wrong if s.is_telling() and s.got.shape == s.due.shape]
    if not enough(telling):
        return None
    measured = [(_ratio(s), s.sizes) for s in telling]
    if all(near(ratio, measured[0][0]) for ratio, _ in measured):
        name, factor = named_constant(measured[0][0])
        if factor == 0 or not all(_is_times(sample, factor) for sample in wrong):
            return None
        return ("sign-flipped", say("sign-flipped", what=what)) if factor == -1 else _said_scaled(name, what)
    found = [name for name, of in of_a_size(measured) if all(_is_times(s, _of(s, of)) for s in wrong)]
    return _said_scaled(found[0], what) if len(found) == 1 else None


def _said_scaled(name: str, what: Localised) -> NamedPattern:
    return "scaled", say("scaled", what=what, factor=name)


def _of(sample: Sample, of: Callable[..., float]) -> float:
    try:
        return of(sample.sizes)
    except LookupError:
        return float("nan")


def _ratio(sample: Sample) -> float:
    """The factor that fits best, in the sense of least squares."""
    return float((sample.got.to(torch.float64) * sample.due).sum() / (sample.due * sample.due).sum())


def _is_times(sample: Sample, factor: float) -> bool:
    return sample.fits(sample.due * factor, _moved(sample.slack, lambda slack: slack * abs(factor)))


def _moved(slack: Tensor | None, move: Callable[[Tensor], Tensor]) -> Tensor | None:
    return None if slack is None else move(slack)


def _shifted(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    telling = [s for s in wrong if s.is_telling() and s.got.shape == s.due.shape]
    if not enough(telling):
        return None
    amounts = [float((s.got.to(torch.float64) - s.due).mean()) for s in telling]
    name, amount = named_constant(sum(amounts) / len(amounts))
    if amount == 0 or not all(sample.fits(sample.due + amount, sample.slack) for sample in wrong):
        return None
    return "shifted", say("too-large-by" if amount > 0 else "too-small-by", what=what, amount=name.removeprefix("−"))


def _transposed(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    for last, first in combinations(range(-1, -MOST_DIMENSIONS - 1, -1), 2):
        if not all(_fits_transposed(sample, first, last) for sample in wrong):
            continue
        telling = [s for s in wrong if s.due.dim() >= -first and s.is_telling() and 1 not in _sizes_of(s, first, last)]
        if enough(telling):
            names = [axis_name(telling, axis) for axis in (first, last)]
            return "transposed", say("transposed", what=what, first=names[0], second=names[1])
    return None


def _sizes_of(sample: Sample, *axes: int) -> list[int]:
    return [sample.due.shape[axis] for axis in axes]


def _fits_transposed(sample: Sample, first: int, last: int) -> bool:
    if sample.due.dim() < -first:
        return sample.is_right()
    slack = _moved(sample.slack, lambda slack: slack.transpose(first, last) if slack.dim() else slack)
    return sample.fits(sample.due.transpose(first, last), slack)


def _off_by_one(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    for axis in range(-1, -MOST_DIMENSIONS - 1, -1):
        for key, late in (("one-late", True), ("one-early", False)):
            if not all(_fits_moved(sample, axis, late) for sample in wrong):
                continue
            telling = [s for s in wrong if s.due.dim() >= -axis and s.due.shape[axis] >= 3 and s.is_telling()]
            telling = [s for s in telling if not _fits_moved(s, axis, not late) and _moves(s, axis)]
            if enough(telling):
                return "off-by-one", say(key, what=what, axis=axis_name(telling, axis))
    return None


def _fits_moved(sample: Sample, axis: int, late: bool) -> bool:
    """Whether each position holds what belongs to its neighbour; nothing is known of the one without."""
    if sample.due.dim() < -axis or sample.got.shape != sample.due.shape:
        return sample.is_right()
    rest = max(0, sample.due.shape[axis] - 1)
    there, from_ = (sample.due.shape[axis] - rest, 0) if late else (0, sample.due.shape[axis] - rest)
    candidate = sample.got.to(torch.float64).clone()
    candidate.narrow(axis, there, rest).copy_(sample.due.narrow(axis, from_, rest))
    slack = _moved(sample.slack, lambda slack: slack.amax() if slack.numel() else slack)
    return sample.fits(candidate, slack)


def _moves(sample: Sample, axis: int) -> bool:
    """Whether neighbours along the axis are told apart: else to be off by one is to be right."""
    rest = sample.due.shape[axis] - 1
    apart = sample.due.narrow(axis, 1, rest) - sample.due.narrow(axis, 0, rest)
    return bool(apart.abs().max() > VARIES * sample.due.abs().max())


def _one_place(wrong: Sequence[Sample], what: Localised) -> NamedPattern | None:
    """One head, one item of the batch, the first or the last position: there it is wrong, and nowhere else."""
    telling = [s for s in wrong if s.got.shape == s.due.shape and s.due.numel() >= 4 and not s.is_right()]
    if len(telling) < LEAST_AT_ONE_PLACE or any(s.got.shape != s.due.shape for s in wrong):
        return None
    differing = [~s.matching(s.due, s.slack) for s in wrong]
    places = list(_places(wrong, differing, telling))
    return ("one-place-wrong", say("one-place-wrong", what=what, place=", ".join(places))) if places else None


def _places(wrong: Sequence[Sample], differing: Sequence[Tensor], telling: Sequence[Sample]) -> Iterator[str]:
    for axis in range(-MOST_DIMENSIONS, 0):
        sizes = {s.due.shape[axis] for s in telling if s.due.dim() >= -axis}
        if len(sizes) < 2 or max(sizes) < 3:
            continue
        for index in (0, 1, 2, 3, -1, -2):
            if all(_only_at(mask, axis, index) for mask in differing):
                yield f"{axis_name(wrong, axis)} = {str(index).replace('-', '−')}"
                break


def _only_at(mask: Tensor, axis: int, index: int) -> bool:
    """Whether what differs is at that index of the axis alone, and something is where there is such an index."""
    if mask.dim() < -axis:
        return not bool(mask.any())
    size = mask.shape[axis]
    if not -size <= index < size:
        return not bool(mask.any())
    there = mask.select(axis, index)
    return bool(there.any()) and int(mask.sum()) == int(there.sum())


# The constants that answers are off by, named where it is known what they are: 1/√d, log 2, 0.731.

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
    """Whether two measurements may be of one constant."""
    return math.isclose(first, second, rel_tol=NEAR)


def named_constant(value: float) -> tuple[str, float]:
    """What a constant is called, and its exact value; one without a name is its first digits."""
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


def of_a_size(
    measured: Sequence[tuple[float, Mapping[str, int]]],
) -> list[tuple[str, Callable[[Mapping[str, int]], float]]]:
    """Every size-derived constant that explains all measurements: its name, and its value for other sizes."""
    common = set.intersection(*(set(sizes) for _, sizes in measured))
    found = []
    for name in sorted(common):
        for text, function in _OF_SIZE.items():
            if all(near(value, function(sizes[name])) for value, sizes in measured):
                found.append((text.format(n=name), _reading(name, function)))
    return found


def _reading(name: str, function: Callable[[int], float]) -> Callable[[Mapping[str, int]], float]:
    return lambda sizes: function(sizes[name])


# Answers with fewer digits than their dtype has: those of bfloat16 in float32, those of float32 in float64.

NARROWER = (torch.float32, torch.bfloat16, torch.float16)


def is_rounding(found: Diagnosis) -> bool:
    """Tell whether a diagnosis speaks of lost digits alone."""
    return "rounded-to-" in found.wrong


def rounding_of(wrong: Sequence[Sample], what: Localised, demands: Demands) -> NamedPattern | None:
    """The dtype whose digits all answers have, or to which the inputs must have been rounded to give them."""
    telling = [sample for sample in wrong if sample.is_telling()]
    if not enough(telling):
        return None
    for dtype in NARROWER:
        if not all(torch.finfo(dtype).eps > torch.finfo(sample.got.dtype).eps for sample in wrong):
            continue
        name = str(dtype).removeprefix("torch.")
        if all(_has_digits_of(sample, dtype) for sample in wrong):
            return f"rounded-to-{name}", say("digits-of", what=what, dtype=name)
        if _right_for_rounded_inputs(wrong, dtype, demands):
            return f"inputs-rounded-to-{name}", say("inputs-rounded", what=what, dtype=name)
    return None


def _has_digits_of(sample: Sample, dtype: torch.dtype) -> bool:
    """Whether it is what was due to within that dtype's rounding, and every entry is a number of that dtype."""
    if sample.got.shape != sample.due.shape or not torch.equal(sample.got.to(dtype).to(sample.got.dtype), sample.got):
        return False
    size = sample.due.abs()
    reach = size.amax(-1, keepdim=True) if size.dim() and size.numel() else size
    allowed = EPSILONS[dtype] * torch.finfo(dtype).eps * (size + reach) + torch.finfo(dtype).tiny
    return bool(((sample.got.to(torch.float64) - sample.due).abs() <= allowed).all())


def _right_for_rounded_inputs(wrong: Sequence[Sample], dtype: torch.dtype, demands: Demands) -> bool:
    rounded: dict[int, Observed] = {}
    for sample in wrong:
        if id(sample.case) not in rounded:
            rounded[id(sample.case)] = _of_rounded(sample.case, dtype, demands)
        value = rounded[id(sample.case)].outcomes[sample.key]
        for name in sample.part:
            value = value[name]
        if not isinstance(value, Tensor) or not sample.fits(value.detach().to(torch.float64), sample.slack):
            return False
    return True


@alone
def _of_rounded(case: Case, dtype: torch.dtype, demands: Demands) -> Observed:
    def cast(item: Input) -> Tensor:
        return item.value.detach().to(dtype).to(torch.float64) if item.follow else exact(item)

    return run_reference(demands.reference, case, cast)


# What the answers to several probes show, tensor by tensor: each result beside the one that was due.

# In 16 bits too much is within the tolerance to tell entries apart.
WIDE = (torch.float32, torch.float64)
# A tensor with fewer entries than that fits too many explanations to prove one.
LEAST_ENTRIES = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """One tensor of an answer, the one `due` in float64, and how far that may be missed.

    `part` leads to it inside the result, `axes` are the names of its dimensions, `sizes` those of the whole call.
    """

    due: Tensor
    got: Tensor
    slack: Tensor | None
    entry: str
    part: Path
    axes: Sequence[str]
    sizes: Mapping[str, int]
    case: Case = field(repr=False)
    key: int = 0

    def is_right(self) -> bool:
        return self.fits(self.due, self.slack)

    def fits(self, candidate: Tensor, slack: Tensor | None) -> bool:
        """Whether the answer is `candidate`, within the tolerance of what is due."""
        return candidate.shape == self.got.shape and bool(self.matching(candidate, slack).all())

    def matching(self, candidate: Tensor, slack: Tensor | None) -> Tensor:
        return agreeing(candidate, self.got, Rules(lambda path: slack, {}))

    def is_telling(self) -> bool:
        """Whether it can prove anything: several entries, not all the same, finite, and not what was due."""
        usual = self.due.numel() >= LEAST_ENTRIES and bool(self.due.isfinite().all())
        return usual and _varies(self.due) and self.got.numel() > 0 and _varies(self.got) and not self.is_right()


def _varies(tensor: Tensor) -> bool:
    value = tensor.to(torch.float64)
    return bool((value - value.reshape(-1)[0]).abs().max() > VARIES * value.abs().max())


def samples(case: Case, observed: Observed, due: Expectation, demands: Demands) -> list[Sample] | None:
    """Every floating tensor of an answer; None where anything else in it is wrong, or where the digits are few."""
    found: list[Sample] = []
    truth, native, mine = due.truth.parts(case), due.native.parts(case), observed.parts(case)
    for key, value in truth.items():
        if isinstance(key, str):
            if key not in mine or compare(value, native[key], mine[key], Rules(lambda path: None, {})) is not None:
                return None
            continue
        got, wanted, same = dict(leaves(mine[key])), dict(leaves(value)), dict(leaves(native[key]))
        if got.keys() != wanted.keys():
            return None
        sizes = _sizes(case, key, demands)
        for part, part_due in wanted.items():
            sample = _sample(case, key, part, (part_due, same.get(part), got[part]), due, demands, sizes)
            if sample is not None:
                found.append(sample)
            elif not _equal(part_due, got[part]):
                return None
    return found


def _sample(
    case: Case,
    key: int,
    part: Path,
    values: tuple[Any, Any, Any],
    due: Expectation,
    demands: Demands,
    sizes: Mapping[str, int],
) -> Sample | None:
    wanted, native, got = values
    if not all(isinstance(value, Tensor) for value in values) or got.dtype not in WIDE or got.dtype != native.dtype:
        return None
    entry = str(case.steps[key].get("name", ""))
    place = "return" + "".join(f"[{name!r}]" for name in part)
    axes = demands.axes(entry, place, wanted.dim()) or [""] * wanted.dim()
    slack = due.slack((key, *part))
    return Sample(wanted.detach().to(torch.float64), got.detach(), slack, entry, part, axes, sizes, case, key)


def _equal(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, Tensor) and isinstance(got, Tensor):
        alike = (wanted.shape, wanted.dtype, wanted.device, wanted.layout) == (
            got.shape,
            got.dtype,
            got.device,
            got.layout,
        )
        return alike and not wanted.is_floating_point() and torch.equal(wanted, got)
    return type(wanted) is type(got) and bool(wanted == got)


def _sizes(case: Case, step: int, demands: Demands) -> dict[str, int]:
    """The sizes of a call by the names of their axes; a name of two sizes says nothing."""
    found: dict[str, set[int]] = {}
    entry = str(case.steps[step].get("name", ""))
    for name, tree in named_arguments(demands.reference, case.steps[step]):
        if tree[0] == "t":
            shape = case.inputs[tree[1]].value.shape
            for axis, size in zip(demands.axes(entry, name, len(shape)), shape, strict=False):
                if axis.isidentifier():
                    found.setdefault(axis, set()).add(size)
    return {axis: numbers.pop() for axis, numbers in found.items() if len(numbers) == 1}


def wrong_parts(found: Sequence[Sample]) -> list[Sample]:
    """The samples of those parts of a result that are wrong anywhere."""
    wrong = {(sample.entry, sample.part) for sample in found if not sample.is_right()}
    return [sample for sample in found if (sample.entry, sample.part) in wrong]


def subject(wrong: Sequence[Sample], found: Sequence[Sample]) -> Localised:
    """What is spoken of: the result, or a part of it where others are right or of another kind."""
    parts = {sample.part for sample in wrong}
    if len(parts) > 1 or parts == {sample.part for sample in found}:
        return say("the-result")
    return say("part-of-the-result", part="".join(f"[{name!r}]" for name in next(iter(parts))))


def axis_name(found: Sequence[Sample], axis: int) -> str:
    """What the axis (counted from the last) is called in all samples that have it; its number where it has no name."""
    names = set(_names(found, axis))
    return names.pop() if len(names) == 1 and "" not in names else str(axis)


def _names(found: Sequence[Sample], axis: int) -> Iterator[str]:
    for sample in found:
        if sample.due.dim() >= -axis:
            yield sample.axes[axis]
