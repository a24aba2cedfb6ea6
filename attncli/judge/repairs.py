"""Partial credit for a file with planted bugs: the number of repaired bugs, and the symptoms of those left.

Each choice of the bugs gives a file. The bugs left in a submission are those of the file with the same answers. If
there is none, they are those of the file that agrees most often, as far as the answers show them. `planted_surprises`
proves that this works for a challenge: the judge rejects each bug, and no bug hides another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from attncli.domain.challenge import MOST_BUGS, REPAIRS, Repair, choices, planted
from attncli.domain.checks import CHECKS
from attncli.domain.grade_report import GradeReport, LeftBug, RepairedBugs
from attncli.judge.challenge import Folder, load_module
from attncli.judge.client import GradeOptions
from attncli.judge.diagnose import Probe, answers_of, same_answers
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.guard import Unjudgeable
from attncli.judge.questions import EdgeDevice, Gradients, Question
from attncli.judge.reference import Expectation, Namespace, Observed
from attncli.judge.submission import Failure, Submission
from attncli.sandbox.devices import CPU

# The checks whose cases of the first rung serve as probes.
ASKED = ("edge-cases", "matches-reference", "gradients", "stable")

Choice = frozenset[str]
AnsweredProbes = Sequence[tuple[Probe, Observed | None]]
SubmitText = Callable[[Path, str], Submission]


class PlantedFiles:
    """The reference of a challenge with each choice of up to `most` bugs in it, and the answers of these files."""

    def __init__(self, folder: Folder, repairs: Sequence[Repair], most: int | None = None) -> None:
        self._folder = folder
        self._float32_inside = folder.facts.float32_inside
        count = len(repairs) if most is None else most
        self._repairs = {frozenset(repair.wrong for repair in chosen): chosen for chosen in choices(repairs, count)}
        self._loaded: dict[Choice, Namespace] = {}
        self._answers: dict[tuple[Choice, int], Observed | None] = {}

    @property
    def choices(self) -> list[Choice]:
        """All choices of bugs, those with fewer bugs first, starting with none."""
        return list(self._repairs)

    def text(self, choice: Choice) -> str:
        return planted(self._folder.reference_source, self._repairs[choice])

    def _namespace(self, choice: Choice) -> Namespace:
        if not choice:
            return self._folder.reference
        if choice not in self._loaded:
            name = "_".join(["planted", self._folder.id, *sorted(choice)]).replace("-", "_")
            path = self._folder.path / "reference.py"
            self._loaded[choice] = load_module(path, name, self.text(choice)).__dict__
        return self._loaded[choice]

    def answer(self, choice: Choice, probe: Probe) -> Observed | None:
        """Return the answer of the file with these bugs, None where it fails."""
        key = (choice, id(probe))
        if key not in self._answers:
            self._answers[key] = answers_of([probe], self._namespace(choice))[0]
        return self._answers[key]

    def agree(self, probe: Probe, first: Observed | None, second: Observed | None) -> bool:
        """Return True if two answers to a probe are the same; a failure is an answer, too."""
        if first is None or second is None:
            return first is second
        return same_answers(probe, first, second, self._float32_inside)

    def fits(self, choice: Choice, probe: Probe, answer: Observed | None) -> bool:
        return self.agree(probe, answer, self.answer(choice, probe))


def probes(exam: Exam) -> Iterator[Probe]:
    """Yield the exam's questions of the first rung about values and gradients, each as a probe."""
    for question in _questions(exam):
        if question.request is not None and not isinstance(question, EdgeDevice):
            reference, case = exam.folder.reference, question.case
            expectation = Expectation(reference, case) if isinstance(question, Gradients) else question.expectation
            yield Probe(question.request, expectation.native, expectation)


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


# Partial credit


def with_repairs(grading: Grading, report: GradeReport, bugs: Sequence[str], repairs: Sequence[Repair]) -> GradeReport:
    """Return the report with the bugs that are left in the file; unchanged if none were planted.

    A diagnosis would name one of the bugs that were planted together. It is dropped: the learner sees symptoms only.
    """
    if not bugs or report.verdict == "error":
        return report
    folder = grading.exam.folder
    left = () if report.accepted else _left(grading, frozenset(bugs), repairs)
    left_bugs = tuple(LeftBug(name, folder.mistake(name).symptom) for name in bugs if name in left)
    named = {repair.wrong for repair in repairs}
    diagnosis = tuple(found for found in report.diagnosis if found.wrong not in named)
    return replace(report, repaired=RepairedBugs(len(bugs), left_bugs), diagnosis=diagnosis)


def _left(grading: Grading, bugs: Choice, repairs: Sequence[Repair]) -> Choice:
    """Return the bugs that the submission's answers do not prove repaired; all of them where it gives none."""
    submission = grading.submission
    if {repair.wrong for repair in repairs} != bugs or submission.renew() is not None:
        return bugs
    answered = _answers(grading)
    files = PlantedFiles(grading.exam.folder, repairs)
    try:
        return submission.guard.look(lambda: bugs_left(files, answered))
    except Unjudgeable:
        return bugs


