"""What an examined case shows to be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attncli.domain.text import Localised
from attncli.judge.answers.submission import Failure
from attncli.judge.cases.case import Case
from attncli.judge.truth.compare import Mismatch
from attncli.judge.truth.reference import Observed


@dataclass(slots=True)
class CaseFinding:
    """A case and the fault that it shows: `got` is None when the program gave no result.

    `of_property`: found by a property of the case, which speaks of its own values and of no simpler ones.
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

    @staticmethod
    def of_failure(case: Case, failure: Failure, truth: Observed | None = None) -> CaseFinding:
        return CaseFinding(case, failure.reason, failure.message, truth, None, None, failure.frames, failure.fatal)

    @staticmethod
    def of_mismatch(case: Case, mismatch: Mismatch, truth: Observed, got: Observed) -> CaseFinding:
        return CaseFinding(case, mismatch.reason, mismatch.message, truth, got, mismatch)


Examine = Callable[[Case], CaseFinding | None]
