"""Showing the reference of a challenge; having seen it counts as help."""

from __future__ import annotations

from pathlib import Path

from attncli.domain.challenge import Challenge
from attncli.domain.log_row import RowKind
from attncli.errors import UsageError
from attncli.practice.log.log_transaction import record
from attncli.practice.workspace import Workspace


def show_solution(workspace: Workspace, id: str) -> str:
    """The source of the reference of challenge `id`, recorded as seen."""
    challenge = workspace.library.challenge(id)
    text = reference(challenge)
    record(workspace, RowKind.SOLUTION, challenge.id, {})
    return text


def reference(challenge: Challenge) -> str:
    """The source of a reference, for those who have solved its challenge: nothing is recorded."""
    return _read(Path(challenge.folder) / ("kernel.py" if challenge.kernel else "reference.py"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path} ({error}); the installation or the challenge is damaged") from error
