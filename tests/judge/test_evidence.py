"""Diagnose two mistakes at once if the outputs prove the pair, and not if they only suggest it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.judge.challenge import Folder
from in_process import grade, write_challenge

pytestmark = pytest.mark.usefixtures("one_thread")

IMPL = Path(__file__).parents[2] / "impl"


def bundled(place: str) -> Folder:
    said = yaml.safe_load((IMPL / place / "challenge.yaml").read_text(encoding="utf-8"))
    spec = {"id": Path(place).name, "entry": said["entry"], "badges": [], "forbidden": said.get("forbidden", [])}
    required = ["loads", "matches-reference", "edge-cases"]
    return Folder({**spec, "required": required, "cards": said["cards"]}, IMPL / place)


def wrong(place: str, name: str, old: str = "", new: str = "") -> str:
    source = (IMPL / place / "wrong" / f"{name}.py").read_text(encoding="utf-8")
    assert old in source
    return source.replace(old, new)


def test_no_scale_and_no_handling_of_empty_rows_are_both_named() -> None:
    source = wrong("attention/sdpa", "nan-rows", "1.0 / math.sqrt(q.shape[-1])", "1.0")
    found = grade(bundled("attention/sdpa"), source)["diagnosis"]
    assert [(entry["wrong"], entry["beside"]) for entry in found] == [
        ("nan-rows", "no-scale"),
        ("no-scale", "nan-rows"),
    ]
    assert all(entry["says"] and entry["cards"] for entry in found)


@pytest.mark.parametrize("scale", ["0.5 / math.sqrt(q.shape[-1])", "1.0 / q.shape[-1] ** 0.4"])
def test_half_of_a_pair_alone_is_not_named(scale: str) -> None:
    source = wrong("attention/sdpa", "nan-rows", "1.0 / math.sqrt(q.shape[-1])", scale)
    assert grade(bundled("attention/sdpa"), source)["diagnosis"] == []


def test_mistakes_that_act_on_the_same_entries_are_not_named() -> None:
    source = wrong("attention/sdpa", "softmax-over-queries", "1.0 / math.sqrt(q.shape[-1])", "1.0")
    assert grade(bundled("attention/sdpa"), source)["diagnosis"] == []


def test_one_mistake_is_named_alone() -> None:
    found = grade(bundled("attention/sdpa"), wrong("attention/sdpa", "no-scale"))["diagnosis"]
    assert [entry["wrong"] for entry in found] == ["no-scale"] and "beside" not in found[0]


CLIPPED = """
def clipped(x, low, high):
    {body}
"""
SOUND = "return x.clamp(low, high)"
KNOWN = {
    "no-low": "return x.clamp(max=high)",
    "no-high": "return x.clamp(min=low)",
    "doubled": "return 2 * x.clamp(low, high)",
}
INPUTS = """
def case(make):
    make.call("clipped", make.normal(make.size(1, 6), make.size(1, 7)), -0.5, 0.5)
"""
SPEC: dict[str, Any] = {"entry": ["clipped"], "required": ["loads", "matches-reference"], "forbidden": []}


def named(root: Path, body: str, known: dict[str, str]) -> set[str]:
    files = {name: f'"""{name}."""\n' + CLIPPED.format(body=text) for name, text in known.items()}
    folder = write_challenge(root, SPEC, CLIPPED.format(body=SOUND), INPUTS, files)
    return {entry["wrong"] for entry in grade(folder, CLIPPED.format(body=body))["diagnosis"]}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("return x", {"no-low", "no-high"}),
        ("return x.clamp(-1, high)", set()),
        ("return x.where(x > -0.5, x * 1.01)", set()),
        ("return x.where(x != x.max(), 7)", set()),
    ],
)
def test_every_entry_has_to_be_explained_by_one_of_the_two(tmp_path: Path, body: str, names: set[str]) -> None:
    assert named(tmp_path, body, KNOWN) == names


def test_pairs_that_cannot_be_told_apart_are_not_named(tmp_path: Path) -> None:
    assert named(tmp_path, "return x", {**KNOWN, "no-low-either": "return x.minimum(x * 0 + high)"}) == set()
