"""Programs of calls on a namespace: one interpreter for the learner's code and for the reference.

A program is a list of steps; a step calls an entry point, makes an object, calls a method, sets or reads attributes.
Arguments are trees (see `values`) over a tensor table and over results of earlier steps, so that a cache passes from
call to call inside the process. `serve` runs a program in the worker; the judge calls `execute` on the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from . import devices
from .devices import Elsewhere, tensors_in
from .tracing import LAUNCH, BareOperations, CallTrace, CostTrace, ProgramWatch, Step, Traffic, plain, returned_bytes
from .values import (
    DTYPES,
    Environment,
    Packer,
    Raised,
    TreeError,
    arguments_of,
    bytes_of,
    describe_tensor,
    read_table,
    resolve,
)

Invoke = Callable[[dict[str, Any], Sequence[bytes]], tuple[dict[str, Any], memoryview]]

_previous_outcomes: list[Any] = []


@dataclass(slots=True)
class ProgramRun:
    """The outcomes of a program, one for each step, and the measurements.

    `parameters` maps a leaf's index to the module parameters it was copied into.
    """

    outcomes: list[Any] = field(default_factory=list)
    arguments: list[Any] = field(default_factory=list)
    parameters: dict[int, list[Tensor]] = field(default_factory=dict)
    costs: list[dict[str, int]] = field(default_factory=list)
    device_us: list[int] = field(default_factory=list)


class ExpressionFunction:
    """A function of the challenge over `torch` and `math`; `text` is its lambda. Autograd goes through it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._function = eval(text, {"torch": torch, "math": math})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def serve(
    namespace: Mapping[str, Any], header: Mapping[str, Any], payload: memoryview, invoke: Invoke
) -> tuple[dict[str, Any], list[bytes]]:
    """Run the program of one request in the worker. Returns the reply's header and tensor bytes.

    Outcomes are copied as soon as a step returns. With `pure` everything is read again at the end, and results of the
    previous request are kept alive so that memory returned twice is noticed. `no-grad` runs it as for inference.
    """
    want = set(header.get("want", ()))
    environment = _environment(header, payload, invoke)
    devices.seed_all(environment.device, int(header.get("seed", 0)))
    watch = ProgramWatch(environment, header["steps"], _previous_outcomes, want)
    trace = CallTrace(str(header.get("filename", ""))) if "calls" in want else None
    autograd, launches = torch.set_grad_enabled("no-grad" not in want), Traffic.launches
    with autograd:
        during = partial(_step_context, header, trace)
        run = execute(namespace, header["steps"], environment, during=during, after=watch.after, costs=want)
    reply, buffers = _reply(run, environment, watch)
    if "pure" in want:
        kept = dict([*enumerate(run.outcomes), (-1, list(environment.shared))])
        reply["pure"] = {
            "mutated": watch.mutated(),
            "changed": watch.changed(run.outcomes),
            "aliased": watch.aliased,
            "containers": watch.containers,
            "globals": watch.globals,
            "instances": watch.instances(run.outcomes, run.arguments),
            "modules": watch.modules_changed,
            "graph": [index for index, value in kept.items() if any(t.grad_fn is not None for t in tensors_in(value))],
        }
    if trace is not None:
        launched = [[LAUNCH, 0]] if Traffic.launches > launches else []
        reply["calls"], reply["makes"] = [*trace.seen(), *launched], trace.makes
    if "clock" in want:
        reply["device_us"] = run.device_us
    if "gradients" in want:
        cotangents = [(step, path, environment.tensors[k]) for step, path, k in header.get("cotangents", ())]
        with devices.beside(environment.device):
            found = gradients(run, environment, header.get("leaves", ()), cotangents)
            reply["gradients"] = len(reply["tensors"])
            reply["tensors"].extend(describe_tensor(tensor) for tensor in found)
            buffers.extend(bytes_of(tensor) for tensor in found)
    _previous_outcomes[:] = run.outcomes if "pure" in want else ()
    return reply, buffers


