"""What each check is, in one table: how it is asked, of which cases and how many, on which rung, what it waits for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attncli.domain.challenge import CaseRung

Way = Literal["file", "source", "edges", "cases", "growth", "clock"]
Kind = Literal["values", "gradients", "device", "pure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check. `way` is how it is asked, `kind` the question that is put about each case.

    `strata` are the profiles that it draws from, `examples` how many cases altogether; `own_record`: it draws from a
    function of its own name where `inputs.py` has one; `branches`: its cases are so few that each takes several
    branches; `edges`: the edge cases are asked as well; `in_turn`: a question takes several programs, of which one may
    depend on the answer to another.

    `rung` is the only one that it belongs to, None where its cases say; `shares`: it shows results that share memory,
    so that the second rung has something to ask. `needs` is what has to hold before its own answer means anything,
    `needs_hardened` the same on the second rung. `once`: no stream changes what is asked.
    """

    way: Way = "cases"
    kind: Kind = "values"
    strata: tuple[str, ...] = ()
    examples: int = 0
    own_record: bool = False
    branches: bool = False
    edges: bool = False
    in_turn: bool = False
    rung: CaseRung | None = None
    shares: bool = False
    needs: str = ""
    needs_hardened: str = ""
    once: bool = False


_VALUES = "matches-reference"

# Edge cases find most mistakes; of those left to drawn cases, nearly all show within the first few of a stratum
# (docs/grading.md has the counts, and what fewer cost). Edge cases and the cases that growth is measured on are written
# out. On the second rung costs are measured in 16 bits, and only those of what is right there.
CHECKS: dict[str, Check] = {
    "loads": Check(way="file", rung="solved", once=True),
    "matches-reference": Check(strata=("ordinary", "float64"), examples=24),
    "gradients": Check(kind="gradients", strata=("float64", "ordinary"), examples=12, needs=_VALUES),
    "edge-cases": Check(way="edges", strata=("ordinary", "float64"), shares=True, once=True),
    "stable": Check(strata=("large", "offset"), examples=12, own_record=True, needs=_VALUES),
    "low-precision": Check(strata=("bf16", "fp16"), examples=12, rung="hardened", needs=_VALUES),
    "layout": Check(strata=("strided",), examples=6, edges=True, rung="hardened", needs=_VALUES),
    "device": Check(
        kind="device", strata=("meta",), examples=2, branches=True, edges=True, in_turn=True, rung="hardened"
    ),
    "pure": Check(kind="pure", strata=("ordinary",), examples=3, in_turn=True, shares=True),
    "random": Check(strata=("ordinary",), examples=3, own_record=True),
    "forbidden": Check(way="source", strata=("ordinary",), examples=2, branches=True, rung="solved"),
    "work": Check(way="growth", needs=_VALUES, needs_hardened="low-precision", once=True),
    "memory": Check(way="growth", needs=_VALUES, needs_hardened="low-precision", once=True),
    "speed": Check(way="clock", rung="solved", needs=_VALUES),
}
ONCE = frozenset(name for name, check in CHECKS.items() if check.once)


# How to grade: what a request for a grading may say.


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
