"""Prove every challenge on one stream of inputs; `attn verify --streams 20` is the long form.

Its reference and right files are accepted, and its wrong files rejected: four of them if `tests/verified.json` says
that all were proved with this judge, else all.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli import paths
from attncli.practice import verify
from attncli.practice.verify import verify_challenge
from attncli.practice.workspace import Workspace
from verified import SAMPLE, failed, to_prove

ROOT = Path(__file__).parent.parent
IDS = sorted(path.parent.name for path in (ROOT / "impl").glob("*/*/challenge.yaml"))


def test_there_are_challenges():
    assert len(IDS) >= 8


@pytest.fixture(scope="module")
def challenges(tmp_path_factory):
    home = paths.home(tmp_path_factory.mktemp("home"), {})
    with Workspace.open(home, lambda: datetime(2026, 1, 1, tzinfo=UTC)) as workspace:
        return {challenge.id: challenge for challenge in workspace.library.challenges()}


@pytest.mark.sandbox
@pytest.mark.parametrize("id", IDS)
def test_every_right_solution_is_accepted_and_every_wrong_one_rejected(id, challenges, judge):
    only = to_prove(Path(challenges[id].folder))
    proof = verify_challenge(judge, challenges[id], streams=1, known=failed(id), only=only)
    assert proof.holds, proof.failures()
    assert proof.sound >= 3
    assert proof.wrong == SAMPLE if only else proof.wrong >= 6


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    home = paths.home(tmp_path_factory.mktemp("home"), {})
    with Workspace.open(home, lambda: datetime(2026, 1, 1, tzinfo=UTC)) as workspace:
        return verify.faults(workspace, [])


def test_reading_the_challenges_shows_nothing_wrong(faults):
    assert [str(fault) for fault in faults] == []


def test_every_challenge_is_complete(challenges):
    for challenge in challenges.values():
        folder = Path(challenge.folder)
        assert len(list(folder.glob("wrong/*.py"))) >= 6 and len(list(folder.glob("right/*.py"))) >= 2, challenge.id
        assert len(challenge.hints) == len(challenge.follow_ups) == 3 and challenge.sources, challenge.id
        assert {"loads", "matches-reference", "pure", "forbidden"} <= set(challenge.required), challenge.id
        for text in (challenge.title, challenge.statement, *challenge.hints):
            assert text.en.strip() and text.zh.strip() and text.en != text.zh, challenge.id
        names = {path.name for path in folder.iterdir()} - {"__pycache__"}
        python = {"reference.py", "tests.py", "inputs.py", "kernel.py"}
        assert names <= python | {"wrong", "right", "challenge.yaml", "repairs.yaml"}
        assert (folder / "tests.py").is_file(), challenge.id
