"""What an examined case shows to be wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from attncli.domain.text import Localised
from attncli.judge.case import Case
from attncli.judge.compare import Mismatch
from attncli.judge.reference import Observed
from attncli.judge.submission import Failure


@dataclass(slots=True)
class CaseFinding:
    """A case and the fault that it shows: `got` is None when the program gave no result.

    `of_property`: found by a property of the case, which speaks of its own values and of no simpler ones.
    `digits_only`: a float64 result is right to the digits of float32.
    """

    case: Case
    reason: str
    message: Localised
    truth: Observed | None = None
    got: Observed | None = None
    mismatch: Mismatch | None = None
    frames: tuple[dict[str, Any], ...] = field(default=())
    fatal: bool = False
    of_property: bool = False
    digits_only: bool = False

    @property
    def of_production(self) -> bool:
        """Whether it is right at the whiteboard: a result that shares memory, or with float32's digits in float64."""
        return self.reason == "aliased" or self.digits_only

    @staticmethod
    def of_failure(case: Case, failure: Failure, truth: Observed | None = None) -> CaseFinding:
        return CaseFinding(case, failure.reason, failure.message, truth, None, None, failure.frames, failure.fatal)

    @staticmethod
    def of_mismatch(case: Case, mismatch: Mismatch, truth: Observed, got: Observed) -> CaseFinding:
        digits_only = mismatch.digits_only
        return CaseFinding(case, mismatch.reason, mismatch.message, truth, got, mismatch, digits_only=digits_only)


def gravest_finding(found: Iterable[CaseFinding | None]) -> CaseFinding | None:
    """The first finding that the first rung asks about; failing that, the first."""
    light: CaseFinding | None = None
    for finding in found:
        if finding is not None and not finding.of_production:
            return finding
        light = light or finding
    return light


Examine = Callable[[Case], CaseFinding | None]
