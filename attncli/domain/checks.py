"""The table of checks: the method, cases, number of cases, rung and prerequisites of each.

To add a check, add a row and a purpose here, and a question in `judge/questions.py` unless its `kind` exists; one
that asks about edge cases needs a line in `judge/exam.py` (`_edge_kinds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attncli.domain.vocabulary import CaseRung
from attncli.i18n import Localised, _

Way = Literal["file", "source", "edges", "cases", "growth", "clock"]
Kind = Literal["values", "gradients", "device", "pure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A row of the table: one check.

    `way` is the method of asking, `kind` the question about each case. `strata` are the profiles to draw from,
    `examples` the number of cases over all of them. `own_record`: draw from the function of the same name, if
    `inputs.py` has one. `branches`: there are few cases, so each takes several branches. `edges`: also ask the edge
    cases.

    `rung` is its only rung; with None each case has its own. `shares`: it finds results that share memory, which the
    second rung forbids. `needs` is the check that must pass first, `needs_hardened` the same on the second rung.
    `once`: it is the same on every stream.
    """

    way: Way = "cases"
    kind: Kind = "values"
    strata: tuple[str, ...] = ()
    examples: int = 0
    own_record: bool = False
    branches: bool = False
    edges: bool = False
    rung: CaseRung | None = None
    shares: bool = False
    needs: str = ""
    needs_hardened: str = ""
    once: bool = False


_VALUES = "matches-reference"

# Edge cases find most mistakes; of those left to drawn cases, nearly all show within the first few of a stratum
# (docs/grading-evidence.md has the counts, and the cost of fewer). Edge cases and the cases that growth is measured on
# are written out, so they have no examples. On the second rung costs are measured in 16 bits, hence after
# "low-precision".
CHECKS: dict[str, Check] = {
    "loads": Check(way="file", rung="solved", once=True),
    "matches-reference": Check(strata=("ordinary", "float64"), examples=24),
    "gradients": Check(kind="gradients", strata=("float64", "ordinary"), examples=12, needs=_VALUES),
    "edge-cases": Check(way="edges", strata=("ordinary", "float64"), shares=True, once=True),
    "stable": Check(strata=("large", "offset"), examples=12, own_record=True, needs=_VALUES),
    "low-precision": Check(strata=("bf16", "fp16"), examples=12, rung="hardened", needs=_VALUES),
    "layout": Check(strata=("strided",), examples=6, edges=True, rung="hardened", needs=_VALUES),
    "device": Check(kind="device", strata=("meta",), examples=2, branches=True, edges=True, rung="hardened"),
    "pure": Check(kind="pure", strata=("ordinary",), examples=3, shares=True),
    "random": Check(strata=("ordinary",), examples=3, own_record=True),
    "forbidden": Check(way="source", strata=("ordinary",), examples=2, branches=True, rung="solved"),
    "work": Check(way="growth", needs=_VALUES, needs_hardened="low-precision", once=True),
    "memory": Check(way="growth", needs=_VALUES, needs_hardened="low-precision", once=True),
    "speed": Check(way="clock", rung="solved", needs=_VALUES),
}
CHECK_NAMES: tuple[str, ...] = tuple(CHECKS)
PURPOSES: dict[str, Localised] = {
    "loads": _("the file loads and defines the entry point"),
    "matches-reference": _("outputs match the reference"),
    "gradients": _("gradients match the reference"),
    "edge-cases": _("sizes that are easy to forget"),
    "stable": _("finite and correct on large inputs"),
    "low-precision": _("correct in bfloat16 and float16"),
    "layout": _("correct on strided and expanded inputs"),
    "device": _("creates tensors on the inputs' device"),
    "pure": _("changes no input, keeps no state"),
    "random": _("statistics of a random technique"),
    "forbidden": _("uses no forbidden calls"),
    "work": _("compute grows as required"),
    "memory": _("memory grows as required"),
    "speed": _("time relative to the reference"),
}
