"""Challenges and what grading a submission finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from attncli.domain.card import FollowUp, Source
from attncli.domain.mistakes import Mistake
from attncli.domain.rungs import CaseRung, Rung
from attncli.domain.text import NOTHING, Localised

Verdict = Literal["accepted", "rejected", "error"]
Status = Literal["pass", "fail", "skipped", "info"]
Standing = Literal["new", "tried", "solved", "hardened"]

CHECK_NAMES: tuple[str, ...] = (
    "loads",
    "matches-reference",
    "gradients",
    "edge-cases",
    "stable",
    "low-precision",
    "layout",
    "device",
    "pure",
    "random",
    "forbidden",
    "work",
    "memory",
    "speed",
)


# How many streams of inputs there are.
SEEDS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One folder of `impl/`: what is asked, how it is graded. `folder` is its place on disk.

    `hardened` says what the second rung asks for besides, empty where that is nothing special. `mistakes` are those
    of the files in `wrong/`, each read when it is asked for. `follow_ups` are what interviewers ask next, each with its
    answer.
    """

    id: str
    track: str
    level: int
    title: Localised
    statement: Localised
    hardened: Localised
    entry: tuple[str, ...]
    hints: tuple[Localised, ...]
    required: tuple[str, ...]
    badges: tuple[str, ...]
    forbidden: tuple[str, ...]
    cards: tuple[str, ...]
    mistakes: Mapping[str, Mistake]
    folder: str
    version: int = 1
    follow_ups: tuple[FollowUp, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of a grade report; `reason` is one of the contract's words when it failed.

    `rung` is that of what failed, or of the highest that it passed. `growth` holds what was measured for each promise
    about work or memory.
    """

    name: str
    status: Status
    required: bool = True
    examples: int = 0
    seconds: float = 0.0
    message: Localised = NOTHING
    reason: str = ""
    rung: CaseRung | None = None
    counterexample: dict[str, Any] | None = None
    growth: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A known wrong solution that gives the same outputs as the submission on the failing inputs.

    Where none does: one of two that explain the outputs together, with the other one `beside` it; or what all outputs
    have in common, such as "transposed", which `says_zh` tells in Chinese.
    """

    wrong: str
    says: str
    cards: tuple[str, ...]
    says_zh: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """What `attn grade --json` prints; `rung` is the one that was reached."""

    challenge: str
    file: str
    verdict: Verdict
    rung: Rung = "none"
    checks: tuple[CheckResult, ...]
    diagnosis: tuple[Diagnosis, ...] = ()
    seconds: float = 0.0
    seed: int = 0
    sandbox: tuple[str, ...] = ()
    device: str = "cpu"
    printed: str = ""
    error: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"
