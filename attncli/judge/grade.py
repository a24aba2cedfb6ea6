"""How each check asks a submission: with which questions, and what is made of the answers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from attncli.domain.grade_report import CheckResult
from attncli.domain.grade_report_json import counterexample_of
from attncli.domain.rungs import CaseRung
from attncli.judge.answers.finding import CaseFinding, Examine
from attncli.judge.answers.request import Request
from attncli.judge.answers.source_reading import (
    SourceReading,
    forbidden_in_traces,
    forbidden_message,
    outside_kernels,
    rules_for,
)
from attncli.judge.asking.rung_rule import rung_of, rung_of_finding
from attncli.judge.case import Case
from attncli.judge.checks import CHECKS, Kind, Way
from attncli.judge.counterexample import restore
from attncli.judge.exam import EdgeQuestion, Stratum
from attncli.judge.examiner import Counts
from attncli.judge.grading.fault_reports import FaultReports
from attncli.judge.growth import Measured, contracts, examine_growth, projected
from attncli.judge.messages import say
from attncli.judge.searching.shrink import SHRINK_CALLS, Search
from attncli.judge.submission import Failure
from attncli.judge.telling.growth_sentences import growth_told
from attncli.judge.truth.expectation import Expectation
from attncli.sandbox import placement


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
        seen = [c for c in promises if c.measure != "moved" or self.exam.device == placement.CPU]
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
        if self.exam.device in placement.AWAY:
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
