"""Proving a challenge: its reference and `right/` are hardened, and its `wrong/` short of the rung that each names.

A file stays loaded in one worker over many streams, and what is the same on every stream is asked once: whether it
loads, the edge cases, growth. One required check that fails on the rung is a verdict: a wrong file is asked first for
what it failed, or is known to have failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from attncli.domain.challenge import CaseRung
from attncli.domain.grade_report import CheckResult, GradeReport, Verdict
from attncli.judge.challenge import Folder
from attncli.judge.checks import ONCE, Options
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading, interpreted_too
from attncli.judge.submission import Submission
from attncli.sandbox.devices import CPU

Submit = Callable[..., Submission]
# Exams are kept while all files are put to them, at 1 to 40 MiB each: more at once would cost more than they save.
STREAMS_AT_ONCE = 20


@dataclass(slots=True)
class Candidate:
    """A file of the challenge, what is due of it, and what is known of it so far.

    `rung` is what a sound file reaches and a wrong one must not: that one fails a required check there or before.
    """

    file: Path
    sound: bool
    rung: CaseRung = "hardened"
    settled: frozenset[str] = frozenset()
    failed: tuple[str, CaseRung | None] = ("", None)
    done: bool = False


@dataclass
class Proving:
    """`submit` makes a submission of a file, on the `device` or as it says; `notify` is told after each file how many
    gradings that was.

    `known` says what wrong files failed when they were last proved. It changes the order of questions alone: a file
    that must fail on the first rung is never asked for the second before it.
    """

    folder: Folder
    submit: Submit
    notify: Callable[[int], None]
    known: Mapping[str, tuple[str, CaseRung | None]] = field(default_factory=dict)
    device: str = CPU
    surprises: list[dict[str, Any]] = field(default_factory=list)
    _interpreter_exams: dict[int, Exam] = field(default_factory=dict)

    def run(self, streams: int) -> dict[str, Any]:
        """The counts, and as `surprises` each file that was not judged as it should be, with the line to look at."""
        candidates = self._candidates()
        for first in range(0, streams, STREAMS_AT_ONCE):
            numbers = range(first, min(streams, first + STREAMS_AT_ONCE))
            exams = [Exam(self.folder, stream, self.device) for stream in numbers]
            self._interpreter_exams.clear()
            for candidate in candidates:
                self._prove(candidate, exams)
                self.notify(len(exams))
        sound = sum(candidate.sound for candidate in candidates)
        failed = {c.file.stem: list(c.failed) for c in candidates if not c.sound and c.failed[0]}
        return {"sound": sound, "wrong": len(candidates) - sound, "surprises": self.surprises, "failed": failed}

    def _candidates(self) -> list[Candidate]:
        path = self.folder.path
        sound = [path / ("kernel.py" if self.folder.kernel else "reference.py"), *sorted((path / "right").glob("*.py"))]
        wrong = sorted((path / "wrong").glob("*.py"))
        rungs = {file: self.folder.mistake(file.stem).rung for file in wrong}
        mistakes = (
            Candidate(file, False, rungs[file], failed=self._failed_before(file, rungs[file])) for file in wrong
        )
        return [*(Candidate(file, True) for file in sound), *mistakes]

    def _failed_before(self, file: Path, rung: CaseRung) -> tuple[str, CaseRung | None]:
        check, failed = self.known.get(file.stem, ("", None))
        return ("", None) if rung == "solved" and failed != "solved" else (check, failed)

    def _prove(self, candidate: Candidate, exams: list[Exam]) -> None:
        if candidate.done:
            return
        submission = self.submit(candidate.file)
        try:
            for exam, loaded in zip(exams, _once_loaded(), strict=False):
                settled = candidate.settled | loaded
                options = Options(stream=exam.stream, quick=True, first=candidate.failed, settled=settled)
                report = Grading(exam, submission, options).run()
                interpret = partial(self._interpreted, candidate, exam.stream)
                self._note(candidate, exam.stream, interpreted_too(report, self.folder.kernel, exam.device, interpret))
                if candidate.done or submission.worker is None:
                    break
        finally:
            submission.close()

    def _interpreted(self, candidate: Candidate, stream: int) -> GradeReport:
        """A kernel that a GPU is done with, as the interpreter sees it."""
        exam = self._interpreter_exams.get(stream) or Exam(self.folder, stream)
        self._interpreter_exams[stream] = exam
        options = Options(stream=stream, quick=True, first=candidate.failed, settled=candidate.settled)
        with closing(self.submit(candidate.file, on=CPU)) as submission:
            return Grading(exam, submission, options).run()

    def _note(self, candidate: Candidate, stream: int, report: GradeReport) -> None:
        failed = _first_failed(report)
        required = [check for check in report.checks if check.required]
        if candidate.sound:
            unproved = failed or next((check for check in required if check.status == "skipped"), None)
            if unproved is not None:
                message = f"{report.verdict} on stream {stream}: {unproved.name}: {unproved.message.en}"
                self._surprised(candidate, stream, report.verdict, message)
            candidate.settled = ONCE - {"loads"}
        elif failed is None or (candidate.rung == "solved" and failed.rung != "solved"):
            message = f"accepted on stream {stream}, though it must not reach {candidate.rung}"
            later = f"; only {failed.name} on the hardened rung turns it away" if failed is not None else ""
            self._surprised(candidate, stream, "accepted", message + later)
        else:
            candidate.failed = failed.name, failed.rung
            candidate.done = failed.name in ONCE

    def _surprised(self, candidate: Candidate, stream: int, verdict: Verdict, message: str) -> None:
        file = candidate.file.relative_to(self.folder.path).as_posix()
        line = 1 if candidate.sound else _line_of_rung(candidate.file)
        found = {"file": file, "line": line, "stream": stream, "verdict": verdict, "message": message}
        self.surprises.append(found)
        candidate.done = True


def _first_failed(report: GradeReport) -> CheckResult | None:
    return next((check for check in report.checks if check.required and check.status == "fail"), None)


def _line_of_rung(file: Path) -> int:
    """Where the file says which rung it must not reach."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.strip().startswith("rung:")), 1)


def _once_loaded() -> Iterator[frozenset[str]]:
    yield frozenset()
    while True:
        yield frozenset({"loads"})
