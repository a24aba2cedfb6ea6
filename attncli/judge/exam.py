"""The exam of a challenge on one stream of inputs: every question, made once and put to any number of submissions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import torch

from attncli.domain.challenge import CaseRung
from attncli.judge.case import Case, Facts, Profile, graded_on, profile_of, strata
from attncli.judge.challenge import Demands, Folder, edge_functions
from attncli.judge.checks import CHECKS, Kind
from attncli.judge.drawing import Declared, fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.motifs import BRANCHES, BRANCHES_AT_ONCE, HARDENED_MOTIFS, PREFIX, Motif
from attncli.judge.protocol import HANDED, Request
from attncli.judge.questions import (
    TRACED_ELEMENTS,
    Compound,
    Devices,
    Edge,
    EdgeDevice,
    EdgeWithGradients,
    Gradients,
    Purity,
    Question,
    Values,
)
from attncli.judge.reference import as_given, run_natively
from attncli.judge.shrink import CaseFunction, Search
from attncli.judge.submission import CaseFinding
from attncli.sandbox import devices

T = TypeVar("T")

# A longer edge case tries what shows late; in another layout or on another device its start shows as much, and a loop
# over many elements would take seconds on a device that is emulated.
REPEATED_STEPS = 8
# An edge case of more steps than these is not put again to name a mistake.
PROBED_STEPS = 40

_KINDS: dict[Kind, Callable[[Demands, Case], Any]] = {
    "values": Values,
    "gradients": Gradients,
    "device": Devices,
    "pure": Purity,
}
_FIRST_BRANCHES = 3


@dataclass(frozen=True, slots=True)
class Stratum:
    """The questions of one check in one profile, and what is needed to search there for a smaller counterexample."""

    profile: Profile
    record: CaseFunction
    attribute: str
    seed: int
    questions: list[Any]
    rungs: list[CaseRung]


@dataclass(frozen=True, slots=True)
class EdgeQuestion:
    """A question about an edge case, with what the case is called, the function that records it, and its rung.

    `rung_of_values` is the one that it has where nothing but its values is asked for.
    """

    label: str
    attribute: str
    question: Question
    rung: CaseRung
    rung_of_values: CaseRung


class Sized(Values):
    """A case of a stated size whose costs are measured, and its values compared: what costs nothing may be wrong."""

    def __init__(self, demands: Demands, case: Case, measure: str) -> None:
        super().__init__(demands, case)
        self._want = ["cost", "handed"] if measure in HANDED else ["cost"]

    @cached_property
    def request(self) -> Request:
        return Request(self.case, self._want)

    @cached_property
    def due(self) -> Mapping[str, int]:
        """What the reference's run costs."""
        return run_natively(self._demands.reference, self.case, as_given, costs=self.request.want).costs[-1]


