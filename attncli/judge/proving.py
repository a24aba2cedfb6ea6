"""Proving a challenge: its reference and `right/` are accepted and its `wrong/` rejected, on many streams of inputs.

A file stays loaded in one worker over many streams, and what is the same on every stream is asked once: whether it
loads, the edge cases, growth. One failed required check is a verdict: a wrong file is asked first for what it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attncli.domain.challenge import GradeReport
from attncli.domain.rungs import CaseRung
from attncli.judge.exam import SAME_ON_EVERY_STREAM, Exam
from attncli.judge.folder import Folder
from attncli.judge.grading import Grading, Options
from attncli.judge.submission import Submission

# Exams are kept while all files are put to them, at 1 to 40 MiB each: more at once would cost more than they save.
STREAMS_AT_ONCE = 20


@dataclass(slots=True)
class Candidate:
    """A file of the challenge, what is due of it, and what is known of it so far."""

    file: Path
    sound: bool
    settled: frozenset[str] = frozenset()
    failed: tuple[str, CaseRung | None] = ("", None)
    done: bool = False


@dataclass
class Proving:
    """`submit` makes a submission of a file; `notify` is told after each file how many gradings that was."""

    folder: Folder
    submit: Callable[[Path], Submission]
    notify: Callable[[int], None]
    surprises: list[dict[str, Any]] = field(default_factory=list)

    def run(self, streams: int) -> dict[str, Any]:
        """The counts, and each file that was not judged as it should be: `{"file", "stream", "verdict", "message"}`."""
        candidates = self._candidates()
        for first in range(0, streams, STREAMS_AT_ONCE):
            exams = [Exam(self.folder, stream) for stream in range(first, min(streams, first + STREAMS_AT_ONCE))]
            for candidate in candidates:
                self._prove(candidate, exams)
                self.notify(len(exams))
        sound = sum(candidate.sound for candidate in candidates)
        return {"sound": sound, "wrong": len(candidates) - sound, "surprises": self.surprises}

    def _candidates(self) -> list[Candidate]:
        path = self.folder.path
        sound = [path / "reference.py", *sorted((path / "right").glob("*.py"))]
        wrong = sorted((path / "wrong").glob("*.py"))
        return [*(Candidate(file, True) for file in sound), *(Candidate(file, False) for file in wrong)]

    def _prove(self, candidate: Candidate, exams: list[Exam]) -> None:
        if candidate.done:
            return
        submission = self.submit(candidate.file)
        try:
            for exam, loaded in zip(exams, _once_loaded(), strict=False):
                options = Options(
                    stream=exam.stream, quick=True, first=candidate.failed, settled=candidate.settled | loaded
                )
                self._note(candidate, exam.stream, Grading(exam, submission, options).run())
                if candidate.done or submission.worker is None:
                    break
        finally:
            submission.close()

    def _note(self, candidate: Candidate, stream: int, report: GradeReport) -> None:
        failed = next((check for check in report.checks if check.required and check.status == "fail"), None)
        skipped = next((check for check in report.checks if check.required and check.status == "skipped"), None)
        if (failed is None) != candidate.sound or (candidate.sound and skipped is not None):
            file = f"{candidate.file.parent.name}/{candidate.file.name}"
            shown = failed or skipped
            message = "" if shown is None else f"{shown.name}: {shown.message.en}"
            found = {"file": file, "stream": stream, "verdict": report.verdict, "message": message}
            self.surprises.append(found)
            candidate.done = True
        elif failed is not None:
            candidate.failed = failed.name, failed.rung
            candidate.done = failed.name in SAME_ON_EVERY_STREAM
        else:
            candidate.settled = SAME_ON_EVERY_STREAM - {"loads"}


def _once_loaded() -> Iterator[frozenset[str]]:
    yield frozenset()
    while True:
        yield frozenset({"loads"})
