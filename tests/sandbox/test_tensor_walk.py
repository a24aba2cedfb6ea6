"""Find and change tensors in nested values to one depth, and nothing else."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import torch
from torch import Tensor

from attncli.sandbox.devices import MAX_DEPTH, Walk, tensors_in, with_each

ONE, TWO = torch.ones(1), torch.full((1,), 2.0)


def nested(levels: int) -> Any:
    value: Any = ONE
    for _ in range(levels):
        value = [value]
    return value


def test_tensors_are_found_in_lists_tuples_dicts_and_iterators() -> None:
    found = list(tensors_in({"a": [ONE, (TWO, 3)], "b": Walk([ONE]), "c": {TWO}, "d": None}))
    assert [id(tensor) for tensor in found] == [id(ONE), id(TWO), id(ONE)]


def test_each_tensor_is_changed_and_anything_else_stays() -> None:
    marker, pair = object(), namedtuple("pair", "first second")(ONE, TWO)
    value = {"a": [ONE, (TWO, marker)], "b": pair, 3: "text"}
    changed = with_each(value, lambda tensor: tensor + 1)
    assert changed["a"][0].tolist() == [2.0] and changed["a"][1][0].tolist() == [3.0]
    assert type(changed["a"][1]) is tuple and changed["a"][1][1] is marker
    assert changed["b"] is pair and changed[3] == "text"
    assert value["a"][0] is ONE, "the value itself is left as it was"


def test_both_walks_end_at_one_depth() -> None:
    for levels, seen in ((MAX_DEPTH + 1, True), (MAX_DEPTH + 2, False)):
        touched: list[Tensor] = []
        with_each(nested(levels), lambda tensor, touched=touched: touched.append(tensor) or tensor)
        assert (len(list(tensors_in(nested(levels)))), len(touched)) == (seen, seen)


def test_a_value_that_holds_itself_has_an_end() -> None:
    loop: list[Any] = [ONE]
    loop.append(loop)
    assert len(list(tensors_in(loop))) == MAX_DEPTH + 1
    assert with_each(loop, torch.neg)[0].tolist() == [-1.0]
