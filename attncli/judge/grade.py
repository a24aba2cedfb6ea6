"""One grading from start to verdict.

`Grading` runs the checks in order, the first rung before the second, and puts the questions of each to the submission.
It turns a failed case into the result of a check: it shrinks the case, runs it in a fresh process and names the
mistake. Every look at an answer is guarded: an answer that cannot be read to the end fails. A kernel that passes on a
GPU is also graded in Triton's interpreter (`interpreted_too`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from attncli.domain.checks import CHECK_NAMES, CHECKS, Way
from attncli.domain.grade_report import CheckResult, Counterexample, Diagnosis, GradeReport, Verdict, read
from attncli.domain.text import printable
from attncli.domain.vocabulary import RUNGS, CaseRung, Rung
from attncli.i18n import Localised
from attncli.judge.case import Case
from attncli.judge.client import GradeOptions
from attncli.judge.counterexample import render, restore, store
from attncli.judge.diagnose import Probe, ProbeKind, diagnose, other_random_states
from attncli.judge.exam import EdgeQuestion, Exam, Stratum, rung_of, rung_of_finding
from attncli.judge.growth import Measured, contracts, examine_growth, growth_told, projected
from attncli.judge.guard import Unjudgeable
from attncli.judge.messages import say
from attncli.judge.protocol import (
    Request,
    SourceReading,
    forbidden_in_traces,
    forbidden_message,
    outside_kernels,
    rules_for,
)
from attncli.judge.questions import KINDS, Compound, Question, Values, differing, guarded
from attncli.judge.reference import Expectation, Observed
from attncli.judge.shrink import SHRINK_CALLS, Reduction, Search, reduced, simplify
from attncli.judge.submission import Examine, FailedCase, Failure, Submission
from attncli.sandbox.devices import AWAY, CPU

T = TypeVar("T")

# The number of drawn cases on which the mistake is named.
PROBES = 8
# If several names remain, this many cases may distinguish them.
MORE_PROBES = 40
# Checks with few but costly questions: each takes another worker or a measurement.
UNDIVIDED = [
    name
    for name, check in CHECKS.items()
    if check.way in ("cases", "growth") and check.examples <= 3 and not check.edges
]
# At most this many failures of a grading are diagnosed.
MOST_ATTEMPTS = 3
# Messages quote exceptions, names and results of a submission; the limit keeps them readable.
MESSAGE_LENGTH = 2000
# Calls that `seen` leaves out: edge cases may have inputs of 16 bits. If 16 bits are forbidden, drawn cases show it.
_SIXTEEN_BITS = ("torch.float16", "torch.bfloat16")
# Takes the position of a question and its failed case; True if that counts.
Counts = Callable[[int, FailedCase], bool]
DIAGNOSED = frozenset({"values", "shape", "dtype", "not-finite", "exception", "gradient"})


@dataclass
class Grading:
    """One grading of a submission.

    `replay` are stored counterexamples, tried first. `first` is a check and its rung to run before the others; checks
    in `settled` are known to pass and left out. `notify` is called when a check starts and when it ends. With a `share`
    of (k, n) only every n-th question of a check is asked, and all of every n-th check of UNDIVIDED: n gradings with
    different k ask everything.

    `stored` are its counterexamples. `ended`: no more questions are asked. `device_unproved`: a question about devices
    proved nothing. `seen` lists the traced calls (name, line); `_made` has the labels of traced cases that made a
    tensor without taking one, `_made_nothing` those of the others. A failure of the second rung that shows on the first
    is `_postponed` to the second.
    """

    exam: Exam
    submission: Submission
    options: GradeOptions
    replay: Sequence[Mapping[str, Any]] = ()
    first: tuple[str, CaseRung | None] = ("", None)
    settled: Collection[str] = ()
    notify: Callable[[CheckResult], None] = lambda check: None
    share: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        self.folder = self.exam.folder
        self.required = [name for name in CHECK_NAMES if name in self.folder.spec["required"]]
        self.badges = [name for name in CHECK_NAMES if name in self.folder.spec.get("badges", ())]
        self.results: dict[str, CheckResult] = {}
        self.stored: list[dict[str, Any]] = []
        self.diagnosis: list[Diagnosis] = []
        self.ended = False
        self.device_unproved = False
        self.seen: list[tuple[str, int]] = []
        self._made: set[str] = set()
        self._made_nothing: set[str] = set()
        self._measured: Measured = {}
        self._postponed: dict[str, Callable[[], CheckResult]] = {}
        self._failed: set[str] = set()
        self._cut_short: set[CaseRung] = set()
        self._attempts = 0

    def run(self) -> GradeReport:
        """Run all checks, the second rung only where the first is reached, and return the report."""
        start = time.monotonic()
        for rung, name in self._order():
            if rung == "hardened" and not self.options.quick and self._failed_on("solved"):
                if name not in self.results:
                    needs = say("needs-first-rung")
                    self.results[name] = CheckResult(
                        name=name, status="skipped", required=name in self.required, message=needs
                    )
                continue
            self._check(name, rung)
            if self.options.quick and (self._failed_on("solved") or self._failed_on("hardened")):
                break
        if not self._failed_on("solved"):
            # Failures of the second rung may have shown on the first, where the second ran before it.
            for name in [name for name, result in self.results.items() if result.status == "pass"]:
                if name in self._postponed:
                    self._check(name, "hardened")
        self.submission.collect()
        # A check that could not be run was not passed.
        broken = [self._failed_on(rung) or rung in self._cut_short for rung in RUNGS]
        reached: Rung = "none" if broken[0] else "solved" if broken[1] else "hardened"
        # A forbidden call comes first, as it may explain the others.
        results = [self.results[name] for name in CHECK_NAMES if name in self.results]
        results.sort(key=lambda r: not (r.name == "forbidden" and r.status == "fail" and r.required))
        verdict: Verdict = "accepted" if reached in ("hardened", self.options.rung) else "rejected"
        return GradeReport(
            challenge=self.folder.id,
            file=self.submission.filename,
            verdict=verdict,
            rung=reached,
            checks=tuple(results),
            diagnosis=tuple(self.diagnosis),
            seconds=round(time.monotonic() - start, 3),
            seed=self.exam.stream,
            printed=self.submission.printed,
            stored=tuple(self.stored),
        )

    def _order(self) -> list[tuple[CaseRung, str]]:
        """Return the checks to run, each with its rung.

        On another device, a file that makes its tensors on the CPU fails every question. There the `device` check
        belongs to the first rung and comes right after `loads`.
        """
        wanted = {*self.required, *(() if self.options.quick else self.badges)}
        first, of = self.share
        others = [name for k, name in enumerate(UNDIVIDED) if k % of != first]
        names = [name for name in CHECK_NAMES if name in wanted and name not in {*self.settled, *others}]
        pairs = [(rung, name) for rung in RUNGS for name in names if name == "loads" or self.exam.has(name, rung)]
        pairs = [(rung, name) for rung, name in pairs if name != "loads" or rung == "solved"]
        check, last = self.first
        # A failure of the second rung may show on the first rung of its check, so that rung runs first.
        ahead = [(rung, check) for rung in RUNGS if rung == last or last == RUNGS[-1]]
        if self._away:
            pairs = [("solved", name) if name == "device" else (rung, name) for rung, name in pairs]
        return sorted(pairs, key=lambda pair: (pair[1] != "loads", not self._is_placing(pair[1]), pair not in ahead))

    @property
    def _away(self) -> bool:
        return self.exam.device in AWAY

    def _is_placing(self, name: str) -> bool:
        """Return True if all other checks depend on this one, since the grading runs on another device."""
        return self._away and name == "device"

    def _failed_on(self, rung: CaseRung) -> bool:
        """Return True if a required check failed on this rung."""
        results = (self.results[name] for name in self.required if name in self.results)
        return any(result.status == "fail" and result.rung == rung for result in results)

    def _check(self, name: str, rung: CaseRung) -> None:
        """Run one check on one rung and join its result with that of the other rung."""
        before = self.results.get(name)
        if before is not None and before.status != "pass":
            return
        self.notify(CheckResult(name=name, status="running"))
        start = time.monotonic()
        blocked = self._blocked(name, rung)
        if blocked:
            result = CheckResult(name=name, status="skipped", message=say("needs", check=blocked))
            if name in self.required:
                self._cut_short.add(rung)
        else:
            result = replace(self._result(name, "hardened" if self._is_placing(name) else rung), rung=rung)
        result = replace(result, seconds=round(time.monotonic() - start, 4), required=name in self.required)
        self.results[name] = result if before is None else _both(before, result)
        self.notify(CheckResult(name=name, status=result.status, message=result.message))

    def _blocked(self, name: str, rung: CaseRung) -> str:
        """Return the failed check that keeps this one from running, "" if none does."""
        if name == "loads":
            return ""
        if "loads" in self.results and self.results["loads"].status == "fail":
            return "" if name == "forbidden" and self.reading.syntax is None else "loads"
        if self.ended and name != "forbidden":
            return next((r.name for r in self.results.values() if r.status == "fail"), "loads")
        placing = "device" if self._away and name not in ("device", "forbidden") else ""
        needs = [placing, CHECKS[name].needs, CHECKS[name].needs_hardened if rung == "hardened" else ""]
        return next((n for n in needs if n in self.results and self.results[n].status == "fail"), "")

    # Checks

    @cached_property
    def reading(self) -> SourceReading:
        """The problems that the source shows without running it."""
        return self.submission.read(rules_for(self.folder))

    def _result(self, name: str, rung: CaseRung) -> CheckResult:
        """Return the result of a check on one rung."""
        ways: dict[Way, Callable[[], CheckResult]] = {
            "file": self._loads,
            "source": self._forbidden,
            "edges": lambda: self._cases(name, rung),
            "cases": lambda: self._cases(name, rung),
            "growth": lambda: self._growth(name, rung),
            "clock": self._speed,
        }
        postponed = self._postponed.get(name) if rung == "hardened" else None
        result = ways[CHECKS[name].way]() if postponed is None else postponed()
        if result.status == "fail":
            self._failed.add(name)
        return result

    def _loads(self) -> CheckResult:
        if self.reading.syntax is not None:
            return failed("loads", "exception", say("does-not-parse", error=self.reading.syntax))
        failure = self.submission.load()
        if failure is None:
            if self.reading.entry is None:
                return self._touched("loads") or CheckResult(name="loads", status="pass")
            return failed("loads", "missing-entry-point", self.reading.entry)
        self.ended = self.ended or failure.fatal
        result = failed("loads", failure.reason, failure.message)
        if failure.frames:
            return replace(result, counterexample=read(Counterexample, {"frames": failure.frames}))
        return result

    def _forbidden(self) -> CheckResult:
        if self.reading.forbidden is not None:
            return failed("forbidden", "forbidden", self.reading.forbidden)
        if self.ended or not self.submission.loaded:
            return CheckResult(name="forbidden", status="pass")
        forbidden = forbidden_in_traces(self.folder.spec.get("forbidden", ()))
        requests = self._shared("forbidden", self.exam.sample("forbidden", CHECKS["forbidden"].examples))
        seen = list(self.seen)
        for request in requests:
            observed = self.submission.run(request)
            if isinstance(observed, Failure):
                break
            seen += [(str(called), int(line)) for called, line in observed.seen]
        for called, line in seen:
            if line and forbidden.names(called):
                return failed("forbidden", "forbidden", forbidden_message(line, called))
        if self.folder.kernel and seen and (message := outside_kernels(seen)) is not None:
            return failed("forbidden", "forbidden", message)
        return self._touched("forbidden") or CheckResult(name="forbidden", status="pass", examples=len(requests))

    def _at_edges(self, name: str, rung: CaseRung, tried: int) -> tuple[CheckResult | None, int]:
        """Ask every edge case in the profiles of this check. Returns its failure, and the cases tried so far."""
        edges = [edge for edge in self.exam.edges(name) if edge.rung == rung and self._is_asked(edge, name)]
        edges = self._shared(name, edges)

        def result_of(index: int, finding: FailedCase) -> CheckResult:
            edge = edges[index]
            broken = rung_of_finding(finding, rung)
            kind = type(edge.question)
            again = self._on_rung(lambda case: self.ask(kind(self.folder, case)), name, edge.attribute, broken)
            return self._found(name, finding, again, tried + index + 1, edge.attribute, edge.label)

        found = self.first_fault([edge.question for edge in edges], self._counts_on(name, rung, result_of))
        if found is None:
            return None, tried + len(edges)
        return result_of(*found), tried + found[0] + 1

    def _shared(self, name: str, questions: list[T]) -> list[T]:
        """Return the questions of a check in this grading's share, at least one."""
        first, of = (0, 1) if name in UNDIVIDED else self.share
        # Edge cases come in rows, a profile a column: the share moves on by one each row, to see every profile.
        return [question for k, question in enumerate(questions) if (k + k // of) % of == first] or questions[:1]

    def _is_asked(self, edge: EdgeQuestion, name: str) -> bool:
        """Return True if an edge case can reveal anything.

        Another layout or device reveals nothing if the plain run was wrong, or if no tensor is made.
        """
        if name == "edge-cases":
            return True
        if name == "device" and edge.label in self._made_nothing - self._made:
            return False
        return edge.rung_of_values == "solved" or self._failed.isdisjoint({"edge-cases", "low-precision"})

    def _counts_on(self, name: str, rung: CaseRung, result_of: Callable[[int, FailedCase], CheckResult]) -> Counts:
        """Return a predicate for the failed cases that count on this rung; the first of the other rung is postponed."""

        def counts(index: int, finding: FailedCase) -> bool:
            if rung_of_finding(finding, rung) == rung:
                return True
            self._postponed.setdefault(name, lambda: result_of(index, finding))
            return False

        return counts

    def _on_rung(self, examine: Examine, name: str, attribute: str, rung: CaseRung) -> Examine:
        """Return `examine` limited to failed cases of one rung."""

        def examined(case: Case) -> FailedCase | None:
            of_case = rung_of(case, name, attribute, self.folder.facts)
            finding = examine(case) if of_case == rung or rung == "hardened" else None
            return finding if finding is not None and rung_of_finding(finding, of_case) == rung else None

        return examined

    def _growth(self, name: str, rung: CaseRung) -> CheckResult:
        documents = []
        promises = contracts(self.folder, name)
        measurable = [c for c in promises if c.measure != "moved" or self.exam.device == CPU]
        if promises and not measurable:
            return CheckResult(name=name, status="info", message=say("only-interpreted"))
        for contract in measurable:
            for profile in self.exam.growth_profiles(rung):
                growth = examine_growth(self.exam, self.submission, contract, self._measured, profile)
                if isinstance(growth, FailedCase):
                    self.ended = self.ended or growth.fatal
                    return failed(name, growth.reason, growth.message)
                if not growth.holds and not self.options.quick:
                    growth = projected(self.exam, self.submission, growth)
                document = growth.document()
                if not growth.holds:
                    return replace(failed(name, "growth", growth_told([document])), growth=(document,))
                documents.append(document)
        message = growth_told(documents)
        return CheckResult(name=name, status="pass", message=message, examples=len(documents), growth=tuple(documents))

    def _speed(self) -> CheckResult:
        """Return the mean time of a program; on a device the median, by events.

        There each program runs twice: the first run compiles and fills the caches.
        """
        requests, away, start = self.exam.sample("pure", 3), self.exam.device in AWAY, time.monotonic()
        times_us = []
        for request in requests:
            asked = replace(request, want=(*request.want, "clock")) if away else request
            for observed in [self.submission.run(asked) for _turn in range(2 if away else 1)]:
                if isinstance(observed, Failure):
                    return CheckResult(name="speed", status="info", message=say("not-measured"))
                times_us.append(sum(observed.device_us))
        elapsed_ms = 1000 * (time.monotonic() - start) / max(1, len(requests))
        message = say("milliseconds", ms=f"{elapsed_ms:.1f}")
        if away:
            median_ms = statistics.median(times_us[1::2] or [0]) / 1000
            message = say("milliseconds-by-events", ms=f"{median_ms:.3f}")
        return CheckResult(name="speed", status="info", message=message)

    def _cases(self, name: str, rung: CaseRung) -> CheckResult:
        of_edges_alone = CHECKS[name].way == "edges"
        tried = 0
        if not of_edges_alone:
            replayed = self._replay(name, rung)
            if replayed is not None:
                return replayed
            for stratum in self.exam.strata(name, self.options.examples if name == "matches-reference" else 0):
                failure = self._in_stratum(name, rung, stratum, tried)
                if failure is not None:
                    return failure
                tried += stratum.rungs.count(rung)
        if of_edges_alone or (CHECKS[name].edges and "edge-cases" not in self.settled):
            failure, tried = self._at_edges(name, rung, tried)
            if failure is not None:
                return failure
        touched = self._touched(name)
        if touched is not None:
            return touched
        leaks = name == "pure" and rung == "solved" and "loads" not in self.settled
        leak = self._leak() if leaks else None
        if leak is not None:
            return self._found("pure", leak, None, tried, "case", "")
        if name == "device" and self.device_unproved:
            return CheckResult(name="device", status="skipped", message=say("no-proof-of-device"), examples=tried)
        return CheckResult(name=name, status="pass", examples=tried)

    def _in_stratum(self, name: str, rung: CaseRung, stratum: Stratum, tried: int) -> CheckResult | None:
        places = self._shared(name, [k for k, of_case in enumerate(stratum.rungs) if of_case == rung])

        def result_of(index: int, finding: FailedCase) -> CheckResult:
            broken = rung_of_finding(finding, rung)
            examine = self._on_rung(self._examine(name), name, stratum.attribute, broken)
            smallest = finding
            # Statistics do not shrink: a smaller case proves less, and each costs thousands of draws.
            if not (self.options.quick or finding.fatal or name == "random"):
                search = Search(
                    stratum.record,
                    stratum.profile,
                    stream=self.exam.stream,
                    shrink_calls=SHRINK_CALLS,
                    declared=self.folder.declared,
                )
                found = search.run(examine, len(stratum.questions), stratum.seed, passing=places[index])
                smallest = found or finding
            return self._found(name, smallest, examine, tried + index + 1, stratum.attribute, "")

        fault = self.first_fault([stratum.questions[k] for k in places], self._counts_on(name, rung, result_of))
        return None if fault is None else result_of(*fault)

    def _examine(self, name: str) -> Examine:
        """Return a function that asks the submission a check's question about a case."""
        kind = KINDS[CHECKS[name].kind]
        return lambda case: self.ask(kind(self.exam.folder, case))

    def _leak(self) -> FailedCase | None:
        """Run the same cases in a fresh worker: an answer must not depend on earlier calls."""
        requests = self.exam.sample("pure", 3)
        before = [self.submission.run(request) for request in requests]
        failure = self.submission.renew()
        if failure is not None:
            return FailedCase.of_failure(requests[0].case, failure)
        for request, first in reversed(list(zip(requests, before, strict=True))):
            second = self.submission.run(request)
            if isinstance(first, Failure) or isinstance(second, Failure):
                continue
            expectation = Expectation(self.exam.folder.reference, request.case)
            reason, sentence = "depends-on-earlier-calls", "another-answer-when-fresh"
            finding = differing(self.submission, expectation, second, first, reason, sentence)
            if finding is not None:
                return finding
        return None

    def _replay(self, name: str, rung: CaseRung) -> CheckResult | None:
        """Run the stored counterexamples of this check and return the first failure."""
        for stored in self.replay:
            if stored.get("check") != name:
                continue
            case = restore(stored, self.folder, self.exam.device)
            if case is None:
                continue
            examine = self._on_rung(self._examine(name), name, str(stored["record"]), rung)
            finding = examine(case)
            if finding is not None:
                finding = finding if self.options.quick else reduced(finding, examine).finding
                self.ended = self.ended or finding.fatal
                self.stored.append(dict(stored))
                self._name_mistake(name, finding, str(stored["record"]))
                message = say("kept-counterexample", fault=finding.message)
                return self.reported(name, replace(finding, message=message), 1)
        return None

    # Questions: the requests of many are sent ahead of the answers

    def first_fault(
        self, questions: Sequence[Question] | Sequence[Compound], counts: Counts = lambda index, finding: True
    ) -> tuple[int, FailedCase] | None:
        """Return the position and the failed case of the first question with a failure that counts."""
        with closing(self._findings(questions)) as findings:
            for index, finding in findings:
                if finding is not None and counts(index, finding):
                    return index, finding
        return None

    def _findings(self, questions: Sequence[Question | Compound]) -> Generator[tuple[int, FailedCase | None]]:
        asked: list[tuple[int, Question]] = []

        def requests() -> Generator[Request]:
            for index, question in enumerate(questions):
                if not isinstance(question, Compound) and question.request is not None:
                    asked.append((index, question))
                    yield question.request

        for index, question in enumerate(questions):
            if isinstance(question, Compound):
                yield index, question.examine(self)
        with closing(self.submission.answers(requests())) as answers:
            for turn, actual in enumerate(answers):
                index, question = asked[turn]
                yield index, self._judged(question, actual)

    def ask(self, question: Question | Compound) -> FailedCase | None:
        """Return the failed case that a question finds, or None."""
        if isinstance(question, Compound):
            return question.examine(self)
        return None if question.request is None else self._judged(question, self.submission.run(question.request))

    def _judged(self, question: Question, actual: Observed | Failure) -> FailedCase | None:
        if isinstance(actual, Observed):
            self.seen += [(called, line) for called, line in actual.seen if not called.startswith(_SIXTEEN_BITS)]
            if actual.seen:
                (self._made if actual.makes else self._made_nothing).add(question.case.label)
        return guarded(self.submission, question.case, lambda: question.finding(actual))

    # Failures

    def _touched(self, name: str) -> CheckResult | None:
        """Return the failure of a check if the file tried something forbidden in it, else None."""
        if not self.submission.touched:
            return None
        self.ended = True
        return failed(name, "refused", say("tried", names=", ".join(self.submission.touched[:4])))

    def _found(
        self, name: str, finding: FailedCase, examine: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        """Return the failure of a check for a failed case. `examine` tries smaller cases; None keeps the case."""
        self.ended = self.ended or finding.fatal
        touched = self._touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if not (finding.fatal or self.options.quick or examine is None):
            if finding.of_property:
                self._name_mistake(name, finding, attribute)
            else:
                finding = self._plainest(name, finding, examine, attribute, label)
        if label:
            # In Chinese the label comes before the reason and outside of the message (see domain/grade_report_text.py).
            finding = replace(finding, message=Localised(f"{label}: {finding.message.en}", finding.message.zh))
        return self.reported(name, finding, tried)

    def _plainest(self, name: str, finding: FailedCase, examine: Examine, attribute: str, label: str) -> FailedCase:
        """Reduce the failed case to few calls and plain values, repeat it in a fresh process, store and diagnose it."""
        small = reduced(finding, examine)
        simple = simplify(small.finding, examine)
        simple.case.label = label
        simple, confirmed = self._in_fresh_worker(simple, examine)
        if not confirmed and small.finding is not finding and (again := examine(finding.case)) is not None:
            small, simple = Reduction(again, range(len(finding.case.inputs)), needs_all=True), again
        if not label:
            self._store(name, attribute, finding.case, simple, small, examine)
        self._name_mistake(name, simple, attribute)
        if small.needs_all and simple.reason == finding.reason:
            return replace(simple, message=say("only-together", fault=simple.message))
        return simple

    def _in_fresh_worker(self, finding: FailedCase, examine: Examine) -> tuple[FailedCase, bool]:
        """Repeat the failed case in a fresh process. If it passes there, return that as the failure, with False."""
        failure = self.submission.renew()
        if failure is not None:
            self.ended = True
            return finding, True
        if examine(finding.case) is not None:
            return finding, True
        message = say("only-after-other-calls", fault=finding.message)
        return replace(finding, reason="depends-on-earlier-calls", message=message), False

    def _store(
        self, name: str, attribute: str, drawn: Case, simple: FailedCase, small: Reduction, examine: Examine
    ) -> None:
        """Store the counterexample as the whole drawn case, with the plain values if it fails with them."""
        whole = simple
        if small.finding.case is not drawn:
            case = small.in_whole(drawn, [item.value for item in simple.case.inputs])
            fails = not simple.fatal and examine(case) is not None
            whole = replace(simple, case=case if fails else drawn)
        stored = store(whole, name, attribute, self.exam.stream)
        if stored is not None:
            self.stored.append(stored)

    def _name_mistake(self, name: str, finding: FailedCase, attribute: str) -> None:
        """Name the mistake behind a failed case. Lost digits are named last, so that they hide no other mistake."""
        known = bool(self.diagnosis) and not self.diagnosis[0].is_rounding
        if known or finding.fatal or finding.reason not in DIAGNOSED or self._attempts == MOST_ATTEMPTS:
            return
        self._attempts += 1
        gradients = name == "gradients" or finding.reason == "gradient"
        rung = rung_of_finding(finding, rung_of(finding.case, name, attribute, self.folder.facts))
        found = self._diagnosed(self._probes(finding, attribute, gradients, PROBES, rung), rung)
        if len(found) > 1 and not found[0].beside:
            among = [diagnosis.wrong for diagnosis in found]
            found = self._diagnosed(self._probes(finding, attribute, gradients, MORE_PROBES, rung), rung, among)
        self.diagnosis = found or self.diagnosis

    def _diagnosed(self, probes: Sequence[Probe], rung: CaseRung, among: Sequence[str] = ()) -> list[Diagnosis]:
        text = self.submission.source.decode("utf-8", "replace")
        with suppress(Unjudgeable):
            return self.submission.guard.look(lambda: diagnose(self.folder, probes, rung, text, among))
        return []

    def _probes(self, finding: FailedCase, attribute: str, gradients: bool, count: int, rung: CaseRung) -> list[Probe]:
        """Put the failing case, further ones of its kind and the edge cases to the submission."""
        drawn = [Values(self.exam.folder, finding.case)]
        for name in dict.fromkeys([attribute, "case"]):
            drawn += self.exam.probes(name, finding.case.profile, 1 if name.startswith("edge_") else count)
        edges = self.exam.edge_probes(finding.case.profile, rung)
        kinds: dict[ProbeKind, list[Values]] = {
            "drawn": drawn,
            "again": [Values(self.exam.folder, case) for case in other_random_states(finding.case)],
            "edge": [edge for edge in edges if edge.case.label != finding.case.label],
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

    def reported(self, name: str, finding: FailedCase, tried: int) -> CheckResult:
        """Return the failure of a check with its counterexample, where that can be shown."""
        result = replace(failed(name, finding.reason, finding.message), examples=tried)
        with suppress(Unjudgeable):
            shown = self.submission.guard.look(lambda: render(finding, self.exam.folder))
            result = replace(result, counterexample=shown)
        return result


def _both(first: CheckResult, second: CheckResult) -> CheckResult:
    """Join the results of a check on both rungs; where the second could not run, the first remains."""
    if second.status == "skipped":
        return first
    examples, seconds = first.examples + second.examples, round(first.seconds + second.seconds, 4)
    if second.status == "pass":
        growth = first.growth + second.growth
        return replace(first, rung=second.rung, growth=growth, examples=examples, seconds=seconds)
    return replace(second, examples=examples, seconds=seconds)


def failed(name: str, reason: str, message: Localised) -> CheckResult:
    """Return the result of a failed check; the message is shortened and has no control characters."""
    shown = Localised(printable(message.en[:MESSAGE_LENGTH]), printable(message.zh[:MESSAGE_LENGTH]))
    return CheckResult(name=name, status="fail", reason=reason, message=shown)


# Kernels on a GPU


def interpreted_too(
    report: GradeReport, kernel: bool, device: str, interpret: Callable[[], GradeReport]
) -> GradeReport:
    """Return the report of a file on a device; for a kernel that reaches a rung on a GPU, the worse of two reports.

    A compiled kernel is judged by its values alone: accesses past the end of a tensor may succeed, two programs may
    store to one place unnoticed, and loads and stores are not counted. `interpret` therefore grades the file in
    Triton's interpreter, on the CPU. Where both reach the same rung, its results replace the GPU's `info` results.
    """
    if not kernel or device not in AWAY or report.rung == "none":
        return report
    interpreted = interpret()
    seconds = round(report.seconds + interpreted.seconds, 3)
    rungs: tuple[Rung, ...] = ("none", *RUNGS)
    if rungs.index(interpreted.rung) < rungs.index(report.rung):
        return replace(interpreted, seconds=seconds, device_note=say("interpreter-objects"))
    results = {check.name: check for check in interpreted.checks}
    checks = tuple(
        results.get(check.name, check) if check.required and check.status == "info" else check
        for check in report.checks
    )
    return replace(report, checks=checks, seconds=seconds, device_note=say("interpreted-too"))
