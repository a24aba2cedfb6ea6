"""The exam of a challenge on one stream of inputs: all questions, made once and asked of any number of submissions.

It depends on the challenge and the number of the stream, never on the submission.

The rung of a case follows from its check, its profile and its dtypes. *Solved* means the requirements of an interview
at a whiteboard, *hardened* those of production: 16 bits, odd memory layouts, other devices, results that share no
memory, the digits of float64, and extremes. `inputs.py` states only exceptions: `HARDENED`, edge cases of the second
rung, and `SIXTEEN_BITS = "technique"`, where 16 bits are the technique itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import torch

from attncli.domain.challenge import Facts
from attncli.domain.checks import CHECKS
from attncli.domain.vocabulary import CaseRung
from attncli.judge.case import Case, Profile, graded_on, profile_of, strata
from attncli.judge.challenge import Folder, edge_functions
from attncli.judge.drawing import Declared, fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.motifs import BRANCHES_AT_ONCE, BRANCHES_PREFIX, HARDENED_MOTIFS, MOTIF_PREFIX, Motif
from attncli.judge.protocol import HANDED, Request
from attncli.judge.questions import (
    KINDS,
    TRACED_ELEMENTS,
    Compound,
    Edge,
    EdgeDevice,
    EdgeWithGradients,
    Gradients,
    Question,
    Values,
)
from attncli.judge.reference import as_given, run_natively
from attncli.judge.shrink import CaseFunction, Search
from attncli.judge.submission import FailedCase
from attncli.sandbox import devices

T = TypeVar("T")

# Edge cases of more steps than this are not repeated in other layouts and on other devices. Errors that show late also
# show in the plain run, and an emulated device would take seconds.
REPEATED_STEPS = 8
# Edge cases of more steps than this are not asked again to name a mistake.
PROBED_STEPS = 40

_FIRST_BRANCHES = 3
_SIXTEEN_BITS = frozenset({torch.float16, torch.bfloat16})


@dataclass(frozen=True, slots=True)
class Stratum:
    """The questions of one check in one profile, with their rungs, and the data for shrinking a case."""

    profile: Profile
    record: CaseFunction
    attribute: str
    seed: int
    questions: list[Any]
    rungs: list[CaseRung]


@dataclass(frozen=True, slots=True)
class EdgeQuestion:
    """A question about an edge case, with the label of the case and the name of the function that records it.

    `rung_of_values` is the rung if only its values are asked for.
    """

    label: str
    attribute: str
    question: Question
    rung: CaseRung
    rung_of_values: CaseRung


class Sized(Values):
    """Values and costs of a case of a given size; the values are compared, since cheap answers may be wrong."""

    def __init__(self, folder: Folder, case: Case, measure: str) -> None:
        super().__init__(folder, case)
        self._want = ["cost", "handed"] if measure in HANDED else ["cost"]

    @cached_property
    def request(self) -> Request:
        return Request(self.case, self._want)

    @cached_property
    def reference_costs(self) -> Mapping[str, int]:
        """The costs of the reference's run, by measure."""
        return run_natively(self._folder.reference, self.case, as_given, costs=self.request.want).costs[-1]


