"""The judge's own reading of a submission: does it parse, does it define what was asked for, what does it name.

This stops mistakes and shortcuts with a line number; it is no security layer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache

from attncli.domain.allowed_imports import (
    AROUND_KERNELS,
    FORBIDDEN_EVERYWHERE,
    IMPORTS,
    KERNEL_IMPORTS,
    KERNEL_NAMES,
)
from attncli.domain.text import Localised
from attncli.judge.sentences import say
from attncli.sandbox.tracing import LAUNCH

ALLOWED_IMPORTS = frozenset({*IMPORTS, "__future__"})
# A trace lists them like calls.
_SIXTEEN_BITS = ("torch.float16", "torch.bfloat16")
# Whose names are judged.
_JUDGED = ("torch", "triton")
UNIVERSAL = tuple(name for names in FORBIDDEN_EVERYWHERE.values() for name in names)
REFUSED_NAMES = frozenset("eval exec compile open input breakpoint globals __import__ __builtins__".split())
# Modules that others hold, as `dataclasses.sys`: what cannot be imported is not to be had through them either.
REFUSED_MODULES = frozenset(
    "sys _sys os _os gc builtins _builtins inspect ctypes importlib threading _thread subprocess socket".split()
)
REFUSED_ATTRIBUTES = REFUSED_MODULES | frozenset(
    "__globals__ __code__ __closure__ __subclasses__ __bases__ __mro__ __builtins__ __loader__ __spec__ gi_frame "
    "f_back f_globals f_locals f_builtins tb_frame".split()
)


@dataclass(frozen=True, slots=True)
class Named:
    """A forbidden thing that the source names, with its line."""

    line: int
    name: str
    message: Localised


@dataclass(slots=True)
class SourceReading:
    """What a source says: `syntax` is the parser's complaint, None where there is none."""

    syntax: Localised | None = None
    functions: dict[str, ast.arguments] = field(default_factory=dict)
    classes: dict[str, dict[str, ast.arguments]] = field(default_factory=dict)
    forbidden: list[Named] = field(default_factory=list)


@lru_cache(maxsize=4)
def read_source(source: bytes, forbidden: tuple[str, ...] = (), kernel: bool = False) -> SourceReading:
    """Reads a submission without running it, once while it is graded on many streams. Never raises for any bytes.

    Where a `kernel` is asked for it may use Triton.
    """
    reading = SourceReading()
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        reading.syntax = say("at-line", line=error.lineno or 1, error=error.msg)
        return reading
    except (ValueError, RecursionError, MemoryError) as error:
        reading.syntax = say("not-parsed", error=f"{type(error).__name__}: {error}")
        return reading
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            reading.functions[node.name] = node.args
        elif isinstance(node, ast.ClassDef):
            methods = {f.name: f.args for f in node.body if isinstance(f, ast.FunctionDef)}
            reading.classes[node.name] = methods
    try:
        reading.forbidden = list(_Scan(tree, forbidden, kernel).find())
    except RecursionError:
        reading.syntax = say("nests-too-deeply")
    return reading


def normal(name: str) -> str:
    """`log_softmax`, `LogSoftmax` and `log_softmax_` are one name."""
    return name.rstrip("_").replace("_", "").lower()


class Forbidden:
    """The list a challenge forbids: last names match in every spelling, dotted ones by their full path."""

    def __init__(self, names: Sequence[str]) -> None:
        everything = [*UNIVERSAL, *names]
        self._dotted = [name for name in everything if "." in name]
        self._last = {normal(name) for name in everything if "." not in name}

    def names(self, dotted: str) -> bool:
        last = dotted.rsplit(".", 1)[-1]
        return normal(last) in self._last or any(fnmatchcase(dotted, p) or dotted == p for p in self._dotted)


