"""Prove every challenge on one stream; `attn verify --streams 20` is the long form. See `verified.py`."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import verified
from attncli import paths
from attncli.practice import verify
from attncli.practice.verify import verify_challenge
from attncli.practice.workspace import Workspace
from verified import SAMPLE, code, failed, fingerprint, to_prove

ROOT = Path(__file__).parent.parent
IDS = sorted(path.parent.name for path in (ROOT / "impl").glob("*/*/challenge.yaml"))


@pytest.fixture(scope="module")
def challenges(tmp_path_factory):
    home = paths.home(tmp_path_factory.mktemp("home"), {})
    with Workspace.open(home, lambda: datetime(2026, 1, 1, tzinfo=UTC)) as workspace:
        return {challenge.id: challenge for challenge in workspace.library.challenges()}


@pytest.mark.slow
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


SDPA = Path(__file__).parents[1] / "impl" / "attention" / "sdpa"


def test_docstrings_comments_and_line_breaks_are_no_code():
    source = '"""Doc."""\nx = "#"  # gone\n\n# gone\ndef f():\n    """Says.\n\n    More."""\n    return x\n'
    assert code(source) == 'x="#"\ndeff():\n    returnx'
    assert code("f(\n    a,  # one\n    b,\n)\n") == code("f(a, b)\n") == "f(a,b)"
    assert code("if a:\n    b\n    c\n") != code("if a:\n    b\nc\n")


@pytest.mark.parametrize(
    ("file", "before", "after", "stays"),
    [
        ("challenge.yaml", "statement:", "statement:\n  # reworded", True),
        ("challenge.yaml", "level: 1", "level: 2", False),
        ("reference.py", "import math", "import math, os", False),
        ("reference.py", "import math", "import math  # first", True),
    ],
)
def test_a_changed_rule_asks_for_a_new_proof(tmp_path, file, before, after, stays):
    folder = tmp_path / "sdpa"
    shutil.copytree(SDPA, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert before in text
    (folder / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert (fingerprint(folder) == fingerprint(SDPA)) is stays


@pytest.mark.slow
def test_a_loosened_tolerance_asks_for_a_new_proof(monkeypatch, tmp_path):
    before = fingerprint(SDPA)
    shutil.copytree(verified.ROOT / "attncli" / "judge", tmp_path / "attncli" / "judge")
    shutil.copytree(verified.ROOT / "attncli" / "sandbox", tmp_path / "attncli" / "sandbox")
    shutil.copy(verified.ROOT / "constraints.txt", tmp_path)
    monkeypatch.setattr(verified, "ROOT", tmp_path)
    verified._judge.cache_clear()
    assert fingerprint(SDPA) == before
    file = tmp_path / "attncli" / "judge" / "compare.py"
    file.write_text(file.read_text(encoding="utf-8") + "\nLOOSER = 2\n", encoding="utf-8")
    verified._judge.cache_clear()
    assert fingerprint(SDPA) != before
    verified._judge.cache_clear()
