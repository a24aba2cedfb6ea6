"""Every number by which an answer may be off has one home."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from attncli.judge import naming, truth
from attncli.judge.compare import CONDITIONING_FACTORS, EPSILONS

HOME = "tolerance.py"
# Nothing, one, and what a division is kept from zero by.
NO_TOLERANCE = {0.0, 1.0, 1e-300}
FILES = [path for room in (truth, naming) for path in Path(room.__path__[0]).glob("*.py") if path.name != HOME]


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_other_file_of_truth_and_naming_holds_a_factor_of_its_own(path: Path) -> None:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    own = [f"{path.name}:{node.lineno} {node.value}" for node in found if node.value not in NO_TOLERANCE]
    assert not own, f"{own} belong into {HOME}"


def test_each_dtype_in_which_cases_are_drawn_has_its_factors() -> None:
    dtypes = {torch.float64, torch.float32, torch.float16, torch.bfloat16}
    assert set(EPSILONS) - {torch.float8_e4m3fn, torch.float8_e5m2} == set(CONDITIONING_FACTORS) == dtypes


def test_of_eight_bits_no_code_is_given_away() -> None:
    """Two codes side by side differ by half an epsilon of the larger one, or more."""
    assert all(EPSILONS[dtype] < 0.5 for dtype in (torch.float8_e4m3fn, torch.float8_e5m2))