def _environment(header: Mapping[str, Any], payload: memoryview, invoke: Invoke) -> Environment:
    tensors = read_table(header.get("tensors", []), payload, writable_strides=True)
    device, tensor_device = _device(header), _tensor_device(header)
    if tensor_device != devices.CPU:
        tensors = [devices.placed(tensor, tensor_device) for tensor in tensors]
    elif header.get("device") == "meta":
        tensors = [tensor.to("meta") for tensor in tensors]
    leaves = set(header.get("leaves", ())) if "gradients" in header.get("want", ()) else set()
    tensors = [devices.as_leaf(t) if k in leaves else t for k, t in enumerate(tensors)]
    generators = [devices.generator(device, int(seed)) for seed in header.get("generators", ())]
    callables: list[Callable[..., Any]] = []
    for index, text in enumerate(header.get("callables", ())):
        if text is not None:
            callables.append(ExpressionFunction(text))
        else:
            proxy = _proxy(index, invoke)
            callables.append(devices.across(proxy, tensor_device) if tensor_device != devices.CPU else proxy)
    environment = Environment(tensors, callables, generators)
    environment.device = device
    environment.module_dtype = DTYPES[header["dtype"]] if "dtype" in header else None
    environment.module_device = header.get("device") if device == devices.CPU else devices.torch_name(device)
    environment.shared = [resolve(tree, environment) for tree in header.get("shared", ())]
    return environment


def _device(header: Mapping[str, Any]) -> str:
    """Return the device of a grading; for "meta", which has no values, the CPU."""
    return header["device"] if header.get("device") in devices.AWAY else devices.CPU


def _tensor_device(header: Mapping[str, Any]) -> str:
    """Return the device of a program's tensors: the device check of a grading on the CPU has them elsewhere."""
    return devices.ELSEWHERE if "elsewhere" in header.get("want", ()) else _device(header)


def _proxy(index: int, invoke: Invoke) -> Callable[..., Any]:
    """Return a stand-in for a callable that lives in the judge: every call is a request and its reply."""

    def call(*args: Any, **kwargs: Any) -> Any:
        packer = Packer()
        tree = packer.pack([list(args), kwargs])
        tensors = [t.detach() for t in packer.tensors]
        header = {"callable": index, "arguments": tree, "tensors": [describe_tensor(t) for t in tensors]}
        answer, payload = invoke(header, [bytes_of(t) for t in tensors])
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return resolve(answer["value"], Environment(read_table(answer["tensors"], payload)))

    return call


@contextmanager
def _step_context(header: Mapping[str, Any], trace: CallTrace | None) -> Iterator[None]:
    """Enter the contexts in which the learner's code runs; its results are read outside of them."""
    want, default = header.get("want", ()), bool(header.get("default_device"))
    bare = BareOperations(trace) if trace is not None and "operations" in want else nullcontext()
    with trace or nullcontext(), bare, devices.beside(_tensor_device(header), default):
        yield


def _reply(run: ProgramRun, environment: Environment, watch: ProgramWatch) -> tuple[dict[str, Any], list[bytes]]:
    outcomes: list[dict[str, Any]] = []
    table: list[dict[str, Any]] = []
    buffers: list[bytes] = []
    for tree, chunks, entries in [*watch.copies, watch.copied(environment.shared)]:
        outcomes.append({"tree": tree, "first": len(table)})
        table.extend(entries)
        buffers.extend(chunks)
    return {
        "op": "result",
        "outcomes": outcomes[:-1],
        "shared": outcomes[-1],
        "tensors": table,
        "costs": run.costs,
    }, buffers


# Running the steps


