"""The rounds of code in a mock interview: the file that is handed out, and what a grading of it counts for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import GradeReport
from attncli.domain.mock_interview import MockItem
from attncli.errors import UsageError
from attncli.practice import grade
from attncli.practice.grade import GradeOptions
from attncli.practice.mock import MockInterview
from attncli.practice.repair_round import offers_rounds
from attncli.practice.start import start_challenge
from attncli.practice.warm_judge import GradeRequest

OPTIONS = GradeOptions(rung="solved")
"""An interviewer at the whiteboard asks for the first rung."""


@dataclass(frozen=True, slots=True)
class CodeRound:
    """A challenge and the file in which it is written, or in which so many `bugs` are mended."""

    challenge: Challenge
    path: Path
    bugs: int


def hand_out(interview: MockInterview) -> CodeRound:
    """The file of the current round, written on first sight; a file that is there is gone on with.

    Raises UsageError where none can be written, NotFound if the challenge is not there.
    """
    item, workspace = interview.item, interview.workspace
    if item is None or not item.is_code:
        raise UsageError("no code is asked for now; `attn mock` shows what is")
    challenge = workspace.library.challenge(item.id)
    folder = workspace.home.solutions / f"mock-{interview.state.begun_at:%Y%m%d-%H%M%S}"
    path = folder / f"{challenge.id}.py"
    if not path.exists():
        path = _written(interview, item, challenge, folder)
    return CodeRound(challenge, path, max(1, item.n) if item.kind == "repair" else 0)


def _written(interview: MockInterview, item: MockItem, challenge: Challenge, folder: Path) -> Path:
    workspace, seed = interview.workspace, interview.state.plan.seed
    if item.kind != "repair":
        return start_challenge(workspace, challenge.id, folder).path
    if item.n and offers_rounds(challenge):
        return start_challenge(workspace, challenge.id, folder, repair=item.n, seed=seed).path
    return start_challenge(workspace, challenge.id, folder, bug=True, wrong=_drawn_bug(challenge, seed)).path


def _drawn_bug(challenge: Challenge, seed: int) -> str:
    """A mistake that the first rung sees: the same seed plants the same one."""
    stems = sorted(path.stem for path in (Path(challenge.folder) / "wrong").glob("*.py"))
    seen = [stem for stem in stems if stem in challenge.mistakes and challenge.mistakes[stem].rung == "solved"]
    return Random(f"{seed} bug").choice(seen or stems) if stems else ""


def request_for(interview: MockInterview, round: CodeRound) -> GradeRequest:
    """What the judge is asked about the file of a round. Raises NotFound, UsageError."""
    return grade.request_for(interview.workspace, round.challenge.id, round.path, OPTIONS)


def settle(interview: MockInterview, request: GradeRequest, report: GradeReport) -> None:
    """Records a grading: an attempt at the challenge or a repair, and what it counts for in the interview."""
    workspace = interview.workspace
    grade.settle(workspace, request, report, OPTIONS)
    cards = tuple(dict.fromkeys(card for found in report.diagnosis for card in found.cards))
    if report.repaired is None:
        interview.tick_code(int(report.accepted), 1, cards, report.verdict)
        return
    left = tuple(bug.wrong for bug in report.repaired.left)
    mistakes = workspace.library.challenge(report.challenge).mistakes
    cards += tuple(card for bug in left if bug in mistakes for card in mistakes[bug].cards)
    # What was broken anew is no reason to call it whole: one bug counts as left while the file is rejected.
    done = report.repaired.of if report.accepted else min(report.repaired.done, report.repaired.of - 1)
    interview.tick_code(done, report.repaired.of, tuple(dict.fromkeys(cards)), report.verdict)
