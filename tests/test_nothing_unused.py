"""What stands at the top of a module is used by the product: what tests alone call is not what learners run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attncli"


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """The functions, classes and constants of a module; what its decorators register as a command is left out."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not any("click" in ast.unparse(d) or ".command" in ast.unparse(d) for d in node.decorator_list):
                yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


def loads(tree: ast.AST) -> Counter[str]:
    return Counter(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def taken_from_modules(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(module, name) of all that this module takes from others: imported by name, or asked of an imported module."""
    package = dotted(path).split(".") if path.name == "__init__.py" else dotted(path).split(".")[:-1]
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield module, alias.name
                modules[alias.asname or alias.name] = f"{module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def unused(trees: dict[Path, ast.Module], others: dict[Path, ast.Module]) -> list[str]:
    taken = {used for path, tree in {**trees, **others}.items() for used in taken_from_modules(path, tree)}
    found = []
    for path, tree in trees.items():
        inside = loads(tree)
        for name, node in definitions(tree):
            is_called = inside[name] > loads(node)[name] or (dotted(path), name) in taken
            if not is_called and not name.startswith("__") and name != "main":
                found.append(f"{path.relative_to(ROOT)}: {name}")
    return found


def parsed(paths: Iterable[Path]) -> dict[Path, ast.Module]:
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    return {path: ast.parse(text) for path, text in texts if "attncli" in text or path.is_relative_to(PACKAGE)}


def test_nothing_is_there_for_tests_alone() -> None:
    assert unused(parsed(PACKAGE.rglob("*.py")), parsed((ROOT / "impl").rglob("*.py"))) == []


def test_what_is_unused_is_found() -> None:
    code = "def used(): ...\ndef unused(): unused()\nclass Kept: ...\nLIMIT = 3\nused()\n"
    taking = "from attncli.one import Kept\n"
    one, two = PACKAGE / "one.py", PACKAGE / "two.py"
    assert unused({one: ast.parse(code), two: ast.parse(taking)}, {}) == [
        "attncli/one.py: unused",
        "attncli/one.py: LIMIT",
    ]
