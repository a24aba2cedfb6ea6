"""The layout says what a file may touch; this table holds it to that."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attncli"

# room: (rooms of attncli that it may import, packages outside the standard library that it may import)
RULES: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "domain": ({"errors"}, set()),
    "paths": ({"errors"}, {"platformdirs"}),
    "files": ({"errors"}, set()),
    "config": ({"errors", "files", "paths", "domain"}, {"tomlkit"}),
    "memory": ({"domain", "errors"}, {"fsrs", "fsrs_rs_python"}),
    "bank": ({"domain", "errors", "paths"}, {"yaml", "pydantic", "pydantic_core", "texicode", "latex2mathml"}),
    "store": ({"domain", "errors", "files", "paths"}, set()),
    "sandbox": ({"errors"}, {"torch"}),
    "judge": ({"domain", "errors", "sandbox"}, {"torch", "hypothesis"}),
    "practice": ({"domain", "memory", "bank", "store", "judge", "errors", "files", "config", "paths"}, set()),
    "export": (
        {"domain", "practice", "errors"},
        {"jinja2", "markupsafe", "markdown_it", "mdit_py_plugins", "latex2mathml", "nh3", "genanki"},
    ),
    "tui": (
        {"practice", "export", "domain", "config", "errors", "paths"},
        {"textual", "rich", "plotext", "texicode", "markdown_it", "mdit_py_plugins"},
    ),
    "commands": (
        {
            "domain",
            "errors",
            "files",
            "paths",
            "config",
            "memory",
            "bank",
            "store",
            "sandbox",
            "judge",
            "practice",
            "export",
            "tui",
        },
        {"click", "rich"},
    ),
    "cli": ({"commands", "config", "domain", "errors", "paths", "tui", "practice"}, {"click", "rich"}),
    "__main__": ({"cli", "commands", "errors"}, set()),
    "__init__": (set(), set()),
}
# Inside the judge a room may import those above it alone, so that there is no circle.
JUDGE_ROOMS: dict[str, set[str]] = {
    "__init__": set(),
    "client": set(),
    "check_table": set(),
    "guard": set(),
    "cases": {"check_table"},
    "truth": {"cases", "guard"},
    "answers": {"cases", "truth", "guard"},
    "searching": {"cases", "answers"},
    "asking": {"check_table", "cases", "truth", "answers", "searching", "guard"},
    "naming": {"cases", "truth", "answers", "guard"},
    "telling": {"cases", "truth", "answers", "searching"},
    "grading": {"check_table", "cases", "truth", "answers", "searching", "asking", "naming", "telling", "guard"},
    "server": {"cases", "answers", "asking", "telling", "grading", "guard"},
}
OWNERS = {
    "sqlite3": {"store"},
    "yaml": {"bank"},
    "pydantic": {"bank"},
    "hypothesis": {"judge"},
    "torch": {"judge", "sandbox"},
    "textual": {"tui"},
    "click": {"commands", "cli"},
    "fsrs": {"memory"},
    "nh3": {"export"},
    "numpy": set(),
}
NEVER_AT_THE_TOP = {("commands", "tui"), ("cli", "tui"), ("commands", "rich"), ("memory", "fsrs_rs_python")}
NETWORK = {"http", "urllib.request", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc"}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "_data" not in p.parts)


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """Every import of a file: dotted name, line, and whether it runs when the module is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ["attncli", *path.relative_to(PACKAGE).parts[:-1]]
    inner = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_type_checking(node)
        for child in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        top = id(node) not in inner
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(filter(None, [base, node.module]))
            found += [(f"{name}.{alias.name}", node.lineno, top) for alias in node.names]
    return found


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    assert room in RULES, f"{path} stands in no room of the table"
    inside, outside = RULES[room]
    for name, line, top in imports(path):
        root, *rest = name.split(".")
        where = f"{path.relative_to(ROOT)}:{line} imports {name}"
        if root == "attncli":
            target = rest[0] if rest else "__init__"
            allowed = target == room or target in inside or target in ("__version__", "__init__")
            assert allowed, f"{where}; {room} may import {sorted(inside)}"
            assert not (top and (room, target) in NEVER_AT_THE_TOP), f"{where} at the top of the module"
        elif root not in sys.stdlib_module_names:
            assert root in outside, f"{where}; {room} may import {sorted(outside)}"
            assert not (top and (room, root) in NEVER_AT_THE_TOP), f"{where} at the top of the module"
        assert room in OWNERS.get(root, {room}), f"{where}; only {OWNERS[root]} may"


