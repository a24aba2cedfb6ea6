"""One grading from start to verdict: the checks in order, each with its result."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attncli.domain.challenge import CHECK_NAMES, CheckResult, Diagnosis, GradeReport, Status, Verdict
from attncli.judge.case import Case, Recorder
from attncli.judge.counterexample import render, restore, store
from attncli.judge.diagnose import Probe, diagnose
from attncli.judge.examine import Examiner
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.growth import Measured, contracts, examine_growth
from attncli.judge.profiles import Profile, strata
from attncli.judge.reading import Forbidden, Reading, entry_problem, forbidden_message, read_source
from attncli.judge.sampling import drawn, edge_functions, shares
from attncli.judge.search import Examine, Search, fixed_draw
from attncli.judge.simplify import simplify
from attncli.judge.submission import Failure, Submission

EXAMPLES = {
    "matches-reference": 40,
    "gradients": 16,
    "stable": 16,
    "low-precision": 16,
    "layout": 8,
    "device": 2,
    "pure": 4,
    "random": 3,
    "forbidden": 2,
}
# A longer edge case tries what shows late; in another layout or on another device its start shows as much.
REPEATED_STEPS = 8
SHRINK_CALLS = 120
SIMPLIFY_CALLS = 80
PROBES = 8
DIAGNOSED = frozenset({"values", "shape", "dtype", "not-finite", "exception", "gradient"})

# What a check needs to have passed before its own answer means anything.
NEEDS = {
    "gradients": "matches-reference",
    "stable": "matches-reference",
    "low-precision": "matches-reference",
    "layout": "matches-reference",
    "work": "matches-reference",
    "memory": "matches-reference",
    "speed": "matches-reference",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to grade: `stream` numbers the input stream.

    `quick` asks for the verdict alone: it leaves out badges and stops at the first failure without shrinking. `first`
    names a check to run before the others.
    """

    stream: int = 0
    examples: int = 0
    quick: bool = False
    first: str = ""
    replay: Sequence[dict[str, Any]] = ()


