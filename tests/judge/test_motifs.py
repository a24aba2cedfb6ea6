"""Compose shared motifs of techniques from a `case` and its facts: which motifs, with which values fixed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attncli
from attncli.domain.challenge import FACTS, MOTIFS, Facts
from attncli.errors import JudgeFailed
from attncli.judge.case import LEADS, Case, Profile, Turn
from attncli.judge.challenge import Folder
from attncli.judge.drawing import SCORES, Declared, fixed_draw, masks_over
from attncli.judge.exam import rung_of_values
from attncli.judge.make import Recorder
from attncli.judge.motifs import HARDENED_MOTIFS, motifs
from attncli.sandbox import kernels
from in_process import write_challenge

REFERENCE = """
import torch

def attend(q, k, v, mask=None, scale=None):
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ v
"""
INPUTS = """
AXES = {"q": "... T d", "k": "... S d", "v": "... S d", "return": "... T d"}
SIZES = {"T": (1, 4, 40), "past": (0, 3), "d": (1, 5)}
DERIVED = {"S": "T + past"}

def case(make):
    q, k = make.queries_and_keys()
    mask = make.optional_mask(*make.lead(), *make.sizes("T", "S"))
    make.call("attend", q, k, make.argument("v"), mask=mask, scale=make.pick([None, 0.5]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Folder:
    return write_challenge(tmp_path_factory.mktemp("motifs"), {"entry": ["attend"]}, REFERENCE, INPUTS)


def program(folder: Folder, name: str) -> Case:
    make = Recorder(fixed_draw, Profile("ordinary"), declared=folder.declared)
    folder.record(f"motif_{name}")(make)
    return make.case


def shapes(case: Case) -> list[list[tuple[int, ...]]]:
    trees = [[*step["args"], *step["kwargs"].values()] for step in case.steps]
    return [[tuple(case.inputs[tree[1]].value.shape) for tree in step if tree[0] == "t"] for step in trees]


def names(folder: Folder) -> set[str]:
    return {motif.name for motif in folder.motifs.values()}


def test_a_case_has_the_motifs_of_what_it_names_without_those_left_out(folder, tmp_path) -> None:
    assert names(folder) == MOTIFS
    assert all(motif.label.en != motif.label.zh for motif in folder.motifs.values())
    assert len({motif.label.en for motif in folder.motifs.values()}) == len(MOTIFS)
    plain = "def case(make):\n    make.call('attend', *[make.normal(make.size(1, 3), 2) for _ in range(3)])\n"
    folder = write_challenge(tmp_path / "plain", {"entry": ["attend"]}, REFERENCE, plain)
    assert names(folder) == {"again", "styles", "same"}
    said = INPUTS + "\nWITHOUT_MOTIFS = {'same', 'long'}\n"
    folder = write_challenge(tmp_path / "without", {"entry": ["attend"]}, REFERENCE, said)
    assert names(folder) == MOTIFS - {"same", "long"}


def test_motifs_of_sizes(folder) -> None:
    assert shapes(program(folder, "ones"))[0][:3] == [(1, 1)] * 3
    queries, keys = zip(*[step[:2] for step in shapes(program(folder, "one"))], strict=True)
    assert queries[0][-2] == 1 and queries[1][-2] == keys[1][-2] and queries[2][-1] == 1, "one after the other"
    assert {query[-2:] for query, *_ in shapes(program(folder, "equal"))} == {(3, 3), (4, 4)}
    seen = Counter((max(step[0]), len(step)) for step in shapes(program(folder, "long")))
    assert {size for size, _ in seen} == {40, 150}, "each long side, with and without a mask"
    assert all(any(count == 4 for size, count in seen if size == long) for long in (40, 150))
    assert [step[0][:-2] for step in shapes(program(folder, "leads"))] == list(LEADS)


def test_arguments_by_position_by_keyword_and_left_out(folder) -> None:
    forms = {(len(step["args"]), frozenset(step["kwargs"])) for step in program(folder, "styles").steps}
    assert (0, frozenset({"q", "k", "v", "mask", "scale"})) in forms and (5, frozenset()) in forms
    assert any(count == 3 and "scale" not in named for count, named in forms)
    same = program(folder, "same").steps
    assert all(step["args"][1] == step["args"][2] for step in same if len(step["args"]) > 2), "one tensor for several"


def test_masks_of_every_shape_and_rows_of_which_nothing_is_seen(folder) -> None:
    case = program(folder, "masks")
    assert len({step[3] for step in shapes(case)}) >= 12
    case = program(folder, "empty-rows")
    masks = [item.value for item in case.inputs if item.value.dtype is torch.bool]
    assert len(masks) == len(case.steps) and all(bool((~mask.any(-1)).any()) for mask in masks)


def test_extremes_of_the_second_rung(folder) -> None:
    for attribute, motif in folder.motifs.items():
        dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(motif.profile, torch.float32)
        make = Recorder(fixed_draw, Profile(motif.profile or "ordinary", dtype), declared=folder.declared)
        folder.record(attribute)(make)
        due = motif.name in HARDENED_MOTIFS or bool(motif.profile)
        assert (rung_of_values(make.case, attribute, folder.facts) == "hardened") == due


@pytest.mark.parametrize("width", [1, 2, 5, 64])
@pytest.mark.parametrize("keys", [1, 2, 3, 7])
def test_scores_are_as_extreme_as_they_are_called(width, keys) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2, n, width, generator=generator, dtype=torch.float64) for n in (3, keys))
    scores = {name: a @ b.transpose(-1, -2) / width**0.5 for name, (a, b) in ((n, f(q, k)) for n, f in SCORES.items())}
    far = float(scores["far-apart"].abs().max())
    assert far > 100 and (width > 1 or far == pytest.approx(200))
    if keys > 3:
        low, high = scores["later-keys-lead"][..., 0], scores["later-keys-lead"][..., -1]
        assert bool((high - low > 200).all())
    if keys > 1:
        assert bool((scores["very-low"][..., 0] < -2e4).all()) and bool((scores["very-low"][..., -1] > 2e4).all())
    a, b = SCORES["beyond-float16"](q, k)
    assert float((a @ b.transpose(-1, -2)).min()) > 65_504
    assert a.half().double().equal(a) and b.half().double().equal(b), "float16 holds what is passed"
    assert 900 < float(scores["tied-in-bfloat16"].mean()) < 1150


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_every_mask_broadcasts_and_none_is_listed_twice(shape) -> None:
    found = masks_over(shape)
    assert len(found) == len(set(found)) and tuple(shape) in found
    assert all(torch.broadcast_shapes(mask, tuple(shape)) == tuple(shape) for mask in found)
    assert all(len(mask) == len(shape) for mask in masks_over(shape, [len(shape)]))


