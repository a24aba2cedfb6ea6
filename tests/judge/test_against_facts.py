"""Report typed arguments that contradict a challenge's facts, and accept everything that the challenge asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from attncli.domain.grade_report import BothAnswers
from attncli.judge.case import Case, profile_of
from attncli.judge.challenge import Folder, edge_functions
from attncli.judge.drawing import fixed_draw
from attncli.judge.exam import drawn
from attncli.judge.make import Recorder
from attncli.judge.try_case import forbidden
from attncli.paths import bundled_impl

CHALLENGES = sorted(bundled_impl().glob("*/*/challenge.yaml"))
DRAWN = 12


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ones(1, 3)", "d is 3 in x; in the challenge d = 2 * half"),
        ("ones(2, 1, 2)", "x has 3 dimensions; expected (T, d)"),
        ("ones(1, 2), how='sideways'", "how is 'sideways'; use one of 'up', 'down'"),
        ("[[1.0, 2.0]]", "x must be a tensor"),
    ],
)
def test_what_the_facts_forbid_is_told(answered: Callable[..., BothAnswers], text: str, says: str) -> None:
    assert [line.en for line in answered(text).forbidden] == [says]


def test_sizes_that_must_agree_are_told(tmp_path: Path) -> None:
    folder = Folder({"id": "mqa", "entry": ["mqa"]}, bundled_impl() / "cache" / "gqa")
    make = Recorder(fixed_draw, profile_of("ordinary", folder.facts), declared=folder.declared)
    make.call("gqa", make.normal(2, 4, 3, 8), make.normal(3, 2, 3, 8), make.normal(3, 2, 3, 8))
    said = [line.en for line in forbidden(make.case, folder)]
    assert said == ["B is 3 in k and 2 in q; they must be equal", said[1]] and "in v" in said[1]


@pytest.mark.parametrize("path", CHALLENGES, ids=lambda path: path.parent.name)
def test_nothing_that_a_challenge_asks_for_is_forbidden(path: Path) -> None:
    spec = yaml.safe_load(path.read_text(encoding="utf-8")) | {"id": path.parent.name}
    folder = Folder(spec, path.parent)
    if folder.kernel:
        pytest.importorskip("triton")
    folder.prepare()
    profile = profile_of("ordinary", folder.facts)
    cases = drawn(folder.inputs.case, profile, DRAWN, 1, 0, folder.declared)
    for label, _, record in edge_functions(folder):
        make = Recorder(fixed_draw, profile, label=label, declared=folder.declared)
        record(make)
        cases.append(make.case)
    for case in cases:
        assert not forbidden(_answered(case), folder), case.label


def _answered(case: Case) -> Case:
    """Return the case without the calls that must raise."""
    case.steps = [step for step in case.steps if "raises" not in step]
    return case
