"""What stands at the top of a module is used by the product: what tests alone call is not what learners run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attncli"
ENTRIES = {"main", "__version__", "__all__"}
"""What is called, or read, from outside the code."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def stored(node: ast.AST) -> Iterator[str]:
    """The names that are bound inside, but for those of functions and classes inside of it."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif not isinstance(node, ast.Lambda | Comprehension):
        for child in ast.iter_child_nodes(node):
            yield from stored(child)


def loaded(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of the module that are asked for inside: a local name of a function hides one of the module."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in hidden:
            yield node.id
        return
    if isinstance(node, Function):
        given = node.args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, [given.vararg, given.kwarg])]
        body = node.body if isinstance(node.body, list) else [node.body]
        for child in ast.iter_child_nodes(node):
            if child not in body:
                yield from loaded(child, hidden)
        hidden = hidden.union((argument.arg for argument in arguments), (n for part in body for n in stored(part)))
        for part in body:
            yield from loaded(part, hidden)
        return
    if isinstance(node, Comprehension):
        hidden = hidden.union(name for part in node.generators for name in stored(part.target))
    for child in ast.iter_child_nodes(node):
        yield from loaded(child, hidden)


def bound(statement: ast.stmt) -> set[str]:
    """The functions, classes and constants that a statement makes; a command is used by whoever types it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        registers = any("command" in ast.unparse(d) or "group" in ast.unparse(d) for d in statement.decorator_list)
        return set() if registers else {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return {name for target in targets for name in stored(target)}


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a module; what stands under an `if` or `try` is one as well."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            handlers = [inner for handler in getattr(statement, "handlers", ()) for inner in handler.body]
            yield from statements([*statement.body, *statement.orelse, *handlers])


def used_inside(tree: ast.Module, taken: set[str]) -> set[str]:
    """What of the module is reached from what others take of it, and from what runs when it is imported."""
    made: dict[str, set[str]] = {}
    reached = [*taken, *ENTRIES]
    for statement in statements(tree.body):
        if names := bound(statement):
            for name in names:
                made.setdefault(name, set()).update(loaded(statement))
        elif not isinstance(statement, ast.If | ast.Try):
            reached += loaded(statement)
        else:
            reached += loaded(statement.test) if isinstance(statement, ast.If) else ()
    found: set[str] = set()
    while reached:
        if (name := reached.pop()) not in found:
            found.add(name)
            reached += made.get(name, ())
    return found


def taken_from_modules(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(module, name) of all that this module takes from others: imported by name, or asked of an imported module."""
    package = dotted(path).split(".") if path.name == "__init__.py" else dotted(path).split(".")[:-1]
    modules: dict[str, str] = {}
    asked: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield module, alias.name
                modules[alias.asname or alias.name] = f"{module}.{alias.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            asked.append((node.value.id, node.attr))
    yield from ((modules[name], attribute) for name, attribute in asked if name in modules)


def unused(trees: dict[Path, ast.Module], others: dict[Path, ast.Module]) -> list[str]:
    taken: dict[str, set[str]] = {}
    for path, tree in {**trees, **others}.items():
        for module, name in taken_from_modules(path, tree):
            taken.setdefault(module, set()).add(name)
    return [
        f"{path.relative_to(ROOT)}: {name}"
        for path, tree in trees.items()
        for used in [used_inside(tree, taken.get(dotted(path), set()))]
        for statement in statements(tree.body)
        for name in sorted(bound(statement) - used)
    ]


def parsed(paths: Iterable[Path]) -> dict[Path, ast.Module]:
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    return {path: ast.parse(text) for path, text in texts if "attncli" in text or path.is_relative_to(PACKAGE)}


def test_nothing_is_there_for_tests_alone() -> None:
    assert unused(parsed(PACKAGE.rglob("*.py")), parsed((ROOT / "impl").rglob("*.py"))) == []


HIDDEN = """
import sys
A, B = 1, 2
def lines(): ...
def longest():
    lines = [A]
    return lines
def first(): second()
def second(): first()
if sys.platform == "linux":
    def here(): ...
class Kept: ...
def main(): longest()
"""


def test_what_is_unused_is_found() -> None:
    one, two = PACKAGE / "one.py", PACKAGE / "two.py"
    found = unused({one: ast.parse(HIDDEN), two: ast.parse("from attncli.one import Kept\n")}, {})
    assert [line.removeprefix("attncli/one.py: ") for line in found] == ["B", "lines", "first", "second", "here"]
