"""Signatures: those that the files of a challenge define, and those that its statement shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent

_CLASS = re.compile(r"class\s+(\w+)")
_COMMENT = re.compile(r"\s*#.*")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function or a method (`Class.method`) takes and returns; `line` is where it is written."""

    name: str
    line: int
    arguments: ast.arguments
    returns: ast.expr | None

    @property
    def written(self) -> str:
        """With annotations, defaults and the result."""
        returns = f" -> {ast.unparse(self.returns)}" if self.returns is not None else ""
        return f"({ast.unparse(self.arguments)}){returns}"

    @property
    def parameters(self) -> str:
        """Names and defaults alone; a default that has a name may have any name."""
        bare = ast.parse(f"def f({ast.unparse(self.arguments)}): ...").body[0]
        assert isinstance(bare, ast.FunctionDef)
        for argument in ast.walk(bare.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        defaults = (bare.args.defaults, bare.args.kw_defaults)
        for given in defaults:
            given[:] = [ast.Name("…") if isinstance(default, ast.Name) else default for default in given]  # type: ignore[misc]
        return f"({ast.unparse(bare.args)})"


def defined_in(tree: ast.Module, entry: Collection[str]) -> dict[str, Signature]:
    """Every entry function, and the constructor and public methods of every entry class, whose own name is there too.

    A class without a constructor of its own takes nothing.
    """
    found: dict[str, Signature] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in entry:
            found[node.name] = _signature(node.name, node)
        elif isinstance(node, ast.ClassDef) and node.name in entry:
            found |= {signature.name: signature for signature in _methods(node)}
    return found


def called(signatures: Mapping[str, Signature], inputs: str) -> dict[str, Signature]:
    """Those that are called on every submission: functions, constructors, and methods that `inputs.py` names."""
    return {name: signature for name, signature in signatures.items() if _is_called(name, inputs)}


def _is_called(name: str, inputs: str) -> bool:
    method = name.partition(".")[2]
    return method in ("", "__init__") or f'"{method}"' in inputs


def _methods(node: ast.ClassDef) -> Iterator[Signature]:
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and (member.name == "__init__" or not member.name.startswith("_")):
            yield _signature(f"{node.name}.{member.name}", member)


def _signature(name: str, node: ast.FunctionDef, line: int = 0) -> Signature:
    return Signature(name, line or node.lineno, node.args, node.returns)


@dataclass(frozen=True, slots=True)
class UnreadableSignature:
    """A line of a statement that begins like a signature and is none."""

    line: int
    text: str


def shown_in(statement: str) -> Iterator[Signature | UnreadableSignature]:
    """The signatures in the Python blocks of a statement; `line` counts its lines from 1."""
    owner, owner_indent = "", -1
    lines = list(_block_lines(statement))
    while lines:
        number, line = lines.pop(0)
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= owner_indent:
            owner, owner_indent = "", -1
        if begun := _CLASS.match(line.strip()):
            owner, owner_indent = begun[1], indent
        elif line.strip().startswith("def "):
            while _is_open(line) and lines:
                line += "\n" + lines.pop(0)[1]
            yield _read(line, owner, number)


def _block_lines(statement: str) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in enumerate(statement.splitlines(), 1):
        if line.strip().startswith("```"):
            inside = line.strip() == "```python"
        elif inside:
            yield number, _COMMENT.sub("", line)


def _is_open(header: str) -> bool:
    return sum(map(header.count, "([{")) > sum(map(header.count, ")]}"))


def _read(header: str, owner: str, line: int) -> Signature | UnreadableSignature:
    whole = dedent(header).rstrip().removesuffix("...").rstrip().removesuffix(":")
    try:
        node = ast.parse(f"{whole}: ...").body[0]
    except SyntaxError:
        return UnreadableSignature(line, header.strip())
    assert isinstance(node, ast.FunctionDef)
    return _signature(f"{owner}.{node.name}" if owner else node.name, node, line)
