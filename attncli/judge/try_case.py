"""Run a case that the learner types on their file and on the reference, and compare the answers.

A case is the arguments of the entry point, or calls of it one after the other:
`randn(1, 2, 4), base=100.0` · `apply_rope(torch.tensor([[1.0, 0.0]]), base=100.0)` ·
`cache = StaticKVCache(1, 2, 8, 4); cache.update(randn(1, 2, 1, 4), randn(1, 2, 1, 4), tensor([0]))`

A sandboxed worker runs the text and sends the calls (see sandbox/typed_case.py). The judge checks each part of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args, get_origin

import torch
from torch import Tensor

from attncli.domain.arithmetic import names_in
from attncli.domain.challenge import Facts
from attncli.domain.grade_report import BothAnswers, Counterexample
from attncli.i18n import NOTHING, Localised, _
from attncli.judge.case import Callback, Case, Generator, Handle, Shared, profile_of
from attncli.judge.challenge import Folder, named_arguments
from attncli.judge.compare import Mismatch
from attncli.judge.counterexample import render
from attncli.judge.drawing import fixed_draw
from attncli.judge.guard import Guard, Unjudgeable
from attncli.judge.make import Recorder
from attncli.judge.messages import say
from attncli.judge.protocol import Request
from attncli.judge.questions import Values
from attncli.judge.reference import Observed, as_given, run_reference
from attncli.judge.submission import LARGEST_INTEGER, FailedCase, Failure, Submission
from attncli.sandbox.typed_case import FUNCTIONS
from attncli.sandbox.values import MAX_NODES, Environment, arguments_of, read_table, resolve
from attncli.sandbox.worker import reason_of

# Nobody has tried the case before, so the reference has a time limit, too.
REFERENCE_SECONDS = 5.0

MOST_CALLS = 16
MOST_ELEMENTS = 65_536
# The largest tensors are complex numbers in float64.
MOST_BYTES = 16 * MOST_ELEMENTS
# The characters of a value that an error quotes.
_QUOTED = 60
# If an axis is derived from another one, sizes of the latter up to this one are tried.
_LARGEST_TRIED = 4096
_PROFILES = {torch.float64: "float64", torch.bfloat16: "bf16", torch.float16: "fp16"}


class Untypable(Exception):
    """The case cannot be tried; `message` is the reason in one line."""

    def __init__(self, message: Localised) -> None:
        super().__init__(message.en)
        self.message = message


def untypable(key: str, **parts: object) -> Untypable:
    """Return the error with the message of this name."""
    return Untypable(say(key, **parts))


# Both answers


def both_answers(folder: Folder, submission: Submission, text: str) -> BothAnswers:
    """Run a typed case on the reference and on the submission; if it cannot be tried, say why."""
    try:
        case = typed_case(folder, submission, text)
        expected = _reference_answer(folder, case)
    except Untypable as error:
        return BothAnswers(refused=error.message)
    notes = tuple(forbidden(case, folder))
    if isinstance(expected, str):
        message = say("reference-raises", name=expected)
        return BothAnswers(said=message, forbidden=notes, shown=render(FailedCase(case, "", NOTHING), folder))
    actual: Observed | Failure = submission.load() or submission.run(Request(case))
    answers = _compared(case, folder, expected, actual, submission.guard)
    if "random" in folder.spec["required"]:
        answers = replace(answers, said=answers.said + _("; ") + say("typed-random"))
    submission.collect()
    return replace(answers, forbidden=notes, printed=submission.printed)


def _reference_answer(folder: Folder, case: Case) -> Observed | str:
    """Return the result of the reference, or the name of its exception. Raises Untypable if it is too slow."""

    def answer() -> Observed | str:
        try:
            return run_reference(folder.reference, case, as_given)
        except Exception as error:
            if reason_of(error, str(error)) == "memory":
                raise
            return type(error).__name__

    try:
        return Guard(seconds=REFERENCE_SECONDS).look(answer)
    except Unjudgeable:
        raise Untypable(say("reference-too-slow")) from None


def _compared(case: Case, folder: Folder, expected: Observed, actual: Observed | Failure, guard: Guard) -> BothAnswers:
    """Compare two answers, and return the comparison with both answers in full."""
    if isinstance(actual, Failure):
        failed = FailedCase(case, actual.reason, NOTHING, expected, None, None, actual.frames)
        return BothAnswers(said=actual.message, shown=render(failed, folder), same=False)
    try:
        finding = guard.look(lambda: Values(folder, case).finding(actual))
        shown = guard.look(lambda: _shown(case, folder, expected, actual, finding))
    except Unjudgeable as error:
        return BothAnswers(said=error.message, same=False)
    message = say("typed-same") if finding is None else finding.message
    return BothAnswers(said=message, shown=shown, same=finding is None)


def _shown(
    case: Case, folder: Folder, expected: Observed, actual: Observed, finding: FailedCase | None
) -> Counterexample:
    """Show both answers to the call that differs, else to the last; or an object that the calls changed in place."""
    mismatch = None if finding is None else finding.mismatch
    last = len(case.steps) - 1
    place: Any = "shared 0" if expected.outcomes[last] is None and expected.shared else last
    if mismatch is not None:
        place = mismatch.path[0]
    if isinstance(place, int):
        first, second = (answers.outcomes[place] for answers in (expected, actual))
    else:
        first, second = (answers.shared[int(str(place).split()[-1])] for answers in (expected, actual))
    path = (place,) if isinstance(place, int) else ()
    index = mismatch.index if mismatch is not None and len(mismatch.path) == 1 else None
    whole = Mismatch("", NOTHING, path, first, second, index)
    return render(FailedCase(case, "", NOTHING, expected, actual, whole), folder)


# From text to a case


def typed_case(folder: Folder, submission: Submission, text: str) -> Case:
    """Return the case that a worker records from the text. Raises Untypable, with the reason in one line."""
    entries: dict[str, list[str]] = {}  # each with the public methods of a class
    for name in folder.entry:
        entry = folder.reference[name]
        defined = vars(entry).items() if isinstance(entry, type) else ()
        entries[name] = [key for key, value in defined if inspect.isfunction(value) and not key.startswith("_")]
    reply = submission.record_case(text.strip(), entries, MOST_BYTES)
    if isinstance(reply, Failure):
        raise _too_large() if reply.reason in ("memory", "too-large") else Untypable(reply.message)
    if submission.touched:
        raise untypable("typed-refused", names=", ".join(submission.touched[:4]))
    try:
        return submission.guard.look(lambda: read_case(reply.header, reply.payload, folder, entries), "no-result")
    except Unjudgeable as error:
        raise Untypable(error.message) from None


def _too_large() -> Untypable:
    return untypable("typed-too-large", calls=MOST_CALLS, numbers=MOST_ELEMENTS)


def read_case(
    header: Mapping[str, Any], payload: memoryview, folder: Folder, entries: Mapping[str, Sequence[str]]
) -> Case:
    """Return the case in a reply, in the profile of the first dtype that has one.

    The text may have forged the reply. Raises Untypable, or one of guard.FAULTS for anything malformed.
    """
    tensors, calls = read_table(header["tensors"], payload), header["calls"]
    if len(calls) > MOST_CALLS or sum(tensor.numel() for tensor in tensors) > MOST_ELEMENTS:
        raise _too_large()
    if not calls:
        raise untypable("typed-no-call", names=", ".join(folder.entry))
    profile = next((_PROFILES[t.dtype] for t in tensors if t.dtype in _PROFILES), "ordinary")
    make = Recorder(fixed_draw, profile_of(profile, folder.facts), declared=folder.declared)
    functions = [make.function(f"torch.{FUNCTIONS[FUNCTIONS.index(name)]}") for name in header["functions"]]
    generators = [make.generator(_passable(int(seed))) for seed in header["generators"]]
    values = Environment(tensors, functions, generators, most_parts=MAX_NODES)
    values.shared = [make.shared(_passable(resolve(tree, values))) for tree in header["shared"]]
    for call in calls:
        methods = None if call["owner"] is None else entries[calls[call["owner"]]["name"]]
        values.results.append(_record(make, call, methods, values, folder))
    return make.case


def _record(
    make: Recorder, call: Mapping[str, Any], methods: Sequence[str] | None, values: Environment, folder: Folder
) -> Handle:
    """Record a call again, of an entry point or, if there are `methods`, of one of these."""
    name = call["name"]
    args, named = map(_passable, arguments_of(call, values))
    if methods is not None:
        return make.method(values.results[call["owner"]], methods[methods.index(name)], *args, **named)
    entry = folder.reference[folder.entry[folder.entry.index(name)]]
    if isinstance(entry, type) and issubclass(entry, torch.nn.Module):
        raise untypable("typed-module", name=name)
    signature = inspect.signature(entry)
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        raise untypable("typed-unfit", name=name, error=error, known=", ".join(signature.parameters)) from None
    return (make.new if isinstance(entry, type) else make.call)(name, *args, **named)


def _passable(value: Any) -> Any:
    """Return a worker's value if every part of it may be an argument. Raises Untypable if not."""
    match value:
        case list() | tuple():
            parts = list(value)
        case dict():
            parts = [*value, *value.values()]
        case Handle(path=path) if all(type(key) in (int, str) for key in path):
            parts = []
        case Tensor(device=torch.device(type="cpu")):
            parts = []
        case int() if -LARGEST_INTEGER <= value < LARGEST_INTEGER:
            parts = []
        case None | float() | str() | bytes() | torch.dtype() | Shared() | Generator() | Callback():
            parts = []
        case _:
            raise untypable("typed-not-allowed", value=" ".join(repr(value).split())[:_QUOTED])
    for part in parts:
        _passable(part)
    return value


