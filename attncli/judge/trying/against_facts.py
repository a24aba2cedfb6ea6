"""What a typed case asks for that the challenge does not: shapes that its facts forbid, choices that there are not."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from attncli.domain.arithmetic import names_in
from attncli.domain.text import Localised
from attncli.judge.case import Case
from attncli.judge.cases.facts import Facts
from attncli.judge.messages import say
from attncli.judge.truth.demands import Demands, named_arguments

# Where an axis follows from another one, a size for that is looked for up to here.
_LARGEST_TRIED = 4096


class Seen(NamedTuple):
    """The size of an axis, and the argument in which it was seen first."""

    size: int
    argument: str


def forbidden(case: Case, facts: Facts, demands: Demands) -> list[Localised]:
    """One line for each thing that the challenge never asks for; a difference there counts for nothing."""
    found: list[Localised] = []
    for step in case.steps:
        said = list(_against_signature(step, demands.reference)) + list(_against_axes(case, step, facts, demands))
        found += [line for line in said if line not in found]
    return found


def _against_signature(step: Mapping[str, Any], reference: Mapping[str, Any]) -> Iterator[Localised]:
    """Values that are none of a `Literal`, and numbers in the place of a tensor."""
    if step["op"] != "call":
        return
    parameters = inspect.signature(reference[step["name"]]).parameters
    for name, tree in named_arguments(reference, step):
        annotation = str(parameters[name].annotation) if name in parameters else ""
        choices = _choices(annotation)
        if choices and tree[0] in "sibf" and tree[1] not in choices:
            yield say("typed-other-choice", argument=name, got=repr(tree[1]), choices=", ".join(map(repr, choices)))
        if annotation == "Tensor" and tree[0] in ("i", "f", "b", "s", "l", "u", "n"):
            yield say("typed-no-tensor", argument=name)


def _choices(annotation: str) -> Sequence[Any]:
    """The values of `Literal[...]` as it is written in a signature."""
    try:
        tree = ast.parse(annotation, mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name) or tree.value.id != "Literal":
        return ()
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def _against_axes(case: Case, step: Mapping[str, Any], facts: Facts, demands: Demands) -> Iterator[Localised]:
    seen: dict[str, Seen] = {}
    for name, tree in named_arguments(demands.reference, step):
        said = facts.axes.get(f"{step.get('name', '')}.{name}", facts.axes.get(name))
        if tree[0] != "t" or said is None:
            continue
        shape = case.inputs[tree[1]].value.shape
        axes = said.split()
        free = len(shape) - len(axes) + axes.count("...")
        if (free < 0 and axes[:1] != ["..."]) or (free and "..." not in axes):
            yield say("typed-other-rank", argument=name, got=len(shape), axes=", ".join(axes))
            continue
        for axis, size in zip(demands.axes(str(step.get("name", "")), name, len(shape)), shape, strict=False):
            yield from _of_axis(axis, size, name, facts, seen)


def _of_axis(axis: str, size: int, argument: str, facts: Facts, seen: dict[str, Seen]) -> Iterator[Localised]:
    """A size of 1 may stand for any: it is spread over the others."""
    if not axis or size == 1:
        return
    before = seen.setdefault(axis, Seen(size, argument))
    if before.size != size:
        yield say("typed-other-size", axis=axis, got=size, argument=argument, due=before.size, other=before.argument)
    elif before.argument == argument and not _follows(axis, size, facts, seen):
        yield say("typed-unfit-size", axis=axis, got=size, argument=argument, says=facts.derived[axis])


def _follows(axis: str, size: int, facts: Facts, seen: Mapping[str, Seen]) -> bool:
    """Whether the axis can have this size where it is a product of others, of which one may be unknown.

    A sum says only how cases are drawn: keys as many as queries and more.
    """
    says = facts.derived.get(axis, "")
    others = names_in(says) if says and "+" not in says else frozenset()
    unknown = [name for name in others if name not in seen]
    if len(unknown) > 1 or not others:
        return True
    known = {name: seen[name].size for name in others if name in seen}
    if not unknown:
        return facts.size_of(axis, known) == size
    return any(facts.size_of(axis, {**known, unknown[0]: tried}) == size for tried in range(1, _LARGEST_TRIED))
