"""Check the judge's rules for source reading, and its messages for traced calls."""

from __future__ import annotations

import pytest

from attncli.bank.loader import load_challenge
from attncli.judge.challenge import Folder
from attncli.judge.protocol import (
    MOST_CHARACTERS,
    SourceReading,
    UnreadableReply,
    outside_kernels,
    reading_of,
    rules_for,
)
from attncli.paths import bundled_impl
from attncli.practice.grade import specification
from attncli.practice.library import challenge_of
from attncli.sandbox.source_reading import read_source


def test_around_kernels_torch_makes_views_and_copies_and_a_kernel_is_launched():
    around = [("torch.empty_like", 3), ("torch.Tensor.shape.__get__", 4), ("torch.float16", 4), ("triton.launch", 0)]
    assert outside_kernels(around) is None
    assert "Tensor.add" in outside_kernels([*around, ("torch.Tensor.add", 9)]).en
    assert "no Triton kernel" in outside_kernels(around[:-1]).en


def test_an_untrue_reading_is_none():
    reading = {"syntax": None, "entry": None, "forbidden": None}
    assert reading_of(reading) == SourceReading()
    for wrong in (
        {},
        {**reading, "syntax": ["judged-too-long", {}]},
        {**reading, "entry": 3},
        {**reading, "forbidden": ["at-line", []]},
    ):
        with pytest.raises(UnreadableReply):
            reading_of(wrong)


def test_what_a_file_says_is_told_shortly():
    told = reading_of({"syntax": ["not-parsed", {"error": "x" * 10_000}], "entry": None, "forbidden": None})
    assert len(told.syntax.en) < 2 * MOST_CHARACTERS


@pytest.mark.parametrize("path", sorted(bundled_impl().glob("*/*/challenge.yaml")), ids=lambda path: path.parent.name)
def test_every_right_solution_passes_the_reading(path):
    challenge = challenge_of(load_challenge(path).documents[0])
    rules = rules_for(Folder(specification(challenge), path.parent))
    files = [path.parent / ("kernel.py" if challenge.kernel else "reference.py"), *path.parent.glob("right/*.py")]
    nothing = {"syntax": None, "entry": None, "forbidden": None}
    assert {file.name: read_source(file.read_bytes(), rules) for file in files} == {
        file.name: nothing for file in files
    }