# Cases that the challenge never asks for


class Seen(NamedTuple):
    """The size of an axis, and the argument in which it was seen first."""

    size: int
    argument: str


def forbidden(case: Case, folder: Folder) -> list[Localised]:
    """Return one line for each thing that the challenge never asks for; a difference there does not count."""
    found: list[Localised] = []
    for step in case.steps:
        lines = [*_against_signature(step, folder.reference), *_against_axes(case, step, folder)]
        found += [line for line in lines if line not in found]
    return found


def _against_signature(step: Mapping[str, Any], reference: Mapping[str, Any]) -> Iterator[Localised]:
    """Yield a line for each value that its `Literal` does not allow, and for each number in place of a tensor."""
    if step["op"] != "call":
        return
    parameters = inspect.signature(reference[step["name"]], eval_str=True).parameters
    for name, tree in named_arguments(reference, step):
        annotation = parameters[name].annotation if name in parameters else None
        choices = get_args(annotation) if get_origin(annotation) is Literal else ()
        if choices and tree[0] in "sibf" and tree[1] not in choices:
            yield say("typed-other-choice", argument=name, got=repr(tree[1]), choices=", ".join(map(repr, choices)))
        if annotation is Tensor and tree[0] in ("i", "f", "b", "s", "l", "u", "n"):
            yield say("typed-no-tensor", argument=name)


