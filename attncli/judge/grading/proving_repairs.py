"""Proving what can be planted in a reference: each mistake is rejected by itself, and none hides another.

None hides another where the files with each choice of them answer differently: then any choice is told from the one
that lacks one more or one less of them, by the very answers from which a learner gets partial credit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from attncli.domain.repairs import MOST_BUGS, REPAIRS, Repair
from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam
from attncli.judge.grading.options import Options
from attncli.judge.grading.run_checks import Grading
from attncli.judge.naming.planted_bugs_left import Choice, PlantedFiles, undistinguished
from attncli.judge.naming.probes import Probe, answers_of
from attncli.judge.repairs import probes
from attncli.judge.submission import Submission
from attncli.sandbox.placement import CPU

Submit = Callable[[Path, str], Submission]


def planted_surprises(
    folder: Folder, submit: Submit, repairs: Sequence[Repair], device: str = CPU
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


def is_turned_away(exam: Exam, files: PlantedFiles, choice: Choice, submit: Submit) -> bool:
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
