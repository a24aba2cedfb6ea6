"""Messages between the judge and a worker: a case as a request, and the worker's replies.

Learner code may have written any reply. So each part is checked for its type and bounds, and one bad part makes the
whole reply unreadable. The worker also reads the source before it runs any of it (see sandbox/source_reading.py); this
module gives it the rules and turns its findings into messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from attncli.domain.challenge import (
    AROUND_KERNELS,
    FORBIDDEN_EVERYWHERE,
    IMPORTS,
    KERNEL_IMPORTS,
    KERNEL_NAMES,
    TORCH_MODULES,
    TRACED_MODULES,
)
from attncli.i18n import Localised
from attncli.judge.case import Case
from attncli.judge.challenge import Folder
from attncli.judge.compare import leaves
from attncli.judge.messages import say
from attncli.judge.reference import Observed
from attncli.sandbox.devices import AWAY, CPU
from attncli.sandbox.interpreter import ExpressionFunction
from attncli.sandbox.source_reading import Forbidden, Rules, parse, shown_name, signatures
from attncli.sandbox.tracing import ALIASED, GLOBALS, LAUNCH
from attncli.sandbox.values import (
    MAX_NODES,
    Environment,
    Raised,
    TreeError,
    bytes_of,
    describe_tensor,
    read_table,
    resolve,
)
from attncli.sandbox.worker import MOST_LINES

# A correct answer has at most 2.5 MiB, or twice the size of its inputs where these are large. A reply far beyond that
# is not read.
REPLY_BYTES = 16 << 20
REPLY_TIMES = 16

# Requests for these trace every call. That takes a few times as long, and up to thirty times on the emulated device
# ("elsewhere").
TRACED = frozenset({"calls", "cost", "handed", "operations"})
# The measures of "handed": of the tensors that single calls return.
HANDED = ("handed", "repeated")
MEASURES = ("flops", "calls", "largest", "peak", "moved", "returned")

# Findings about memory and torch's global state: lists of positions of steps or inputs, some with one of these words.
_POSITIONS = ("mutated", "changed", "containers", "instances", "graph", "modules")
_WORDS = {"aliased": ALIASED, "globals": GLOBALS}
# The reasons of the public interface that a worker can report.
REASONS = ("exception", "memory", "refused", "exited", "too-large")
# Invalid memory accesses of a kernel; each names a message.
KERNEL_FAULTS = (
    *("load-outside", "store-outside", "load-between", "store-between"),
    *("store-twice", "load-after-store", "store-after-load"),
)
# The messages that a source reading may name, by part.
PROBLEMS = {
    "syntax": ("at-line", "not-parsed", "nests-too-deeply"),
    "entry": ("too-few-parameters", "other-parameter-name", "more-required-parameters", "other-keywords"),
    "forbidden": ("import-not-allowed", "out-of-bounds", "forbidden-call"),
}

# Limits on a worker's texts, in characters, and on its lists, in entries; the rest is dropped.
MOST_CHARACTERS = 300
NAME_LENGTH = 200
TEXT_LENGTH = 300
MOST_FRAMES = 40
MOST_LISTED = 10_000
MOST_TOUCHED = 100
_LARGEST = 1 << 62

# A trace lists these dtypes like calls.
_SIXTEEN_BITS = ("torch.float16", "torch.bfloat16")
_FORBIDDEN_EVERYWHERE = tuple(name for names in FORBIDDEN_EVERYWHERE.values() for name in names)


class UnreadableReply(TreeError):
    """The reply is not a valid answer to the request."""


@dataclass(frozen=True)
class Request:
    """A case for a worker, and the observations to make. It is encoded once, however often it is sent."""

    case: Case
    want: Sequence[str] = ()
    leaves: Sequence[int] = ()
    cotangents: Sequence[tuple[int, list[Any], Tensor]] = ()

    @property
    def alone(self) -> bool:
        """Return True if no other request may be under way with this one.

        The learner's code may wait for answers of the judge while it runs. And hundreds of calls take long, so they
        start only once they are known to be needed.
        """
        calls_judge = any(not isinstance(function, ExpressionFunction) for function in self.case.callables)
        return calls_judge or self.case.tallies

    @property
    def traced(self) -> bool:
        return not TRACED.isdisjoint(self.want)

    @property
    def emulated(self) -> bool:
        return "elsewhere" in self.want

    @cached_property
    def reply_limit(self) -> int:
        """The largest reply to accept, in bytes."""
        input_bytes = sum(item.value.numel() * item.value.element_size() for item in self.case.inputs)
        return REPLY_BYTES + REPLY_TIMES * input_bytes

    @cached_property
    def _strided(self) -> bool:
        return self.case.profile.layout == "strided"

    @cached_property
    def header(self) -> dict[str, Any]:
        case, count = self.case, len(self.case.inputs)
        return {
            "op": "run",
            "seed": case.seed,
            "device": case.profile.device,
            "default_device": case.default_device,
            "dtype": str(case.profile.dtype).removeprefix("torch."),
            "steps": case.steps,
            "shared": case.shared,
            "generators": case.generators,
            "callables": [f.text if isinstance(f, ExpressionFunction) else None for f in case.callables],
            "want": list(self.want),
            "leaves": list(self.leaves),
            "cotangents": [[step, path, count + k] for k, (step, path, _) in enumerate(self.cotangents)],
            "tensors": [
                *(describe_tensor(item.value, keep_strides=self._strided) for item in case.inputs),
                *(describe_tensor(vector) for _, _, vector in self.cotangents),
            ],
        }

    @cached_property
    def buffers(self) -> list[bytes]:
        """The bytes of the tensors that the header lists."""
        inputs = [bytes_of(item.value, keep_strides=self._strided) for item in self.case.inputs]
        return [*inputs, *(bytes_of(vector) for _, _, vector in self.cotangents)]


# Reading the source


@dataclass(frozen=True, slots=True)
class SourceReading:
    """The problems of a source file, each None where there is none.

    `syntax` is the parser's error, `entry` the reason why calls would not fit the entry points, `forbidden` the first
    name that is not allowed.
    """

    syntax: Localised | None = None
    entry: Localised | None = None
    forbidden: Localised | None = None


def rules_for(folder: Folder) -> Rules:
    """Return the rules that the source of a submission must follow."""
    return Rules(
        imports=(*IMPORTS, "__future__", *(KERNEL_IMPORTS if folder.kernel else ())),
        modules=TORCH_MODULES,
        forbidden=(*_FORBIDDEN_EVERYWHERE, *folder.spec.get("forbidden", ())),
        kernel_names=sorted(KERNEL_NAMES),
        entry=signatures(parse(folder.reference_source.encode()), folder.entry),
    )


def reading_of(header: Mapping[str, Any]) -> SourceReading:
    """Return the source reading in a worker's reply. Raises UnreadableReply for anything else."""
    found: dict[str, Localised] = {}
    try:
        for part, keys in PROBLEMS.items():
            if header[part] is not None:
                key, facts = header[part]
                sentence = keys[keys.index(key)]
                found[part] = say(sentence, **{name: str(value)[:MOST_CHARACTERS] for name, value in facts.items()})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableReply(f"no reading ({type(error).__name__})") from error
    return SourceReading(**found)


