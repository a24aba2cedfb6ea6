"""What a challenge demands of an answer besides its values, and what its arguments are called."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from attncli.domain.axis_names import spread
from attncli.judge.case import Case
from attncli.judge.cases.edge_cases import labels_in_chinese
from attncli.judge.cases.facts import Facts
from attncli.judge.cases.profiles import Profile
from attncli.judge.challenge import Folder
from attncli.sandbox.values import SEQUENCES


class Demands:
    """The reference to be met, how closely, and what is allowed."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @cached_property
    def reference(self) -> Mapping[str, Any]:
        return self._folder.reference.__dict__

    def absolute(self, profile: Profile) -> dict[str, float]:
        """Absolute tolerances by dtype that the statement grants, added to what rounding explains."""
        stable = self._facts.tolerance_stable
        granted = stable is not None and profile.name in ("large", "offset")
        return dict(stable if granted and stable is not None else self._facts.tolerance)

    @cached_property
    def float32_inside(self) -> bool:
        return self._facts.sixteen_bits == "float32"

    @cached_property
    def alias_allowed(self) -> frozenset[str]:
        return frozenset(self._facts.alias_allowed)

    @cached_property
    def views_of_state(self) -> frozenset[str]:
        return frozenset(self._facts.views_of_state)

    @cached_property
    def without_graph(self) -> frozenset[str]:
        return frozenset(self._facts.without_graph)

    @cached_property
    def modules_unchanged(self) -> bool:
        """Whether a call must leave nothing in its module."""
        return self._facts.modules_unchanged

    @cached_property
    def watched(self) -> list[str]:
        """What a run has to tell that is to be pure."""
        return ["pure", "modules"] if self.modules_unchanged else ["pure"]

    @cached_property
    def gradients_at_edges(self) -> bool:
        return self._facts.gradients

    def axes(self, function: str, name: str, dimensions: int) -> list[str]:
        """The names of the axes of an argument, or of a result (`return`, `return[0]`), as `AXES` tells them."""
        said = self._facts.axes
        return spread(said.get(f"{function}.{name}", said.get(name, "...")), dimensions)

    def label_in_chinese(self, label: str) -> str:
        """What an edge case is called in Chinese; empty where nobody has said it."""
        return self._labels_in_chinese.get(label, "")

    @cached_property
    def _labels_in_chinese(self) -> dict[str, str]:
        return labels_in_chinese(self._folder)

    def names(self, case: Case) -> dict[int, str]:
        """The argument name of each tensor of a case, from the reference's signatures."""
        found: dict[int, str] = {}
        for step in case.steps:
            for name, tree in named_arguments(self.reference, step):
                for tensor_tree, suffix in _paths(tree):
                    found.setdefault(tensor_tree[1], name + suffix)
        return found

    @property
    def _facts(self) -> Facts:
        return self._folder.facts


def named_arguments(reference: Mapping[str, Any], step: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The arguments of a step, named as in the reference's signature; what is set, by its own name."""
    if step["op"] == "set":
        return [(str(key[1]), tree) for key, tree in step["args"][0][1]]
    target = reference.get(step.get("name", ""))
    if step["op"] == "method":
        target = next((getattr(c, step["name"]) for c in _classes(reference) if hasattr(c, step["name"])), None)
    try:
        parameters = [name for name in inspect.signature(target).parameters if name != "self"] if target else []
    except (TypeError, ValueError):
        parameters = []
    args = step.get("args", ())
    names = [*parameters, *(f"argument {k}" for k in range(len(parameters), len(args)))]
    return [*zip(names, args, strict=False), *step.get("kwargs", {}).items()]


def _classes(reference: Mapping[str, Any]) -> list[type]:
    return [value for value in reference.values() if isinstance(value, type)]


def tensor_trees(trees: Sequence[Any]) -> list[Any]:
    """Every tensor named in packed arguments."""
    return [tree for root in trees for tree, _ in _paths(root)]


def call_name(case: Case, step: int) -> str:
    return str(case.steps[step].get("name", "a call"))


def _paths(tree: Any, suffix: str = "") -> list[tuple[Any, str]]:
    if tree[0] == "t":
        return [(tree, suffix)]
    if tree[0] in SEQUENCES:
        return [pair for k, item in enumerate(tree[1]) for pair in _paths(item, f"{suffix}[{k}]")]
    if tree[0] == "d":
        return [pair for key, item in tree[1] for pair in _paths(item, f"{suffix}[{key[1]!r}]")]
    return []
