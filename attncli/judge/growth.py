"""Judge complexity by growth: the rise of a measure over three sizes, against the reference or a stated bound.

Clocks play no role. Costs are measured in float32, and at the first two sizes in bfloat16 as well, where code may
branch differently; only right answers are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from attncli.i18n import Localised, _
from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam, Sized
from attncli.judge.make import Recorder
from attncli.judge.messages import say
from attncli.judge.questions import guarded
from attncli.judge.submission import FailedCase, Failure, Submission, amount_of

# The bytes of one unit, for measures of memory.
BYTES = {"largest": 4, "peak": 1, "returned": 1}
# The number of sizes that are measured in a profile; None for all.
_SIZES: dict[str, int | None] = {"ordinary": None, "bf16": 2}
# The time limit of a program at a real size, on tensors without values.
PROJECTION_SECONDS = 3.0

Measured = dict[Sized, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One promise of CONTRACTS: increments of `measure` stay within `growth_at_most` times those of the bound.

    The bound is `bound(size)`, or the measure of the case that `beside` records, run by the same solution, or that of
    the reference. `real` is a size from practice, with its name, for which memory is shown too if the promise is
    broken. `from_nothing`: the first size counts as an increment as well, where the statement names a number.
    """

    check: str
    measure: str
    case: Callable[[Recorder, int], Any]
    sizes: Sequence[int]
    growth_at_most: float
    says: Mapping[str, str]
    bound: Callable[[int], float] | None = None
    real: Mapping[str, Any] | None = None
    from_nothing: bool = False
    beside: Callable[[Recorder, int], Any] | None = None


@dataclass(frozen=True, slots=True)
class MeasuredGrowth:
    """The figures of one promise by size: the measure (`got`) and its bound (`due`)."""

    contract: Contract
    got: Sequence[float]
    due: Sequence[float]
    sizes: Sequence[int]
    dtype: str = "float32"
    real_bytes: float | None = None

    @property
    def holds(self) -> bool:
        """True if every increment is within the bound's."""
        start = [0.0] if self.contract.from_nothing else []
        actual, bound = pairwise([*start, *self.got]), pairwise([*start, *self.due])
        at_most = self.contract.growth_at_most
        return all(b - a <= at_most * max(d - c, 1.0) for (a, b), (c, d) in zip(actual, bound, strict=True))

    def document(self) -> dict[str, Any]:
        """Return the form of the figures in the report."""
        contract = self.contract
        document: dict[str, Any] = {
            "holds": self.holds,
            "says": dict(contract.says),
            "measure": contract.measure,
            "sizes": list(self.sizes),
            "dtype": self.dtype,
            "got": list(self.got),
            "due": list(self.due),
        }
        if contract.beside is not None:
            document["beside"] = True
        if contract.real is not None and self.real_bytes is not None:
            document["real"] = {**contract.real, "bytes": self.real_bytes}
        return document


def contracts(folder: Folder, check: str) -> list[Contract]:
    """Return the promises of a challenge that a check ("work" or "memory") judges."""
    return [Contract(**fact) for fact in folder.facts.contracts if fact["check"] == check]


def examine_growth(
    exam: Exam, submission: Submission, contract: Contract, measured: Measured, profile: str
) -> MeasuredGrowth | FailedCase:
    """Measure a promise in a profile; return the figures, or the failed case that prevents it.

    `measured` caches the costs by question for the next promise.
    """
    actual: list[float] = []
    bounds: list[float] = []
    sizes = contract.sizes[: _SIZES[profile]]
    for size in sizes:
        cases = [contract.case] if contract.beside is None else [contract.case, contract.beside]
        asked = [exam.sized(record, size, contract.measure, profile) for record in cases]
        for case in asked:
            if case not in measured:
                answer = submission.run(case.request)
                if isinstance(answer, Failure):
                    return FailedCase.of_failure(case.case, answer)
                if (fault := guarded(submission, case.case, partial(case.finding, answer))) is not None:
                    return replace(fault, message=say("wrong-at-size", size=size, fault=fault.message))
                measured[case] = answer.costs[-1]
        actual.append(float(measured[asked[0]][contract.measure]))
        if contract.bound is not None:
            bounds.append(float(contract.bound(size)))
        else:
            costs = asked[0].reference_costs if contract.beside is None else measured[asked[1]]
            bounds.append(float(costs[contract.measure]))
    return MeasuredGrowth(contract, actual, bounds, sizes, str(asked[0].case.profile.dtype).removeprefix("torch."))


def projected(exam: Exam, submission: Submission, growth: MeasuredGrowth) -> MeasuredGrowth:
    """Return the growth with the bytes at the real size, if there is one and it was measured in float32.

    They come from a run on tensors without values; where code needs values, they are extrapolated.
    """
    contract = growth.contract
    if contract.real is None or contract.measure not in BYTES or growth.dtype != "float32":
        return growth
    size = int(contract.real["size"])
    asked = exam.sized(contract.case, size, contract.measure, "meta")
    answer = submission.run(asked.request, PROJECTION_SECONDS)
    if isinstance(answer, Failure):
        if answer.fatal:
            submission.renew()
        count = extrapolate(growth.sizes[-3:], growth.got[-3:], size)
    else:
        count = float(answer.costs[-1][contract.measure])
    return replace(growth, real_bytes=BYTES[contract.measure] * count)


def extrapolate(sizes: Sequence[int], values: Sequence[float], size: int) -> float:
    """Evaluate the quadratic through three points at `size`: memory grows with the square of the length at most."""
    (a, b, c), (x, y, z) = sizes, values
    first, second = (y - x) / (b - a), (z - y) / (c - b)
    bend = (second - first) / (c - a)
    return x + first * (size - a) + bend * (size - a) * (size - b)


# The figures in words

MEASURES: dict[str, Localised] = {
    "flops": _("operations"),
    "calls": _("torch calls"),
    "largest": _("elements in the largest tensor"),
    "handed": _("elements in the largest tensor that a call returned"),
    "repeated": _("repeated elements within one tensor"),
    "peak": _("bytes at the peak"),
    "moved": _("bytes that kernels load and store"),
    "returned": _("bytes kept alive by the result"),
}
_FIGURES = _("{got} {measure} at sizes {sizes}; expected {due}")
_BESIDE = _("{got} {measure} at sizes {sizes}; your own code takes {due} for the full computation")
_IN = _("in {dtype}, {figures}")
_REAL = _("; at {size} that is {amount}")
_BROKEN = _("{says}: {figures}")


def growth_told(promises: Sequence[Mapping[str, Any]]) -> Localised:
    """Render the figures of each promise, after the promise itself if it is broken. Takes documents of growth."""
    return _("; ").join(map(_rendered, promises))


def _rendered(growth: Mapping[str, Any]) -> Localised:
    figures = (_BESIDE if growth.get("beside") else _FIGURES).format(
        got=_numbers(growth["got"]),
        due=_numbers(growth["due"]),
        sizes=" → ".join(str(size) for size in growth["sizes"]),
        measure=MEASURES[growth["measure"]],
    )
    if growth.get("dtype", "float32") != "float32":
        figures = _IN.format(dtype=growth["dtype"], figures=figures)
    if real := growth.get("real"):
        figures += _REAL.format(size=Localised.of(real), amount=amount_of(real["bytes"]))
    return figures if growth["holds"] else _BROKEN.format(says=Localised.of(growth["says"]), figures=figures)


def _numbers(values: Sequence[float]) -> str:
    return " → ".join(f"{value:,.0f}" for value in values)
