"""The English of every error that the program raises, read from its source; what is not written there is a `‹name›`."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import attncli
from attncli import errors

PACKAGE = Path(attncli.__file__).parent
KINDS = {
    *(name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.AttnError)),
    "_Unfit",
} - {"NoCardMatches", "EditorMissing"}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEEPEST = 4
_TOLD = re.compile("‹[^›]*›")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Worded:
    """One way in which an error is worded at `place`."""

    place: str
    message: str


@cache
def worded_errors() -> tuple[Worded, ...]:
    """Every wording of every error."""
    return tuple(_worded(dict.fromkeys(KINDS, 0)))


def _worded(kinds: Mapping[str, int]) -> Iterator[Worded]:
    for module in modules():
        for node in ast.walk(module.tree):
            argument = kinds.get(_called(node)) if isinstance(node, ast.Call) else None
            if argument is None or module.path.name == "errors.py" or len(node.args) <= argument:
                continue
            for message in _Scope(module, module.around(node)).forms(node.args[argument]):
                place = f"{module.path.relative_to(PACKAGE)}:{node.lineno}"
                yield Worded(place, " ".join(message.split()))


@dataclass(frozen=True)
class _Module:
    path: Path
    tree: ast.Module
    functions: dict[int, tuple[Function, ...]]
    """The functions around each node, the innermost first."""

    def around(self, node: ast.AST) -> tuple[Function, ...]:
        return self.functions.get(id(node), ())


@cache
def modules() -> list[_Module]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        around: dict[int, tuple[Function, ...]] = {}
        for function in ast.walk(tree):
            if isinstance(function, FUNCTIONS):
                for node in ast.walk(function):
                    around[id(node)] = (function, *around.get(id(node), ()))
        found.append(_Module(path, tree, around))
    return found


@cache
def _calls() -> dict[str, list[tuple[_Module, ast.Call]]]:
    """Every call in the program, by the name of what is called."""
    found: dict[str, list[tuple[_Module, ast.Call]]] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                found.setdefault(_called(node), []).append((module, node))
    return found


@cache
def _how_many_bear() -> Counter[str]:
    """How many functions bear each name."""
    nodes = [node for module in modules() for node in ast.walk(module.tree)]
    return Counter(node.name for node in nodes if isinstance(node, FUNCTIONS))


@dataclass(frozen=True)
class _Scope:
    """Where an expression stands: what its names mean."""

    module: _Module
    functions: tuple[Function, ...]
    depth: int = 0

    def forms(self, node: ast.expr) -> list[str]:
        """The texts that an expression may be."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values)
        if isinstance(node, ast.FormattedValue):
            return self.forms(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([node.left, node.right])
        if isinstance(node, ast.IfExp):
            return [*self.forms(node.body), *self.forms(node.orelse)]
        if isinstance(node, ast.BoolOp):
            return [form for value in node.values for form in self.forms(value)]
        found = self._meant(node) if self.depth < DEEPEST else []
        written = dict.fromkeys(form for form in found if re.search("[A-Za-z]{2}", _TOLD.sub("", form)))
        return [*written, *([] if written and len(written) == len(found) else [f"‹{_name(node)}›"])]

    def _joined(self, parts: Sequence[ast.expr]) -> list[str]:
        return ["".join(pieces) for pieces in product(*(self.forms(part) for part in parts))]

    def _meant(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Name):
            for function in self.functions:
                inside = _Scope(self.module, self.functions, self.depth + 1)
                found = [form for value in _assigned(ast.walk(function), node.id) for form in inside.forms(value)]
                if found or (found := self._handed_over(function, node.id)):
                    return found
            return self._global(node.id)
        return self._returned(_called(node)) if isinstance(node, ast.Call) else []

    def _handed_over(self, function: Function, name: str) -> list[str]:
        """What the program's calls give to a parameter, and its default; for functions whose name is theirs alone."""
        if _how_many_bear()[function.name] > 1:
            return []
        arguments = [*function.args.posonlyargs, *function.args.args]
        names = [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]
        if name not in names:
            return []
        place, defaults = names.index(name), dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
        found = _Scope(self.module, (), self.depth + 1).forms(defaults[name]) if name in defaults else []
        for module, call in _calls().get(function.name, []):
            given = [keyword.value for keyword in call.keywords if keyword.arg == name] or call.args[place : place + 1]
            scope = _Scope(module, module.around(call), self.depth + 1)
            found += [form for value in given for form in scope.forms(value)]
        return found

    def _global(self, name: str) -> list[str]:
        for statement in self.module.tree.body:
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("attncli"):
                for alias in statement.names:
                    value = getattr(import_module(str(statement.module)), alias.name, None)
                    if (alias.asname or alias.name) == name and isinstance(value, str):
                        return [value]
        top = _Scope(self.module, (), self.depth + 1)
        return [form for value in _assigned(self.module.tree.body, name) for form in top.forms(value)]

    def _returned(self, name: str) -> list[str]:
        found = []
        for function in ast.walk(self.module.tree):
            if isinstance(function, FUNCTIONS) and function.name == name:
                inside = _Scope(self.module, (function,), self.depth + 1)
                values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
                found += [form for value in values for form in inside.forms(value)]
        return found


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _assigned(nodes: Iterable[ast.AST], name: str) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found += _values(target, node.value, name)
        elif isinstance(node, ast.NamedExpr) and node.target.id == name:
            found.append(node.value)
    return found


def _values(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.IfExp):
        return _values(target, value.body, name) + _values(target, value.orelse, name)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=True)
        return [inner for part, of_it in pairs for inner in _values(part, of_it, name)]
    return [value] if isinstance(target, ast.Name) and target.id == name else []


def _name(node: ast.expr) -> str:
    """The last name in an expression, for a place that is filled at run time."""
    names = [found.id for found in ast.walk(node) if isinstance(found, ast.Name)]
    names += [found.attr for found in ast.walk(node) if isinstance(found, ast.Attribute)]
    return names[-1] if names else "value"
