"""Typed cases for a small challenge, without a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from attncli.domain.grade_report import BothAnswers
from attncli.judge.case import Case
from attncli.judge.challenge import Folder
from attncli.judge.submission import Budget, Submission
from attncli.judge.try_case import both_answers, typed_case
from in_process import InProcessWorker, write_challenge

REFERENCE = """
from typing import Literal
from torch import Tensor

def turned(x: Tensor, scale: float = 2.0, how: Literal['up', 'down'] = "up"):
    if x.dim() != 2:
        raise ValueError("the secret of the reference")
    return x * scale if how == "up" else x / scale

def noted(x, kept):
    kept["sum"] = kept.get("sum", 0.0) + float(x.sum())

class Counter:
    def __init__(self, start):
        self.n = start

    def add(self, by):
        self.n += by
        return self.n

    def _secret(self):
        return 7
"""
INPUTS = """
AXES = {"x": "T d"}
SIZES = {"T": (1, 4), "half": (1, 3)}
DERIVED = {"d": "2 * half"}

def case(make):
    make.call("turned", make.argument("x"))
"""
RIGHT = "def turned(x, scale=2.0, how='up'):\n    return x * scale if how == 'up' else x / scale\n" + (
    "def noted(x, kept):\n    kept['sum'] = kept.get('sum', 0.0) + float(x.sum())\n"
    "class Counter:\n    def __init__(self, start): self.n = start\n"
    "    def add(self, by):\n        self.n += by\n        return self.n\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    spec = {"entry": ["turned", "noted", "Counter"], "required": ["loads", "matches-reference"]}
    return write_challenge(tmp_path, spec, REFERENCE, INPUTS, {})


@pytest.fixture
def answered(folder: Folder) -> Callable[..., BothAnswers]:
    """`answered(text, source)` returns both answers to a typed case."""

    def ask(text: str, source: str = RIGHT) -> BothAnswers:
        return both_answers(folder, submission_of(folder, source), text)

    return ask


@pytest.fixture
def typed(folder: Folder) -> Callable[[str], Case]:
    """`typed(text)` returns the case that a text describes."""
    return lambda text: typed_case(folder, submission_of(folder), text)


def submission_of(folder: Folder, source: str = RIGHT) -> Submission:
    return Submission(source.encode(), "mine.py", folder.entry, InProcessWorker, Budget(60))
