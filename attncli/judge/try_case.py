"""Run a case that the learner types on their file and on the reference, and compare the answers.

A case is the arguments of the entry point, or calls of it one after the other:
`randn(1, 2, 4), base=100.0` · `apply_rope(torch.tensor([[1.0, 0.0]]), base=100.0)` ·
`cache = StaticKVCache(1, 2, 8, 4); cache.append(randn(1, 2, 1, 4), randn(1, 2, 1, 4))`

The text is never executed: a bounded walk of its syntax tree evaluates literals, arithmetic, a few functions of torch
and calls of the entry points. What it may not contain raises `Untypable`.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.domain.arithmetic import names_in
from attncli.domain.grade_report import BothAnswers, Counterexample
from attncli.domain.text import NOTHING, Localised
from attncli.judge.case import Case, Facts, Handle, profile_of
from attncli.judge.challenge import Demands, Folder, named_arguments
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
from attncli.sandbox.devices import tensors_in
from attncli.sandbox.values import DTYPE_NAMES, DTYPES, MAX_DIMS
from attncli.sandbox.worker import reason_of

# Nobody has tried the case before, so the reference has a time limit, too.
REFERENCE_SECONDS = 5.0

MOST_CHARACTERS = 8_000
MOST_CALLS = 16
MOST_ELEMENTS = 65_536
# The characters of typed code that an error quotes.
_QUOTED = 60
# Where an axis follows from another one, sizes of that up to this one are tried.
_LARGEST_TRIED = 4096

# The functions of `torch.NAME` that can be passed to a challenge.
FUNCTIONS = ("relu", "tanh", "sigmoid", "exp", "abs", "square", "sin", "cos")
CASTS = ("float", "double", "half", "bfloat16", "long", "int", "bool")
MOVES = ("reshape", "view", "transpose", "unsqueeze")
_SHAPED: Mapping[str, Callable[..., Tensor]] = {
    "zeros": torch.zeros,
    "ones": torch.ones,
    "randn": torch.randn,
    "rand": torch.rand,
}
_CUT = {"tril": torch.tril, "triu": torch.triu}
MAKERS = ("tensor", *_SHAPED, "full", "arange", "eye", "randint", *_CUT)
_MODULES = ("torch", "math")
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, **DTYPES}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_PROFILES = {torch.float64: "float64", torch.bfloat16: "bf16", torch.float16: "fp16"}
# What torch and Python raise at unsuitable arguments.
_ARGUMENT_ERRORS = (ArithmeticError, AttributeError, IndexError, RuntimeError, TypeError, ValueError)


class Untypable(Exception):
    """The case cannot be tried; `message` is one line that says why."""

    def __init__(self, message: Localised) -> None:
        super().__init__(message.en)
        self.message = message


def untypable(key: str, **parts: object) -> Untypable:
    """Return the error with the message of this name."""
    return Untypable(say(key, **parts))


def code_of(node: ast.AST) -> str:
    """Return a part of the typed text, shortened."""
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "…"
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


# Both answers


def both_answers(folder: Folder, submission: Submission, text: str) -> BothAnswers:
    """Run a typed case on the reference and on the submission; where it cannot be tried, say why."""
    demands = Demands(folder)
    try:
        case = typed_case(text, folder)
        expected = _reference_answer(demands, case)
    except Untypable as error:
        return BothAnswers(refused=error.message)
    notes = tuple(forbidden(case, folder.facts, demands))
    if isinstance(expected, str):
        message = say("reference-raises", name=expected)
        return BothAnswers(said=message, forbidden=notes, shown=render(FailedCase(case, "", NOTHING), demands))
    actual: Observed | Failure = submission.load() or submission.run(Request(case))
    answers = _compared(case, demands, expected, actual, submission.guard)
    if "random" in folder.spec["required"]:
        answers = replace(answers, said=answers.said + Localised("; ", "；") + say("typed-random"))
    submission.collect()
    return replace(answers, forbidden=notes, printed=submission.printed)


def _reference_answer(demands: Demands, case: Case) -> Observed | str:
    """Return what the reference returns, or the name of the exception it raises. Raises Untypable if it is too slow."""

    def answer() -> Observed | str:
        try:
            return run_reference(demands.reference, case, as_given)
        except Exception as error:
            if reason_of(error, str(error)) == "memory":
                raise
            return type(error).__name__

    try:
        return Guard(seconds=REFERENCE_SECONDS).look(answer)
    except Unjudgeable:
        raise Untypable(say("reference-too-slow")) from None


def _compared(
    case: Case, demands: Demands, expected: Observed, actual: Observed | Failure, guard: Guard
) -> BothAnswers:
    """Return whether the answers agree, and both of them, whole."""
    if isinstance(actual, Failure):
        failed = FailedCase(case, actual.reason, NOTHING, expected, None, None, actual.frames)
        return BothAnswers(said=actual.message, shown=render(failed, demands), same=False)
    try:
        finding = guard.look(lambda: Values(demands, case).finding(actual))
        shown = guard.look(lambda: _shown(case, demands, expected, actual, finding))
    except Unjudgeable as error:
        return BothAnswers(said=error.message, same=False)
    message = say("typed-same") if finding is None else finding.message
    return BothAnswers(said=message, shown=shown, same=finding is None)


def _shown(
    case: Case, demands: Demands, expected: Observed, actual: Observed, finding: FailedCase | None
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
    return render(FailedCase(case, "", NOTHING, expected, actual, whole), demands)


# From text to a case


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an earlier call, or a part of it."""

    call: int
    path: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedFunction:
    """A function of torch that is passed as an argument."""

    name: str


