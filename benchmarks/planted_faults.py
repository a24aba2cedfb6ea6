"""Measure the tests: plant single-token faults in the code, and count those that fail a test.

    python benchmarks/planted_faults.py                       120 faults, drawn with seed 1
    python benchmarks/planted_faults.py --seed 2 --faults 10
    python benchmarks/planted_faults.py --skip 40                 go on after the first 40
    python benchmarks/planted_faults.py --tests ../before     with the tests of another checkout

A fault changes an operator, a number, a boundary or a negation inside a function. The tests of its room that name the
module run first, then those of the room, then others that name it, until one fails. For the judge and the sandbox a
sample of every challenge comes last, for other rooms the commands and the app. A test file that also fails without the
fault catches nothing. A missed fault may have no visible effect: read each one. The work is done in a copy; a fault
takes about a minute, one that is missed ten.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from timing import PYTHON, ROOT

RECORD = """
import sys
sys.path.insert(0, "tests/support")
import verified
folders = [path.parent for path in verified.ROOT.glob("impl/*/*/challenge.yaml")]
verified._write(verified.RECORD, {folder.name: verified.fingerprint(folder) for folder in folders})
"""
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "build", "dist", "tests")
SWAPPED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
PROVED = ("judge", "sandbox")
SURFACES = ("commands", "tui")
LONGEST_SECONDS = 3600
RUN_AS_A_WHOLE = "the run as a whole"


@dataclass(frozen=True, slots=True)
class Fault:
    """A text in a line of a module, and what replaces it; `line` and `column` count from 1 and 0."""

    module: Path
    line: int
    column: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column + 1}: {self.old} → {self.new}"

    def planted(self, source: str) -> str:
        """Return the source with the fault."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1].encode()
        lines[self.line - 1] = (line[: self.column] + self.new.encode() + line[self.column + len(self.old) :]).decode()
        return "".join(lines)


def faults(module: Path, source: str) -> Iterator[Fault]:
    """Yield every fault that can be planted in the functions of a module."""
    lines = source.splitlines()
    bodies = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for node in {node for function in bodies for statement in function.body for node in ast.walk(statement)}:
        for before, after, operator in _operators(node):
            old, new = SWAPPED.get(type(operator), ("", ""))
            line = lines[before.end_lineno - 1].encode() if before.end_lineno else b""
            start, end = before.end_col_offset or 0, after.col_offset
            between = line[start:end].decode()
            if old and before.end_lineno == after.lineno and between.strip(" ()") == old:
                yield Fault(module, after.lineno, start + between.index(old), old, new)
        if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            written = lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()
            if written == str(node.value):
                new = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
                yield Fault(module, node.lineno, node.col_offset, written, new)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Fault(module, node.lineno, node.col_offset, "not ", "")


def _operators(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, ast.AST]]:
    if isinstance(node, ast.Compare):
        yield from zip([node.left, *node.comparators], node.comparators, node.ops, strict=False)
    elif isinstance(node, ast.BoolOp):
        yield from ((before, after, node.op) for before, after in zip(node.values, node.values[1:], strict=False))
    elif isinstance(node, ast.BinOp):
        yield node.left, node.right, node.op


def drawn(seed: int, count: int) -> list[Fault]:
    """Draw faults over all rooms."""
    modules = sorted(path.relative_to(ROOT) for path in (ROOT / "attncli").rglob("*.py"))
    every = [fault for path in modules for fault in faults(path, (ROOT / path).read_text(encoding="utf-8"))]
    every.sort(key=lambda fault: (fault.module, fault.line, fault.column))
    return Random(seed).sample(every, count)


def tests_of(module: Path, tests: Path) -> list[Path]:
    """Return the test files of a module, in the order in which they run."""
    name = ".".join(module.with_suffix("").parts)
    room = tests / module.parts[1]
    ours = sorted(room.rglob("test_*.py")) if room.is_dir() else []
    naming = [path for path in sorted(tests.rglob("test_*.py")) if name in path.read_text(encoding="utf-8")]
    above = [path for surface in SURFACES for path in sorted((tests / surface).rglob("test_*.py"))]
    last = [tests / "test_challenges.py"] if module.parts[1] in PROVED else above
    return list(dict.fromkeys([*(path for path in ours if path in naming), *ours, *naming, *last]))


def is_caught(fault: Fault, copy: Path) -> bool:
    """Plant the fault in the copy, run its tests until one fails, take it out again, and run that test file anew."""
    path = copy / fault.module
    source = path.read_text(encoding="utf-8")
    path.write_text(fault.planted(source), encoding="utf-8")
    try:
        if fault.module.parts[1] in PROVED:  # grade a sample of each challenge, as if the others had been graded
            subprocess.run([PYTHON, "-c", RECORD], cwd=copy, env=_environment(copy), check=True)
        failed = first_failure(tests_of(fault.module, copy / "tests"), copy)
    finally:
        path.write_text(source, encoding="utf-8")
    return bool(failed) and (failed == RUN_AS_A_WHOLE or not first_failure([copy / failed], copy))


def first_failure(tests: Sequence[Path], copy: Path) -> str:
    """Run test files of the copy until a test fails; return the file of that test, or an empty text."""
    names = [str(test.relative_to(copy)) for test in tests]
    command = [PYTHON, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=300", *names]
    options: Any = {"cwd": copy, "env": _environment(copy), "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, **options, timeout=LONGEST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return RUN_AS_A_WHOLE
    failed = re.search(r"^(?:FAILED|ERROR) ([^:\s]+)", done.stdout, re.MULTILINE)
    return "" if done.returncode == 0 else failed[1] if failed else RUN_AS_A_WHOLE


def _environment(copy: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=120)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first faults, of an earlier run")
    parser.add_argument("--tests", type=Path, default=ROOT, help="the checkout whose tests to run")
    asked = parser.parse_args()
    caught = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "attn"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        shutil.copytree(asked.tests / "tests", copy / "tests")
        for fault in drawn(asked.seed, asked.faults)[asked.skip :]:
            found = is_caught(fault, copy)
            caught += found
            print("caught " if found else "MISSED ", fault, flush=True)
    print(f"{caught} of {asked.faults - asked.skip} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
