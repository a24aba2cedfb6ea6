"""A worker's reply as an observation. Learner code may have written it: every part has its form, or none is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attncli.judge.answers.request import HANDED, Request
from attncli.judge.compare import leaves
from attncli.judge.reference import Observed
from attncli.sandbox.exceptions import MOST_LINES
from attncli.sandbox.placement import AWAY, CPU
from attncli.sandbox.program_watch import ALIASED, GLOBALS
from attncli.sandbox.tensor_table import MAX_NODES, TreeError, read_table
from attncli.sandbox.values import Environment, Raised, resolve

MEASURES = ("flops", "calls", "largest", "peak", "moved", "returned")
_LARGEST = 1 << 62
# What is found about memory and torch's own state: positions of steps, or of inputs, some with one of these words.
_POSITIONS = ("mutated", "changed", "containers", "instances", "graph", "modules")
_WORDS = {"aliased": ALIASED, "globals": GLOBALS}
# The reasons of the public interface that a worker can know of.
REASONS = ("exception", "memory", "refused", "exited", "too-large")
# What a kernel may do to memory that it must not: each is a sentence.
KERNEL_FAULTS = (
    *("load-outside", "store-outside", "load-between", "store-between"),
    *("store-twice", "load-after-store", "store-after-load"),
)
# How much is kept of what a worker says in words, in characters or entries.
NAME_LENGTH = 200
TEXT_LENGTH = 300
MOST_FRAMES = 40
MOST_LISTED = 10_000
MOST_TOUCHED = 100


class UnreadableReply(TreeError):
    """The reply is not a result of what was asked."""


@dataclass(frozen=True, slots=True)
class RaisedError:
    """What a worker says of an exception; `frames` are the lines of the learner's file.

    `fault` says of a kernel what it accessed that it may not: kind, tensor, index, count, program and other program.
    """

    type: str
    text: str
    reason: str
    frames: tuple[dict[str, Any], ...]
    fault: dict[str, Any] | None = None


def read_reply(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    """The observation in a reply to `request`. Raises UnreadableReply for anything that is not one."""
    try:
        return _observation(header, payload, request)
    except (TreeError, LookupError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        raise UnreadableReply(str(error)[:TEXT_LENGTH] or type(error).__name__) from error


def read_raised(header: Mapping[str, Any]) -> RaisedError:
    """The exception in a reply. Raises UnreadableReply for anything that is not one."""
    reason = header.get("reason")
    if reason not in REASONS:
        raise UnreadableReply("an exception without a reason")
    frames = tuple(_frame(frame) for frame in _listed(header.get("frames"))[:MOST_FRAMES])
    fault = _fault(header["fault"]) if "fault" in header else None
    text = _text(header.get("text"), TEXT_LENGTH)
    return RaisedError(_text(header.get("type"), NAME_LENGTH), text, reason, frames, fault)


def read_touched(header: Mapping[str, Any]) -> list[str]:
    """What the learner's code has tried to touch. Raises UnreadableReply for anything but a list of names."""
    return [_text(name, 60) for name in _listed(header.get("touched", []))[:MOST_TOUCHED]]


def read_names(header: Mapping[str, Any]) -> frozenset[str]:
    """The entry points that a loaded file defines. Raises UnreadableReply for anything but names with what they are."""
    names = header.get("names")
    if not isinstance(names, dict) or len(names) > MOST_LISTED:
        raise UnreadableReply("no names")
    return frozenset(name for name, kind in names.items() if _text(kind, NAME_LENGTH))


def _fault(fault: Any) -> dict[str, Any]:
    if not isinstance(fault, dict) or fault.get("kind") not in KERNEL_FAULTS:
        raise UnreadableReply("a fault of no known kind")
    program, *others = [_position(number, _LARGEST) for number in _listed(fault.get("programs"))[:2]] or [0]
    index = fault.get("index")
    if not isinstance(index, int) or isinstance(index, bool) or abs(index) > _LARGEST:
        raise UnreadableReply("a fault without a place")
    told = {"kind": fault["kind"], "tensor": _text(fault.get("tensor"), 60), "index": index}
    count = _position(fault.get("count"), _LARGEST)
    return {**told, "count": count, "program": program, "other": others[0] if others else program}


