"""How each check asks a submission: with which questions, and what is made of the answers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from attncli.domain.challenge import CHECK_NAMES, RUNGS, CaseRung, Rung
from attncli.domain.grade_report import (
    CheckResult,
    Diagnosis,
    GradeReport,
    Status,
    Verdict,
    counterexample_of,
    message_fields,
)
from attncli.domain.text import NOTHING, Localised, printable
from attncli.judge.case import Case
from attncli.judge.checks import CHECKS, Kind, Options, Way
from attncli.judge.counterexample import render, restore, store
from attncli.judge.diagnose import Probe, ProbeKind, diagnose, other_random_states
from attncli.judge.exam import EdgeQuestion, Exam, Stratum, rung_of, rung_of_finding
from attncli.judge.examiner import Counts, Examiner
from attncli.judge.growth import Measured, contracts, examine_growth, growth_told, projected
from attncli.judge.guard import Unjudgeable
from attncli.judge.messages import say
from attncli.judge.patterns import is_rounding
from attncli.judge.protocol import (
    Request,
    SourceReading,
    forbidden_in_traces,
    forbidden_message,
    outside_kernels,
    rules_for,
)
from attncli.judge.questions import Values
from attncli.judge.reference import Expectation
from attncli.judge.shrink import SHRINK_CALLS, Reduction, Search, reduced, simplify
from attncli.judge.submission import CaseFinding, Examine, Failure, Submission
from attncli.sandbox import devices
from attncli.sandbox.devices import AWAY

# One grading from start to verdict: the checks in order, the first rung before the second.


@dataclass
class Grading:
    """The state of one grading: the results so far."""

    exam: Exam
    submission: Submission
    options: Options
    notify: Callable[[dict[str, Any]], None] = lambda event: None
    results: dict[str, CheckResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        spec = self.exam.folder.spec
        self.required = [name for name in CHECK_NAMES if name in spec["required"]]
        self.badges = [name for name in CHECK_NAMES if name in spec.get("badges", ())]
        self.faults = FaultReports(self.exam, self.submission, self.options)
        self.checks = Checks(self.faults)
        self._cut_short: set[CaseRung] = set()

    def run(self) -> GradeReport:
        """All checks on both rungs, the second only where the first is reached; then the report."""
        start = time.monotonic()
        for rung, name in self._order():
            if rung == "hardened" and not self.options.quick and self._broken("solved"):
                self._leave_out(name)
                continue
            self._check(name, rung)
            if self.options.quick and (self._broken("solved") or self._broken("hardened")):
                break
        if not self._broken("solved"):
            self._ask_for_what_waits()
        self.submission.collect()
        reached = self._reached()
        verdict: Verdict = "accepted" if reached in ("hardened", self.options.rung) else "rejected"
        return GradeReport(
            challenge=self.exam.folder.id,
            file=self.submission.filename,
            verdict=verdict,
            rung=reached,
            checks=self._told(),
            diagnosis=tuple(self.faults.diagnosis),
            seconds=round(time.monotonic() - start, 3),
            seed=self.options.stream,
            printed=self.submission.printed,
            stored=tuple(self.faults.stored),
        )

    def _ask_for_what_waits(self) -> None:
        """Where the second rung was asked for before the first, what the first has shown of it is still to be told."""
        for name in [name for name, result in self.results.items() if result.status == "pass"]:
            if self.checks.waits(name):
                self._check(name, "hardened")

    def _told(self) -> tuple[CheckResult, ...]:
        """The results in the order of the checks; a forbidden call comes first, as other faults may follow from it."""
        results = [self.results[name] for name in CHECK_NAMES if name in self.results]
        return tuple(sorted(results, key=lambda r: not (r.name == "forbidden" and r.status == "fail" and r.required)))

    def _order(self) -> list[tuple[CaseRung, str]]:
        asked = {*self.required, *(() if self.options.quick else self.badges)}
        names = [name for name in CHECK_NAMES if name in asked and name not in self.options.settled]
        pairs = [(rung, name) for rung in RUNGS for name in names if name == "loads" or self.exam.has(name, rung)]
        pairs = [(rung, name) for rung, name in pairs if name != "loads" or rung == "solved"]
        check, last = self.options.first
        # What breaks the second rung may show while a check is asked for the first, which therefore goes before it.
        first = [(rung, check) for rung in RUNGS if rung == last or last == RUNGS[-1]]
        if self._away:
            pairs = [("solved", name) if name == "device" else (rung, name) for rung, name in pairs]
        return sorted(pairs, key=lambda pair: (pair[1] != "loads", not self._stands_first(pair[1]), pair not in first))

    @property
    def _away(self) -> bool:
        return self.exam.device in AWAY

    def _stands_first(self, name: str) -> bool:
        """On another device nothing can be asked of a file that makes its tensors on the CPU: there its `device` check
        comes before the others, and is of the first rung."""
        return self._away and name == "device"

    def _broken(self, rung: CaseRung) -> bool:
        """Whether a required check failed there."""
        found = (self.results[name] for name in self.required if name in self.results)
        return any(result.status == "fail" and result.rung == rung for result in found)

    def _reached(self) -> Rung:
        """What could not be asked any more was not passed."""
        if self._broken("solved") or "solved" in self._cut_short:
            return "none"
        return "solved" if self._broken("hardened") or "hardened" in self._cut_short else "hardened"

    def _unloaded(self) -> bool:
        return "loads" in self.results and self.results["loads"].status == "fail"

    def _leave_out(self, name: str) -> None:
        """The second rung of a check is not asked for before the first is reached."""
        if name not in self.results:
            result = self.faults.result(name, "skipped", say("needs-first-rung"))
            self.results[name] = replace(result, required=name in self.required)

    def _check(self, name: str, rung: CaseRung) -> None:
        before = self.results.get(name)
        if before is not None and before.status != "pass":
            return
        self.notify({"event": "check", "name": name, "status": "running"})
        start = time.monotonic()
        blocked = self._blocked(name, rung)
        if blocked:
            result = self.faults.result(name, "skipped", say("needs", check=blocked))
            if name in self.required:
                self._cut_short.add(rung)
        else:
            result = replace(self.checks.run(name, "hardened" if self._stands_first(name) else rung), rung=rung)
        result = replace(result, seconds=round(time.monotonic() - start, 4), required=name in self.required)
        self.results[name] = result if before is None else _both(before, result)
        self.notify({"event": "check", "name": name, "status": result.status, **message_fields(result)})

    def _blocked(self, name: str, rung: CaseRung) -> str:
        """The check that has to hold before this one is asked for, empty where none stands in its way."""
        if name == "loads":
            return ""
        if self._unloaded():
            return "" if name == "forbidden" and self.checks.reading.syntax is None else "loads"
        if self.faults.dead and name != "forbidden":
            return next((r.name for r in self.results.values() if r.status == "fail"), "loads")
        placed = "device" if self._away and name not in ("device", "forbidden") else ""
        needs = [placed, CHECKS[name].needs, CHECKS[name].needs_hardened if rung == "hardened" else ""]
        return next((n for n in needs if n in self.results and self.results[n].status == "fail"), "")


def _both(first: CheckResult, second: CheckResult) -> CheckResult:
    """The result of a check on both rungs; one that could not be asked for the second stays at the first."""
    if second.status == "skipped":
        return first
    examples, seconds = first.examples + second.examples, round(first.seconds + second.seconds, 4)
    if second.status == "pass":
        growth = first.growth + second.growth
        return replace(first, rung=second.rung, growth=growth, examples=examples, seconds=seconds)
    return replace(second, examples=examples, seconds=seconds)


class Checks:
    """The checks of one grading. A fault of the second rung that shows on the first waits until that is asked for."""

    def __init__(self, faults: FaultReports) -> None:
        self.faults = faults
        self.exam, self.submission, self.options = faults.exam, faults.submission, faults.options
        self.examiner = faults.examiner
        self.folder = self.exam.folder
        self._measured: Measured = {}
        self._waiting: dict[str, Callable[[], CheckResult]] = {}
        self._broken: set[str] = set()

    @cached_property
    def reading(self) -> SourceReading:
        """What the file says, without running it."""
        return self.submission.read(rules_for(self.folder))

    def run(self, name: str, rung: CaseRung) -> CheckResult:
        """The result of a check on one rung."""
        waiting = self._waiting.get(name) if rung == "hardened" else None
        result = self._asked(name, rung) if waiting is None else waiting()
        if result.status == "fail":
            self._broken.add(name)
        return result

    def waits(self, name: str) -> bool:
        """Whether the first rung has shown a fault of the second, which is told when that one is asked for."""
        return name in self._waiting

    def _asked(self, name: str, rung: CaseRung) -> CheckResult:
        ways: dict[Way, Callable[[], CheckResult]] = {
            "file": self._loads,
            "source": self._forbidden,
            "edges": lambda: self._edges(name, rung),
            "cases": lambda: self._searched(name, rung),
            "growth": lambda: self._growth(name, rung),
            "clock": self._speed,
        }
        return ways[CHECKS[name].way]()

    def _loads(self) -> CheckResult:
        failed = self.faults.failed
        if self.reading.syntax is not None:
            return failed("loads", "exception", say("does-not-parse", error=self.reading.syntax))
        failure = self.submission.load()
        if failure is None:
            if self.reading.entry is None:
                return self.faults.touched("loads") or self.faults.result("loads", "pass")
            return failed("loads", "missing-entry-point", self.reading.entry)
        self.faults.dead = self.faults.dead or failure.fatal
        result = failed("loads", failure.reason, failure.message)
        if failure.frames:
            return replace(result, counterexample=counterexample_of({"frames": failure.frames}))
        return result

    def _forbidden(self) -> CheckResult:
        if self.reading.forbidden is not None:
            return self.faults.failed("forbidden", "forbidden", self.reading.forbidden)
        if self.faults.dead or not self.submission.loaded:
            return self.faults.result("forbidden", "pass")
        named = forbidden_in_traces(self.folder.spec.get("forbidden", ()))
        requests = self.exam.sample("forbidden", CHECKS["forbidden"].examples)
        seen = list(self.examiner.seen)
        for request in requests:
            observed = self.submission.run(request)
            if isinstance(observed, Failure):
                break
            seen += [(str(called), int(line)) for called, line in observed.seen]
        for called, line in seen:
            if line and named.names(called):
                return self.faults.failed("forbidden", "forbidden", forbidden_message(line, called))
        if self.folder.kernel and seen and (message := outside_kernels(seen)) is not None:
            return self.faults.failed("forbidden", "forbidden", message)
        return self.faults.touched("forbidden") or self.faults.result("forbidden", "pass", examples=len(requests))

    def _edges(self, name: str, rung: CaseRung) -> CheckResult:
        failed, tried = self._at_edges(name, rung, 0)
        return failed or self.faults.touched(name) or self.faults.result(name, "pass", examples=tried)

    def _at_edges(self, name: str, rung: CaseRung, tried: int) -> tuple[CheckResult | None, int]:
        """Asks the questions of every edge case in the profiles of this check."""
        edges = [edge for edge in self.exam.edges(name) if edge.rung == rung and self._is_asked(edge, name)]

        def result_of(index: int, finding: CaseFinding) -> CheckResult:
            edge = edges[index]
            broken = rung_of_finding(finding, rung)
            examine = self._of_rung(self.examiner.again(edge.question), name, edge.attribute, broken)
            return self.faults.found(name, finding, examine, tried + index + 1, edge.attribute, edge.label)

        fault = self.examiner.first_fault([edge.question for edge in edges], self._counting(name, rung, result_of))
        if fault is None:
            return None, tried + len(edges)
        return result_of(*fault), tried + fault[0] + 1

    def _is_asked(self, edge: EdgeQuestion, name: str) -> bool:
        """Another layout or device shows nothing where the plain run was wrong, or where no tensor is made."""
        if name == "edge-cases":
            return True
        if name == "device" and edge.label in self.examiner.made_nothing - self.examiner.made:
            return False
        return edge.rung_of_values == "solved" or self._broken.isdisjoint({"edge-cases", "low-precision"})

    def _counting(self, name: str, rung: CaseRung, result_of: Callable[[int, CaseFinding], CheckResult]) -> Counts:
        """Which faults break this rung; the first of the other one waits until that is asked for."""

        def counts(index: int, finding: CaseFinding) -> bool:
            if rung_of_finding(finding, rung) == rung:
                return True
            self._waiting.setdefault(name, lambda: result_of(index, finding))
            return False

        return counts

    def _of_rung(self, examine: Examine, name: str, attribute: str, rung: CaseRung) -> Examine:
        """The same question, to which only faults of this rung are an answer."""

        def examined(case: Case) -> CaseFinding | None:
            of_case = rung_of(case, name, attribute, self.folder.facts)
            finding = examine(case) if of_case == rung or rung == "hardened" else None
            return finding if finding is not None and rung_of_finding(finding, of_case) == rung else None

        return examined

    def _growth(self, name: str, rung: CaseRung) -> CheckResult:
        held = []
        promises = contracts(self.folder, name)
        seen = [c for c in promises if c.measure != "moved" or self.exam.device == devices.CPU]
        if promises and not seen:
            return self.faults.result(name, "info", say("only-interpreted"))
        for contract in seen:
            for profile in self.exam.growth_profiles(rung):
                growth = examine_growth(self.exam, self.submission, contract, self._measured, profile)
                if isinstance(growth, CaseFinding):
                    self.faults.dead = self.faults.dead or growth.fatal
                    return self.faults.failed(name, growth.reason, growth.message)
                if not growth.holds and not self.options.quick:
                    growth = projected(self.exam, self.submission, growth)
                shown = growth.document()
                if not growth.holds:
                    return replace(self.faults.failed(name, "growth", growth_told([shown])), growth=(shown,))
                held.append(shown)
        return replace(self.faults.result(name, "pass", growth_told(held), examples=len(held)), growth=tuple(held))

    def _speed(self) -> CheckResult:
        requests = self.exam.sample("pure", 3)
        if self.exam.device in devices.AWAY:
            return self._speed_by_events([replace(r, want=(*r.want, "clock")) for r in requests])
        start = time.monotonic()
        for request in requests:
            if isinstance(self.submission.run(request), Failure):
                return self.faults.result("speed", "info", say("not-measured"))
        elapsed_ms = 1000 * (time.monotonic() - start) / max(1, len(requests))
        return self.faults.result("speed", "info", say("milliseconds", ms=f"{elapsed_ms:.1f}"))

    def _speed_by_events(self, requests: Sequence[Request]) -> CheckResult:
        """The median program on a device, each run twice: the first time compiles, and fills the caches."""
        times_us = []
        for request in [twice for one in requests for twice in (one, one)]:
            seen = self.submission.run(request)
            if isinstance(seen, Failure):
                return self.faults.result("speed", "info", say("not-measured"))
            times_us.append(sum(seen.device_us))
        elapsed_ms = statistics.median(times_us[1::2] or [0]) / 1000
        return self.faults.result("speed", "info", say("milliseconds-by-events", ms=f"{elapsed_ms:.3f}"))

    def _searched(self, name: str, rung: CaseRung) -> CheckResult:
        replayed = self._replay(name, rung)
        if replayed is not None:
            return replayed
        tried = 0
        for stratum in self.exam.strata(name, self.options.examples if name == "matches-reference" else 0):
            failed = self._in_stratum(name, rung, stratum, tried)
            if failed is not None:
                return failed
            tried += stratum.rungs.count(rung)
        if CHECKS[name].edges and "edge-cases" not in self.options.settled:
            failed, tried = self._at_edges(name, rung, tried)
            if failed is not None:
                return failed
        touched = self.faults.touched(name)
        if touched is not None:
            return touched
        leaks = name == "pure" and rung == "solved" and "loads" not in self.options.settled
        leak = self._leak() if leaks else None
        if leak is not None:
            return self.faults.found("pure", leak, None, tried, "case", "")
        if name == "device" and self.examiner.device_unproved:
            return self.faults.result("device", "skipped", say("no-proof-of-device"), tried)
        return self.faults.result(name, "pass", examples=tried)

    def _in_stratum(self, name: str, rung: CaseRung, stratum: Stratum, tried: int) -> CheckResult | None:
        places = [k for k, of_case in enumerate(stratum.rungs) if of_case == rung]

        def result_of(index: int, finding: CaseFinding) -> CheckResult:
            broken = rung_of_finding(finding, rung)
            examine = self._of_rung(self._question(name), name, stratum.attribute, broken)
            smallest = finding
            if not self._conclusive(name, finding):
                smallest = self._shrunk(stratum, places[index], finding, examine)
            return self.faults.found(name, smallest, examine, tried + index + 1, stratum.attribute, "")

        ask = self.examiner.first_fault_in_turn if CHECKS[name].in_turn else self.examiner.first_fault
        fault = ask([stratum.questions[k] for k in places], self._counting(name, rung, result_of))
        return None if fault is None else result_of(*fault)

    def _conclusive(self, name: str, finding: CaseFinding) -> bool:
        """Statistics do not shrink: a smaller case proves less, and each costs thousands of draws."""
        return self.options.quick or finding.fatal or name == "random"

    def _shrunk(self, stratum: Stratum, index: int, finding: CaseFinding, examine: Examine) -> CaseFinding:
        """The smallest counterexample that is found from the question at `index` on."""
        search = Search(
            stratum.record,
            stratum.profile,
            stream=self.exam.stream,
            shrink_calls=SHRINK_CALLS,
            declared=self.folder.declared,
        )
        found = search.run(examine, len(stratum.questions), stratum.seed, sound=index)
        return found or finding

    def _question(self, name: str) -> Examine:
        asked: dict[Kind, Examine] = {
            "values": self.examiner.values,
            "gradients": self.examiner.gradients,
            "device": self.examiner.device,
            "pure": self.examiner.pure,
        }
        return asked[CHECKS[name].kind]

    def _leak(self) -> CaseFinding | None:
        """The same cases in a worker that has seen no others: an answer must not depend on earlier calls."""
        requests = self.exam.sample("pure", 3)
        before = [self.submission.run(request) for request in requests]
        failure = self.submission.renew()
        if failure is not None:
            return CaseFinding.of_failure(requests[0].case, failure)
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

    def _replay(self, name: str, rung: CaseRung) -> CheckResult | None:
        for kept in self.options.replay:
            if kept.get("check") != name:
                continue
            case = restore(kept, self.folder, self.exam.device)
            if case is None:
                continue
            examine = self._of_rung(self._question(name), name, str(kept["record"]), rung)
            finding = examine(case)
            if finding is not None:
                return self.faults.kept(name, finding, kept, examine)
        return None


# What is made of a fault: plain values, a run in a fresh process, the name of the mistake, the result of a check.

PROBES = 8
# Where these leave several names, so many tell them apart, if anything does.
MORE_PROBES = 40
# So many faults of a grading are asked for the name of the mistake.
MOST_ATTEMPTS = 3
# What a submission raises, names and returns is quoted; a report is read by people.
MESSAGE_LENGTH = 2000
DIAGNOSED = frozenset({"values", "shape", "dtype", "not-finite", "exception", "gradient"})


class FaultReports:
    """The faults of one grading. `dead`: nothing further is asked of the file. `stored` are kept counterexamples."""

    def __init__(self, exam: Exam, submission: Submission, options: Options) -> None:
        self.exam, self.submission, self.options = exam, submission, options
        self.examiner = Examiner(exam.demands, submission)
        self.stored: list[dict[str, Any]] = []
        self.diagnosis: list[Diagnosis] = []
        self.dead = False
        self._attempts = 0

    def touched(self, name: str) -> CheckResult | None:
        """The result of a check in which the file tried what it may not."""
        if not self.submission.touched:
            return None
        self.dead = True
        tried = ", ".join(self.submission.touched[:4])
        return self.failed(name, "refused", say("tried", names=tried))

    def kept(self, name: str, finding: CaseFinding, stored: Mapping[str, Any], examine: Examine) -> CheckResult:
        """The result of a check that a stored counterexample fails."""
        finding = finding if self.options.quick else reduced(finding, examine).finding
        self.dead = self.dead or finding.fatal
        self.stored.append(dict(stored))
        self._name_mistake(name, finding, str(stored["record"]))
        return self.reported(name, replace(finding, message=say("kept-counterexample", fault=finding.message)), 1)

    def found(
        self, name: str, finding: CaseFinding, examine: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        """The result of a check that fails by a finding."""
        self.dead = self.dead or finding.fatal
        touched = self.touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if not (finding.fatal or self.options.quick or examine is None):
            if finding.of_property:
                self._name_mistake(name, finding, attribute)
            else:
                finding = self._plainest(name, finding, examine, attribute, label)
        if label:
            # In Chinese the label stands before the reason (see words/grade_report_texts.py), and not in the sentence.
            said = Localised(f"{label}: {finding.message.en}", finding.message.zh)
            finding = replace(finding, message=said)
        return self.reported(name, finding, tried)

    def _plainest(self, name: str, finding: CaseFinding, examine: Examine, attribute: str, label: str) -> CaseFinding:
        """The finding with plain values, as it is in a fresh process; it is kept, and its mistake named."""
        small = reduced(finding, examine)
        simple = simplify(small.finding, examine)
        simple.case.label = label
        simple, fresh = self._in_fresh_worker(simple, examine)
        if not fresh and small.finding is not finding and (again := examine(finding.case)) is not None:
            small, simple = Reduction(again, range(len(finding.case.inputs)), needs_all=True), again
        if not label:
            self._keep(name, attribute, finding.case, simple, small, examine)
        self._name_mistake(name, simple, attribute)
        if small.needs_all and simple.reason == finding.reason:
            return replace(simple, message=say("only-together", fault=simple.message))
        return simple

    def _keep(
        self, name: str, attribute: str, drawn: Case, simple: CaseFinding, small: Reduction, examine: Examine
    ) -> None:
        """Stores the counterexample as the whole that was drawn, with the plain values where it fails with them."""
        whole = simple
        if small.finding.case is not drawn:
            case = small.in_whole(drawn, [item.value for item in simple.case.inputs])
            found = None if simple.fatal else examine(case)
            whole = replace(simple, case=drawn if found is None else case)
        kept = store(whole, name, attribute, self.options.stream)
        if kept is not None:
            self.stored.append(kept)

    def _name_mistake(self, name: str, finding: CaseFinding, attribute: str) -> None:
        """Name the mistake behind a finding. Lost digits are named last: they hide no other mistake."""
        known = bool(self.diagnosis) and not is_rounding(self.diagnosis[0])
        if known or finding.fatal or finding.reason not in DIAGNOSED or self._attempts == MOST_ATTEMPTS:
            return
        self._attempts += 1
        gradients = name == "gradients" or finding.reason == "gradient"
        rung = rung_of_finding(finding, rung_of(finding.case, name, attribute, self.exam.folder.facts))
        found = self._diagnosed(self._probes(finding, attribute, gradients, PROBES, rung), rung)
        if len(found) > 1 and not found[0].beside:
            among = [known.wrong for known in found]
            found = self._diagnosed(self._probes(finding, attribute, gradients, MORE_PROBES, rung), rung, among)
        self.diagnosis = found or self.diagnosis

    def _diagnosed(self, probes: Sequence[Probe], rung: CaseRung, among: Sequence[str] = ()) -> list[Diagnosis]:
        text = self.submission.source.decode("utf-8", "replace")
        with suppress(Unjudgeable):
            return self.submission.guard.look(lambda: diagnose(self.exam.folder, probes, rung, text, among))
        return []

    def _in_fresh_worker(self, finding: CaseFinding, examine: Examine) -> tuple[CaseFinding, bool]:
        """The finding again from a new process, and whether it is there; if it is gone, that is the verdict."""
        failure = self.submission.renew()
        if failure is not None:
            self.dead = True
            return finding, True
        if examine(finding.case) is not None:
            return finding, True
        message = say("only-after-other-calls", fault=finding.message)
        return replace(finding, reason="depends-on-earlier-calls", message=message), False

    def _probes(self, finding: CaseFinding, attribute: str, gradients: bool, count: int, rung: CaseRung) -> list[Probe]:
        """Put the failing case, further ones of its kind and the edge cases to the submission."""
        drawn = [Values(self.exam.demands, finding.case)]
        for name in dict.fromkeys([attribute, "case"]):
            drawn += self.exam.probes(name, finding.case.profile, 1 if name.startswith("edge_") else count)
        again = [Values(self.exam.demands, case) for case in other_random_states(finding.case)]
        edges = self.exam.edge_probes(finding.case.profile, rung)
        kinds: dict[ProbeKind, list[Values]] = {
            "drawn": drawn,
            "again": again,
            "edge": [e for e in edges if e.case.label != finding.case.label],
        }
        probes: list[Probe] = []
        for kind, questions in kinds.items():
            for question in questions:
                request = self.exam.probe(question.case, gradients)
                observed = self.submission.run(request)
                if isinstance(observed, Failure) and observed.fatal:
                    return []
                answer = None if isinstance(observed, Failure) else observed
                probes.append(Probe(request, answer, question.expectation, kind))
        return probes

    def reported(self, name: str, finding: CaseFinding, tried: int) -> CheckResult:
        result = self.failed(name, finding.reason, finding.message, examples=tried)
        with suppress(Unjudgeable):
            shown = self.submission.guard.look(lambda: render(finding, self.exam.demands))
            result = replace(result, counterexample=shown)
        return result

    def failed(self, name: str, reason: str, message: Localised, examples: int = 0) -> CheckResult:
        said = Localised(printable(message.en[:MESSAGE_LENGTH]), printable(message.zh[:MESSAGE_LENGTH]))
        return CheckResult(name=name, status="fail", reason=reason, message=said, examples=examples)

    def result(self, name: str, status: Status, message: Localised = NOTHING, examples: int = 0) -> CheckResult:
        return CheckResult(name=name, status=status, message=message, examples=examples)


# A kernel that a GPU accepts is put to Triton's interpreter as well, and reaches what it reaches in both.
#
# Compiled, a kernel is judged by its values alone: past the end of a tensor there may be memory, of two programs that
# store to one place one comes last, and what is loaded and stored is not counted. Grading and proving both ask here.


def interpreted_too(
    report: GradeReport, kernel: bool, device: str, interpret: Callable[[], GradeReport]
) -> GradeReport:
    """The report of a file on a device; of a kernel that reaches a rung on a GPU the one that reaches less.

    `interpret` grades the same file in the interpreter, on the CPU. Where that changes nothing, its results stand in
    place of those that a GPU has nothing to say to.
    """
    if not kernel or device not in AWAY or report.rung == "none":
        return report
    found = interpret()
    seconds = round(report.seconds + found.seconds, 3)
    if _height(found) < _height(report):
        return replace(found, seconds=seconds, device_note=say("interpreter-objects"))
    asked = {check.name: check for check in found.checks}
    checks = tuple(_told(check, asked.get(check.name)) for check in report.checks)
    return replace(report, checks=checks, seconds=seconds, device_note=say("interpreted-too"))


def without_gpu(report: GradeReport, why: str) -> GradeReport:
    """The report of a file that runs on the CPU, since the GPU cannot be used."""
    return replace(report, device_note=say("gpu-unusable", why=why))


def _height(report: GradeReport) -> int:
    return ("none", *RUNGS).index(report.rung)


def _told(compiled: CheckResult, interpreted: CheckResult | None) -> CheckResult:
    """The result in the interpreter, of a check to which a GPU has nothing to say."""
    return interpreted if interpreted is not None and compiled.required and compiled.status == "info" else compiled
