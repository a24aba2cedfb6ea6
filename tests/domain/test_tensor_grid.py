"""Render tensors of counterexamples as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attncli.domain.grade_report import ShownTensor, named_lines, number_text, side_by_side, tensor_lines, value_lines


def tensor(shape: list[int], values: list[Any], dtype: str = "float32") -> ShownTensor:
    return ShownTensor(tuple(shape), dtype, tuple(values))


def test_a_matrix_is_a_grid_under_its_shape() -> None:
    assert tensor_lines(tensor([2, 2], [1.0, 0.5, -2.0, 0.0])) == ["[2, 2] float32", "  1  0.5", " -2    0"]


def test_a_mask_is_a_grid_of_signs() -> None:
    mask = tensor([2, 3], [True, False, True, False, False, True], "bool")
    assert tensor_lines(mask) == ["[2, 3] bool, 1 = True", "1 · 1", "· · 1"]
    other = tensor([2, 3], [True, True, True, False, False, True], "bool")
    assert tensor_lines(mask, other)[1:] == ["1  ·* 1 ", "·  ·  1 "]
    assert tensor_lines(tensor([2], [True, False], "bool")) == ["[2] bool", " True  False"]


def test_leading_indices_label_the_blocks() -> None:
    lines = tensor_lines(tensor([2, 1, 2], [1, 0, 1, 0]))
    assert lines == ["[2, 1, 2] float32", "[0] 1  0", "[1] 1  0"]


def test_the_heading_names_the_axes_that_are_known() -> None:
    known = replace(tensor([1, 2], [1, 2]), axes=("T", "d"))
    assert tensor_lines(known)[0] == "[T=1, d=2] float32"
    assert tensor_lines(replace(known, axes=("", "d")))[0] == "[1, d=2] float32"


def test_differences_are_starred() -> None:
    lines = tensor_lines(tensor([3], [1.0, 2.0, "nan"]), tensor([3], [1.0, 2.5, "nan"]))
    assert lines[1].split() == ["1", "2*", "nan"]


def test_scalars_empty_and_large_tensors() -> None:
    assert tensor_lines(tensor([], [3.25])) == ["[] float32", "3.25"]
    assert tensor_lines(tensor([0, 3], [])) == ["[0, 3] float32", "(empty)"]
    large = tensor_lines(tensor([40, 40], [0.0] * 1600))
    many = tensor_lines(replace(tensor([10**9, 2], [0.0] * 256), truncated=True))
    assert len(many) == 14 and tensor_lines(ShownTensor((9,), "float32", device="meta")) == ["[9] float32"]
    assert len(large) <= 14 and large[-1] == "…" and large[1].endswith("…")


def test_other_values_are_written_as_python_would() -> None:
    assert named_lines("mask", None) == ["mask = None"]
    assert named_lines("mode", "half") == ["mode = half"]
    assert named_lines("kv", {"k": tensor([1], [1]), "n": 2})[0].startswith("kv = k [1]")
    assert value_lines([tensor([1], [1]), tensor([1], [2])])[0].startswith("[0] [1]")


def test_numbers_are_short() -> None:
    assert [number_text(x) for x in (1.0, 0.333333333, 1e-9, True, float("inf"), 123456789.5)] == [
        "1", "0.3333", "1e-09", "True", "inf", "1.235e+08",
    ]  # fmt: skip


@given(st.lists(st.lists(st.text("ab中", max_size=12), min_size=1, max_size=4), max_size=6), st.integers(26, 80))
def test_blocks_beside_each_other_fit_the_width_and_lose_nothing(blocks: list[list[str]], width: int) -> None:
    lines = side_by_side(blocks, width)
    assert all(cell_len(line) <= width for line in lines)
    assert sorted("".join(lines).replace(" ", "")) == sorted("".join(map("".join, blocks)))