def execute(
    namespace: Mapping[str, Any],
    steps: Sequence[Step],
    environment: Environment,
    *,
    during: Callable[[], AbstractContextManager[Any]] = nullcontext,
    after: Callable[[int, Any, Any], None] | None = None,
    costs: Collection[str] = (),
) -> ProgramRun:
    """Run the steps in order, each within a `during()`, and call `after(index, arguments, outcome)` after each.

    "cost" in `costs` measures each step's work and memory, "handed" also the largest storage that a single call
    returns. Autograd is off for that, unless the program runs a backward pass and may have to keep values for it.
    "clock" measures the microseconds of each step by the device's events.
    """
    run = ProgramRun()
    graph = any(step.get("name") == "backward" for step in steps)
    for index, step in enumerate(steps):
        arguments = arguments_of(step, environment)
        if "cost" in costs:
            calls = CallTrace("", sizes=True) if "handed" in costs else nullcontext()
            inputs, moved = list(tensors_in(list(arguments))), Traffic.moved
            peak = devices.DevicePeak() if environment.device == devices.CUDA else None
            # New tensors have no values either if an input has none: others would count as memory.
            empty = any(tensor.device.type == "meta" and type(tensor) is not Elsewhere for tensor in inputs)
            placement, cost = torch.device("meta") if empty else nullcontext(), CostTrace(inputs)
            with during(), torch.set_grad_enabled(graph), calls, placement, cost:
                outcome = _perform(namespace, step, arguments, environment, run)
            measured = {"peak": peak.measure()} if peak is not None else {}
            handed = {"handed": calls.largest, "repeated": calls.repeated} if isinstance(calls, CallTrace) else {}
            figures = {**cost.figures(), **measured, **handed, "moved": Traffic.moved - moved}
            run.costs.append({**figures, "returned": returned_bytes(outcome)})
        elif "clock" in costs:
            with during(), devices.DeviceClock(environment.device) as clock:
                outcome = _perform(namespace, step, arguments, environment, run)
            run.device_us.append(clock.microseconds())
        else:
            with during():
                outcome = _perform(namespace, step, arguments, environment, run)
        environment.results.append(outcome)
        if step["op"] == "read":  # later steps may change the object, and may need the object itself
            outcome = _snapshot(outcome)
        run.outcomes.append(outcome)
        run.arguments.append(arguments)
        if after is not None:
            after(index, arguments, outcome)
    return run


