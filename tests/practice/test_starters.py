from __future__ import annotations

import ast
from pathlib import Path

import pytest

from attncli import paths
from attncli.bank.loader import CHALLENGE, load_challenge
from attncli.practice.start import disguised, starter

DOCUMENTS = [
    document
    for path in sorted(paths.bundled_impl().glob(f"*/*/{CHALLENGE}"))
    for document in load_challenge(path).documents
]
REFERENCE = '''\
"""The idea."""

import math
from typing import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SECRET = 3


def phi(x: Tensor) -> Tensor:
    return F.elu(x) + 1


class Norm(nn.Module):
    """Secret."""

    def __init__(self, d: int, eps: float = 1e-5) -> None:
        """Secret."""
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(
        self,
        x: Tensor,  # (B, T, D)
    ) -> Tensor:
        return self._scaled(x)

    def _scaled(self, x):
        return x * SECRET


def attend(q: Tensor, feature: Callable[[Tensor], Tensor] = phi) -> Tensor:
    return q
'''


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "reference.py"
    path.write_text(REFERENCE, encoding="utf-8")
    return path


def test_classes_keep_their_public_methods_and_lose_their_bodies(reference: Path) -> None:
    text = starter(reference, ["Norm"], "Say.")
    ast.parse(text)
    assert "class Norm(nn.Module):" in text and "x: Tensor,  # (B, T, D)" in text and "eps: float = 1e-5" in text
    assert "_scaled" not in text and "SECRET" not in text and "Secret" not in text and "Parameter" not in text
    assert text.count("raise NotImplementedError") == 2


def test_only_what_the_signature_needs_comes_along(reference: Path) -> None:
    text = starter(reference, ["attend"], "Say.")
    assert "def phi" in text and "import torch.nn.functional as F" in text and "Callable" in text
    assert "class Norm" not in text and "import math" not in text


def test_what_a_solution_begins_with_and_the_reference_does_without_stands_last(reference: Path) -> None:
    text = starter(reference, ["phi"], "S", ["import triton", "import triton.language as tl"])
    assert "import torch\nimport triton\nimport triton.language as tl\n\n\ndef phi" in text


def test_statements_are_laid_out_and_quotes_cannot_end_the_docstring(reference: Path) -> None:
    statement = (
        'Use """quotes""" and \\frac.\n\n'
        + "word " * 60
        + "\n\n"
        + "注意力，" * 60
        + "\n```python\n"
        + "x" * 150
        + "\n```"
    )
    text = starter(reference, ["attend"], statement)
    docstring = ast.get_docstring(ast.parse(text), clean=False)
    assert docstring is not None and "\\frac" in docstring and "x" * 150 in docstring
    lines = docstring.splitlines()
    assert all(len(line) <= 110 for line in lines if "x" * 150 not in line)
    assert not any(line.startswith("，") for line in lines)


def test_every_bundled_challenge_makes_sound_starters_and_bugs() -> None:
    assert len(DOCUMENTS) > 100
    for document in DOCUMENTS:
        folder, entry = Path(document["folder"]), document["entry"]
        for text in document["statement"].values():
            tree = ast.parse(starter(folder / "reference.py", entry, text))
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            assert set(entry) <= defined, folder.name
        for wrong in (folder / "wrong").glob("*.py"):
            told = ast.get_docstring(ast.parse(wrong.read_text(encoding="utf-8")))
            text = disguised(wrong, "Symptom.")
            ast.parse(text)
            assert told and told not in text, wrong
