"""What is made of a fault: plain values, a run in a fresh process, the name of the mistake, the result of a check."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from attncli.domain.challenge import CheckResult, Diagnosis, Status
from attncli.domain.printable import printable
from attncli.domain.sentences import NOTHING, say
from attncli.domain.text import Localised
from attncli.judge.counterexample import render, store
from attncli.judge.diagnose import Probe, diagnose
from attncli.judge.exam import Exam
from attncli.judge.examine import Examiner
from attncli.judge.expected import Expectation
from attncli.judge.finding import Finding
from attncli.judge.judging import Unjudgeable
from attncli.judge.search import Examine
from attncli.judge.simplify import simplify
from attncli.judge.submission import Failure, Submission

if TYPE_CHECKING:
    from attncli.judge.grading import Options

SIMPLIFY_CALLS = 80
PROBES = 8
# What a submission raises, names and returns is quoted; a report is read by people.
MESSAGE_LENGTH = 2000
DIAGNOSED = frozenset({"values", "shape", "dtype", "not-finite", "exception", "gradient"})


class Findings:
    """The faults of one grading. `dead`: nothing further is asked of the file. `stored` are kept counterexamples."""

    def __init__(self, exam: Exam, submission: Submission, options: Options) -> None:
        self.exam, self.submission, self.options = exam, submission, options
        self.examiner = Examiner(exam.demands, submission)
        self.stored: list[dict[str, Any]] = []
        self.diagnosis: list[Diagnosis] = []
        self.dead = False

    def touched(self, name: str) -> CheckResult | None:
        """The result of a check in which the file tried what it may not."""
        if not self.submission.touched:
            return None
        self.dead = True
        tried = ", ".join(self.submission.touched[:4])
        return self.failed(name, "refused", say("tried", names=tried))

    def kept(self, name: str, finding: Finding, stored: Mapping[str, Any]) -> CheckResult:
        """The result of a check that a stored counterexample fails."""
        self.dead = self.dead or finding.fatal
        self.stored.append(dict(stored))
        self._name_mistake(finding, str(stored["record"]), name == "gradients")
        return self.reported(name, replace(finding, message=say("kept-counterexample", fault=finding.message)), 1)

    def found(
        self, name: str, finding: Finding, examine: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        """The result of a check that fails by a finding."""
        self.dead = self.dead or finding.fatal
        touched = self.touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if not (finding.fatal or self.options.quick or examine is None or finding.of_property):
            finding = self._plainest(name, finding, examine, attribute, label)
        if label:
            # In Chinese the label stands before the reason (see domain/verdicts.py), and not in the sentence.
            said = Localised(f"{label}: {finding.message.en}", finding.message.zh)
            finding = replace(finding, message=said)
        return self.reported(name, finding, tried)

    def _plainest(self, name: str, finding: Finding, examine: Examine, attribute: str, label: str) -> Finding:
        """The finding with plain values, as it is in a fresh process; it is kept, and its mistake named."""
        simple = simplify(finding, examine, SIMPLIFY_CALLS)
        simple.case.label = label
        simple = self._in_fresh_worker(simple, examine) or simple
        kept = store(simple, name, attribute, self.options.stream) if not label else None
        if kept is not None:
            self.stored.append(kept)
        self._name_mistake(simple, attribute, name == "gradients")
        return simple

    def _name_mistake(self, finding: Finding, attribute: str, gradients: bool) -> None:
        if not self.diagnosis and not finding.fatal and finding.reason in DIAGNOSED:
            probes = self._probes(finding, attribute, gradients or finding.reason == "gradient")
            with suppress(Unjudgeable):
                self.diagnosis = self.submission.judging.look(lambda: diagnose(self.exam.folder, probes))

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

    def reported(self, name: str, finding: Finding, tried: int) -> CheckResult:
        result = self.failed(name, finding.reason, finding.message, examples=tried)
        with suppress(Unjudgeable):
            shown = self.submission.judging.look(lambda: render(finding, self.exam.demands))
            result = replace(result, counterexample=shown)
        return result

    def failed(self, name: str, reason: str, message: Localised, examples: int = 0) -> CheckResult:
        said = Localised(printable(message.en[:MESSAGE_LENGTH]), printable(message.zh[:MESSAGE_LENGTH]))
        return CheckResult(name=name, status="fail", reason=reason, message=said, examples=examples)

    def result(self, name: str, status: Status, message: Localised = NOTHING, examples: int = 0) -> CheckResult:
        return CheckResult(name=name, status=status, message=message, examples=examples)