def _perform(
    namespace: Mapping[str, Any], step: Step, arguments: Any, environment: Environment, run: ProgramRun
) -> Any:
    args, kwargs = arguments
    target = _target(namespace, step, environment, run)
    expected = step.get("raises")
    if "times" in step:
        return _tally(lambda: target(*args, **kwargs), step["times"] if environment.repeats else 1)
    if expected is None:
        return target(*args, **kwargs)
    try:
        return target(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - the learner's own exception is the outcome that is compared
        return Raised(tuple(kind.__name__ for kind in type(error).__mro__), str(error)[:500])


def _tally(call: Callable[[], Any], times: int) -> dict[Any, int]:
    """Count each result of repeated calls; other results than plain values count by their text."""
    counts: dict[Any, int] = {}
    for _ in range(times):
        result = call()
        key = result if plain(result) else repr(result)[:80]
        counts[key] = counts.get(key, 0) + 1
    return counts


def _target(namespace: Mapping[str, Any], step: Step, environment: Environment, run: ProgramRun) -> Callable[..., Any]:
    operation = step["op"]
    if operation == "call":
        target: Callable[..., Any] = namespace[step["name"]]
        return target
    if operation == "refill":
        return _refill
    if operation == "manual_seed":
        return lambda seed: devices.seed_all(environment.device, seed)
    if operation == "new":
        created = _find_class(namespace, step["name"])
        return lambda *args, **kwargs: _place_module(created(*args, **kwargs), (args, kwargs), environment)
    owner = resolve(step["object"], environment)
    if operation == "method":
        method: Callable[..., Any] = getattr(owner, step["name"])
        return method
    if operation == "set":
        return lambda values: _set_parts(owner, values, step, run)
    if operation == "read":
        return lambda: _read_part(owner, step["name"])
    # These steps have no outcome: the module's result is dropped.
    if operation == "train":
        return lambda flag: (owner.train(flag), None)[1]
    if operation == "cast":  # floating parameters and buffers
        return lambda dtype: (owner.to(dtype), None)[1]
    raise TreeError(f"unknown operation {operation!r}")


def _refill(tensors: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    """Write other values into the tensors' memory, so that a cache of the old ones is wrong."""
    with torch.no_grad():
        for tensor, value in zip(tensors, values, strict=True):
            tensor.copy_(value)


def _find_class(namespace: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """Return an entry point, or a torch class by its dotted name (`torch.nn.Linear` as an argument)."""
    found: Any = namespace.get(name)
    if found is None and name.startswith("torch."):
        found = torch
        for part in name.split(".")[1:]:
            found = getattr(found, part)
    if found is None:
        raise TreeError(f"unknown class {name!r}")
    created: Callable[..., Any] = found
    return created


def _place_module(created: Any, arguments: Any, environment: Environment) -> Any:
    """Move a module to the dtype and device of the case, unless it was made from a module or tensors."""
    args, kwargs = arguments
    has_weights = any(isinstance(value, (nn.Module, Tensor)) for value in [*args, *kwargs.values()])
    if not isinstance(created, nn.Module) or has_weights:
        return created
    dtype, place = environment.module_dtype, torch.device(environment.module_device or "cpu").type
    parts = [*created.parameters(), *created.buffers()]
    # If nothing has to be moved, skip it: torch would rebuild every parameter.
    if all(part.device.type == place and (part.dtype == dtype or not part.is_floating_point()) for part in parts):
        return created
    return created.to(device=environment.module_device, dtype=environment.module_dtype)


def _snapshot(value: Any) -> Any:
    """Copy a value that was read: later steps may change the object."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_snapshot, value))
    return {k: _snapshot(v) for k, v in value.items()} if isinstance(value, dict) else value


def _set_parts(owner: Any, values: Mapping[str, Tensor], step: Step, run: ProgramRun) -> None:
    """Copy values into the parts of these names, and record which parameters represent a leaf."""
    parts = {name: _read_part(owner, name) for name in values}
    with torch.no_grad():
        for name, part in parts.items():
            part.copy_(values[name])
    leaves = step.get("leaves", {})
    for name, part in parts.items():
        if name in leaves and part.requires_grad:
            run.parameters.setdefault(leaves[name], []).append(part)


def _read_part(owner: Any, dotted: str) -> Any:
    """Return an attribute by its dotted name; for a Linear its weight.

    Of a module, `parameters` is the list of its parameters, `named_parameters`, `named_buffers` and `state_dict` are
    dicts, `trainable` is the sorted list of the names that require gradients; a number is an index into a list.
    """
    for name in dotted.split("."):
        if isinstance(owner, nn.Module) and name in _MODULE_PARTS:
            owner = _MODULE_PARTS[name](owner)
        elif name.isdigit():
            owner = owner[int(name)]
        else:
            owner = getattr(owner, name)
    return owner.weight if isinstance(owner, nn.Linear) else owner


_MODULE_PARTS: dict[str, Callable[[nn.Module], Any]] = {
    "parameters": lambda module: list(module.parameters()),
    "named_parameters": lambda module: dict(module.named_parameters()),
    "named_buffers": lambda module: dict(module.named_buffers()),
    "state_dict": lambda module: dict(module.state_dict()),
    "trainable": lambda module: sorted(n for n, p in module.named_parameters() if p.requires_grad),
}

# Gradients


def gradients(
    run: ProgramRun,
    environment: Environment,
    leaves: Sequence[int],
    cotangents: Sequence[tuple[int, list[Any], Tensor]],
) -> list[Tensor]:
    """Return the vector-Jacobian product for every leaf, zeros where nothing depends on it.

    `cotangents` holds (step, path inside its outcome, tensor). Gradients of parameters that a leaf was copied into are
    added to the leaf's.
    """
    totals = []
    for step, path, vector in cotangents:
        output = _part_at(run.outcomes[step], path)
        if isinstance(output, Tensor) and output.requires_grad and output.shape == vector.shape:
            # The gradient of this sum is the vector. Passed as `grad_outputs` it would load torch's symbolic algebra.
            totals.append((output * vector.to(output.dtype)).sum())
    inputs = [[environment.tensors[k], *run.parameters.get(k, [])] for k in leaves]
    flat = [tensor for group in inputs for tensor in group]
    if not totals or not flat:
        return [torch.zeros_like(group[0]) for group in inputs]
    parts = iter(torch.autograd.grad(totals, flat, allow_unused=True))
    sums = []
    for group in inputs:
        total = torch.zeros_like(group[0])
        for part in [next(parts) for _ in group]:
            if part is not None:
                total = total + part.to(total.dtype)
        sums.append(total.detach())
    return sums


def _part_at(value: Any, path: Sequence[Any]) -> Any:
    try:
        for key in path:
            value = value[key]
    except (LookupError, TypeError):
        return None
    return value