def _answers(grading: Grading) -> AnsweredProbes:
    """Put the probes to the submission, up to the first fatal failure; a failure is None."""
    asked = list(probes(grading.exam))
    answered: list[tuple[Probe, Observed | None]] = []
    with closing(grading.submission.answers(probe.request for probe in asked)) as answers:
        for probe, answer in zip(asked, answers, strict=False):
            if isinstance(answer, Failure):
                answered.append((probe, None))
                if answer.fatal:
                    break
            else:
                answered.append((replace(probe, observed=answer), answer))
    return answered


def bugs_left(files: PlantedFiles, answered: AnsweredProbes) -> Choice:
    """Return the bugs that the answers of a submission show, or do not prove repaired."""
    fitting = files.choices
    for probe, answer in answered:
        fitting = [choice for choice in fitting if files.fits(choice, probe, answer)]
    if fitting and answered:
        return fitting[0]
    return _most_shown(files, answered)


def _most_shown(files: PlantedFiles, answered: AnsweredProbes) -> Choice:
    """Return the bugs of the file that agrees most often, and those that its agreeing answers cannot exclude."""
    everything = files.choices[-1]
    fitting = [frozenset(c for c in files.choices if files.fits(c, probe, answer)) for probe, answer in answered]
    informative = [found for found in fitting if 0 < len(found) < len(files.choices)]
    if not informative:
        return everything
    best = max(files.choices, key=lambda choice: (sum(choice in found for found in informative), -len(choice)))
    agreeing = [found for found in informative if best in found]
    return everything - {bug for bug in everything - best if any(best | {bug} not in found for found in agreeing)}


# Proving that mistakes can be planted


def planted_surprises(
    folder: Folder, submit: SubmitText, repairs: Sequence[Repair], device: str = CPU
) -> list[dict[str, Any]]:
    """Return the planted mistakes that the judge misses alone, and those that it cannot distinguish among others.

    No mistake hides another if the files of all choices answer differently.
    """
    if not repairs:
        return []
    exam = Exam(folder, 0, device)
    files = PlantedFiles(folder, repairs, MOST_BUGS)
    missed = [repair.wrong for repair in repairs if not is_rejected(exam, files, frozenset([repair.wrong]), submit)]
    found = [(name, "planted in the reference, is not rejected on the first rung") for name in missed]
    asked = list(probes(exam if device == CPU else Exam(folder, 0)))  # answered by files that run in this process
    others = (repair.wrong for repair in repairs if not answers_like(files, folder, repair.wrong, asked))
    found += [(name, f"planted in the reference, never answers as wrong/{name}.py does") for name in others]
    for first, second in undistinguished(files, asked):
        name = (sorted(second - first) or sorted(first))[0]
        like, unlike = (" and ".join(sorted(choice)) for choice in (first, second))
        found.append((name, f"planted: {unlike} gives the answers of {like or 'the reference'}; one hides the other"))
    lines = (folder.path / REPAIRS).read_text(encoding="utf-8").splitlines()
    place = {line.replace("- ", "", 1).strip(): number for number, line in reversed(list(enumerate(lines, 1)))}
    common = {"file": REPAIRS, "stream": 0, "verdict": "accepted"}
    return [
        {**common, "line": place.get(f"wrong: {name}", 1), "message": f"{name}, {message}"} for name, message in found
    ]


def is_rejected(exam: Exam, files: PlantedFiles, choice: Choice, submit: SubmitText) -> bool:
    """Return True if the reference with these mistakes fails a required check of the first rung."""
    path = exam.folder.path / "reference.py"
    with closing(submit(path, files.text(choice))) as submission:
        report = Grading(exam, submission, GradeOptions(quick=True)).run()
    return any(check.required and check.status == "fail" and check.rung == "solved" for check in report.checks)


def answers_like(files: PlantedFiles, folder: Folder, name: str, asked: Sequence[Probe]) -> bool:
    """Return True if some probe shows the planted mistake like its file in `wrong/`, whose symptom is reported."""
    mistake = frozenset([name])
    namespace = folder.wrong(name).__dict__
    return any(
        not files.fits(mistake, probe, files.answer(frozenset(), probe))
        and files.fits(mistake, probe, answers_of([probe], namespace)[0])
        for probe in asked
    )


def undistinguished(files: PlantedFiles, probes: Sequence[Probe]) -> Iterator[tuple[Choice, Choice]]:
    """Yield the pairs of choices that no probe distinguishes: a bug hides in one of them, or shows nowhere."""
    groups = [files.choices]
    for probe in probes:
        groups = [part for group in groups for part in _split(files, probe, group)]
    for group in groups:
        yield from ((group[0], other) for other in group[1:])


def _split(files: PlantedFiles, probe: Probe, group: list[Choice]) -> list[list[Choice]]:
    """Split a group of choices by their answers to a probe; a group of one is dropped."""
    parts: list[list[Choice]] = []
    for choice in group if len(group) > 1 else ():
        answer = files.answer(choice, probe)
        like = next((part for part in parts if files.agree(probe, files.answer(part[0], probe), answer)), None)
        if like is None:
            parts.append([choice])
        else:
            like.append(choice)
    return parts