@dataclass
class Grading:
    """The state of one grading: results so far, and the findings that a diagnosis starts from."""

    folder: Folder
    submission: Submission
    options: Options
    notify: Callable[[dict[str, Any]], None] = lambda event: None
    results: dict[str, CheckResult] = field(default_factory=dict)
    stored: list[dict[str, Any]] = field(default_factory=list)
    diagnosis: list[Diagnosis] = field(default_factory=list)
    measured: Measured = field(default_factory=dict)
    dead: bool = False

    def __post_init__(self) -> None:
        self.examiner = Examiner(self.folder, self.submission)
        self.required = [name for name in CHECK_NAMES if name in self.folder.spec["required"]]
        self.badges = [name for name in CHECK_NAMES if name in self.folder.spec.get("badges", ())]
        self.reading: Reading = read_source(self.submission.source, self.folder.spec.get("forbidden", ()))

    def run(self) -> GradeReport:
        """All checks, then the report."""
        start = time.monotonic()
        for name in self._order():
            self._check(name)
            if self.options.quick and self._rejected():
                break
        verdict: Verdict = "rejected" if self._rejected() else "accepted"
        self.submission.close()
        return GradeReport(
            challenge=self.folder.id,
            file=self.submission.filename,
            verdict=verdict,
            checks=tuple(self.results.values()),
            diagnosis=tuple(self.diagnosis),
            seconds=round(time.monotonic() - start, 3),
            seed=self.options.stream,
            printed=self.submission.printed,
            extra={"stored": self.stored},
        )

    def _order(self) -> list[str]:
        asked = {*self.required, *(() if self.options.quick else self.badges)}
        names = [name for name in CHECK_NAMES if name in asked]
        return sorted(names, key=lambda name: (name != "loads", name != self.options.first))

    def _rejected(self) -> bool:
        return any(self.results[n].status == "fail" for n in self.required if n in self.results)

    def _check(self, name: str) -> None:
        self.notify({"event": "check", "name": name, "status": "running"})
        start = time.monotonic()
        blocked = self._blocked(name)
        result = self._result(name, "skipped", blocked) if blocked else self._run(name)
        result = replace(result, seconds=round(time.monotonic() - start, 4), required=name in self.required)
        self.results[name] = result
        self.notify({"event": "check", "name": name, "status": result.status, "message": result.message})

    def _blocked(self, name: str) -> str:
        if name == "loads":
            return ""
        if self.results["loads"].status == "fail":
            return "" if name == "forbidden" and not self.reading.syntax else "needs loads"
        if self.dead and name != "forbidden":
            failed = next((r.name for r in self.results.values() if r.status == "fail"), "loads")
            return f"needs {failed}"
        need = NEEDS.get(name)
        if need in self.results and self.results[need].status == "fail":
            return f"needs {need}"
        return ""

    def _run(self, name: str) -> CheckResult:
        if name == "loads":
            return self._loads()
        if name == "forbidden":
            return self._forbidden()
        if name == "edge-cases":
            return self._edges()
        if name in ("work", "memory"):
            return self._growth(name)
        if name == "speed":
            return self._speed()
        return self._searched(name)

    # The checks

    def _loads(self) -> CheckResult:
        if self.reading.syntax:
            return self._failed("loads", "exception", f"SyntaxError: {self.reading.syntax}")
        failure = self.submission.load()
        if failure is None:
            due = read_source(self.folder.reference_source.encode())
            problem = entry_problem(self.folder.entry, self.reading, due)
            if not problem:
                return self._touched("loads") or self._result("loads", "pass")
            return self._failed("loads", "missing-entry-point", problem)
        self.dead = self.dead or failure.fatal
        result = self._failed("loads", failure.reason, failure.message)
        if failure.frames:
            return replace(result, counterexample={"frames": [dict(frame) for frame in failure.frames]})
        return result

    def _forbidden(self) -> CheckResult:
        if self.reading.forbidden:
            return self._failed("forbidden", "forbidden", self.reading.forbidden[0].message)
        if self.dead or self.results["loads"].status == "fail":
            return self._result("forbidden", "pass")
        named = Forbidden(self.folder.spec.get("forbidden", ()))
        seen = list(self.examiner.seen)
        for case in self._drawn("forbidden", EXAMPLES["forbidden"]):
            observed = self.submission.run(case, ["calls"])
            if isinstance(observed, Failure):
                break
            seen += [(str(called), int(line)) for called, line, _size in observed.seen]
        for called, line in seen:
            if line and named.names(called):
                return self._failed("forbidden", "forbidden", forbidden_message(line, called))
        return self._touched("forbidden") or self._result("forbidden", "pass", examples=EXAMPLES["forbidden"])

    def _touched(self, name: str) -> CheckResult | None:
        if not self.submission.touched:
            return None
        self.dead = True
        tried = ", ".join(self.submission.touched[:4])
        return self._failed(name, "refused", f"tried {tried}: a submission may compute, and nothing else")

    def _edges(self) -> CheckResult:
        gradients = getattr(self.folder.inputs, "GRADIENTS", True)
        questions: list[Examine] = [self.examiner.edge, *([self.examiner.gradients] if gradients else [])]
        failed, tried = self._at_edges("edge-cases", questions, 0)
        passed = self._touched("edge-cases") or self._result("edge-cases", "pass", examples=tried)
        return failed or passed

    def _at_edges(self, name: str, questions: Sequence[Examine], tried: int) -> tuple[CheckResult | None, int]:
        """Asks the questions of every edge case in the profiles of this check."""
        for label, attribute, record in edge_functions(self.folder):
            for profile in strata(name, self.folder.inputs):
                for question in questions:
                    recorder = Recorder(fixed_draw, profile, self.options.stream, label)
                    record(recorder)
                    if name != "edge-cases" and len(recorder.case.steps) > REPEATED_STEPS:
                        continue
                    tried += 1
                    finding = question(recorder.case)
                    if finding is not None:
                        return self._found(name, finding, question, tried, attribute, label), tried
        return None, tried

    def _growth(self, name: str) -> CheckResult:
        figures = []
        for contract in contracts(self.folder, name):
            finding, said = examine_growth(self.folder, self.submission, contract, self.measured)
            if finding is not None:
                self.dead = self.dead or finding.fatal
                return self._failed(name, finding.reason, finding.message)
            figures.append(said)
        return self._result(name, "pass", "; ".join(figures), examples=len(figures))

    def _speed(self) -> CheckResult:
        cases = self._drawn("pure", 3)
        start = time.monotonic()
        for case in cases:
            if isinstance(self.submission.run(case), Failure):
                return self._result("speed", "info", "not measured")
        elapsed_ms = 1000 * (time.monotonic() - start) / max(1, len(cases))
        return self._result("speed", "info", f"{elapsed_ms:.1f} ms a call, the crossing included")

    def _searched(self, name: str) -> CheckResult:
        record, attribute = self._record(name)
        question = self._question(name)
        replayed = self._replay(name, question)
        if replayed is not None:
            return replayed
        profiles = strata(name, self.folder.inputs)
        tried = 0
        for profile, examples in shares(profiles, self._examples(name)):
            search = Search(record, profile, stream=self.options.stream, shrink_calls=self._shrink_calls(name))
            finding = search.run(question, examples, self._seed(name, profile))
            tried += search.examples
            if finding is not None:
                return self._found(name, finding, question, tried, attribute, "")
        if name in ("layout", "device"):
            asked = self.examiner.edge_device if name == "device" else question
            failed, tried = self._at_edges(name, [asked], tried)
            if failed is not None:
                return failed
        touched = self._touched(name)
        if touched is not None:
            return touched
        leak = self._leak() if name == "pure" else None
        if leak is not None:
            return self._found("pure", leak, None, tried, attribute, "")
        if name == "device" and self.examiner.device_unproved:
            return self._result("device", "skipped", "cannot be proved for this solution without a GPU", tried)
        return self._result(name, "pass", examples=tried)

    def _shrink_calls(self, name: str) -> int:
        """Statistics do not shrink: a smaller case proves less, and each costs thousands of draws."""
        return 0 if self.options.quick or name == "random" else SHRINK_CALLS

    def _record(self, name: str) -> tuple[Callable[[Recorder], Any], str]:
        special = {"stable": "stable", "random": "random"}.get(name, "")
        attribute = special if special and hasattr(self.folder.inputs, special) else "case"
        return getattr(self.folder.inputs, attribute), attribute

    def _question(self, name: str) -> Examine:
        if name == "gradients":
            return self.examiner.gradients
        if name == "device":
            return self.examiner.device
        if name == "pure":
            return self.examiner.pure
        return self.examiner.values

    def _examples(self, name: str) -> int:
        if self.options.examples and name == "matches-reference":
            return self.options.examples
        return EXAMPLES[name]

    def _seed(self, check: str, profile: Profile) -> int:
        text = f"{self.folder.id}:{self.folder.spec.get('version', 1)}:{check}:{profile.name}:{self.options.stream}"
        return zlib.crc32(text.encode())

    def _drawn(self, name: str, count: int) -> list[Case]:
        """Cases of a check's first stratum, without examining them."""
        record, _ = self._record(name)
        profile = strata(name, self.folder.inputs)[0]
        return drawn(record, profile, count, self._seed(f"{name}-drawn", profile), self.options.stream)

    def _leak(self) -> Finding | None:
        """The same cases in a worker that has seen no others: an answer must not depend on earlier calls."""
        cases = self._drawn("pure", 3)
        before = [self.submission.run(case) for case in cases]
        failure = self.submission.renew()
        if failure is not None:
            return Finding.of_failure(cases[0], failure)
        for case, first in reversed(list(zip(cases, before, strict=True))):
            second = self.submission.run(case)
            if isinstance(first, Failure) or isinstance(second, Failure):
                continue
            message = "gives another answer in a fresh process than after other calls"
            finding = self.examiner.same(case, second, first, "depends-on-earlier-calls", message)
            if finding is not None:
                return finding
        return None

    # Findings

    def _replay(self, name: str, question: Examine) -> CheckResult | None:
        for kept in self.options.replay:
            if kept.get("check") != name:
                continue
            case = restore(kept, self.folder, self.options.stream)
            finding = question(case) if case is not None else None
            if finding is not None:
                self.stored.append(dict(kept))
                return self._reported(name, finding, 1, "the stored counterexample: ")
        return None

    def _found(
        self, name: str, finding: Finding, question: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        self.dead = self.dead or finding.fatal
        touched = self._touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if finding.fatal or self.options.quick or question is None or finding.of_property:
            return self._reported(name, finding, tried, _prefix(label))
        simple = simplify(finding, question, SIMPLIFY_CALLS)
        simple.case.label = label
        again = self._in_fresh_worker(simple, question)
        if again is not None:
            simple = again
        kept = store(simple, name, attribute) if not label else None
        if kept is not None:
            self.stored.append(kept)
        if not self.diagnosis and simple.reason in DIAGNOSED:
            self.diagnosis = diagnose(self.folder, self._probes(simple, attribute, question == self.examiner.gradients))
        return self._reported(name, simple, tried, _prefix(label))

    def _in_fresh_worker(self, finding: Finding, question: Examine) -> Finding | None:
        """The finding again from a new process; if it is gone there, that is the verdict."""
        failure = self.submission.renew()
        if failure is not None:
            self.dead = True
            return None
        if question(finding.case) is not None:
            return None
        message = f"fails only after other calls: {finding.message}"
        return replace(finding, reason="depends-on-earlier-calls", message=message)

    def _probes(self, finding: Finding, attribute: str, gradients: bool) -> list[Probe]:
        """The failing case and further ones of its kind, with what the submission returned for each."""
        seed = self._seed("probes", finding.case.profile)
        cases: list[Case] = []
        for name in dict.fromkeys([attribute, "case"]):
            count = 1 if name.startswith("edge_") else PROBES
            record = getattr(self.folder.inputs, name)
            cases += drawn(record, finding.case.profile, count, seed, self.options.stream)
        probes: list[Probe] = []
        for case in [finding.case, *cases]:
            observed = self.examiner.observed_gradients(case) if gradients else self.submission.run(case)
            if isinstance(observed, Failure):
                if observed.fatal or case is finding.case:
                    return []
                continue
            probes.append(Probe(case, observed, self.examiner.gradient_question(case) if gradients else None))
        return probes

    def _reported(self, name: str, finding: Finding, tried: int, prefix: str) -> CheckResult:
        result = self._failed(name, finding.reason, prefix + finding.message, examples=tried)
        return replace(result, counterexample=render(finding, self.folder))

    def _failed(self, name: str, reason: str, message: str, examples: int = 0) -> CheckResult:
        return CheckResult(name=name, status="fail", reason=reason, message=message, examples=examples)

    def _result(self, name: str, status: Status, message: str = "", examples: int = 0) -> CheckResult:
        return CheckResult(name=name, status=status, message=message, examples=examples)


def _prefix(label: str) -> str:
    return f"{label}: " if label else ""
