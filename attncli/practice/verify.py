"""Verify challenges: reference and right solutions are accepted, wrong ones rejected, on many input streams."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from attncli.bank.challenge_rules import load_repairs
from attncli.bank.check import check_challenges
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known
from attncli.bank.problems import Problem, shown_path
from attncli.domain.challenge import CPU, REPAIRS, Challenge
from attncli.judge.client import GradeOptions, Judge, OnProved, VerifyRequest
from attncli.practice.grade import device_for, specification
from attncli.practice.workspace import Workspace

# Long enough for any right solution on a busy machine: a proof must not depend on the speed of the machine.
SECONDS = 60.0
# The slowest challenges start first, so that no judge works alone on one at the end.
_SLOWEST = ("random", "work", "memory")


def can_be_run(challenge: Challenge) -> bool:
    """Return True if the dependencies of its files are installed: Triton for a kernel."""
    return not challenge.kernel or importlib.util.find_spec("triton") is not None


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome for one challenge: the numbers of right and wrong files, and the misjudged ones.

    `failed` maps each wrong file to the check that it failed, and its rung.
    """

    challenge: str
    folder: Path
    sound: int
    wrong: int
    surprises: Sequence[dict[str, Any]]
    failed: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    device: str = CPU

    @property
    def holds(self) -> bool:
        return not self.surprises

    def document(self) -> dict[str, Any]:
        files = {found["file"] for found in self.surprises}
        missed = {file for file in files if file.startswith("wrong/")}
        rejected = files - missed - {REPAIRS}
        return {
            "id": self.challenge,
            "holds": self.holds,
            "right": {"accepted": self.sound - len(rejected), "total": self.sound},
            "wrong": {"rejected": self.wrong - len(missed), "total": self.wrong},
            "failures": list(self.surprises),
            "failed": dict(self.failed),
            "device": self.device,
        }

    def failures(self) -> list[str]:
        """Return each misjudged file as `file:line: message`."""
        return [f"{shown_path(self.folder / at['file'])}:{at['line']}: {at['message']}" for at in self.surprises]


def verify_challenges(
    challenges: Sequence[Challenge],
    streams: int,
    jobs: int,
    on_done: Callable[[int, int], None] = lambda done, of: None,
    device: str = CPU,
    on_proof: Callable[[Proof], None] = lambda proof: None,
) -> list[Proof]:
    """Verify each challenge with `jobs` judges at once; on a GPU `device` for those with something to check there.

    `on_done` gets the gradings done and in all, `on_proof` each proof as it ends; the list is in the order of
    `challenges`. Raises JudgeFailed if a judge fails, UsageError if a GPU is asked for and unusable.
    """
    devices = {challenge.id: device_for(challenge, device)[0] for challenge in challenges}
    total = streams * sum(map(_files, challenges))
    done, lock = 0, Lock()

    def count(gradings: int) -> None:
        nonlocal done
        with lock:
            done += gradings
            on_done(done, total)

    judges: SimpleQueue[Judge] = SimpleQueue()
    opened = [Judge.start() for _ in range(max(1, min(jobs, len(challenges))))]
    for judge in opened:
        judges.put(judge)

    def verify(challenge: Challenge) -> Proof:
        judge = judges.get()
        try:
            return verify_challenge(judge, challenge, streams, count, device=devices[challenge.id])
        finally:
            judges.put(judge)

    order = sorted(challenges, key=lambda challenge: [check not in challenge.required for check in _SLOWEST])
    with ThreadPoolExecutor(len(opened)) as pool:
        try:
            under_way = [pool.submit(verify, challenge) for challenge in order]
            proofs = []
            for ended in as_completed(under_way):
                proofs.append(ended.result())
                on_proof(proofs[-1])
        finally:
            # Close before the pool waits for its threads: otherwise an interrupt would wait for the running proofs.
            for judge in opened:
                judge.close()
    return sorted(proofs, key=lambda proof: [challenge.id for challenge in challenges].index(proof.challenge))


def verify_challenge(
    judge: Judge,
    challenge: Challenge,
    streams: int,
    on_proved: OnProved = lambda gradings: None,
    known: Mapping[str, Sequence[Any]] | None = None,
    device: str = CPU,
    only: Sequence[str] = (),
) -> Proof:
    """Verify one challenge; with `only`, a sample as in VerifyRequest and no repairs. Raises JudgeFailed.

    `known` is `failed` of an earlier proof: it saves time and never changes the result.
    """
    request = VerifyRequest(
        spec=specification(challenge),
        folder=Path(challenge.folder),
        streams=streams,
        options=GradeOptions(timeout_seconds=SECONDS, device=device),
        known=known or {},
        only=only,
        repairs=() if only else load_repairs(Path(challenge.folder)),
    )
    found = judge.verify(request, on_proved)
    counts = (found["sound"], found["wrong"], found["surprises"])
    return Proof(challenge.id, request.folder, *counts, found["failed"], found["device"])


def _files(challenge: Challenge) -> int:
    folder = Path(challenge.folder)
    return 1 + sum(len(list((folder / kind).glob("*.py"))) for kind in ("right", "wrong"))


def faults(workspace: Workspace, ids: Collection[str]) -> tuple[Problem, ...]:
    """Return every static problem of the challenges `ids` (empty: all), including those that are not in the index."""
    source_files, index = workspace.source_files, workspace.store.index
    files = [file for file in source_files.challenge_files() if not ids or file.parent.name in ids]
    known = Known(cards=frozenset(index.card_ids()))
    return check_challenges(files, known, Surroundings(source_files.quizbank, source_files.impl))
