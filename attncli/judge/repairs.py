"""Partial credit for a file in which bugs were planted: how many are repaired, and what one observes of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from attncli.domain.grade_report import GradeReport, LeftBug, RepairedBugs
from attncli.domain.repairs import Repair
from attncli.judge.asking.devices import EdgeDevice
from attncli.judge.checks import CHECKS
from attncli.judge.exam import Exam
from attncli.judge.grading.run_checks import Grading
from attncli.judge.guard import Unjudgeable
from attncli.judge.naming.planted_bugs_left import Answered, Choice, PlantedFiles, bugs_left
from attncli.judge.naming.probes import Probe
from attncli.judge.questions import Gradients, Question
from attncli.judge.submission import Failure
from attncli.judge.truth.expectation import Expectation

# Where bugs that were planted together are looked for: what these checks ask on the first rung.
ASKED = ("edge-cases", "matches-reference", "gradients", "stable")


def with_repairs(grading: Grading, report: GradeReport, bugs: Sequence[str], repairs: Sequence[Repair]) -> GradeReport:
    """The report of a file with these bugs in it; without bugs as it is.

    Of bugs that were planted together a diagnosis would name one: what is told of those is what one observes.
    """
    if not bugs or report.verdict == "error":
        return report
    folder = grading.exam.folder
    left = () if report.accepted else _left(grading, frozenset(bugs), repairs)
    told = tuple(LeftBug(name, folder.mistake(name).symptom) for name in bugs if name in left)
    named = {repair.wrong for repair in repairs}
    diagnosis = tuple(found for found in report.diagnosis if found.wrong not in named)
    return replace(report, repaired=RepairedBugs(len(bugs), told), diagnosis=diagnosis)


def _left(grading: Grading, bugs: Choice, repairs: Sequence[Repair]) -> Choice:
    """Those that its answers do not show to be gone: all of them where it gives none."""
    submission = grading.submission
    if {repair.wrong for repair in repairs} != bugs or submission.renew() is not None:
        return bugs
    answered = _answers(grading)
    files = PlantedFiles(grading.exam.folder, repairs)
    try:
        return submission.guard.look(lambda: bugs_left(files, answered))
    except Unjudgeable:
        return bugs


def _answers(grading: Grading) -> Answered:
    asked = list(probes(grading.exam))
    found = []
    with closing(grading.submission.answers(probe.request for probe in asked)) as answers:
        for probe, got in zip(asked, answers, strict=False):
            found.append((probe, None if isinstance(got, Failure) else got))
            if isinstance(got, Failure) and got.fatal:
                break
    return [(replace(probe, observed=got) if got else probe, got) for probe, got in found]


def probes(exam: Exam) -> Iterator[Probe]:
    """The questions about values and gradients that the exam asks on the first rung, each as a probe."""
    for question in _questions(exam):
        if question.request is not None and not isinstance(question, EdgeDevice):
            reference, case = exam.demands.reference, question.case
            due = Expectation(reference, case) if isinstance(question, Gradients) else question.expectation
            yield Probe(question.request, due.native, due)


def _questions(exam: Exam) -> Iterator[Question]:
    for name in ASKED:
        if name not in exam.folder.spec["required"]:
            continue
        if CHECKS[name].way == "edges":
            yield from (edge.question for edge in exam.edges(name) if edge.rung == "solved")
            continue
        for stratum in exam.strata(name):
            pairs = zip(stratum.questions, stratum.rungs, strict=True)
            yield from (question for question, rung in pairs if rung == "solved")
