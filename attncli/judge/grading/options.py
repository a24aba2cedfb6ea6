"""How to grade: what a request for a grading may say."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.domain.rungs import CaseRung


@dataclass(frozen=True, slots=True)
class Options:
    """How to grade: `stream` numbers the input stream, `rung` is the one that is asked for.

    `quick` asks for the verdict alone: it leaves out badges and stops at the first failure without shrinking. `first`
    names a check and its rung to run before the others, `settled` are checks known to hold, which are left out.
    """

    stream: int = 0
    rung: CaseRung = "hardened"
    examples: int = 0
    quick: bool = False
    first: tuple[str, CaseRung | None] = ("", None)
    settled: Collection[str] = ()
    replay: Sequence[dict[str, Any]] = ()
