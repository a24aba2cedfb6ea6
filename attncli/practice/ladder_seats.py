"""Which of the learner's files take the seats of `attn ladder`: one that is named, else what solved the piece last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attncli.practice.grade import read_submission
from attncli.practice.own_solutions import written
from attncli.practice.workspace import Workspace


def texts_for_seats(
    workspace: Workspace, seats: Iterable[str], given: Mapping[str, Path]
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """The learner's text for each seat of an engine, and where it comes from.

    Raises UsageError for a file that is not there or cannot be graded.
    """
    texts: dict[str, str] = {}
    whose: dict[str, dict[str, Any]] = {}
    solved = {found.challenge.id: found for found in written(workspace).solved}
    for id in seats:
        if id in given:
            texts[id] = read_submission(given[id]).decode("utf-8", "replace")
            whose[id] = {"file": str(given[id])}
        elif id in solved and solved[id].source:
            texts[id] = solved[id].source
            whose[id] = {"rung": solved[id].rung, "solved": solved[id].at.isoformat()}
    return texts, whose
