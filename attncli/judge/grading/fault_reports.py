"""What is made of a fault: plain values, a run in a fresh process, the name of the mistake, the result of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from attncli.domain.grade_report import CheckResult, Diagnosis, Status
from attncli.domain.printable import printable
from attncli.domain.rungs import CaseRung
from attncli.domain.text import NOTHING, Localised
from attncli.judge.answers.finding import CaseFinding, Examine
from attncli.judge.asking.rung_rule import rung_of, rung_of_finding
from attncli.judge.case import Case
from attncli.judge.counterexample import render, store
from attncli.judge.diagnose import diagnose
from attncli.judge.exam import Exam
from attncli.judge.examiner import Examiner
from attncli.judge.grading.options import Options
from attncli.judge.guard import Unjudgeable
from attncli.judge.messages import say
from attncli.judge.naming.probes import Kind, Probe, other_random_states
from attncli.judge.naming.roundings import is_rounding
from attncli.judge.questions import Values
from attncli.judge.searching.plainer_values import simplify
from attncli.judge.shrink import Reduction, reduced
from attncli.judge.submission import Failure, Submission

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
        kinds: dict[Kind, list[Values]] = {
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
