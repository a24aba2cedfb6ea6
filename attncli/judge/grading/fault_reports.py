"""What is made of a fault: plain values, a run in a fresh process, the name of the mistake, the result of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from attncli.domain.grade_report import CheckResult, Diagnosis, Status
from attncli.domain.printable import printable
from attncli.domain.text import NOTHING, Localised
from attncli.judge.answer_guard import Unjudgeable
from attncli.judge.answers.finding import CaseFinding, Examine
from attncli.judge.answers.submission import Failure, Submission
from attncli.judge.asking.exam import Exam
from attncli.judge.asking.examiner import Examiner
from attncli.judge.cases.case import Case
from attncli.judge.grading.options import Options
from attncli.judge.naming.diagnose import Probe, diagnose
from attncli.judge.searching.fewer_calls import Reduction, reduced
from attncli.judge.searching.plainer_values import simplify
from attncli.judge.sentences import say
from attncli.judge.telling.counterexample import render, store
from attncli.judge.truth.expectation import Expectation

PROBES = 8
# Where these leave several names, so many tell them apart, if anything does.
MORE_PROBES = 40
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
        self._name_mistake(finding, str(stored["record"]), name == "gradients")
        return self.reported(name, replace(finding, message=say("kept-counterexample", fault=finding.message)), 1)

    def found(
        self, name: str, finding: CaseFinding, examine: Examine | None, tried: int, attribute: str, label: str
    ) -> CheckResult:
        """The result of a check that fails by a finding."""
        self.dead = self.dead or finding.fatal
        touched = self.touched(name)
        if touched is not None and finding.reason != "refused":
            return touched
        if not (finding.fatal or self.options.quick or examine is None or finding.of_property):
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
        self._name_mistake(simple, attribute, name == "gradients")
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

    def _name_mistake(self, finding: CaseFinding, attribute: str, gradients: bool) -> None:
        if not self.diagnosis and not finding.fatal and finding.reason in DIAGNOSED:
            gradients = gradients or finding.reason == "gradient"
            found = self._diagnosed(self._probes(finding, attribute, gradients, PROBES))
            if len(found) > 1 and not found[0].beside:
                among = [known.wrong for known in found]
                found = self._diagnosed(self._probes(finding, attribute, gradients, MORE_PROBES), among)
            self.diagnosis = found

    def _diagnosed(self, probes: Sequence[Probe], among: Sequence[str] = ()) -> list[Diagnosis]:
        with suppress(Unjudgeable):
            return self.submission.guard.look(lambda: diagnose(self.exam.folder, probes, among))
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

    def _probes(self, finding: CaseFinding, attribute: str, gradients: bool, count: int) -> list[Probe]:
        """The failing case and further ones of its kind, with what the submission returned for each."""
        cases = [finding.case]
        for name in dict.fromkeys([attribute, "case"]):
            cases += self.exam.probes(name, finding.case.profile, 1 if name.startswith("edge_") else count)
        probes: list[Probe] = []
        for case in cases:
            request = self.exam.probe(case, gradients)
            observed = self.submission.run(request)
            if not isinstance(observed, Failure):
                probes.append(Probe(request, observed, Expectation(self.exam.demands.reference, case)))
            elif observed.fatal or case is finding.case:
                return []
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