def forbidden_in_traces(forbidden: Sequence[str]) -> Forbidden:
    """Return the calls that a trace must not show."""
    modules = [name for module in TRACED_MODULES for name in (module, f"{module}.*")]
    return Forbidden((*_FORBIDDEN_EVERYWHERE, *modules, *forbidden))


def forbidden_message(line: int, dotted: str) -> Localised:
    """Return the message for a call that the challenge asks the learner to write."""
    return say("forbidden-call", line=line, name=shown_name(dotted))


def outside_kernels(seen: Sequence[tuple[str, int]]) -> Localised | None:
    """Return a message if a traced call computes outside of a kernel, or if no kernel was launched; else None.

    `seen` has the name and the line of each call.
    """
    for called, line in seen:
        if line and called.rsplit(".", 1)[-1] not in AROUND_KERNELS and called not in _SIXTEEN_BITS:
            return say("belongs-in-a-kernel", line=line, name=called)
    return None if any(called == LAUNCH for called, _ in seen) else say("no-kernel-launched")


# Reading events from loading or calling the file


@dataclass(frozen=True, slots=True)
class RaisedError:
    """An exception that a worker reports; `frames` are the lines of the learner's file.

    `fault` describes an invalid access of a kernel: kind, tensor, index, count, program and other program.
    """

    type: str
    text: str
    reason: str
    frames: tuple[dict[str, Any], ...]
    fault: dict[str, Any] | None = None


def read_raised(header: Mapping[str, Any]) -> RaisedError:
    """Return the exception in a reply. Raises UnreadableReply for anything else."""
    reason = header.get("reason")
    if reason not in REASONS:
        raise UnreadableReply("an exception without a reason")
    frames = tuple(_frame(frame) for frame in _listed(header.get("frames"))[:MOST_FRAMES])
    fault = _kernel_fault(header["fault"]) if "fault" in header else None
    text = _text(header.get("text"), TEXT_LENGTH)
    return RaisedError(_text(header.get("type"), NAME_LENGTH), text, reason, frames, fault)


def _frame(frame: Any) -> dict[str, Any]:
    if not isinstance(frame, dict):
        raise UnreadableReply("a frame without its parts")
    line = _position(frame.get("line"), MOST_LINES)
    return {"line": line, **{key: _text(frame.get(key), NAME_LENGTH) for key in ("function", "code")}}


def _kernel_fault(fault: Any) -> dict[str, Any]:
    if not isinstance(fault, dict) or fault.get("kind") not in KERNEL_FAULTS:
        raise UnreadableReply("a fault of no known kind")
    program, *others = [_position(number, _LARGEST) for number in _listed(fault.get("programs"))[:2]] or [0]
    index = fault.get("index")
    if not isinstance(index, int) or isinstance(index, bool) or abs(index) > _LARGEST:
        raise UnreadableReply("a fault without a place")
    return {
        "kind": fault["kind"],
        "tensor": _text(fault.get("tensor"), 60),
        "index": index,
        "count": _position(fault.get("count"), _LARGEST),
        "program": program,
        "other": others[0] if others else program,
    }


