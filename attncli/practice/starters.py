"""Starter files: a reference's signatures without its bodies, and wrong solutions without what gives them away."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from pathlib import Path

from attncli.errors import EnvironmentFailure
from attncli.practice.starter_docstring import docstring

_Definition = ast.FunctionDef | ast.ClassDef


def starter(reference: Path, entry: Sequence[str], statement: str, needs: Sequence[str] = ()) -> str:
    """A file that defines the names of `entry` as `reference` does, bodies left to write; `statement` heads it.

    `needs` are import lines that a solution begins with and the reference does without.
    """
    source = _source(reference)
    tree = _parsed(source, reference)
    wanted = [node for node in tree.body if isinstance(node, _Definition) and node.name in entry]
    hollow = [_hollow(node, source) for node in wanted]
    needed = _needed_by(tree.body, map(ast.parse, hollow), {node.name for node in wanted})
    imports = [ast.unparse(node) for node in needed if _is_import(node)]
    if "import torch" not in imports:
        imports.append("import torch")
    imports.sort(key=lambda line: ("torch" in line, line))
    imports += needs
    constants = [ast.unparse(node) for node in needed if not _is_import(node)]
    head = f"{docstring(statement)}\n\n" + "\n".join(imports)
    return "\n\n\n".join([head, *constants, *hollow]) + "\n"


def disguised(wrong: Path, symptom: str) -> str:
    """A wrong solution without docstrings and comments, headed by its `symptom`."""
    tree = _parsed(_source(wrong), wrong)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return f"{docstring(symptom)}\n\n{ast.unparse(ast.fix_missing_locations(tree))}\n"


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailure(
            f"cannot read {path} ({error}); the installation or the challenge is damaged"
        ) from error


def _parsed(source: str, path: Path) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise EnvironmentFailure(
            f"{path} is no Python ({error}); the installation or the challenge is damaged"
        ) from error


def _hollow(node: _Definition, source: str) -> str:
    """The definition as it is written, with nothing but `raise NotImplementedError` in its functions."""
    indent = " " * node.col_offset
    if isinstance(node, ast.FunctionDef):
        return f"{_header(node, source)}\n{indent}    raise NotImplementedError"
    members = [child for child in node.body if isinstance(child, ast.FunctionDef) and _is_public(child.name)]
    body = "\n\n".join(_hollow(member, source) for member in members) or f"{indent}    pass"
    return f"{_header(node, source)}\n{body}"


def _header(node: _Definition, source: str) -> str:
    """The lines up to the body, decorators included."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    last = node.body[0].lineno
    if last == node.body[0].end_lineno == node.lineno:
        return ast.unparse(node).splitlines()[0]
    return "\n".join(source.splitlines()[first - 1 : last - 1])


def _is_public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _needed_by(body: Sequence[ast.stmt], hollow: Iterable[ast.AST], defined: set[str]) -> list[ast.stmt]:
    """The top-level statements that bring in the names which the signatures use, and the names those use in turn."""
    known = defined | set(dir(builtins))
    missing = {name for node in hollow for name in _names(node)} - known
    needed: list[ast.stmt] = []
    while found := next((node for node in body if _binds(node) & missing), None):
        needed.append(found)
        known |= _binds(found)
        if not _is_import(found):
            missing |= _names(found)
        missing -= known
    return sorted(needed, key=body.index)


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _binds(node: ast.stmt) -> set[str]:
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).split(".")[0] for alias in names}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()