@given(st.integers(0, 60), st.integers(1, 6), st.integers(0, 5))
def test_consecutive_turns_take_every_branch(first, count, ordinal) -> None:
    taken = {Turn(number=first + n).choose("pick", 0, count - 1, 0) for n in range(count)}
    assert taken == set(range(count))
    assert all(0 <= Turn(number=first).choose(kind, 0, count, ordinal) <= count for kind in ("pick", "size", "seed"))


def test_four_turns_combine_two_branchings() -> None:
    turns = [Turn(number=n) for n in range(4)]
    assert len({(turn.choose("pick", 1, 2, 0), turn.choose("flag", 0, 1, 1)) for turn in turns}) == 4


def test_an_unknown_fact_is_named_with_its_line_and_a_guess(tmp_path: Path) -> None:
    folder = write_challenge(tmp_path, inputs="SIZE = {}\n\n" + "def case(make):\n    pass\n")
    line = (tmp_path / "inputs.py").read_text(encoding="utf-8").splitlines().index("SIZE = {}") + 1
    with pytest.raises(JudgeFailed, match=rf"inputs.py:{line}: there is no fact SIZE; did you mean SIZES\?"):
        _ = folder.facts


def test_an_argument_without_axes_is_named(folder) -> None:
    make = Recorder(fixed_draw, Profile("ordinary"), declared=folder.declared)
    with pytest.raises(JudgeFailed, match='AXES has no entry for "w"'):
        make.argument("w")
    assert motifs(folder.inputs.case, folder.declared)


def test_an_axis_that_is_held_has_its_size_for_one_recording_and_so_has_what_follows_from_it() -> None:
    facts = Facts(axes={"x": "T d"}, sizes={"T": (1, 5), "d": (1, 3)}, derived={"D": "2 * d"})
    make = Recorder(fixed_draw, Profile("ordinary"), declared=Declared(facts))
    make.hold(T=40)
    assert make.argument("x").shape == (40, 3), "what is not held is drawn"
    make.begin(Turn())
    make.hold(T=40, d=7)
    assert make.argument("x").shape == (40, 7) and make.size("D") == 14
    make.begin(Turn(sizes={"T": 2, "d": 1}))
    assert make.argument("x").shape == (2, 1)


def test_kernels_without_triton_are_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise ImportError("No module named 'triton'")

    monkeypatch.setattr(kernels, "prepare", absent)
    Folder({"id": "plain"}, tmp_path).prepare()
    with pytest.raises(JudgeFailed, match=r"No module named 'triton'.*pip install 'attncli\[kernels\]'"):
        Folder({"id": "kernel", "kernel": True}, tmp_path).prepare()


def test_every_fact_is_told_in_the_format_page() -> None:
    page = Path(attncli.__file__).parent.parent / "docs" / "challenge-format.md"
    assert set(FACTS) <= set(re.findall(r"\b[A-Z][A-Z_]+\b", page.read_text(encoding="utf-8")))
