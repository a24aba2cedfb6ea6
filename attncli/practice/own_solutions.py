"""The code that solved a challenge; for the summary, the learner's own alone, without handed-out files repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from attncli.domain.challenge import Challenge
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.rungs import RUNGS, Rung
from attncli.memory.replay import standing
from attncli.practice.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OwnSolution:
    """A challenge with the last code of the learner's own that reached the highest rung; `attempts` at it in all."""

    challenge: Challenge
    rung: Rung
    source: str
    at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class OwnSolutions:
    """What the learner made of the challenges: written, repaired from a file with planted bugs, and only tried."""

    solved: tuple[OwnSolution, ...]
    repaired: tuple[Challenge, ...]
    tried: tuple[Challenge, ...]


def written(workspace: Workspace) -> OwnSolutions:
    """Every challenge that was attempted, in reading order."""
    solved, repaired, tried = [], [], []
    for challenge in workspace.library.challenges():
        rows = standing(workspace.store.log.of_subjects([challenge.id]))
        attempts = list(_attempts(rows))
        own = [row for row, is_repair in attempts if not is_repair]
        mended_rounds = any(row.fixes for row in rows)
        if mended_rounds or any(is_repair and row.reached != "none" for row, is_repair in attempts):
            repaired.append(challenge)
        if last := _best(own):
            solved.append(OwnSolution(challenge, last.reached, last.source, last.at, len(own)))
        elif own:
            tried.append(challenge)
    return OwnSolutions(tuple(solved), tuple(repaired), tuple(tried))


def solving_source(workspace: Workspace, id: str) -> str | None:
    """The last code, the learner's own or mended, that reached the highest rung; None until the challenge is solved."""
    best = _best(standing(workspace.store.log.of_subjects([id])))
    return None if best is None else best.source


def _best(rows: Sequence[LogRow]) -> LogRow | None:
    reached = ([row for row in rows if row.verdict and row.reached == rung] for rung in reversed(RUNGS))
    return next((found[-1] for found in reached if found), None)


def _attempts(rows: Iterable[LogRow]) -> Iterator[tuple[LogRow, bool]]:
    """The attempts, each with whether its file is the one with planted bugs that was handed out last."""
    handed_out: LogRow | None = None
    for row in rows:
        if row.kind is RowKind.START:
            handed_out = row
        elif row.verdict:
            yield row, handed_out is not None and handed_out.is_planted and _same_file(handed_out, row)


def _same_file(start: LogRow, attempt: LogRow) -> bool:
    """Whether both name one file; a relative name is compared as far as it goes."""
    given, graded = (PurePath(str(row.payload.get("file") or "")) for row in (start, attempt))
    return given == graded if graded.is_absolute() else given.name == graded.name
