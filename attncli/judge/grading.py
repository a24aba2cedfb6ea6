"""One grading from start to verdict: the checks in order, each with its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from attncli.domain.challenge import CHECK_NAMES, CheckResult, Diagnosis, GradeReport, Status, Verdict
from attncli.domain.growth import growth_told
from attncli.domain.printable import printable
from attncli.domain.sentences import NOTHING, say
from attncli.domain.text import Localised
from attncli.judge.counterexample import render, restore, store
from attncli.judge.diagnose import Probe, diagnose
from attncli.judge.exam import EXAMPLES, Exam, Stratum
from attncli.judge.examine import Examiner
from attncli.judge.expected import Expectation
from attncli.judge.finding import Finding
from attncli.judge.growth import Measured, contracts, examine_growth, projected
from attncli.judge.judging import Unjudgeable
from attncli.judge.reading import Forbidden, Reading, entry_problem, forbidden_message, read_source
from attncli.judge.report import told
from attncli.judge.search import Examine, Search
from attncli.judge.simplify import simplify
from attncli.judge.submission import Failure, Submission

SHRINK_CALLS = 120
SIMPLIFY_CALLS = 80
PROBES = 8
# What a submission raises, names and returns is quoted; a report is read by people.
MESSAGE_LENGTH = 2000
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
    names a check to run before the others, `settled` are checks known to hold, which are left out.
    """

    stream: int = 0
    examples: int = 0
    quick: bool = False
    first: str = ""
    settled: Collection[str] = ()
    replay: Sequence[dict[str, Any]] = ()


