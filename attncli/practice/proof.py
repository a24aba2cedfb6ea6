"""Proving challenges: every reference and right solution is accepted, every wrong one rejected, on many streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from attncli.domain.challenge import Challenge
from attncli.judge.client import GradeRequest, Judge
from attncli.practice.grading import first_failure, specification

# Long enough for any sound solution on a busy machine: a proof must not depend on how fast it runs.
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Trial:
    """One file of a challenge on one stream; `accepted` is what is due."""

    challenge: Challenge
    file: Path
    stream: int
    accepted: bool


@dataclass(frozen=True, slots=True)
class Surprise:
    """A trial that did not go as it should."""

    trial: Trial
    verdict: str
    message: str

    def document(self) -> dict[str, Any]:
        file = f"{self.trial.file.parent.name}/{self.trial.file.name}"
        return {"file": file, "stream": self.trial.stream, "verdict": self.verdict, "message": self.message}


@dataclass(slots=True)
class Proof:
    """The outcome for one challenge: how many of its sound and wrong files were judged rightly on every stream."""

    challenge: str
    sound: int = 0
    wrong: int = 0
    surprises: list[Surprise] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.surprises

    def document(self) -> dict[str, Any]:
        bad = {surprise.trial.file: surprise.trial.accepted for surprise in self.surprises}
        missed = sum(not accepted for accepted in bad.values())
        turned_away = sum(accepted for accepted in bad.values())
        return {
            "id": self.challenge,
            "holds": self.holds,
            "right": {"accepted": self.sound - turned_away, "total": self.sound},
            "wrong": {"rejected": self.wrong - missed, "total": self.wrong},
            "failures": [surprise.document() for surprise in self.surprises],
        }


def trials(challenge: Challenge, streams: int) -> Iterator[Trial]:
    """Every file of a challenge on every stream."""
    folder = Path(challenge.folder)
    sound = [folder / "reference.py", *sorted((folder / "right").glob("*.py"))]
    wrong = sorted((folder / "wrong").glob("*.py"))
    for stream in range(streams):
        yield from (Trial(challenge, file, stream, True) for file in sound)
        yield from (Trial(challenge, file, stream, False) for file in wrong)


def prove(
    challenges: Sequence[Challenge],
    streams: int,
    jobs: int,
    on_done: Callable[[int, int], None] = lambda done, of: None,
) -> list[Proof]:
    """Grades everything with `jobs` judges at once. Raises JudgeFailed if one of them fails."""
    proofs = {challenge.id: Proof(challenge.id) for challenge in challenges}
    queue = [trial for challenge in challenges for trial in trials(challenge, streams)]
    for challenge in challenges:
        first = list(trials(challenge, 1))
        proofs[challenge.id].sound = sum(trial.accepted for trial in first)
        proofs[challenge.id].wrong = sum(not trial.accepted for trial in first)
    judges: SimpleQueue[Judge] = SimpleQueue()
    # A wrong file is asked first for what it failed the last time: one failed check is a verdict.
    failed: dict[Path, str] = {}
    opened = [Judge.start() for _ in range(max(1, min(jobs, len(queue))))]
    try:
        for judge in opened:
            judges.put(judge)
        with ThreadPoolExecutor(len(opened)) as pool:
            for done, surprise in enumerate(pool.map(lambda trial: surprise_of(judges, trial, failed), queue), start=1):
                on_done(done, len(queue))
                if surprise is not None:
                    proofs[surprise.trial.challenge.id].surprises.append(surprise)
    finally:
        for judge in opened:
            judge.close()
    return list(proofs.values())


def surprise_of(judges: SimpleQueue[Judge], trial: Trial, failed: dict[Path, str] | None = None) -> Surprise | None:
    """Grades one trial with a free judge; None if it went as it should."""
    judge = judges.get()
    try:
        report = judge.grade(
            GradeRequest(
                spec=specification(trial.challenge),
                folder=Path(trial.challenge.folder),
                source=trial.file.read_bytes(),
                filename=str(trial.file),
                timeout_seconds=SECONDS,
                seed=trial.stream,
                quick=True,
                first=(failed or {}).get(trial.file, ""),
            )
        )
    finally:
        judges.put(judge)
    if (report["verdict"] == "accepted") == trial.accepted:
        if failed is not None and not trial.accepted:
            failed[trial.file] = next(check["name"] for check in report["checks"] if check["status"] == "fail")
        return None
    return Surprise(trial, report["verdict"], first_failure(report))
