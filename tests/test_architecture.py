"""Limit file sizes, clocks, network use, imports and docstrings; pyproject.toml has the allowed imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from attncli.domain.challenge import IMPORTS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attncli"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_data" not in path.parts)
MOST_LINES = 700
LONGEST_FUNCTION = 70
NETWORK = {"http", "urllib.request", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc"}
# What answers on loopback, and asks nobody.
LISTENS = {"servers/browser.py": {"aiohttp.web", "aiohttp.http_exceptions.HttpProcessingError"}}
CLOCKS = {"now", "utcnow", "today"}
READ_THE_CLOCK = {"commands", "cli.py", "tui/app.py"}


def named(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a tree imports, and the names that it imports from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_nothing_talks_to_the_network() -> None:
    for path in MODULES:
        used = {name for name in imported(tree_of(path)) if any(name == n or name.startswith(n + ".") for n in NETWORK)}
        assert used <= LISTENS.get(named(path), set()), named(path)


def test_files_and_functions_stay_small_enough_to_read() -> None:
    for path in MODULES:
        assert path.read_text(encoding="utf-8").count("\n") <= MOST_LINES, named(path)
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or 0) - node.lineno + 1
                assert lines <= LONGEST_FUNCTION, f"{named(path)}:{node.lineno} {node.name}"


def test_the_clock_is_read_at_the_edge_alone() -> None:
    for path in MODULES:
        if READ_THE_CLOCK & {named(path), path.relative_to(PACKAGE).parts[0]}:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
                owner = ast.unparse(node.func.value)
                assert owner not in ("datetime", "date", "datetime.datetime"), f"{named(path)}:{node.lineno}"


def test_a_challenge_file_stands_alone() -> None:
    for path in [*(ROOT / "impl").glob("*/*/*.py"), *(ROOT / "impl").glob("*/*/*/*.py")]:
        more = {"inputs.py": {"hypothesis"}, "tests.py": {"hypothesis", "pytest"}}
        allowed = {*IMPORTS, "__future__"} | more.get(path.name, set())
        writes_kernels = path.parent.name in ("right", "wrong") and "kernel: true" in (
            path.parents[1] / "challenge.yaml"
        ).read_text(encoding="utf-8")
        allowed |= {"triton"} if path.name == "kernel.py" or writes_kernels else set()
        text = path.read_text(encoding="utf-8")
        # Parsing 2,000 files takes long, and what a line imports is told by the line.
        if not all(packages_in(line) <= allowed for line in text.splitlines() if "import" in line):
            assert {name.split(".")[0] for name in imported(ast.parse(text))} <= allowed, path


@cache
def packages_in(line: str) -> set[str]:
    """Return the packages that a line imports, or "?" where it is not a statement."""
    try:
        return {name.split(".")[0] for name in imported(ast.parse(line.strip()))}
    except SyntaxError:
        return {"?"}


COMMANDS = sorted((PACKAGE / "commands").glob("[a-z]*.py"))


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("cli", {"torch", "textual", "rich", "yaml", "pydantic", "fsrs", "hypothesis", "sqlite3"}),
        ("practice.review", {"torch", "textual", "yaml", "pydantic", "hypothesis"}),
        ("judge.client sandbox.zygote_client", {"torch", "hypothesis"}),
        ("experiments.runner experiments.plots ladder", {"torch", "rich", "yaml", "sqlite3"}),
        ("tui.app", {"torch", "hypothesis", "yaml", "pydantic"}),
        (
            "memory.optimizer anki.exporter anki.package export.render cohort.ray_judges",
            {"fsrs_rs_python", "genanki", "zstandard", "weasyprint", "ziafont", "ziamath", "ray"},
        ),
        ("servers.mcp", {"aiohttp", "mcp", "anyio", "jsonschema", "textual"}),
        (" ".join(f"commands.{path.stem}" for path in COMMANDS), {"torch", "textual", "rich", "aiohttp"}),
    ],
)
def test_importing_a_room_does_not_load_what_it_must_not(modules: str, absent: set[str]) -> None:
    leaked = loaded_by(f"import {', '.join(f'attncli.{name}' for name in modules.split())}") & absent
    assert not leaked, f"{modules} load {leaked}"


QUESTION_WORDS = {"What", "Where", "Whether", "Who", "Which", "Whatever", "Whoever", "Whose", "Why", "When", "How"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_no_docstring_begins_with_a_question_word() -> None:
    found = [
        f"{named(path)}:{getattr(node, 'lineno', 1)}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, DOCUMENTED) and (ast.get_docstring(node) or "").split(" ")[0].rstrip(",:") in QUESTION_WORDS
    ]
    assert found == []
