"""Proving challenges: every reference and right solution is accepted, every wrong one rejected, on many streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
# Growth is measured on the same inputs on every stream: what holds on the first one holds.
SAME_ON_EVERY_STREAM = ("work", "memory")


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


def trials(challenge: Challenge, stream: int) -> list[Trial]:
    """Every file of a challenge on one stream."""
    folder = Path(challenge.folder)
    sound = [folder / "reference.py", *sorted((folder / "right").glob("*.py"))]
    wrong = sorted((folder / "wrong").glob("*.py"))
    return [
        *(Trial(challenge, file, stream, True) for file in sound),
        *(Trial(challenge, file, stream, False) for file in wrong),
    ]


def prove(
    challenges: Sequence[Challenge],
    streams: int,
    jobs: int,
    on_done: Callable[[int, int], None] = lambda done, of: None,
) -> list[Proof]:
    """Grades everything with `jobs` judges at once. Raises JudgeFailed if one of them fails."""
    proofs = {challenge.id: Proof(challenge.id) for challenge in challenges}
    for challenge in challenges:
        first = trials(challenge, 0)
        proofs[challenge.id].sound = sum(trial.accepted for trial in first)
        proofs[challenge.id].wrong = sum(not trial.accepted for trial in first)
    # A judge makes an exam once for all the files that it grades on the stream: they stay together.
    queue = [trials(challenge, stream) for challenge in challenges for stream in range(streams)]
    total = sum(map(len, queue))
    judges: SimpleQueue[Judge] = SimpleQueue()
    # A wrong file is asked first for what it failed the last time: one failed check is a verdict.
    failed: dict[Path, str] = {}
    opened = [Judge.start() for _ in range(max(1, min(jobs, len(queue))))]
    try:
        for judge in opened:
            judges.put(judge)
        with ThreadPoolExecutor(len(opened)) as pool:
            done = 0
            for together, surprises in pool.map(lambda together: _surprises(judges, together, failed), queue):
                done += together
                on_done(done, total)
                for surprise in surprises:
                    proofs[surprise.trial.challenge.id].surprises.append(surprise)
    finally:
        for judge in opened:
            judge.close()
    return list(proofs.values())


def _surprises(
    judges: SimpleQueue[Judge], together: Sequence[Trial], failed: dict[Path, str]
) -> tuple[int, list[Surprise]]:
    judge = judges.get()
    try:
        found = [surprise_of(judge, trial, failed) for trial in together]
    finally:
        judges.put(judge)
    return len(together), [surprise for surprise in found if surprise is not None]


def surprise_of(judge: Judge, trial: Trial, failed: dict[Path, str] | None = None) -> Surprise | None:
    """Grades one trial; None if it went as it should. `failed` keeps which check a wrong file failed the last time."""
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
            settled=SAME_ON_EVERY_STREAM if trial.stream and trial.accepted else (),
        )
    )
    if (report["verdict"] == "accepted") != trial.accepted:
        return Surprise(trial, report["verdict"], first_failure(report))
    if failed is not None and not trial.accepted:
        failed[trial.file] = next(check["name"] for check in report["checks"] if check["status"] == "fail")
    return None
