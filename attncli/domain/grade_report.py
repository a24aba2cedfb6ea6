"""What grading a submission finds: its checks, the smallest counterexample, the mistake that it looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from attncli.domain.axis_names import named
from attncli.domain.rungs import CaseRung, Rung
from attncli.domain.text import NOTHING, Localised

Verdict = Literal["accepted", "rejected", "error"]
Status = Literal["pass", "fail", "skipped", "info", "running"]
# Where kernels run that nothing has compiled: Triton's, on the CPU.
INTERPRETER: Final = "interpreter"


@dataclass(frozen=True, slots=True)
class ShownTensor:
    """The first `values` of a tensor, row by row; `truncated` if there are more, `axes` the names that are known."""

    shape: tuple[int, ...]
    dtype: str
    values: tuple[Any, ...] | None = None
    axes: tuple[str, ...] = ()
    truncated: bool = False
    device: str = ""

    @property
    def named_shape(self) -> str:
        return named(self.shape, self.axes)

    def at(self, index: Sequence[int]) -> Any:
        """The entry at an index; None where it is not shown."""
        if len(index) != len(self.shape):
            return None
        place = 0
        for size, step in zip(self.shape, index, strict=True):
            place = place * size + step
        return self.values[place] if self.values and place < len(self.values) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """In place of a value that is not told: None is a value."""


ABSENT: Final = Absent()
Value = ShownTensor | Absent | Mapping[str, Any] | list[Any] | str | float | bool | None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One of several calls, and what it was given."""

    name: str
    args: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """The learner's own line in an exception."""

    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest input that shows what is wrong. Of several `calls` it is number `call` that fails, from 1."""

    args: Mapping[str, Value] | None = None
    expected: Value = ABSENT
    got: Value = ABSENT
    first_wrong_index: tuple[int, ...] | None = None
    calls: tuple[ShownCall, ...] = ()
    call: int = 0
    profile: str = ""
    edge_case: str = ""
    edge_case_zh: str = ""
    frames: tuple[CodeLine, ...] = ()
    truncated: bool = False

    @property
    def first_wrong(self) -> str:
        """The first wrong index, its axes named as those of what was expected; empty where there is none."""
        if not self.first_wrong_index:
            return ""
        return named(self.first_wrong_index, self.expected.axes if isinstance(self.expected, ShownTensor) else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of a grade report; `reason` is one of the contract's words when it failed.

    `rung` is that of what failed, or of the highest that it passed. `growth` holds what was measured for each promise
    about work or memory. A grading in progress tells of a check that is `running`, and of one that has ended.
    """

    name: str
    status: Status
    required: bool = True
    examples: int = 0
    seconds: float = 0.0
    message: Localised = NOTHING
    reason: str = ""
    rung: CaseRung | None = None
    counterexample: Counterexample | None = None
    growth: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A known wrong solution that gives the same outputs as the submission on the failing inputs.

    Where none does: one of two that explain the outputs together, with the other one `beside` it; or what all outputs
    have in common, such as "transposed", which `says_zh` tells in Chinese.
    """

    wrong: str
    says: str
    cards: tuple[str, ...] = ()
    says_zh: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class LeftBug:
    """A planted bug that is still in a file: the wrong solution whose mistake it is, and what one observes."""

    wrong: str
    symptom: Localised = NOTHING


@dataclass(frozen=True, slots=True)
class RepairedBugs:
    """How many bugs were planted in a file, and those that are left."""

    of: int
    left: tuple[LeftBug, ...] = ()

    @property
    def done(self) -> int:
        return self.of - len(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """What came of one grading; `rung` is the one that was reached. `repaired` is told of a file with planted bugs.

    `device_note` is what else there is to say about the device. `stored` are the counterexamples in the form in which
    the log keeps them (`attncli.domain.stored_counterexample`).
    """

    challenge: str
    file: str
    verdict: Verdict
    rung: Rung = "none"
    checks: tuple[CheckResult, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    seconds: float = 0.0
    seed: int = 0
    sandbox: tuple[str, ...] = ()
    device: str = "cpu"
    device_note: Localised = NOTHING
    printed: str = ""
    error: str = ""
    stored: tuple[dict[str, Any], ...] = ()
    repaired: RepairedBugs | None = None

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    @property
    def score(self) -> dict[str, int]:
        """How many checks `passed`, of the `total` that were judged or had to be."""
        judged = [c for c in self.checks if c.status in ("pass", "fail") or (c.required and c.status != "info")]
        return {"passed": sum(check.status == "pass" for check in judged), "total": len(judged)}
