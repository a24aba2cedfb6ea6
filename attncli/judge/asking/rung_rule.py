"""Which rung a case belongs to: by one rule from its check, its profile and its dtypes.

*Solved* is what an interviewer at the whiteboard insists on, *hardened* what production insists on: 16 bits, odd memory
layouts, other devices, results that share memory, the digits of float64 beyond those of float32, and the extremes that
a challenge names. `inputs.py` says only where
it differs: `HARDENED`, the edge cases that the technique as such does not meet, and `SIXTEEN_BITS = "technique"` where
16 bits are what is asked for.
"""

from __future__ import annotations

import torch

from attncli.domain.rungs import CaseRung
from attncli.judge.answers.finding import CaseFinding
from attncli.judge.case import Case
from attncli.judge.cases.facts import Facts
from attncli.judge.checks import CHECKS
from attncli.judge.motifs import HARDENED_MOTIFS, PREFIX

_SIXTEEN_BITS = frozenset({torch.float16, torch.bfloat16})


def rung_of(case: Case, check: str, attribute: str, facts: Facts) -> CaseRung:
    """The rung of a case that the function `attribute` of `inputs.py` records for `check`."""
    return "hardened" if CHECKS[check].rung == "hardened" else rung_of_values(case, attribute, facts)


def rung_of_values(case: Case, attribute: str, facts: Facts) -> CaseRung:
    """The rung of a case of which nothing but the values is asked for."""
    if attribute in facts.hardened or attribute.removeprefix(PREFIX) in facts.hardened | HARDENED_MOTIFS:
        return "hardened"
    if facts.sixteen_bits == "technique":
        return "solved"
    dtypes = {case.profile.dtype, *(item.value.dtype for item in case.inputs)}
    return "solved" if dtypes.isdisjoint(_SIXTEEN_BITS) else "hardened"


def rung_of_finding(finding: CaseFinding, case_rung: CaseRung) -> CaseRung:
    """The rung that a fault breaks."""
    return "hardened" if finding.of_production else case_rung