class Exam:
    """What is asked depends on the challenge and the number of the stream, never on who is asked."""

    def __init__(self, folder: Folder, stream: int, device: str = devices.CPU) -> None:
        """`device` is where the programs run (see `sandbox.placement`); what is drawn is the same everywhere."""
        self.folder = folder
        self.stream = stream
        self.device = device
        self.demands = Demands(folder)
        self._kept: dict[Hashable, Any] = {}

    def record(self, check: str) -> tuple[CaseFunction, str]:
        """The function of `inputs.py` that records the cases of a check, and its name."""
        attribute = check if CHECKS[check].own_record and hasattr(self.folder.inputs, check) else "case"
        if CHECKS[check].branches and self.folder.facts.sizes:
            attribute = f"{BRANCHES}{self.stream % _FIRST_BRANCHES * BRANCHES_AT_ONCE}"
        return self.folder.record(attribute), attribute

    def strata(self, check: str, examples: int = 0) -> list[Stratum]:
        """The drawn questions of a check; `examples` overrides how many."""
        count = examples or CHECKS[check].examples
        return self._once(("strata", check, examples), lambda: self._drawn_strata(check, count))

    def edges(self, check: str) -> list[EdgeQuestion]:
        """The questions about every edge case in the profiles of this check."""
        return self._once(("edges", check), lambda: list(self._edge_questions(check)))

    def sample(self, check: str, count: int) -> list[Request]:
        """Cases of a check's first stratum, asked for with their calls where the check is about calls."""
        return self._once(("sample", check, count), lambda: self._sampled(check, count))

    def probes(self, attribute: str, profile: Profile, count: int) -> list[Values]:
        """Further cases of the kind that a function of `inputs.py` records."""
        seed = self._seed("probes", profile)
        function, declared = self.folder.record(attribute), self.folder.declared

        def make() -> list[Values]:
            cases = drawn(function, profile, count, seed, self.stream, declared)
            return [Values(self.demands, case) for case in cases]

        return self._once(("probes", attribute, profile, count), make)

    def edge_probes(self, profile: Profile, rung: CaseRung) -> list[Values]:
        """Return the small edge cases of a rung, in this profile or in the first that they are asked in."""
        return self._once(("edge-probes", profile, rung), lambda: self._edge_probes(profile, rung))

    def _edge_probes(self, profile: Profile, rung: CaseRung) -> list[Values]:
        if "edge-cases" not in self.folder.spec["required"]:
            return []
        found: dict[str, Values] = {}
        for edge in self.edges("edge-cases"):
            case = edge.question.case
            small = case.weight[0] <= TRACED_ELEMENTS and len(case.steps) <= PROBED_STEPS and not case.tallies
            if edge.rung == rung and small and (edge.label not in found or case.profile == profile):
                found[edge.label] = Values(self.demands, case)
        return list(found.values())

    def probe(self, case: Case, gradients: bool) -> Request:
        """A case as it is put again when a mistake is to be named."""
        asked = Gradients(self.demands, case).request if gradients else None
        return asked or Request(case)

    def growth_profiles(self, rung: CaseRung) -> list[str]:
        """Where growth is measured: in 16 bits too where the challenge is asked for in bfloat16."""
        if rung == "solved":
            return ["ordinary"]
        asked = "low-precision" in self.folder.spec["required"]
        return ["bf16"] if asked and any(p.name == "bf16" for p in strata("low-precision", self.folder.facts)) else []

    def has(self, check: str, rung: CaseRung) -> bool:
        """Whether the check has anything to ask for a rung."""
        asked = CHECKS[check]
        if asked.rung is not None:
            return rung == asked.rung
        if asked.way == "growth":
            return bool(self.growth_profiles(rung))
        return asked.shares or any(rung in stratum.rungs for stratum in self.strata(check))

    def sized(self, record: Callable[[Recorder, int], Any], size: int, measure: str, profile: str) -> Sized:
        """The case at which a growth contract takes its measure for `size`; "meta" has no values."""

        def make() -> Sized:
            plain = profile_of(profile, self.folder.facts)
            where = plain if profile == "meta" else graded_on(plain, self.device)
            recorder = Recorder(fixed_draw, where, label=f"size {size}", declared=self.folder.declared)
            record(recorder, size)
            return Sized(self.demands, recorder.case, measure)

        # A case of a real size is asked for once, of a file that is wrong: it is not worth its memory.
        if profile == "meta":
            return make()
        return self._once(("sized", record, size, measure in HANDED, profile), make)

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def _seed(self, check: str, profile: Profile) -> int:
        text = f"{self.folder.id}:{self.folder.spec.get('version', 1)}:{check}:{profile.name}:{self.stream}"
        return zlib.crc32(text.encode())

    def _search(self, record: CaseFunction, profile: Profile) -> Search:
        return Search(record, profile, stream=self.stream, shrink_calls=0, declared=self.folder.declared)

    def _drawn_strata(self, check: str, examples: int) -> list[Stratum]:
        record, attribute = self.record(check)
        kind = _KINDS[CHECKS[check].kind]
        found = []
        for profile, share in shares(strata(check, self.folder.facts, self.device), examples):
            seed = self._seed(check, profile)
            cases: list[Case] = []
            self._search(record, profile).run(cases.append, share, seed)
            questions: list[Question | Compound] = [kind(self.demands, case) for case in cases]
            rungs = [rung_of(case, check, attribute, self.folder.facts) for case in cases]
            found.append(Stratum(profile, record, attribute, seed, questions, rungs))
        return found

    def _edge_questions(self, check: str) -> list[EdgeQuestion]:
        found: list[EdgeQuestion] = []
        for label, attribute, record in edge_functions(self.folder):
            for profile in self._edge_profiles(attribute, check):
                recorder = Recorder(fixed_draw, profile, label=label, declared=self.folder.declared)
                record(recorder)
                if check == "edge-cases" or _repeated(recorder.case, check):
                    found += self._asked_at(recorder.case, check, label, attribute)
        return found

    def _edge_profiles(self, attribute: str, check: str) -> Sequence[Profile]:
        """Where an edge case is asked: in the profiles of the check, or in the one that it is about."""
        motif = self.folder.motifs.get(attribute)
        if motif is None or (motif.elsewhere and not motif.profile):
            return strata(check, self.folder.facts, self.device)
        if check != "edge-cases":
            return ()
        if not motif.profile:
            return strata(check, self.folder.facts, self.device)[: 1 if motif.about_calls else None]
        asked = "low-precision" in self.folder.spec["required"]
        return (graded_on(profile_of(motif.profile, self.folder.facts), self.device),) if asked else ()

    def _asked_at(self, case: Case, check: str, label: str, attribute: str) -> Iterator[EdgeQuestion]:
        rung = rung_of(case, check, attribute, self.folder.facts)
        of_values = rung_of_values(case, attribute, self.folder.facts)
        for kind in self._edge_kinds(check, case.profile, self.folder.motifs.get(attribute)):
            yield EdgeQuestion(label, attribute, kind(self.demands, case), rung, of_values)

    def _edge_kinds(
        self, check: str, profile: Profile, motif: Motif | None
    ) -> list[Callable[[Demands, Case], Question]]:
        if check == "device":
            return [EdgeDevice]
        if check == "layout":
            return [Values]
        if not self.demands.gradients_at_edges:
            return [Edge]
        if profile.dtype is torch.float64:
            return [EdgeWithGradients]
        return [Edge] if motif is not None and self._differentiated_elsewhere(motif) else [Edge, Gradients]

    def _differentiated_elsewhere(self, motif: Motif) -> bool:
        """Whether the gradients of a motif are asked for in float64 alone: most mistakes in them are of no dtype."""
        wide = any(profile.dtype is torch.float64 for profile in strata("edge-cases", self.folder.facts, self.device))
        return wide and not motif.extreme and not motif.about_calls

    def _sampled(self, check: str, count: int) -> list[Request]:
        record, _ = self.record(check)
        profile = strata(check, self.folder.facts, self.device)[0]
        cases = drawn(record, profile, count, self._seed(f"{check}-drawn", profile), self.stream, self.folder.declared)
        return [Request(case, ["calls", "operations"] if check == "forbidden" else []) for case in cases]


