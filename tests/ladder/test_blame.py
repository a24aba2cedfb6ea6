"""For any mix of pieces the engine runs right, or the broken pieces are named."""

from __future__ import annotations

import random

import pytest

from attncli.ladder import BY_ID, DAY, PARTS, PIECES, PLACES, ROLES, Engines, climb

from .conftest import right_names, submission, wrong_names

# A wrong file of each piece that shows in another way than most.
WRONG = {
    "input-embedding": "row-nought-does-not-learn",
    "rope": "table-kept-between-calls",
    "layer-norm": "one-pass-after-a-common-shift",
    "rms-norm": "one-plus-weight",
    "gqa": "repeats-in-prefill",
    "swiglu": "truncates-first",
    "moe-router": "trains-the-bias",
    "causal-lm-loss": "z-over-all",
    "linear-cross-entropy": "whole-logits-in-the-backward",
    "clip-grad-norm": "no-eps",
    "cosine-warmup": "min-as-a-floor",
    "adamw": "on-the-graph",
    "rope-kv-cache": "keys-twice",
    "paged-kv": "unknown-after-memory-error",
    "split-kv-decode": "maximum-of-everything",
    "radix-prefix-cache": "pins-as-a-flag",
    "repetition-penalty": "id-zero-spared",
    "top-k-top-p": "p-of-everything",
    "speculative-sampling": "one-draw-for-all",
    "continuous-batching": "one-queue-for-all",
}


def named(engines: Engines, own: dict[str, str]) -> list[tuple[str, ...]]:
    return [blame.pieces for blame in climb(engines, own).blames]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("id", BY_ID)
def test_a_wrong_piece_is_named_among_references(engines: Engines, id: str) -> None:
    assert WRONG[id] in wrong_names(id)
    assert named(engines, {id: submission(id, f"wrong/{WRONG[id]}")}) == [(id,)]


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1])
def test_right_pieces_of_any_kind_make_an_engine_that_runs_right(engines: Engines, seed: int) -> None:
    draw = random.Random(seed)
    own = {id: submission(id, f"right/{draw.choice(right_names(id))}") for id in BY_ID if right_names(id)}
    found = climb(engines, own)
    assert found.blames == ()
    assert [part.name for part in found.parts] == list(DAY)


@pytest.mark.slow
def test_two_wrong_pieces_are_both_named_and_a_right_one_beside_them_is_not(engines: Engines) -> None:
    own = {
        "adamw": submission("adamw", "wrong/amsgrad"),
        "gqa": submission("gqa", "right/vmap"),
        "top-k-top-p": submission("top-k-top-p", "wrong/temperature-last"),
    }
    assert named(engines, own) == [("adamw",), ("top-k-top-p",)]


@pytest.mark.full
def test_pieces_that_are_wrong_only_together_are_named_together(engines: Engines) -> None:
    sets = "import torch\ntorch.left_here = True\n"
    looks = "\nimport torch\nif hasattr(torch, 'left_here'):\n    rms_norm = lambda x, weight, eps=1e-6: x\n"
    own = {
        "rope": sets + submission("rope", "reference").replace("from __future__ import annotations\n", ""),
        "rms-norm": submission("rms-norm", "reference") + looks,
    }
    assert sorted(*named(engines, own)) == ["rms-norm", "rope"]


@pytest.mark.slow
def test_the_engine_of_references_differs_from_itself_nowhere_and_uses_every_piece(engines: Engines) -> None:
    assert engines.run({})[1] is None
    assert {part.name for part in engines.reference} == set(PARTS) == set(DAY)
    assert {entry.place for part in engines.reference for entry in part.entries} == set(PLACES)
    assert {piece.role for piece in PIECES} == set(ROLES)
    assert {id for part in engines.reference for id in part.calls or ()} == set(BY_ID)