def _against_axes(case: Case, step: Mapping[str, Any], folder: Folder) -> Iterator[Localised]:
    """Yield a line for each tensor whose shape contradicts the axes of the challenge."""
    facts = folder.facts
    seen: dict[str, Seen] = {}
    for name, tree in named_arguments(folder.reference, step):
        declared = facts.axes.get(f"{step.get('name', '')}.{name}", facts.axes.get(name))
        if tree[0] != "t" or declared is None:
            continue
        shape = case.inputs[tree[1]].value.shape
        axes = declared.split()
        free = len(shape) - len(axes) + axes.count("...")
        if (free < 0 and axes[:1] != ["..."]) or (free and "..." not in axes):
            yield say("typed-other-rank", argument=name, got=len(shape), axes=", ".join(axes))
            continue
        for axis, size in zip(folder.axes(str(step.get("name", "")), name, len(shape)), shape, strict=False):
            if not axis or size == 1:  # a size of 1 fits any: it broadcasts
                continue
            due, other = seen.setdefault(axis, Seen(size, name))
            if due != size:
                yield say("typed-other-size", axis=axis, got=size, argument=name, due=due, other=other)
            elif other == name and not _follows(axis, size, facts, seen):
                yield say("typed-unfit-size", axis=axis, got=size, argument=name, says=facts.derived[axis])


def _follows(axis: str, size: int, facts: Facts, seen: Mapping[str, Seen]) -> bool:
    """Return True if an axis that is a product of others can have this size; one of these may be unknown.

    A sum only says how cases are drawn: at least as many keys as queries.
    """
    derived = facts.derived.get(axis, "")
    others = names_in(derived) if derived and "+" not in derived else frozenset()
    unknown = [name for name in others if name not in seen]
    if len(unknown) > 1 or not others:
        return True
    known = {name: seen[name].size for name in others if name in seen}
    if not unknown:
        return facts.size_of(axis, known) == size
    return any(facts.size_of(axis, {**known, unknown[0]: tried}) == size for tried in range(1, _LARGEST_TRIED))
