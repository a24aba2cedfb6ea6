"""Complexity, judged by growth: how a measure rises over three sizes, against the reference or a stated bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.judge.case import Recorder
from attncli.judge.exam import Exam, Sized
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.submission import Failure, Submission

# Bytes of a float32 element, and of a byte: measures that are worth projecting to a real context length.
BYTES = {"largest": 4, "peak": 1}
REAL_SIZE = 65_536

Measured = dict[Sized, Mapping[str, int]]

UNITS = {
    "flops": "operations",
    "calls": "calls of torch",
    "largest": "elements in the largest tensor",
    "handed": "elements in the largest tensor that a call returned",
    "peak": "bytes at the peak",
    "returned": "bytes kept alive by the result",
}


@dataclass(frozen=True, slots=True)
class Contract:
    """One promise about growth: increments of `measure` stay within `at_most` times those of the bound."""

    check: str
    measure: str
    record: Callable[[Recorder, int], Any]
    sizes: Sequence[int]
    at_most: float
    bound: Callable[[int], float] | None
    says: Mapping[str, str]


def contracts(folder: Folder, check: str) -> list[Contract]:
    return [
        Contract(c["check"], c["measure"], c["case"], c["sizes"], float(c["growth_at_most"]), c.get("bound"), c["says"])
        for c in getattr(folder.inputs, "CONTRACTS", ())
        if c["check"] == check
    ]


def examine_growth(
    exam: Exam, submission: Submission, contract: Contract, measured: Measured
) -> tuple[Finding | None, str]:
    """The finding, if the promise is broken, and the figures in words. `measured` keeps what was run, for the next."""
    mine: list[float] = []
    due: list[float] = []
    sized = [exam.sized(contract.record, size, contract.measure) for size in contract.sizes]
    for size, asked in zip(contract.sizes, sized, strict=True):
        if asked not in measured:
            got = submission.run(asked.request)
            if isinstance(got, Failure):
                return Finding.of_failure(asked.case, got), ""
            measured[asked] = got.costs[-1]
        mine.append(float(measured[asked][contract.measure]))
        due.append(float(contract.bound(size) if contract.bound is not None else asked.due[contract.measure]))
    figures = _figures(contract, mine, due)
    if _holds(contract, mine, due):
        return None, figures
    return Finding(sized[-1].case, "growth", f"{contract.says['en']}: {figures}"), figures


def _holds(contract: Contract, mine: Sequence[float], due: Sequence[float]) -> bool:
    steps = range(1, len(mine))
    return all(mine[k] - mine[k - 1] <= contract.at_most * max(due[k] - due[k - 1], 1.0) for k in steps)


def _figures(contract: Contract, mine: Sequence[float], due: Sequence[float]) -> str:
    sizes = " → ".join(str(size) for size in contract.sizes)
    numbers = " → ".join(f"{value:,.0f}" for value in mine)
    allowed = " → ".join(f"{value:,.0f}" for value in due)
    figures = f"{numbers} {UNITS[contract.measure]} at sizes {sizes}; a sound one takes {allowed}"
    return figures + _projection(contract, mine)


def _projection(contract: Contract, mine: Sequence[float]) -> str:
    """What the measured growth comes to at a real context length, for measures of memory."""
    if contract.measure not in BYTES or len(mine) < 3:
        return ""
    gib = BYTES[contract.measure] * extrapolate(contract.sizes[-3:], mine[-3:], REAL_SIZE) / 2**30
    return f"; at size {REAL_SIZE:,} it would hold {gib:,.1f} GiB" if gib >= 1 else ""


def extrapolate(sizes: Sequence[int], values: Sequence[float], size: int) -> float:
    """The quadratic through three points, at `size`: memory grows with the square of the length at most."""
    (a, b, c), (x, y, z) = sizes, values
    first, second = (y - x) / (b - a), (z - y) / (c - b)
    bend = (second - first) / (c - a)
    return x + first * (size - a) + bend * (size - a) * (size - b)
