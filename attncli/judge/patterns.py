"""What wrong answers have in common, where no known mistake gives them: transposed, off by one, scaled, rounded.

A pattern is told when it explains every answer at the parts of the result that are wrong, the shrunk case and further
ones, and when enough of them could have refuted it: tensors of several entries that are not all the same, of different
sizes. What fits one probe alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import torch
from torch import Tensor

from attncli.domain.text import Localised
from attncli.judge.messages import say
from attncli.judge.naming.known_constants import named_constant, near, of_a_size
from attncli.judge.naming.samples import Sample, axis_name
from attncli.judge.truth.tolerance import VARIES

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
