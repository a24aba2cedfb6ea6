"""A case twice in one program, with other values in the memory of its tensors the second time.

An answer that is remembered under the identity of an argument is out of date then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Input
from attncli.sandbox.values import SEQUENCES


def refilled(case: Case) -> Case | None:
    """The program of both rounds, of which the second counts; None where that proves nothing.

    Values that obey laws of their challenge are left as they are, and so are cases whose state goes on from call to
    call, which draw at random or ask a callable.
    """
    chosen = [k for k, item in enumerate(case.inputs) if _may_change(item)]
    compared = set(range(len(case.steps))) - case.ignored
    if not chosen or not compared or case.shared or case.generators or case.callables:
        return None
    count, first = len(case.inputs), len(case.steps) + 1
    values = [replace(case.inputs[k], value=_turned(case.inputs[k].value), grad=False) for k in chosen]
    into = ["l", [["t", k] for k in chosen]]
    given = ["l", [["t", count + k] for k in range(len(chosen))]]
    refill = {"op": "refill", "args": [into, given], "kwargs": {}}
    return Case(
        profile=case.profile,
        steps=[*case.steps, refill, *(_later(step, first) for step in case.steps)],
        inputs=[*case.inputs, *values],
        ignored={*range(first), *(first + k for k in case.ignored)},
        opaque={(first + path[0], *path[1:]) for path in case.opaque},
        exact={first + k for k in case.exact},
        dtypes={(first + path[0], *path[1:]): allowed for path, allowed in case.dtypes.items()},
        seed=case.seed,
        label=case.label,
    )


def _may_change(item: Input) -> bool:
    """Drawn numbers may come in another order; what was composed may obey laws, and booleans often do."""
    value = item.value
    return not item.composed and value.dtype != torch.bool and value.numel() > 1 and value.is_contiguous()


def _turned(value: Tensor) -> Tensor:
    """The other way round along the last dimension that is longer than 1."""
    return value.flip(max(k for k, size in enumerate(value.shape) if size > 1))


def _later(step: Mapping[str, Any], first: int) -> dict[str, Any]:
    """The step with the results that it refers to found behind those of the first round."""
    moved = dict(step)
    if "object" in step:
        moved["object"] = _shifted(step["object"], first)
    if "args" in step:
        moved["args"] = [_shifted(tree, first) for tree in step["args"]]
    if "kwargs" in step:
        moved["kwargs"] = {name: _shifted(tree, first) for name, tree in step["kwargs"].items()}
    return moved


def _shifted(tree: Any, first: int) -> Any:
    if tree[0] == "r":
        return ["r", tree[1] + first, *tree[2:]]
    if tree[0] in SEQUENCES:
        return [tree[0], [_shifted(item, first) for item in tree[1]]]
    if tree[0] == "d":
        return [tree[0], [[key, _shifted(item, first)] for key, item in tree[1]]]
    return tree