class Exam:
    """The questions of one challenge, made when first asked for and kept."""

    def __init__(self, folder: Folder, stream: int, device: str = devices.CPU) -> None:
        """`device` runs the programs, one of `sandbox.devices`; the drawn cases do not depend on it."""
        self.folder = folder
        self.stream = stream
        self.device = device
        self.folder = folder
        self._kept: dict[Hashable, Any] = {}

    def record(self, check: str) -> tuple[CaseFunction, str]:
        """Return the function of `inputs.py` that records the cases of a check, and its name."""
        attribute = check if CHECKS[check].own_record and hasattr(self.folder.inputs, check) else "case"
        if CHECKS[check].branches and self.folder.facts.sizes:
            attribute = f"{BRANCHES_PREFIX}{self.stream % _FIRST_BRANCHES * BRANCHES_AT_ONCE}"
        return self.folder.record(attribute), attribute

    def strata(self, check: str, examples: int = 0) -> list[Stratum]:
        """Return the drawn questions of a check; `examples` overrides their number."""
        count = examples or CHECKS[check].examples
        return self._cached(("strata", check, examples), lambda: self._drawn_strata(check, count))

    def edges(self, check: str) -> list[EdgeQuestion]:
        """Return the questions about every edge case in the profiles of this check."""
        return self._cached(("edges", check), lambda: list(self._edge_questions(check)))

    def sample(self, check: str, count: int) -> list[Request]:
        """Return requests about cases of a check's first stratum; those of "forbidden" ask for the calls made."""

        def make() -> list[Request]:
            record, _ = self.record(check)
            profile = strata(check, self.folder.facts, self.device)[0]
            seed, declared = self._seed(f"{check}-drawn", profile), self.folder.declared
            cases = drawn(record, profile, count, seed, self.stream, declared)
            return [Request(case, ["calls", "operations"] if check == "forbidden" else []) for case in cases]

        return self._cached(("sample", check, count), make)

    def probes(self, attribute: str, profile: Profile, count: int) -> list[Values]:
        """Return questions about further cases that a function of `inputs.py` records."""
        seed = self._seed("probes", profile)
        function, declared = self.folder.record(attribute), self.folder.declared

        def make() -> list[Values]:
            cases = drawn(function, profile, count, seed, self.stream, declared)
            return [Values(self.folder, case) for case in cases]

        return self._cached(("probes", attribute, profile, count), make)

    def edge_probes(self, profile: Profile, rung: CaseRung) -> list[Values]:
        """Return the small edge cases of a rung, in this profile or in the first of their own."""

        def make() -> list[Values]:
            found: dict[str, Values] = {}
            for edge in self.edges("edge-cases") if "edge-cases" in self.folder.spec["required"] else ():
                case = edge.question.case
                small = case.weight[0] <= TRACED_ELEMENTS and len(case.steps) <= PROBED_STEPS and not case.tallies
                if edge.rung == rung and small and (edge.label not in found or case.profile == profile):
                    found[edge.label] = Values(self.folder, case)
            return list(found.values())

        return self._cached(("edge-probes", profile, rung), make)

    def probe(self, case: Case, gradients: bool) -> Request:
        """Return the request that asks about a case again to name a mistake."""
        asked = Gradients(self.folder, case).request if gradients else None
        return asked or Request(case)

    def growth_profiles(self, rung: CaseRung) -> list[str]:
        """Return the profiles that growth is measured in: on the second rung bfloat16, if the challenge asks for it."""
        if rung == "solved":
            return ["ordinary"]
        drawn_in_bf16 = any(profile.name == "bf16" for profile in strata("low-precision", self.folder.facts))
        return ["bf16"] if self._asks_low_precision and drawn_in_bf16 else []

    @property
    def _asks_low_precision(self) -> bool:
        return "low-precision" in self.folder.spec["required"]

    def has(self, check: str, rung: CaseRung) -> bool:
        """Return True if the check has anything to ask on a rung."""
        row = CHECKS[check]
        if row.rung is not None:
            return rung == row.rung
        if row.way == "growth":
            return bool(self.growth_profiles(rung))
        return row.shares or any(rung in stratum.rungs for stratum in self.strata(check))

    def sized(self, record: Callable[[Recorder, int], Any], size: int, measure: str, profile: str) -> Sized:
        """Return the question by which a growth contract is measured at `size`; the profile "meta" has no values."""

        def make() -> Sized:
            plain = profile_of(profile, self.folder.facts)
            where = plain if profile == "meta" else graded_on(plain, self.device)
            recorder = Recorder(fixed_draw, where, label=f"size {size}", declared=self.folder.declared)
            record(recorder, size)
            return Sized(self.folder, recorder.case, measure)

        # A case of a real size is asked once, for a wrong file, so it is not worth caching.
        if profile == "meta":
            return make()
        return self._cached(("sized", record, size, measure in HANDED, profile), make)

    def _cached(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def _seed(self, check: str, profile: Profile) -> int:
        text = f"{self.folder.id}:{self.folder.spec.get('version', 1)}:{check}:{profile.name}:{self.stream}"
        return zlib.crc32(text.encode())

    def _drawn_strata(self, check: str, examples: int) -> list[Stratum]:
        record, attribute = self.record(check)
        kind = KINDS[CHECKS[check].kind]
        found = []
        profiles = strata(check, self.folder.facts, self.device)
        each = max(1, examples // len(profiles))
        first = max(1, examples - each * (len(profiles) - 1))  # with the remainder
        for k, profile in enumerate(profiles):
            seed = self._seed(check, profile)
            cases: list[Case] = []
            search = Search(record, profile, stream=self.stream, shrink_calls=0, declared=self.folder.declared)
            search.run(cases.append, each if k else first, seed)
            questions: list[Question | Compound] = [kind(self.folder, case) for case in cases]
            rungs = [rung_of(case, check, attribute, self.folder.facts) for case in cases]
            found.append(Stratum(profile, record, attribute, seed, questions, rungs))
        return found

    def _edge_questions(self, check: str) -> Iterator[EdgeQuestion]:
        facts = self.folder.facts
        for label, attribute, record in edge_functions(self.folder):
            for profile in self._edge_profiles(attribute, check):
                recorder = Recorder(fixed_draw, profile, label=label, declared=self.folder.declared)
                record(recorder)
                case = recorder.case
                small = check != "device" or case.weight[0] <= TRACED_ELEMENTS
                if check != "edge-cases" and not (small and len(case.steps) <= REPEATED_STEPS):
                    continue
                rung = rung_of(case, check, attribute, facts)
                of_values = rung_of_values(case, attribute, facts)
                for kind in self._edge_kinds(check, profile, self.folder.motifs.get(attribute)):
                    yield EdgeQuestion(label, attribute, kind(self.folder, case), rung, of_values)

    def _edge_profiles(self, attribute: str, check: str) -> Sequence[Profile]:
        """Return the profiles that an edge case is asked in: those of the check, or its motif's own."""
        motif = self.folder.motifs.get(attribute)
        if motif is None or (motif.elsewhere and not motif.profile):
            return strata(check, self.folder.facts, self.device)
        if check != "edge-cases":
            return ()
        if not motif.profile:
            return strata(check, self.folder.facts, self.device)[: 1 if motif.about_calls else None]
        profile = graded_on(profile_of(motif.profile, self.folder.facts), self.device)
        return (profile,) if self._asks_low_precision else ()

    def _edge_kinds(
        self, check: str, profile: Profile, motif: Motif | None
    ) -> list[Callable[[Folder, Case], Question]]:
        if check == "device":
            return [EdgeDevice]
        if check == "layout":
            return [Values]
        if not self.folder.facts.gradients:
            return [Edge]
        if profile.dtype is torch.float64:
            return [EdgeWithGradients]
        if motif is None or motif.extreme or motif.about_calls:
            return [Edge, Gradients]
        # Most mistakes in gradients show in every dtype: asking for those of a motif in float64 suffices.
        profiles = strata("edge-cases", self.folder.facts, self.device)
        return [Edge] if any(p.dtype is torch.float64 for p in profiles) else [Edge, Gradients]


def drawn(
    record: Callable[[Recorder], Any], profile: Profile, count: int, seed: int, stream: int, declared: Declared
) -> list[Case]:
    """Draw `count` cases of a pinned stream, leaving out the very first one."""
    cases: list[Case] = []
    Search(record, profile, stream=stream, shrink_calls=0, declared=declared).run(cases.append, count + 1, seed)
    return cases[-count:]


def rung_of(case: Case, check: str, attribute: str, facts: Facts) -> CaseRung:
    """Return the rung of a case that the function `attribute` of `inputs.py` records for `check`."""
    return "hardened" if CHECKS[check].rung == "hardened" else rung_of_values(case, attribute, facts)


def rung_of_values(case: Case, attribute: str, facts: Facts) -> CaseRung:
    """Return the rung of a case if only its values are asked for."""
    if attribute in facts.hardened or attribute.removeprefix(MOTIF_PREFIX) in facts.hardened | HARDENED_MOTIFS:
        return "hardened"
    if facts.sixteen_bits == "technique":
        return "solved"
    dtypes = {case.profile.dtype, *(item.value.dtype for item in case.inputs)}
    return "solved" if dtypes.isdisjoint(_SIXTEEN_BITS) else "hardened"


def rung_of_finding(finding: FailedCase, case_rung: CaseRung) -> CaseRung:
    """Return the rung that a failed case counts on."""
    return "hardened" if finding.of_production else case_rung
