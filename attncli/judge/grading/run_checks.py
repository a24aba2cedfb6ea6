"""One grading from start to verdict: the checks in order, the first rung before the second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from attncli.domain.challenge import CHECK_NAMES
from attncli.domain.grade_report import CheckResult, GradeReport, Verdict
from attncli.domain.grade_report_json import message_fields
from attncli.domain.rungs import RUNGS, CaseRung, Rung
from attncli.judge.checks import CHECKS
from attncli.judge.exam import Exam
from attncli.judge.grade import Checks
from attncli.judge.grading.fault_reports import FaultReports
from attncli.judge.grading.options import Options
from attncli.judge.messages import say
from attncli.judge.submission import Submission
from attncli.sandbox.placement import AWAY


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
