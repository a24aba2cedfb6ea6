"""What reading shows to be wrong with challenges, before anything of them is run."""

from __future__ import annotations

from collections.abc import Collection

from attncli.bank.check import check_challenges
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known
from attncli.bank.problems import Problem
from attncli.bank.reading.planned_ids import load_planned
from attncli.practice.workspace import Workspace


def faults(workspace: Workspace, ids: Collection[str]) -> tuple[Problem, ...]:
    """Every fault of the challenges `ids`, or of all if none is named; also of those that no index would take."""
    source_files, index = workspace.source_files, workspace.store.index
    files = [file for file in source_files.challenge_files() if not ids or file.parent.name in ids]
    known = Known(cards=frozenset(index.card_ids()), planned=load_planned(source_files.quizbank))
    return check_challenges(files, known, Surroundings(source_files.quizbank, source_files.impl))
