"""Name a piece that breaks the rules, within its limits; the other pieces continue."""

from __future__ import annotations

import pytest

from attncli.ladder import Engines, climb, describe_difference

from .conftest import submission

HEAD = "def rms_norm(x, weight, eps=1e-6):\n    "
HOSTILE = {
    "hangs": (HEAD + "while True: pass", "timeout", "did not finish within"),
    "hangs-while-loaded": ("while True: pass", "timeout", "did not finish within"),
    "eats-memory": (HEAD + "return bytearray(8 << 30)", "memory", "used more than 512 MiB"),
    "exits": (HEAD + "import os; os._exit(0)", "exited", "ended the engine's process"),
    "raises": (HEAD + "raise KeyError('no norm')", "exception", "raised KeyError: 'no norm'"),
    "prints": (HEAD + "print('a' * (8 << 20)); return x", "output", "printed too much"),
    "crashes": (HEAD + "import ctypes; ctypes.string_at(0)", "crashed", "crashed the engine's process"),
    "is-no-python": ("def rms_norm(", "exception", "raised SyntaxError"),
    "lacks-its-entry": ("def norm(x): return x", "exception", "raised AttributeError"),
    "returns-none": (HEAD + "return None", "exception", "raised TypeError"),
    "writes-the-log": (
        HEAD + "import sys; sys.modules['submission'].engine.log.numbers.append('x'); return x * weight",
        "exception",
        "raised",
    ),
    "counts-forth-and-back": (
        """
import json, sys, torch
def live(name, *weights):
    log = {"entries": [["x", 0, 0, 1000000, 0.0], ["x", 0, 0, -1000000, 0.0]] * 9999, "calls": {}}
    return json.dumps(log), torch.zeros(1000000, dtype=torch.float64)
sys.modules["submission"].live = live
def rms_norm(x, weight, eps=1e-6): return x
""",
        "protocol",
        "corrupted the engine's log",
    ),
    "fills-the-log": (
        HEAD + "import sys; log = sys.modules['submission'].engine.log; "
        "log.entries += [['x' * 9, 0, 0, 0, 0]] * (0 if len(log.entries) > 30_000 else 30_000); return x * weight",
        "protocol",
        "corrupted the engine's log",
    ),
}
# One of each kind of ending.
FEW = ("hangs", "eats-memory", "exits", "is-no-python", "counts-forth-and-back")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name not in FEW)) for name in HOSTILE])
def test_a_hostile_piece_is_named_with_what_it_did(impatient: Engines, name: str) -> None:
    text, reason, says = HOSTILE[name]
    (blame,) = climb(impatient, {"rms-norm": text}).blames
    assert blame.pieces == ("rms-norm",)
    assert blame.difference.stopped is not None and blame.difference.stopped.reason == reason
    assert says in describe_difference(blame.difference).en


@pytest.mark.full
def test_a_piece_that_hangs_is_named_and_its_neighbour_is_not(impatient: Engines) -> None:
    own = {"gqa": submission("gqa", "right/vmap"), "rms-norm": HOSTILE["hangs"][0]}
    found = climb(impatient, own)
    assert found.broken == {"rms-norm"}
    assert found.parts[-1].stopped is None, "the engine went on with a reference in its place"


RIGHT = """
def rms_norm(x, weight, eps=1e-6):
    return x / (x.pow(2).mean(-1, keepdim=True) + eps) ** 0.5 * weight
"""


@pytest.mark.slow
def test_a_piece_finds_its_reference_neither_on_disk_nor_in_its_engine(impatient: Engines) -> None:
    """A piece finds the references of others in its process, as text and functions, but never its own reference."""
    spy = "import torch\nopen(torch.__file__.split('/lib/')[0] + '/../impl/norms/rms-norm/reference.py')\n"
    (blame,) = climb(impatient, {"rms-norm": spy + HEAD + "return x"}).blames
    assert blame.difference.stopped is not None and blame.difference.stopped.reason in ("refused", "exception")
    looks = """
import gc
held = [part for part in gc.get_objects() if type(part) in (list, dict)]
texts = [t for part in held for t in (part.values() if type(part) is dict else part) if type(t) is str]
mark = 'mean_square ' + '= y.square()'
if any(mark in t for t in texts if len(t) < 20_000):
    raise RuntimeError('found it')
"""
    assert climb(impatient, {"rms-norm": looks + RIGHT}).blames == ()