def _frame(frame: Any) -> dict[str, Any]:
    if not isinstance(frame, dict):
        raise UnreadableReply("a frame without its parts")
    line = _position(frame.get("line"), MOST_LINES)
    return {"line": line, **{key: _text(frame.get(key), NAME_LENGTH) for key in ("function", "code")}}


def _text(value: Any, most: int) -> str:
    """The beginning of a text, on one line."""
    if not isinstance(value, str):
        raise UnreadableReply("something else where a text is due")
    return " ".join(value[: 4 * most].split())[:most]


def _observation(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    if header.get("op") != "result":
        raise TreeError("no result")
    steps = len(request.case.steps)
    tensors = read_table(header["tensors"], payload)
    outcomes = [_outcome(item, tensors) for item in _exactly(steps, _listed(header["outcomes"]), "outcomes")]
    shared = _exactly(len(request.case.shared), _listed(_outcome(header["shared"], tensors)), "shared objects")
    observed = Observed(outcomes, shared)
    if request.case.profile.device in AWAY:
        observed.lies = _lies(observed, tensors, header["tensors"])
    if "pure" in request.want:
        observed.pure = _pure(header["pure"], len(request.case.inputs) + len(request.cotangents), steps)
    if "calls" in request.want:
        seen = [(name, line) for name, line in _listed(header["calls"])]
        observed.seen = [[_text(name, NAME_LENGTH), _position(line, MOST_LINES)] for name, line in seen]
        observed.makes = _flag(header["makes"])
    if "cost" in request.want:
        measures = [*MEASURES, *(HANDED if "handed" in request.want else [])]
        figures = _exactly(steps, _listed(header["costs"]), "costs")
        observed.costs = [{name: _position(found[name], _LARGEST) for name in measures} for found in figures]
    if "clock" in request.want:
        observed.device_us = [_position(us, _LARGEST) for us in _exactly(steps, _listed(header["device_us"]), "times")]
    if "gradients" in request.want:
        first = _position(header["gradients"], len(tensors) + 1)
        observed.gradients = _gradients(tensors[first:], request)
    return observed


def _lies(observed: Observed, tensors: Sequence[Tensor], table: Sequence[Mapping[str, Any]]) -> dict[Any, str]:
    """Where each tensor of the results lay, by its path."""
    places = {id(tensor): str(entry.get("on", CPU)) for tensor, entry in zip(tensors, table, strict=True)}
    return {path: places[id(part)] for path, part in leaves(observed.whole()) if id(part) in places}


def _gradients(found: list[Tensor], request: Request) -> list[Tensor]:
    """One for each leaf, of its shape: autograd gives no others."""
    for leaf, gradient in zip(request.leaves, _exactly(len(request.leaves), found, "gradients"), strict=True):
        if gradient.shape != request.case.inputs[leaf].value.shape:
            raise TreeError("a gradient of another shape than its input")
    return found


def _outcome(item: Mapping[str, Any], tensors: Sequence[Tensor]) -> Any:
    tree, first = item["tree"], _position(item["first"], len(tensors) + 1)
    if isinstance(tree, list) and tree and tree[0] == "raised":
        names = tuple(_text(name, 80) for name in _listed(tree[1])[:20])
        return Raised(names or ("Exception",), _text(tree[2], 500))
    return resolve(tree, Environment(tensors[first:], most_parts=MAX_NODES))


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
    if not isinstance(value, list) or len(value) > MOST_LISTED:
        raise UnreadableReply("something else where a list is due")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TreeError("something else where yes or no is due")
    return value


def _position(value: Any, limit: int, lowest: int = 0) -> int:
    if type(value) is not int or not lowest <= value < limit:
        raise UnreadableReply("a number out of range")
    return value


def _exactly(count: int, parts: list[Any], what: str) -> list[Any]:
    if len(parts) != count:
        raise TreeError(f"{len(parts)} {what} where {count} are due")
    return parts