@dataclass(frozen=True, slots=True)
class TypedGenerator:
    """A random generator, made from a seed on both sides."""

    seed: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class NamedContainer:
    """A dict or list with a name: all calls that take it share one object, so changes to it remain."""

    value: Any


@dataclass(frozen=True, slots=True)
class TypedCall:
    """A call of an entry point, or of a method of an object that an earlier call returned."""

    name: str
    args: Sequence[Any]
    named: Mapping[str, Any]
    owner: Result | None = None


def typed_case(text: str, folder: Folder) -> Case:
    """Return the case. Raises Untypable, with one line that says what cannot be used and what can."""
    program = _Program(folder)
    program.read(text)
    return _recorded(program.calls, folder)


class _Program:
    """The typed calls, in the order in which Python would make them."""

    def __init__(self, folder: Folder) -> None:
        self.calls: list[TypedCall] = []
        self._entries = {name: folder.reference.__dict__[name] for name in folder.entry}
        self._values = TypedValues(self._call)

    def read(self, text: str) -> None:
        for statement in self._statements(text):
            match statement:
                case ast.Expr(value=value):
                    self._values.of(value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    made = self._values.of(value)
                    self._values.names[name] = NamedContainer(made) if isinstance(made, (dict, list)) else made
                case _:
                    raise untypable("typed-not-allowed", code=code_of(statement))
        if not self.calls:
            raise untypable("typed-no-call", names=", ".join(self._entries))

    def _statements(self, text: str) -> list[ast.stmt]:
        """Parse the text; if it calls no entry point, as the arguments of the first one."""
        if len(text) > MOST_CHARACTERS:
            raise untypable("typed-too-long", count=MOST_CHARACTERS)
        try:
            tree = ast.parse(text.strip())
        except SyntaxError:
            tree = None
        except (ValueError, RecursionError, MemoryError) as error:
            raise untypable("typed-syntax", error=str(error)) from None
        if tree is not None and any(self._is_entry(node) for node in ast.walk(tree)):
            return tree.body
        try:
            return ast.parse(f"{next(iter(self._entries))}({text.strip()}\n)").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise untypable("typed-syntax", error=getattr(error, "msg", str(error))) from None

    def _is_entry(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._entries

    def _call(self, node: ast.Call) -> Result:
        args, named = self._values.arguments(node)
        match node.func:
            case ast.Name(id=name) if name in self._entries:
                _check_arguments(name, self._entries[name], args, named)
                self.calls.append(TypedCall(name, args, named))
            case ast.Attribute(value=owner, attr=name) if self._has_method(made := self._values.of(owner), name):
                self.calls.append(TypedCall(name, args, named, made))
            case _:
                raise untypable("typed-not-called", code=code_of(node.func), names=", ".join(self._entries))
        if len(self.calls) > MOST_CALLS:
            raise untypable("typed-too-many-calls", count=MOST_CALLS)
        return Result(len(self.calls) - 1)

    def _has_method(self, value: Any, name: str) -> bool:
        """Tell whether `value` is an object that an entry point makes, with a public method of this name."""
        if not isinstance(value, Result) or value.path or name.startswith("_"):
            return False
        kind = self._entries.get(self.calls[value.call].name)
        return isinstance(kind, type) and inspect.isfunction(vars(kind).get(name))


def _check_arguments(name: str, entry: Any, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise Untypable if the arguments do not fit the signature of the entry point."""
    if isinstance(entry, type) and issubclass(entry, torch.nn.Module):
        raise untypable("typed-module", name=name)
    parameters = list(inspect.signature(entry).parameters.values())
    known = [p.name for p in parameters]
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return
    if len(args) > len(known):
        raise untypable("typed-too-many", name=name, count=len(known), got=len(args))
    for given in named:
        if given not in known or given in known[: len(args)]:
            key = "typed-twice" if given in known else "typed-other-name"
            raise untypable(key, name=name, given=given, known=", ".join(known))
    missing = [p.name for p in parameters[len(args) :] if p.default is p.empty and p.name not in named]
    if missing:
        raise untypable("typed-missing", name=name, missing=", ".join(missing))


def _recorded(calls: Sequence[TypedCall], folder: Folder) -> Case:
    """Record the calls as a case, in the profile of the first dtype that has one."""
    typed = [value for call in calls for value in (*call.args, *call.named.values())]
    tensors = tensors_in([value.value if isinstance(value, NamedContainer) else value for value in typed])
    profile = next((_PROFILES[t.dtype] for t in tensors if t.dtype in _PROFILES), "ordinary")
    make = Recorder(fixed_draw, profile_of(profile, folder.facts), declared=folder.declared)
    arguments = _Arguments(make)
    for call in calls:
        args = [arguments.convert(value) for value in call.args]
        named = {name: arguments.convert(value) for name, value in call.named.items()}
        if call.owner is not None:
            handle = make.method(arguments.handles[call.owner.call], call.name, *args, **named)
        elif isinstance(folder.reference.__dict__[call.name], type):
            handle = make.new(call.name, *args, **named)
        else:
            handle = make.call(call.name, *args, **named)
        arguments.handles.append(handle)
    return make.case


class _Arguments:
    """Converts typed values into arguments for a recorder. `handles` stand for the results of the recorded calls."""

    def __init__(self, make: Recorder) -> None:
        self.handles: list[Handle] = []
        self._make = make
        self._made: dict[int, Any] = {}

    def convert(self, value: Any) -> Any:
        if isinstance(value, Result):
            return Handle(self.handles[value.call].step, value.path)
        if isinstance(value, NamedContainer):
            return self._once(value, lambda: self._make.shared(value.value))
        if isinstance(value, TypedGenerator):
            return self._once(value, lambda: self._make.generator(value.seed))
        if isinstance(value, TypedFunction):
            return self._make.function(f"torch.{value.name}")
        if isinstance(value, (list, tuple)):
            return type(value)(self.convert(item) for item in value)
        return {key: self.convert(item) for key, item in value.items()} if isinstance(value, dict) else value

    def _once(self, value: Any, make: Callable[[], Any]) -> Any:
        """Return the same object wherever a value is passed."""
        if id(value) not in self._made:
            self._made[id(value)] = make()
        return self._made[id(value)]


# Values


class TypedValues:
    """Evaluates expressions; calls that are not known here go to `call`. Raises Untypable."""

    def __init__(self, call: Callable[[ast.Call], Any]) -> None:
        self.names: dict[str, Any] = {}
        self._call = call
        self._tensors = TensorMaker()

    def of(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        try:
            return self._value(node)
        except TooManyElements:
            raise untypable("typed-too-large", code=code_of(node)) from None
        except _ARGUMENT_ERRORS as error:
            raise untypable("typed-unfit", code=code_of(node), error=" ".join(str(error).split())[:200]) from None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=None | bool() | int() | float() | str() | bytes() as value):
                return _bounded(value)
            case ast.List(elts=items):
                return [self.of(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.of(item) for item in items)
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {self.of(key): self.of(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = _number(self.of(operand))
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATORS:
                return self._combined(_OPERATORS[type(operation)], self.of(left), self.of(right))
            case ast.Subscript(value=owner, slice=ast.Constant(value=str() | int() as key)):
                return _part(self.of(owner), key)
            case ast.Call():
                return self._called(node)
            case ast.Name() | ast.Attribute():
                return self._named(node)
        raise untypable("typed-not-allowed", code=code_of(node))

    def _combined(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self._tensors.combine(operation, _number(left), _number(right))
        return _bounded(operation(_number(left), _number(right)))

    def _named(self, node: ast.Name | ast.Attribute) -> Any:
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        name = _last_name(node)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in FUNCTIONS:
            return TypedFunction(name)
        raise untypable("typed-unknown", code=code_of(node), made=", ".join(MAKERS))

    def _called(self, node: ast.Call) -> Any:
        name = _last_name(node.func)
        if name in MAKERS:
            return self._tensors.make(name, *self.arguments(node))
        if name == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return float(node.args[0].value)  # type: ignore[arg-type]
        if name == "Generator" and not node.args:
            return TypedGenerator()
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            method = node.func.attr
            if method in (*CASTS, *MOVES) and isinstance(owner := self.of(node.func.value), Tensor):
                return _converted(owner, method, self.arguments(node)[0])
            if method == "manual_seed" and self.of(node.func.value) == TypedGenerator():
                return TypedGenerator(_seed(*self.arguments(node)[0]))
        return self._call(node)

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the named arguments of a call."""
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords):
            raise untypable("typed-not-allowed", code=code_of(node))
        return [self.of(arg) for arg in node.args], {str(k.arg): self.of(k.value) for k in node.keywords}


def _last_name(node: ast.expr) -> str:
    """Return `randn` for `randn` and for `torch.randn`, "" for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
            return name
    return ""


def _number(value: Any) -> Any:
    if isinstance(value, (int, float, Tensor)):
        return value
    raise TypeError("only numbers and tensors can be computed with")


def _seed(value: Any) -> int:
    if type(value) is int and 0 <= value < 2**32:
        return value
    raise TypeError("a seed is a whole number below 2**32")


def _bounded(value: Any) -> Any:
    if type(value) is int and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise TypeError("a whole number of more than 64 bits")
    return value


def _part(value: Any, key: Any) -> Any:
    if isinstance(value, Result):
        return Result(value.call, (*value.path, key))
    if isinstance(value, (dict, list, tuple, Tensor)):
        return value[key]
    raise TypeError("only results, lists, dicts and tensors have parts")


def _converted(tensor: Tensor, method: str, args: Sequence[Any]) -> Tensor:
    """Return the same numbers in another shape or dtype."""
    converted = getattr(tensor, method)(*args)
    if not isinstance(converted, Tensor) or converted.dtype not in DTYPE_NAMES:
        raise TypeError(f"{method} gives no tensor here")
    return converted


# Tensors


class TooManyElements(Exception):
    """The tensors of a case hold more than `MOST_ELEMENTS` numbers."""


class TensorMaker:
    """Makes the tensors of one case, of bounded size altogether; the same text gives the same numbers.

    Passes on whatever torch or Python raises at unsuitable arguments.
    """

    def __init__(self) -> None:
        self._left = MOST_ELEMENTS
        self._random = torch.Generator().manual_seed(0)

    def make(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Tensor:
        """Return `torch.NAME(*args, **options)`; the only option is `dtype`."""
        if set(options) - {"dtype"} or not isinstance(options.get("dtype"), torch.dtype | None):
            raise TypeError("dtype=torch.float32 and the like is the only option here")
        if name == "tensor":
            return self._tensor(*args, **options)
        if name in _SHAPED:
            random = {"generator": self._random} if name in ("randn", "rand") else {}
            return _SHAPED[name](self._taken(args), **random, **options)
        if name in _CUT:
            if not args or not isinstance(args[0], Tensor):
                raise TypeError("the first argument is a tensor")
            self._take(args[0].numel())
            return _CUT[name](*args, **options)
        return self._by_numbers(name, args, options)

    def combine(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """Return a sum, product or the like of two tensors, or of one and a number."""
        shapes = [value.shape for value in (left, right) if isinstance(value, Tensor)]
        self._take(math.prod(torch.broadcast_shapes(*shapes)))
        return operation(left, right)

    def _take(self, elements: int) -> None:
        self._left -= elements
        if elements < 0 or self._left < 0:
            raise TooManyElements

    def _taken(self, args: Sequence[Any]) -> tuple[int, ...]:
        """Return the shape in the arguments, once its elements are counted."""
        shape = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if len(shape) > MAX_DIMS or not all(type(size) is int and size >= 0 for size in shape):
            raise TypeError(f"a shape is up to {MAX_DIMS} whole numbers from 0 on")
        self._take(math.prod(shape))
        return tuple(shape)

    def _tensor(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        if isinstance(values, Tensor):
            raise TypeError("torch.tensor takes numbers")
        self._take(_count(values))
        return torch.tensor(values, dtype=dtype)

    def _by_numbers(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Tensor:
        if name == "full":
            shape, value = args
            return torch.full(self._taken([shape]), value, **options)
        if name == "randint":
            low, high, shape = args if len(args) == 3 else (0, *args)
            return torch.randint(low, high, self._taken([shape]), generator=self._random, **options)
        if name == "eye":
            self._taken([args[0], args[-1]])
            return torch.eye(*args, **options)
        start, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self._take(max(0, math.ceil((end - start) / step)))
        return torch.arange(*args, **options)


def _count(value: Any) -> int:
    return sum(map(_count, value)) if isinstance(value, (list, tuple)) else 1


# Cases that the challenge never asks for


class Seen(NamedTuple):
    """The size of an axis, and the argument in which it was seen first."""

    size: int
    argument: str


def forbidden(case: Case, facts: Facts, demands: Demands) -> list[Localised]:
    """Return one line for each thing that the challenge never asks for; a difference there counts for nothing."""
    found: list[Localised] = []
    for step in case.steps:
        lines = [*_against_signature(step, demands.reference), *_against_axes(case, step, facts, demands)]
        found += [line for line in lines if line not in found]
    return found


def _against_signature(step: Mapping[str, Any], reference: Mapping[str, Any]) -> Iterator[Localised]:
    """Yield a line for each value that its `Literal` does not allow, and for each number in place of a tensor."""
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
    """Return the values of a `Literal[...]` annotation, none for another one."""
    try:
        tree = ast.parse(annotation, mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(tree, ast.Subscript) or not isinstance(tree.value, ast.Name) or tree.value.id != "Literal":
        return ()
    parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
    return [part.value for part in parts if isinstance(part, ast.Constant)]


def _against_axes(case: Case, step: Mapping[str, Any], facts: Facts, demands: Demands) -> Iterator[Localised]:
    """Yield a line for each tensor whose shape contradicts the axes of the challenge."""
    seen: dict[str, Seen] = {}
    for name, tree in named_arguments(demands.reference, step):
        declared = facts.axes.get(f"{step.get('name', '')}.{name}", facts.axes.get(name))
        if tree[0] != "t" or declared is None:
            continue
        shape = case.inputs[tree[1]].value.shape
        axes = declared.split()
        free = len(shape) - len(axes) + axes.count("...")
        if (free < 0 and axes[:1] != ["..."]) or (free and "..." not in axes):
            yield say("typed-other-rank", argument=name, got=len(shape), axes=", ".join(axes))
            continue
        for axis, size in zip(demands.axes(str(step.get("name", "")), name, len(shape)), shape, strict=False):
            yield from _against_axis(axis, size, name, facts, seen)


def _against_axis(axis: str, size: int, argument: str, facts: Facts, seen: dict[str, Seen]) -> Iterator[Localised]:
    """Yield a line if the size of an axis contradicts another one. A size of 1 fits any: it broadcasts."""
    if not axis or size == 1:
        return
    before = seen.setdefault(axis, Seen(size, argument))
    if before.size != size:
        yield say("typed-other-size", axis=axis, got=size, argument=argument, due=before.size, other=before.argument)
    elif before.argument == argument and not _follows(axis, size, facts, seen):
        yield say("typed-unfit-size", axis=axis, got=size, argument=argument, says=facts.derived[axis])


def _follows(axis: str, size: int, facts: Facts, seen: Mapping[str, Seen]) -> bool:
    """Tell whether the axis can have this size where it is a product of others, of which one may be unknown.

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
