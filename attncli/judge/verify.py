"""Prove a challenge: its reference and `right/` reach the second rung, and each `wrong/` misses the rung it names.

A file stays loaded in one worker over many streams. Checks that are the same on every stream run once: loading, the
edge cases, growth. One failed required check settles a wrong file, so the check that it failed last time runs first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from attncli.domain.checks import CHECKS
from attncli.domain.grade_report import GradeReport, Verdict
from attncli.domain.vocabulary import CaseRung
from attncli.judge.challenge import Folder
from attncli.judge.client import GradeOptions
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading, interpreted_too
from attncli.judge.submission import Submission
from attncli.sandbox.devices import CPU

# Exams are kept until all files have taken them, at 1 to 40 MiB each: more at once would cost more than they save.
STREAMS_AT_ONCE = 20
# In a sample, the reference and the right solutions take turns: each is asked every third question of a check, and a
# check with few questions goes whole to every third file.
SHARES = 3
QUICK = GradeOptions(rung="hardened", quick=True)
# The checks that are the same on every stream.
ONCE = frozenset([name for name, check in CHECKS.items() if check.once])


@dataclass(slots=True)
class Candidate:
    """A file of the challenge, the expected verdict, and the knowledge so far.

    A right file must reach `rung`; a wrong one must fail a required check there or before. `settled` are the checks
    that need not run again, `failed` is the check that failed and its rung; `share` is as in `Grading`.
    """

    file: Path
    right: bool
    rung: CaseRung = "hardened"
    settled: frozenset[str] = frozenset()
    failed: tuple[str, CaseRung | None] = ("", None)
    done: bool = False
    share: tuple[int, int] = (0, 1)


@dataclass
class Verification:
    """The proof of one challenge on a device.

    `submit` makes a submission of a file, on the `device` or on the one given. `notify` is called after each file with
    the number of its gradings. `known` has the checks that wrong files failed in the last proof. It only changes the
    order of checks, and a file that must fail on the first rung still takes that one first. `only` names a sample of
    the wrong files: no others are proved, and the right files share the questions. If it is empty, all are proved.
    """

    folder: Folder
    submit: Callable[..., Submission]
    notify: Callable[[int], None]
    known: Mapping[str, tuple[str, CaseRung | None]] = field(default_factory=dict)
    device: str = CPU
    only: Collection[str] = ()
    surprises: list[dict[str, Any]] = field(default_factory=list)
    _interpreter_exams: dict[int, Exam] = field(default_factory=dict)

    def run(self, streams: int) -> dict[str, Any]:
        """Return the counts, and as `surprises` each file with an unexpected verdict, with the line to look at."""
        candidates = self._candidates()
        for first in range(0, streams, STREAMS_AT_ONCE):
            numbers = range(first, min(streams, first + STREAMS_AT_ONCE))
            exams = [Exam(self.folder, stream, self.device) for stream in numbers]
            self._interpreter_exams.clear()
            for candidate in candidates:
                self._prove(candidate, exams)
                self.notify(len(exams))
        right = sum(candidate.right for candidate in candidates)
        failed = {c.file.stem: list(c.failed) for c in candidates if not c.right and c.failed[0]}
        return {"sound": right, "wrong": len(candidates) - right, "surprises": self.surprises, "failed": failed}

    def _candidates(self) -> list[Candidate]:
        path = self.folder.path
        right = [path / ("kernel.py" if self.folder.kernel else "reference.py"), *sorted((path / "right").glob("*.py"))]
        shares = [(turn % SHARES, SHARES) if self.only else (0, 1) for turn in range(len(right))]
        candidates = [Candidate(file, True, share=share) for file, share in zip(right, shares, strict=True)]
        wrong = sorted((path / "wrong").glob("*.py"))
        for file in [file for file in wrong if not self.only or file.stem in self.only]:
            rung = self.folder.mistake(file.stem).rung
            check, failed = self.known.get(file.stem, ("", None))
            if rung == "solved" and failed != "solved":
                check, failed = "", None
            candidates.append(Candidate(file, False, rung, failed=(check, failed)))
        return candidates

    def _prove(self, candidate: Candidate, exams: list[Exam]) -> None:
        if candidate.done:
            return
        submission = self.submit(candidate.file)
        try:
            for turn, exam in enumerate(exams):
                settled = candidate.settled | ({"loads"} if turn else set())
                grading = Grading(
                    exam, submission, QUICK, first=candidate.failed, settled=settled, share=candidate.share
                )
                report = grading.run()
                interpret = partial(self._interpreted, candidate, exam.stream)
                self._note(candidate, exam.stream, interpreted_too(report, self.folder.kernel, exam.device, interpret))
                if candidate.done or submission.worker is None:
                    break
        finally:
            submission.close()

    def _interpreted(self, candidate: Candidate, stream: int) -> GradeReport:
        """Grade a kernel in the interpreter."""
        exam = self._interpreter_exams.get(stream) or Exam(self.folder, stream)
        self._interpreter_exams[stream] = exam
        with closing(self.submit(candidate.file, on=CPU)) as submission:
            return Grading(exam, submission, QUICK, first=candidate.failed, settled=candidate.settled).run()

    def _note(self, candidate: Candidate, stream: int, report: GradeReport) -> None:
        """Compare a report with the expected verdict, and note the checks to skip on the next stream."""
        required = [check for check in report.checks if check.required]
        failed = next((check for check in required if check.status == "fail"), None)
        if candidate.right:
            unproved = failed or next((check for check in required if check.status == "skipped"), None)
            if unproved is not None:
                message = f"{report.verdict} on stream {stream}: {unproved.name}: {unproved.message.en}"
                self._add_surprise(candidate, stream, report.verdict, message)
            candidate.settled = ONCE - {"loads"}
        elif failed is None or (candidate.rung == "solved" and failed.rung != "solved"):
            message = f"accepted on stream {stream}, though it must not reach {candidate.rung}"
            later = f"; only {failed.name} on the hardened rung turns it away" if failed is not None else ""
            self._add_surprise(candidate, stream, "accepted", message + later)
        else:
            candidate.failed = failed.name, failed.rung
            candidate.done = failed.name in ONCE

    def _add_surprise(self, candidate: Candidate, stream: int, verdict: Verdict, message: str) -> None:
        file = candidate.file.relative_to(self.folder.path).as_posix()
        lines = [] if candidate.right else candidate.file.read_text(encoding="utf-8").splitlines()
        line = next((number for number, text in enumerate(lines, 1) if text.strip().startswith("rung:")), 1)
        surprise = {"file": file, "line": line, "stream": stream, "verdict": verdict, "message": message}
        self.surprises.append(surprise)
        candidate.done = True
