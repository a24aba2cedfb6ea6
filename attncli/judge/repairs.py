"""Partial credit for a file in which bugs were planted: how many are repaired, and what one observes of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from attncli.domain.challenge import MOST_BUGS, REPAIRS, Repair, choices, planted
from attncli.domain.grade_report import GradeReport, LeftBug, RepairedBugs
from attncli.judge.challenge import Demands, Folder, load_module
from attncli.judge.checks import CHECKS, Options
from attncli.judge.diagnose import Probe, answers_of, same_answers
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.guard import Unjudgeable
from attncli.judge.questions import EdgeDevice, Gradients, Question
from attncli.judge.reference import Expectation, Namespace, Observed
from attncli.judge.submission import Failure, Submission
from attncli.sandbox.devices import CPU

# Proving what can be planted in a reference: each mistake is rejected by itself, and none hides another.
#
# None hides another where the files with each choice of them answer differently: then any choice is told from the one
# that lacks one more or one less of them, by the very answers from which a learner gets partial credit.

SubmitText = Callable[[Path, str], Submission]


def planted_surprises(
    folder: Folder, submit: SubmitText, repairs: Sequence[Repair], device: str = CPU
) -> list[dict[str, Any]]:
    """Each planted mistake that the judge misses by itself, and each that cannot be told beside others."""
    if not repairs:
        return []
    exam = Exam(folder, 0, device)
    files = PlantedFiles(folder, repairs, MOST_BUGS)
    missed = [repair.wrong for repair in repairs if not is_turned_away(exam, files, frozenset([repair.wrong]), submit)]
    found = [(name, "planted in the reference, is not rejected on the first rung") for name in missed]
    asked = list(probes(exam if device == CPU else Exam(folder, 0)))  # answered by files that run in this process
    others = (repair.wrong for repair in repairs if not answers_like(files, folder, repair.wrong, asked))
    found += [(name, f"planted in the reference, never answers as wrong/{name}.py does") for name in others]
    return [_surprise(folder.path, *told) for told in (*found, *_hidden(files, asked))]


def answers_like(files: PlantedFiles, folder: Folder, name: str, asked: Sequence[Probe]) -> bool:
    """Whether the planted mistake shows somewhere just as its file in `wrong/` does, whose symptom is told."""
    planted, sound = frozenset([name]), frozenset[str]()
    namespace = folder.wrong(name).__dict__
    return any(
        not files.fits(planted, probe, files.answer(sound, probe))
        and files.fits(planted, probe, answers_of([probe], namespace)[0])
        for probe in asked
    )


def is_turned_away(exam: Exam, files: PlantedFiles, choice: Choice, submit: SubmitText) -> bool:
    """Whether the reference with these mistakes in it fails a required check of the first rung."""
    path = exam.folder.path / "reference.py"
    with closing(submit(path, files.text(choice))) as submission:
        report = Grading(exam, submission, Options(stream=exam.stream, quick=True)).run()
    return any(check.required and check.status == "fail" and check.rung == "solved" for check in report.checks)


def _hidden(files: PlantedFiles, asked: Sequence[Probe]) -> Iterator[tuple[str, str]]:
    """The name of a mistake, and beside which others it does not show."""
    for first, second in undistinguished(files, asked):
        own, others = sorted(second - first) or sorted(first), [" and ".join(sorted(c)) for c in (first, second)]
        yield own[0], f"planted: {others[1]} gives the answers of {others[0] or 'the reference'}; one hides the other"


def _surprise(folder: Path, name: str, message: str) -> dict[str, Any]:
    lines = (folder / REPAIRS).read_text(encoding="utf-8").splitlines()
    named = (number for number, line in enumerate(lines, 1) if line.replace("- ", "", 1).split() == ["wrong:", name])
    told = {"file": REPAIRS, "line": next(named, 1), "stream": 0, "verdict": "accepted"}
    return {**told, "message": f"{name}, {message}"}


# Which of the bugs that were planted in a file it still has, from what it returned.
#
# Every choice of them gives a file of its own. The one whose answers the submission gives holds the bugs that are
# left; where the submission has changed more than that, the one whose answers it gives most often, as far as these
# show it.

Choice = frozenset[str]


class PlantedFiles:
    """The reference of a challenge with each choice of some bugs in it, and what these files answer."""

    def __init__(self, folder: Folder, repairs: Sequence[Repair], most: int | None = None) -> None:
        self._folder = folder
        self._float32_inside = Demands(folder).float32_inside
        count = len(repairs) if most is None else most
        self._repairs = {frozenset(repair.wrong for repair in chosen): chosen for chosen in choices(repairs, count)}
        self._loaded: dict[Choice, Namespace] = {}
        self._answers: dict[tuple[Choice, int], Observed | None] = {}

    @property
    def choices(self) -> list[Choice]:
        """From the file without a bug on, those with fewer bugs first."""
        return list(self._repairs)

    def text(self, choice: Choice) -> str:
        return planted(self._folder.reference_source, self._repairs[choice])

    def _namespace(self, choice: Choice) -> Namespace:
        if not choice:
            return self._folder.reference.__dict__
        if choice not in self._loaded:
            name = "_".join(["planted", self._folder.id, *sorted(choice)]).replace("-", "_")
            path = self._folder.path / "reference.py"
            self._loaded[choice] = load_module(path, name, self.text(choice)).__dict__
        return self._loaded[choice]

    def answer(self, choice: Choice, probe: Probe) -> Observed | None:
        """What the file with these bugs answers; None where it fails."""
        key = (choice, id(probe))
        if key not in self._answers:
            self._answers[key] = answers_of([probe], self._namespace(choice))[0]
        return self._answers[key]

    def agree(self, probe: Probe, first: Observed | None, second: Observed | None) -> bool:
        """Whether two answers to a probe are the same; to fail is an answer."""
        if first is None or second is None:
            return first is second
        return same_answers(probe, first, second, self._float32_inside)

    def fits(self, choice: Choice, probe: Probe, got: Observed | None) -> bool:
        return self.agree(probe, got, self.answer(choice, probe))


AnsweredProbes = Sequence[tuple[Probe, Observed | None]]


def bugs_left(files: PlantedFiles, answered: AnsweredProbes) -> Choice:
    """The bugs that the answers of a submission show, or do not show to be gone."""
    fitting = files.choices
    for probe, got in answered:
        fitting = [choice for choice in fitting if files.fits(choice, probe, got)]
    if fitting and answered:
        return fitting[0]
    return _shown_by_most(files, answered)


def _shown_by_most(files: PlantedFiles, answered: AnsweredProbes) -> Choice:
    everything = files.choices[-1]
    fitting = [frozenset(c for c in files.choices if files.fits(c, probe, got)) for probe, got in answered]
    telling = [found for found in fitting if 0 < len(found) < len(files.choices)]
    if not telling:
        return everything
    best = max(files.choices, key=lambda choice: (sum(choice in found for found in telling), -len(choice)))
    agreeing = [found for found in telling if best in found]
    return everything - {bug for bug in everything - best if any(best | {bug} not in found for found in agreeing)}


def undistinguished(files: PlantedFiles, probes: Sequence[Probe]) -> Iterator[tuple[Choice, Choice]]:
    """Pairs of choices that no probe tells apart: a bug hides in one of them, or it shows nowhere."""
    groups = [files.choices]
    for probe in probes:
        groups = [part for group in groups for part in _parted(files, probe, group)]
    for group in groups:
        yield from ((group[0], other) for other in group[1:])


def _parted(files: PlantedFiles, probe: Probe, group: list[Choice]) -> list[list[Choice]]:
    parts: list[list[Choice]] = []
    for choice in group if len(group) > 1 else ():
        answer = files.answer(choice, probe)
        like = next((part for part in parts if files.agree(probe, files.answer(part[0], probe), answer)), None)
        if like is None:
            parts.append([choice])
        else:
            like.append(choice)
    return parts


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


def _answers(grading: Grading) -> AnsweredProbes:
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