JUDGE = PACKAGE / "judge"


def imported_rooms(path: Path) -> dict[str, int]:
    """The rooms of the judge that a file of it imports, each with a line where it does."""
    parts = [(name.split("."), line) for name, line, _ in imports(path)]
    return {part[2]: line for part, line in parts if part[:2] == ["attncli", "judge"] and len(part) > 2}


@pytest.mark.parametrize("path", sorted(JUDGE.rglob("*.py")), ids=lambda p: str(p.relative_to(JUDGE)))
def test_a_room_of_the_judge_imports_only_those_above_it(path: Path) -> None:
    room = path.relative_to(JUDGE).parts[0].removesuffix(".py")
    assert room in JUDGE_ROOMS, f"{path} stands in no room of the table"
    for target, line in imported_rooms(path).items():
        allowed = target == room or target in JUDGE_ROOMS[room]
        assert allowed, f"{path.relative_to(ROOT)}:{line}; {room} may import {sorted(JUDGE_ROOMS[room])}"


def test_the_rooms_of_the_judge_make_no_circle_and_nothing_in_their_table_is_unused() -> None:
    before: set[str] = set()
    for room, allowed in JUDGE_ROOMS.items():
        assert allowed <= before, f"{room} may import what stands below it"
        before.add(room)
        files = [JUDGE / f"{room}.py"] if (JUDGE / f"{room}.py").exists() else sorted((JUDGE / room).rglob("*.py"))
        used = {target for path in files for target in imported_rooms(path)}
        assert allowed <= used, f"{room} imports no {sorted(allowed - used)}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_talks_to_the_network(path: Path) -> None:
    used = {name for name, _, _ in imports(path) if any(name == n or name.startswith(n + ".") for n in NETWORK)}
    assert not used


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_stays_small_enough_to_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{path.name}:{node.lineno} {node.name}"


CLOCKS = {"now", "utcnow", "today"}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_clock_is_read_at_the_edge_alone(path: Path) -> None:
    if room_of(path) in ("commands", "cli") or path.name == "app.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
            owner = ast.unparse(node.func.value)
            assert owner not in ("datetime", "date", "datetime.datetime"), f"{path.name}:{node.lineno} reads the clock"


def challenge_files() -> list[Path]:
    return sorted((ROOT / "impl").glob("*/*/*.py")) + sorted((ROOT / "impl").glob("*/*/*/*.py"))


@pytest.mark.parametrize("path", challenge_files(), ids=lambda p: str(p.relative_to(ROOT / "impl")))
def test_a_challenge_file_stands_alone(path: Path) -> None:
    allowed = {
        "torch",
        "math",
        "typing",
        "collections",
        "dataclasses",
        "functools",
        "heapq",
        "itertools",
        "unicodedata",
    }
    allowed |= {"__future__"} | ({"hypothesis"} if path.name == "inputs.py" else set())
    allowed |= {"triton"} if path.name == "kernel.py" else set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= allowed, f"{path}:{getattr(node, 'lineno', 0)}"


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import attncli.cli", {"torch", "textual", "rich", "yaml", "pydantic", "fsrs", "hypothesis", "sqlite3"}),
        ("import attncli.practice.drill", {"torch", "textual", "yaml", "pydantic", "hypothesis"}),
        ("import attncli.judge.client", {"torch", "hypothesis"}),
        ("import attncli.sandbox.host", {"torch", "hypothesis"}),
        ("import attncli.tui.app", {"torch", "hypothesis", "yaml", "pydantic"}),
    ],
)
def test_importing_a_room_does_not_load_what_it_must_not(statement: str, absent: set[str]) -> None:
    leaked = loaded_by(statement) & absent
    assert not leaked, f"{statement} loads {leaked}"