@dataclass
class Grading:
    """The state of one grading: results so far, and the findings that a diagnosis starts from."""

    exam: Exam
    submission: Submission
    options: Options
    notify: Callable[[dict[str, Any]], None] = lambda event: None
    results: dict[str, CheckResult] = field(default_factory=dict)
    stored: list[dict[str, Any]] = field(default_factory=list)
    diagnosis: list[Diagnosis] = field(default_factory=list)
    measured: Measured = field(default_factory=dict)
    dead: bool = False

    def __post_init__(self) -> None:
        self.folder = self.exam.folder
        self.examiner = Examiner(self.exam.demands, self.submission)
        self.required = [name for name in CHECK_NAMES if name in self.folder.spec["required"]]
        self.badges = [name for name in CHECK_NAMES if name in self.folder.spec.get("badges", ())]
        self.reading: Reading = read_source(self.submission.source, tuple(self.folder.spec.get("forbidden", ())))

    def run(self) -> GradeReport:
        """All checks, then the report."""
        start = time.monotonic()
        for name in self._order():
            self._check(name)
            if self.options.quick and self._rejected():
                break
        verdict: Verdict = "rejected" if self._rejected() else "accepted"
        self.submission.collect()
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
        names = [name for name in CHECK_NAMES if name in asked and name not in self.options.settled]
        return sorted(names, key=lambda name: (name != "loads", name != self.options.first))

    def _rejected(self) -> bool:
        return any(self.results[n].status == "fail" for n in self.required if n in self.results)

    def _unloaded(self) -> bool:
        return "loads" in self.results and self.results["loads"].status == "fail"

    def _check(self, name: str) -> None:
        self.notify({"event": "check", "name": name, "status": "running"})
        start = time.monotonic()
        blocked = self._blocked(name)
        result = self._result(name, "skipped", say("needs", check=blocked)) if blocked else self._run(name)
        result = replace(result, seconds=round(time.monotonic() - start, 4), required=name in self.required)
        self.results[name] = result
        self.notify({"event": "check", "name": name, "status": result.status, **told(result)})

    def _blocked(self, name: str) -> str:
        """The check that has to hold before this one is asked for, empty where none stands in its way."""
        if name == "loads":
            return ""
        if self._unloaded():
            return "" if name == "forbidden" and self.reading.syntax is None else "loads"
        if self.dead and name != "forbidden":
            return next((r.name for r in self.results.values() if r.status == "fail"), "loads")
        need = NEEDS.get(name, "")
        return need if need in self.results and self.results[need].status == "fail" else ""

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
        if self.reading.syntax is not None:
            return self._failed("loads", "exception", say("does-not-parse", error=self.reading.syntax))
        failure = self.submission.load()
        if failure is None:
            due = read_source(self.folder.reference_source.encode())
            problem = entry_problem(self.folder.entry, self.reading, due)
            if problem is None:
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
        if self.dead or self._unloaded():
            return self._result("forbidden", "pass")
        named = Forbidden(self.folder.spec.get("forbidden", ()))
        seen = list(self.examiner.seen)
        requests = self.exam.sample("forbidden", EXAMPLES["forbidden"])
        for request in requests:
            observed = self.submission.run(request)
            if isinstance(observed, Failure):
                break
            seen += [(str(called), int(line)) for called, line in observed.seen]
        for called, line in seen:
            if line and named.names(called):
                return self._failed("forbidden", "forbidden", forbidden_message(line, called))
        return self._touched("forbidden") or self._result("forbidden", "pass", examples=len(requests))

    def _touched(self, name: str) -> CheckResult | None:
        if not self.submission.touched:
            return None
        self.dead = True
        tried = ", ".join(self.submission.touched[:4])
        return self._failed(name, "refused", say("tried", names=tried))

    def _edges(self) -> CheckResult:
        failed, tried = self._at_edges("edge-cases", 0)
        return failed or self._touched("edge-cases") or self._result("edge-cases", "pass", examples=tried)

    def _at_edges(self, name: str, tried: int) -> tuple[CheckResult | None, int]:
        """Asks the questions of every edge case in the profiles of this check."""
        edges = self.exam.edges(name)
        if name == "device":  # what makes no tensor can make none on the wrong device
            nothing = self.examiner.made_nothing - self.examiner.made
            edges = [edge for edge in edges if edge.label not in nothing]
        fault = self.examiner.first_fault([edge.question for edge in edges])
        if fault is None:
            return None, tried + len(edges)
        index, finding = fault
        edge = edges[index]
        examine = self.examiner.again(edge.question)
        return self._found(name, finding, examine, tried + index + 1, edge.attribute, edge.label), tried + index + 1

    def _growth(self, name: str) -> CheckResult:
        held = []
        for contract in contracts(self.folder, name):
            growth = examine_growth(self.exam, self.submission, contract, self.measured)
            if isinstance(growth, Finding):
                self.dead = self.dead or growth.fatal
                return self._failed(name, growth.reason, growth.message)
            if not growth.holds and not self.options.quick:
                growth = projected(self.exam, self.submission, growth)
            shown = growth.document()
            if not growth.holds:
                return replace(self._failed(name, "growth", growth_told([shown])), growth=(shown,))
            held.append(shown)
        return replace(self._result(name, "pass", growth_told(held), examples=len(held)), growth=tuple(held))

    def _speed(self) -> CheckResult:
        requests = self.exam.sample("pure", 3)
        start = time.monotonic()
        for request in requests:
            if isinstance(self.submission.run(request), Failure):
                return self._result("speed", "info", say("not-measured"))
        elapsed_ms = 1000 * (time.monotonic() - start) / max(1, len(requests))
        return self._result("speed", "info", say("milliseconds", ms=f"{elapsed_ms:.1f}"))

    def _searched(self, name: str) -> CheckResult:
        replayed = self._replay(name)
        if replayed is not None:
            return replayed
        tried = 0
        for stratum in self.exam.strata(name, self._examples(name)):
            fault = self._first_fault(name, stratum)
            if fault is not None:
                tried += fault[0] + 1
                examine = self._question(name)
                finding = fault[1] if self._conclusive(name, fault[1]) else self._shrunk(stratum, *fault, examine)
                return self._found(name, finding, examine, tried, stratum.attribute, "")
            tried += len(stratum.questions)
        if name in ("layout", "device") and "edge-cases" not in self.options.settled:
            failed, tried = self._at_edges(name, tried)
            if failed is not None:
                return failed
        touched = self._touched(name)
        if touched is not None:
            return touched
        leak = self._leak() if name == "pure" and "loads" not in self.options.settled else None
        if leak is not None:
            return self._found("pure", leak, None, tried, "case", "")
        if name == "device" and self.examiner.device_unproved:
            return self._result("device", "skipped", say("no-proof-of-device"), tried)
        return self._result(name, "pass", examples=tried)

    def _first_fault(self, name: str, stratum: Stratum) -> tuple[int, Finding] | None:
        if name in ("pure", "device"):
            return self.examiner.first_fault_in_turn(stratum.questions)
        return self.examiner.first_fault(stratum.questions)

    def _conclusive(self, name: str, finding: Finding) -> bool:
        """Statistics do not shrink: a smaller case proves less, and each costs thousands of draws."""
        return self.options.quick or finding.fatal or name == "random"

    def _shrunk(self, stratum: Stratum, index: int, finding: Finding, examine: Examine) -> Finding:
        """The smallest counterexample that is found from the question at `index` on."""
        search = Search(stratum.record, stratum.profile, stream=self.exam.stream, shrink_calls=SHRINK_CALLS)
        found = search.run(examine, len(stratum.questions), stratum.seed, sound=index)
        return found or finding

    def _question(self, name: str) -> Examine:
        asked = {"gradients": self.examiner.gradients, "device": self.examiner.device, "pure": self.examiner.pure}
        return asked.get(name, self.examiner.values)

    def _examples(self, name: str) -> int:
        return self.options.examples if name == "matches-reference" else 0

    def _leak(self) -> Finding | None:
        """The same cases in a worker that has seen no others: an answer must not depend on earlier calls."""
        requests = self.exam.sample("pure", 3)
        before = [self.submission.run(request) for request in requests]
        failure = self.submission.renew()
        if failure is not None:
            return Finding.of_failure(requests[0].case, failure)
        for request, first in reversed(list(zip(requests, before, strict=True))):
            second = self.submission.run(request)
            if isinstance(first, Failure) or isinstance(second, Failure):
                continue
            due = Expectation(self.exam.demands.reference, request.case)
            reason, sentence = "depends-on-earlier-calls", "another-answer-when-fresh"
            finding = self.examiner.same(due, second, first, reason, sentence)
            if finding is not None:
                return finding
        return None

    # Findings

    def _replay(self, name: str) -> CheckResult | None:
        for kept in self.options.replay:
            if kept.get("check") != name:
                continue
            case = restore(kept, self.folder, self.options.stream)
            finding = self._question(name)(case) if case is not None else None
            if finding is not None:
                self.stored.append(dict(kept))
                self._name_mistake(finding, self._question(name), str(kept["record"]))
                return self._reported(
                    name, replace(finding, message=say("kept-counterexample", fault=finding.message)), 1
                )
        return None

    def _found(
        self, name: str, finding: Finding, examine: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        self.dead = self.dead or finding.fatal
        touched = self._touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if not (finding.fatal or self.options.quick or examine is None or finding.of_property):
            finding = self._plainest(name, finding, examine, attribute, label)
        if label:
            # In Chinese the label stands before the reason (see domain/verdicts.py), and not in the sentence.
            said = Localised(f"{label}: {finding.message.en}", finding.message.zh)
            finding = replace(finding, message=said)
        return self._reported(name, finding, tried)

    def _plainest(self, name: str, finding: Finding, examine: Examine, attribute: str, label: str) -> Finding:
        """The finding with plain values, as it is in a fresh process; it is kept, and its mistake named."""
        simple = simplify(finding, examine, SIMPLIFY_CALLS)
        simple.case.label = label
        simple = self._in_fresh_worker(simple, examine) or simple
        kept = store(simple, name, attribute) if not label else None
        if kept is not None:
            self.stored.append(kept)
        self._name_mistake(simple, examine, attribute)
        return simple

    def _name_mistake(self, finding: Finding, examine: Examine, attribute: str) -> None:
        if not self.diagnosis and not finding.fatal and finding.reason in DIAGNOSED:
            gradients = finding.reason == "gradient" or examine == self.examiner.gradients
            probes = self._probes(finding, attribute, gradients)
            with suppress(Unjudgeable):
                self.diagnosis = self.submission.judging.look(lambda: diagnose(self.folder, probes))

    def _in_fresh_worker(self, finding: Finding, examine: Examine) -> Finding | None:
        """The finding again from a new process; if it is gone there, that is the verdict."""
        failure = self.submission.renew()
        if failure is not None:
            self.dead = True
            return None
        if examine(finding.case) is not None:
            return None
        message = say("only-after-other-calls", fault=finding.message)
        return replace(finding, reason="depends-on-earlier-calls", message=message)

    def _probes(self, finding: Finding, attribute: str, gradients: bool) -> list[Probe]:
        """The failing case and further ones of its kind, with what the submission returned for each."""
        cases = [finding.case]
        for name in dict.fromkeys([attribute, "case"]):
            cases += self.exam.probes(name, finding.case.profile, 1 if name.startswith("edge_") else PROBES)
        probes: list[Probe] = []
        for case in cases:
            request = self.exam.probe(case, gradients)
            observed = self.submission.run(request)
            if not isinstance(observed, Failure):
                probes.append(Probe(request, observed, Expectation(self.exam.demands.reference, case)))
            elif observed.fatal or case is finding.case:
                return []
        return probes

    def _reported(self, name: str, finding: Finding, tried: int) -> CheckResult:
        result = self._failed(name, finding.reason, finding.message, examples=tried)
        with suppress(Unjudgeable):
            shown = self.submission.judging.look(lambda: render(finding, self.exam.demands))
            result = replace(result, counterexample=shown)
        return result

    def _failed(self, name: str, reason: str, message: Localised, examples: int = 0) -> CheckResult:
        said = Localised(printable(message.en[:MESSAGE_LENGTH]), printable(message.zh[:MESSAGE_LENGTH]))
        return CheckResult(name=name, status="fail", reason=reason, message=said, examples=examples)

    def _result(self, name: str, status: Status, message: Localised = NOTHING, examples: int = 0) -> CheckResult:
        return CheckResult(name=name, status=status, message=message, examples=examples)