class _Scan:
    def __init__(self, tree: ast.Module, forbidden: Sequence[str], kernel: bool = False) -> None:
        self._tree = tree
        self._allowed = ALLOWED_IMPORTS | set(KERNEL_IMPORTS if kernel else ())
        self._forbidden = Forbidden(forbidden)
        self._aliases: dict[str, str] = {}
        self._own = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        self._own_methods = {
            f.name
            for n in ast.walk(tree)
            if isinstance(n, ast.ClassDef)
            for f in n.body
            if isinstance(f, ast.FunctionDef)
        }

    def find(self) -> Iterator[Named]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                yield from self._import(node)
            elif isinstance(node, ast.ImportFrom):
                yield from self._import_from(node)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute):
                yield from self._attribute(node)
        for name in _free_names(self._tree, frozenset()):
            yield from self._name(name)

    def _import(self, node: ast.Import) -> Iterator[Named]:
        for alias in node.names:
            yield from self._module(node.lineno, alias.name)
            root = alias.name.split(".")[0]
            self._aliases[alias.asname or root] = alias.name if alias.asname else root

    def _import_from(self, node: ast.ImportFrom) -> Iterator[Named]:
        module = node.module or "."
        yield from self._module(node.lineno, module)
        for alias in node.names:
            dotted = f"{module}.{alias.name}"
            self._aliases[alias.asname or alias.name] = dotted
            if alias.name in REFUSED_MODULES:
                yield Named(node.lineno, alias.name, say("out-of-bounds", line=node.lineno, name=dotted))
            if module.split(".")[0] in _JUDGED:
                yield from self._judge(node.lineno, dotted)

    def _module(self, line: int, module: str) -> Iterator[Named]:
        root = module.split(".")[0]
        if root not in self._allowed or (root == "triton" and module not in self._allowed):
            allowed = ", ".join(sorted(self._allowed - {"__future__"}))
            yield Named(line, module, say("import-not-allowed", line=line, module=module, allowed=allowed))
        elif root == "torch":
            yield from self._judge(line, module)

    def _attribute(self, node: ast.Attribute) -> Iterator[Named]:
        if node.attr in REFUSED_ATTRIBUTES:
            yield Named(node.lineno, node.attr, say("out-of-bounds", line=node.lineno, name=node.attr))
            return
        dotted = self._dotted(node)
        if dotted is not None and dotted.split(".")[0] in _JUDGED:
            yield from self._judge(node.lineno, dotted)
        elif dotted is None or dotted.split(".")[0] not in {"self", "cls", *self._own, *self._aliases}:
            if not isinstance(node.ctx, ast.Load) or node.attr in self._own_methods:
                return  # a method of the file's own; if it is torch's after all, the trace of the calls tells
            yield from self._judge(node.lineno, f"torch.Tensor.{node.attr}")

    def _name(self, node: ast.Name) -> Iterator[Named]:
        if node.id in REFUSED_NAMES and node.id not in self._own:
            yield Named(node.lineno, node.id, say("out-of-bounds", line=node.lineno, name=node.id))

    def _dotted(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._aliases.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return None if base is None else f"{base}.{node.attr}"
        return None

    def _judge(self, line: int, dotted: str) -> Iterator[Named]:
        root, _, rest = dotted.partition(".")
        if root == "triton" and rest.partition(".")[0] not in KERNEL_NAMES:
            yield Named(line, dotted, say("out-of-bounds", line=line, name=dotted))
        elif self._forbidden.names(dotted):
            yield Named(line, dotted, forbidden_message(line, dotted))


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _free_names(node: ast.AST, bound: frozenset[str]) -> Iterator[ast.Name]:
    """The names in `node` that are not bound by a function around them: `input` may well be a parameter."""
    inside = set(_body(node)) if isinstance(node, _SCOPES) else set()
    within = bound | _bound_by(node) if isinstance(node, _SCOPES) else bound
    for child in ast.iter_child_nodes(node):
        seen = within if child in inside else bound
        if isinstance(child, ast.Name) and child.id not in seen:
            yield child
        yield from _free_names(child, seen)


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    """What runs inside; defaults and decorators run outside."""
    return list(function.body) if isinstance(function.body, list) else [function.body]


def _bound_by(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Parameters and names assigned in the body: reading one of these never reaches a builtin."""
    arguments = function.args
    names = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    outside: set[str] = set()
    for node in _same_scope(_body(function)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outside.update(node.names)
    return frozenset(names - outside)


def _same_scope(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        if not isinstance(node, (*_SCOPES, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            yield from _same_scope(list(ast.iter_child_nodes(node)))


def forbidden_message(line: int, dotted: str) -> Localised:
    shown = dotted.replace("torch.nn.functional.", "F.").replace("torch.Tensor.", "Tensor.")
    return say("forbidden-call", line=line, name=shown)


def outside_kernels(seen: Sequence[tuple[str, int]]) -> Localised | None:
    """What of the calls seen belongs into a kernel, or that no kernel was launched; None where all is well."""
    for called, line in seen:
        if line and called.rsplit(".", 1)[-1] not in AROUND_KERNELS and called not in _SIXTEEN_BITS:
            return say("belongs-in-a-kernel", line=line, name=called)
    return None if any(called == LAUNCH for called, _ in seen) else say("no-kernel-launched")


def entry_problem(entry: Sequence[str], mine: SourceReading, due: SourceReading) -> Localised | None:
    """Why calls made for the reference's entry points would not fit these; None when they fit."""
    for name in entry:
        problem = None
        if name in due.functions and name in mine.functions:
            problem = signature_problem(name, mine.functions[name], due.functions[name])
        elif name in due.classes and name in mine.classes:
            problem = _methods_problem(name, mine.classes[name], due.classes[name])
        if problem is not None:
            return problem
    return None


def _methods_problem(
    name: str, mine: Mapping[str, ast.arguments], due: Mapping[str, ast.arguments]
) -> Localised | None:
    for method, arguments in due.items():
        if method in mine and (method == "__init__" or not method.startswith("_")):
            problem = signature_problem(f"{name}.{method}", mine[method], arguments, method=True)
            if problem is not None:
                return problem
    return None


def signature_problem(name: str, mine: ast.arguments, due: ast.arguments, method: bool = False) -> Localised | None:
    """Why calls made for the signature `due` would not fit `mine`; None when they fit.

    Required parameters are passed by position, so their names are free; parameters with defaults are also passed by
    name. Extra parameters need defaults.
    """
    wanted, offered = _positional(due, method), _positional(mine, method)
    asked = f"{name}({', '.join(wanted)})"
    required_due = len(wanted) - len(due.defaults)
    if mine.vararg is None and len(offered) < len(wanted):
        return say("too-few-parameters", name=name, count=len(offered), asked=asked)
    for k in range(required_due, len(wanted)):
        if k < len(offered) and offered[k] != wanted[k] and mine.kwarg is None:
            parts = {"number": k + 1, "name": name, "got": offered[k], "asked": asked, "due": wanted[k]}
            return say("other-parameter-name", **parts)
    required = len(offered) - len(mine.defaults)
    if required > required_due:
        return say("more-required-parameters", name=name, asked=asked)
    names = {*offered, *(a.arg for a in mine.kwonlyargs)}
    needs = [a.arg for a, d in zip(mine.kwonlyargs, mine.kw_defaults, strict=True) if d is None]
    missing = [a.arg for a in due.kwonlyargs if a.arg not in names] if mine.kwarg is None else []
    extra = [n for n in needs if n not in {a.arg for a in due.kwonlyargs}]
    if missing or extra:
        return say("other-keywords", name=name, asked=asked)
    return None


def _positional(arguments: ast.arguments, method: bool) -> list[str]:
    names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    return names[1:] if method else names