def read_touched(header: Mapping[str, Any]) -> list[str]:
    """Return the forbidden resources that the learner's code tried to use. Raises UnreadableReply for anything else."""
    return [_text(name, 60) for name in _listed(header.get("touched", []))[:MOST_TOUCHED]]


def read_names(header: Mapping[str, Any]) -> frozenset[str]:
    """Return the entry points that a loaded file defines. Raises UnreadableReply for anything else."""
    names = header.get("names")
    if not isinstance(names, dict) or len(names) > MOST_LISTED:
        raise UnreadableReply("no names")
    return frozenset(name for name, kind in names.items() if _text(kind, NAME_LENGTH))


# Reading the results of a case


def read_reply(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    """Return the observation in a reply to `request`. Raises UnreadableReply for anything else."""
    try:
        return _observation(header, payload, request)
    except (TreeError, LookupError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        raise UnreadableReply(str(error)[:TEXT_LENGTH] or type(error).__name__) from error


def _observation(header: Mapping[str, Any], payload: memoryview, request: Request) -> Observed:
    if header.get("op") != "result":
        raise TreeError("no result")
    steps = len(request.case.steps)
    tensors = read_table(header["tensors"], payload)
    outcomes = [_outcome(item, tensors) for item in _exactly(steps, _listed(header["outcomes"]), "outcomes")]
    shared = _exactly(len(request.case.shared), _listed(_outcome(header["shared"], tensors)), "shared objects")
    observed = Observed(outcomes, shared)
    if request.case.profile.device in AWAY:
        devices = {id(t): str(entry.get("on", CPU)) for t, entry in zip(tensors, header["tensors"], strict=True)}
        observed.devices = {path: devices[id(part)] for path, part in leaves(observed.whole()) if id(part) in devices}
    if "pure" in request.want:
        observed.pure = _pure(header["pure"], len(request.case.inputs) + len(request.cotangents), steps)
    if "calls" in request.want:
        seen = [(name, line) for name, line in _listed(header["calls"])]
        observed.seen = [[_text(name, NAME_LENGTH), _position(line, MOST_LINES)] for name, line in seen]
        if not isinstance(header["makes"], bool):
            raise TreeError("something else where yes or no is due")
        observed.makes = header["makes"]
    if "cost" in request.want:
        measures = [*MEASURES, *(HANDED if "handed" in request.want else [])]
        costs = _exactly(steps, _listed(header["costs"]), "costs")
        observed.costs = [{name: _position(cost[name], _LARGEST) for name in measures} for cost in costs]
    if "clock" in request.want:
        observed.device_us = [_position(us, _LARGEST) for us in _exactly(steps, _listed(header["device_us"]), "times")]
    if "gradients" in request.want:
        first = _position(header["gradients"], len(tensors) + 1)
        observed.gradients = _exactly(len(request.leaves), tensors[first:], "gradients")
        shapes = [request.case.inputs[leaf].value.shape for leaf in request.leaves]
        if [gradient.shape for gradient in observed.gradients] != shapes:
            raise TreeError("a gradient of another shape than its input")
    return observed


def _outcome(item: Mapping[str, Any], tensors: Sequence[Tensor]) -> Any:
    tree, first = item["tree"], _position(item["first"], len(tensors) + 1)
    if isinstance(tree, list) and tree and tree[0] == "raised":
        names = tuple(_text(name, 80) for name in _listed(tree[1])[:20])
        return Raised(names or ("Exception",), _text(tree[2], 500))
    return resolve(tree, Environment(tensors[first:], most_parts=MAX_NODES))


def _pure(header: Mapping[str, Any], inputs: int, steps: int) -> dict[str, list[Any]]:
    """Return the findings about purity: each entry is a position, or a position and a word."""
    pure: dict[str, list[Any]] = {}
    for name in _POSITIONS:
        limit = inputs if name == "mutated" else steps
        lowest = -1 if name == "graph" else 0
        pure[name] = [_position(k, limit, lowest) for k in _listed(header[name])]
    for name, words in _WORDS.items():
        pure[name] = [[_position(k, steps), words[words.index(word)]] for k, word in _listed(header[name])]
    return pure


def _text(value: Any, most: int) -> str:
    """Return the beginning of a text, on one line."""
    if not isinstance(value, str):
        raise UnreadableReply("something else where a text is due")
    return " ".join(value[: 4 * most].split())[:most]


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_LISTED:
        raise UnreadableReply("something else where a list is due")
    return value


def _position(value: Any, limit: int, lowest: int = 0) -> int:
    if type(value) is not int or not lowest <= value < limit:
        raise UnreadableReply("a number out of range")
    return value


def _exactly(count: int, parts: list[Any], what: str) -> list[Any]:
    if len(parts) != count:
        raise TreeError(f"{len(parts)} {what} where {count} are due")
    return parts
