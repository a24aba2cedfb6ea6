"""Check the judge's rules for source reading, and its messages for traced calls."""

from __future__ import annotations

import pytest

from attncli.bank.loader import load_challenge
from attncli.judge import protocol
from attncli.judge.challenge import Folder
from attncli.judge.protocol import SourceReading, UnreadableReply, outside_kernels, reading_of, rules_for
from attncli.paths import bundled_impl
from attncli.practice.grade import specification
from attncli.practice.library import challenge_of
from attncli.sandbox.source_reading import read_source

NOTHING = {"syntax": None, "entry": None, "forbidden": None}


def test_around_kernels_torch_makes_views_and_copies_and_a_kernel_is_launched():
    around = [("torch.empty_like", 3), ("torch.Tensor.shape.__get__", 4), ("torch.float16", 4), ("triton.launch", 0)]
    assert outside_kernels(around) is None
    assert "Tensor.add" in outside_kernels([*around, ("torch.Tensor.add", 9)]).en
    assert "no Triton kernel" in outside_kernels(around[:-1]).en


def test_an_untrue_reading_is_none_and_a_long_one_is_told_shortly():
    assert reading_of(NOTHING) == SourceReading()
    for odd in ({"syntax": ["judged-too-long", {}]}, {"entry": 3}, {"forbidden": ["at-line", []]}):
        with pytest.raises(UnreadableReply):
            reading_of({**NOTHING, **odd})
    with pytest.raises(UnreadableReply):
        reading_of({})
    told = reading_of({**NOTHING, "syntax": ["not-parsed", {"error": "x" * 10_000}]})
    assert len(told.syntax.en) < 2 * protocol.MOST_CHARACTERS


def test_every_right_solution_passes_the_reading():
    for path in sorted(bundled_impl().glob("*/*/challenge.yaml")):
        challenge = challenge_of(load_challenge(path).documents[0])
        rules = rules_for(Folder(specification(challenge), path.parent))
        reference = path.parent / ("kernel.py" if challenge.kernel else "reference.py")
        for file in (reference, *path.parent.glob("right/*.py")):
            assert read_source(file.read_bytes(), rules) == NOTHING, file
