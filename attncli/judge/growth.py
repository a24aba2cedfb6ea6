"""Complexity, judged by growth: how a measure rises over three sizes, against the reference or a stated bound.

It is measured in float32, and between the first two sizes in bfloat16 as well, where code may take another way; only
what an answer costs that is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from attncli.domain.text import Localised
from attncli.domain.text import Localised as _T
from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam, Sized
from attncli.judge.guard import Unjudgeable
from attncli.judge.make import Recorder
from attncli.judge.messages import say
from attncli.judge.reference import Observed
from attncli.judge.submission import CaseFinding, Failure, Submission

# Bytes of what a measure counts, for measures of memory.
BYTES = {"largest": 4, "peak": 1, "returned": 1}
# The profiles that are measured, with how many of the sizes.
WIDTHS = {"ordinary": None, "bf16": 2}
# How long a program may take at a real size, on tensors without values.
PROJECTION_SECONDS = 3.0

Measured = dict[Sized, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Contract:
    """One promise about growth: increments of `measure` stay within `at_most` times those of the bound.

    `real` is a size out of practice, and what it is called: where the promise is broken, memory is told for it too.
    `from_nothing`: the first size counts as an increment as well, where the statement names a number. `beside` records
    another case whose measure, for the same solution, is the bound.
    """

    check: str
    measure: str
    record: Callable[[Recorder, int], Any]
    sizes: Sequence[int]
    at_most: float
    bound: Callable[[int], float] | None
    says: Mapping[str, str]
    real: Mapping[str, Any] | None
    from_nothing: bool
    beside: Callable[[Recorder, int], Any] | None


@dataclass(frozen=True, slots=True)
class MeasuredGrowth:
    """What was measured for one promise, and what was due."""

    contract: Contract
    got: Sequence[float]
    due: Sequence[float]
    sizes: Sequence[int]
    dtype: str = "float32"
    real_bytes: float | None = None

    @property
    def holds(self) -> bool:
        start = [0.0] if self.contract.from_nothing else []
        mine, theirs = pairwise([*start, *self.got]), pairwise([*start, *self.due])
        allowed = self.contract.at_most
        return all(b - a <= allowed * max(d - c, 1.0) for (a, b), (c, d) in zip(mine, theirs, strict=True))

    def document(self) -> dict[str, Any]:
        """As it stands in the report."""
        contract = self.contract
        said = {"says": dict(contract.says), "measure": contract.measure, "sizes": list(self.sizes)}
        shown = {"holds": self.holds, **said, "dtype": self.dtype, "got": list(self.got), "due": list(self.due)}
        if contract.beside is not None:
            shown["beside"] = True
        if contract.real is not None and self.real_bytes is not None:
            shown["real"] = {**contract.real, "bytes": self.real_bytes}
        return shown


def contracts(folder: Folder, check: str) -> list[Contract]:
    return [
        Contract(
            check=said["check"],
            measure=said["measure"],
            record=said["case"],
            sizes=said["sizes"],
            at_most=float(said["growth_at_most"]),
            bound=said.get("bound"),
            says=said["says"],
            real=said.get("real"),
            from_nothing=bool(said.get("from_nothing", False)),
            beside=said.get("beside"),
        )
        for said in folder.facts.contracts
        if said["check"] == check
    ]


def examine_growth(
    exam: Exam, submission: Submission, contract: Contract, measured: Measured, profile: str
) -> MeasuredGrowth | CaseFinding:
    """What was measured in the dtype of a profile, or why nothing could be.

    `measured` keeps what was run, for the next promise.
    """
    got: list[float] = []
    due: list[float] = []
    sizes = contract.sizes[: WIDTHS[profile]]
    for size in sizes:
        cases = [contract.record] if contract.beside is None else [contract.record, contract.beside]
        asked = [exam.sized(record, size, contract.measure, profile) for record in cases]
        for case in asked:
            if case not in measured:
                answer = submission.run(case.request)
                if isinstance(answer, Failure):
                    return CaseFinding.of_failure(case.case, answer)
                if (fault := _fault(submission, case, answer)) is not None:
                    return replace(fault, message=say("wrong-at-size", size=size, fault=fault.message))
                measured[case] = answer.costs[-1]
        got.append(float(measured[asked[0]][contract.measure]))
        due.append(_due(contract, size, asked, measured))
    return MeasuredGrowth(contract, got, due, sizes, str(asked[0].case.profile.dtype).removeprefix("torch."))


def _fault(submission: Submission, asked: Sized, answer: Observed) -> CaseFinding | None:
    try:
        return submission.guard.look(lambda: asked.finding(answer))
    except Unjudgeable as fault:
        return CaseFinding(asked.case, fault.reason, fault.message, fatal=fault.final)


def _due(contract: Contract, size: int, asked: Sequence[Sized], measured: Measured) -> float:
    if contract.bound is not None:
        return float(contract.bound(size))
    costs = asked[0].due if contract.beside is None else measured[asked[1]]
    return float(costs[contract.measure])


def projected(exam: Exam, submission: Submission, growth: MeasuredGrowth) -> MeasuredGrowth:
    """With the bytes at the real size: of a run on tensors without values; extrapolated where code looks at values.

    What was measured in 16 bits between two sizes is left as it is.
    """
    contract = growth.contract
    if contract.real is None or contract.measure not in BYTES or growth.dtype != "float32":
        return growth
    size = int(contract.real["size"])
    asked = exam.sized(contract.record, size, contract.measure, "meta")
    got = submission.run(asked.request, PROJECTION_SECONDS)
    if isinstance(got, Failure):
        if got.fatal:
            submission.renew()
        count = extrapolate(growth.sizes[-3:], growth.got[-3:], size)
    else:
        count = float(got.costs[-1][contract.measure])
    return replace(growth, real_bytes=BYTES[contract.measure] * count)


def extrapolate(sizes: Sequence[int], values: Sequence[float], size: int) -> float:
    """The quadratic through three points, at `size`: memory grows with the square of the length at most."""
    (a, b, c), (x, y, z) = sizes, values
    first, second = (y - x) / (b - a), (z - y) / (c - b)
    bend = (second - first) / (c - a)
    return x + first * (size - a) + bend * (size - a) * (size - b)


# What a measured growth says, in the learner's language.

MEASURES: dict[str, Localised] = {
    "flops": _T("operations", "运算次数"),
    "calls": _T("calls of torch", "torch 调用次数"),
    "largest": _T("elements in the largest tensor", "最大张量的元素数"),
    "handed": _T("elements in the largest tensor that a call returned", "单次调用返回的最大张量的元素数"),
    "repeated": _T("elements that repeat others of the same tensor", "同一张量里重复出现的元素数"),
    "peak": _T("bytes at the peak", "峰值字节数"),
    "moved": _T("bytes that kernels load and store", "kernel 读写的字节数"),
    "returned": _T("bytes kept alive by the result", "结果占住的字节数"),
}
_FIGURES = _T(
    "{got} {measure} at sizes {sizes}; a sound one takes {due}",
    "规模 {sizes} 时，{measure}为 {got}；合理的实现为 {due}",
)
_BESIDE = _T(
    "{got} {measure} at sizes {sizes}; your own code takes {due} for the whole",
    "规模 {sizes} 时，{measure}为 {got}；你自己的代码算全部时为 {due}",
)
_IN = _T("in {dtype}, {figures}", "{dtype} 下，{figures}")
_REAL = _T("; at {size} that is {amount}", "；{size}时为 {amount}")
_BROKEN = _T("{says}: {figures}", "{says}：{figures}")


def growth_told(promises: Sequence[Mapping[str, Any]]) -> Localised:
    """The figures of each promise, behind what is wrong where it is broken."""
    return _T("; ", "；").join(map(_told, promises))


def _told(growth: Mapping[str, Any]) -> Localised:
    figures = (_BESIDE if growth.get("beside") else _FIGURES).format(
        got=_numbers(growth["got"]),
        due=_numbers(growth["due"]),
        sizes=" → ".join(str(size) for size in growth["sizes"]),
        measure=MEASURES[growth["measure"]],
    )
    if growth.get("dtype", "float32") != "float32":
        figures = _IN.format(dtype=growth["dtype"], figures=figures)
    if real := growth.get("real"):
        figures += _REAL.format(size=Localised.of(real), amount=_amount(real["bytes"]))
    return figures if growth["holds"] else _BROKEN.format(says=Localised.of(growth["says"]), figures=figures)


def _numbers(values: Sequence[float]) -> str:
    return " → ".join(f"{value:,.0f}" for value in values)


def _amount(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"