def _repeated(case: Case, check: str) -> bool:
    """Whether an edge case is asked again in another layout or on another device."""
    return len(case.steps) <= REPEATED_STEPS and (check != "device" or case.weight[0] <= TRACED_ELEMENTS)


# Which drawn cases a grading looks at: shares of examples, and the first cases of a pinned stream.


def shares(profiles: Sequence[Profile], examples: int) -> list[tuple[Profile, int]]:
    """The examples divided over the strata, the first one taking what is left over."""
    each = max(1, examples // len(profiles))
    first = max(1, examples - each * (len(profiles) - 1))
    return [(profile, first if k == 0 else each) for k, profile in enumerate(profiles)]


def drawn(
    record: Callable[[Recorder], Any], profile: Profile, count: int, seed: int, stream: int, declared: Declared
) -> list[Case]:
    """Cases of a pinned stream, unexamined."""
    cases: list[Case] = []

    def keep(case: Case) -> None:
        cases.append(case)

    Search(record, profile, stream=stream, shrink_calls=0, declared=declared).run(keep, count + 1, seed)
    return cases[-count:]


# Which rung a case belongs to: by one rule from its check, its profile and its dtypes.
#
# *Solved* is what an interviewer at the whiteboard insists on, *hardened* what production insists on: 16 bits, odd
# memory layouts, other devices, results that share memory, the digits of float64 beyond those of float32, and the
# extremes that a challenge names. `inputs.py` says only where it differs: `HARDENED`, the edge cases that the
# technique as such does not meet, and `SIXTEEN_BITS = "technique"` where 16 bits are what is asked for.

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
