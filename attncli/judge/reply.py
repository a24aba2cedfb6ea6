"""A worker's reply as an observation. Learner code may have written it: every part has its form, or none is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from attncli.judge.expected import Observed
from attncli.judge.request import Request
from attncli.sandbox.values import Environment, Raised, TreeError, read_table, resolve
from attncli.sandbox.watch import ALIASED, GLOBALS

MEASURES = ("flops", "calls", "largest", "peak", "returned")
_LARGEST = 1 << 62
# What is found about memory and torch's own state: positions of steps, or of inputs, some with one of these words.
_POSITIONS = ("mutated", "changed", "containers", "instances", "graph", "modules")
_WORDS = {"aliased": ALIASED, "globals": GLOBALS}


class Unreadable(ValueError):
    """The reply is not a result of what was asked."""


def read_reply(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    """The observation in a reply to `request`. Raises Unreadable for anything that is not one."""
    try:
        return _observation(header, payload, request)
    except (TreeError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise Unreadable(str(error) or type(error).__name__) from error


def _observation(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    if header.get("op") != "result":
        raise TreeError("no result")
    steps = len(request.case.steps)
    tensors = read_table(header["tensors"], payload)
    outcomes = _exactly(steps, [_outcome(item, tensors) for item in header["outcomes"]], "outcomes")
    shared = _exactly(len(request.case.shared), list(_outcome(header["shared"], tensors)), "shared objects")
    observed = Observed(outcomes, shared)
    if "pure" in request.want:
        observed.pure = _pure(header["pure"], len(request.case.inputs) + len(request.cotangents), steps)
    if "calls" in request.want:
        observed.seen = [[str(name), int(line)] for name, line in header["calls"]]
        observed.makes = bool(header["makes"])
    if "cost" in request.want:
        measures = [*MEASURES, *(["handed"] if "handed" in request.want else [])]
        costs = [{name: _position(figures[name], _LARGEST) for name in measures} for figures in header["costs"]]
        observed.costs = _exactly(steps, costs, "costs")
    if "gradients" in request.want:
        first = _position(header["gradients"], len(tensors) + 1)
        observed.gradients = _exactly(len(request.leaves), tensors[first:], "gradients")
    return observed


def _outcome(item: Mapping[str, Any], tensors: Sequence[Tensor]) -> Any:
    tree, first = item["tree"], _position(item["first"], len(tensors) + 1)
    if tree[0] == "raised":
        return Raised(tuple(str(name)[:80] for name in tree[1][:20]) or ("Exception",), str(tree[2])[:500])
    return resolve(tree, Environment(tensors[first:]))


def _pure(found: Mapping[str, Any], inputs: int, steps: int) -> dict[str, list[Any]]:
    """What was watched: each entry a position, or a position and a word."""
    pure: dict[str, list[Any]] = {}
    for name in _POSITIONS:
        limit = inputs if name == "mutated" else steps
        lowest = -1 if name == "graph" else 0
        pure[name] = [_position(k, limit, lowest) for k in _listed(found[name])]
    for name, words in _WORDS.items():
        pure[name] = [[_position(k, steps), words[words.index(word)]] for k, word in _listed(found[name])]
    return pure


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TreeError("no list")
    return value


def _position(value: Any, limit: int, lowest: int = 0) -> int:
    if type(value) is not int or not lowest <= value < limit:
        raise TreeError("a number out of range")
    return value


def _exactly(count: int, parts: list[Any], what: str) -> list[Any]:
    if len(parts) != count:
        raise TreeError(f"{len(parts)} {what} where {count} are due")
    return parts
