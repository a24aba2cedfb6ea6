"""What the answers to several probes show, tensor by tensor: each result beside the one that was due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attncli.domain.text import Localised
from attncli.judge.case import Case
from attncli.judge.compare import Path, Rules, agreeing, compare, leaves
from attncli.judge.messages import say
from attncli.judge.reference import Observed
from attncli.judge.truth.demands import Demands, named_arguments
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.tolerance import VARIES

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
