"""The layout says what a file may touch; this table holds it to that."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from attncli.domain.challenge import IMPORTS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attncli"

# room: (rooms of attncli that it may import, packages outside the standard library that it may import)
RULES: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "domain": ({"errors"}, set()),
    "words": ({"domain", "errors"}, set()),
    "paths": ({"errors"}, {"platformdirs"}),
    "files": ({"errors"}, set()),
    "config": ({"errors", "files", "paths", "domain"}, {"tomlkit"}),
    "memory": ({"domain", "errors"}, {"fsrs", "fsrs_rs_python"}),
    "bank": ({"domain", "errors", "paths"}, {"yaml", "pydantic", "pydantic_core", "texicode", "latex2mathml"}),
    "store": ({"domain", "errors", "files", "paths"}, {"zstandard"}),
    "sandbox": ({"errors"}, {"torch"}),
    "judge": ({"domain", "errors", "sandbox"}, {"torch", "hypothesis"}),
    "practice": (
        {"domain", "memory", "bank", "store", "judge", "words", "errors", "files", "config", "paths"},
        {"markdown_it", "mdit_py_plugins"},
    ),
    "export": (
        {"domain", "practice", "words", "errors", "files"},
        {"jinja2", "markupsafe", "markdown_it", "mdit_py_plugins", "latex2mathml", "nh3", "genanki"}
        | {"weasyprint", "ziafont", "ziamath"},
    ),
    "experiments": ({"domain", "words", "errors"}, set()),
    "ladder": ({"sandbox", "domain", "words", "errors"}, set()),
    "cohort": ({"practice", "judge", "domain", "words", "errors", "files"}, {"ray"}),
    "tui": (
        {"practice", "experiments", "export", "domain", "words", "config", "errors", "paths"},
        {"textual", "rich", "texicode", "markdown_it", "mdit_py_plugins"},
    ),
    "doors": ({"practice", "tui", "domain", "words", "errors"}, {"mcp", "anyio", "jsonschema", "aiohttp"}),
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
            "cohort",
            "experiments",
            "ladder",
            "export",
            "tui",
            "words",
            "doors",
        },
        {"click", "rich"},
    ),
    "cli": ({"commands", "config", "domain", "errors", "paths", "tui", "practice"}, {"click", "rich"}),
    "__main__": ({"cli", "commands", "errors"}, set()),
    "__init__": (set(), set()),
}
# Inside these two a room may import those above it alone, so that there is no circle.
JUDGE_ROOMS: dict[str, set[str]] = {
    "__init__": set(),
    "client": set(),
    "check_table": set(),
    "sentences": set(),
    "answer_guard": {"sentences"},
    "cases": {"check_table"},
    "truth": {"sentences", "cases", "answer_guard"},
    "answers": {"sentences", "cases", "truth", "answer_guard"},
    "searching": {"cases", "answers"},
    "asking": {"check_table", "sentences", "cases", "truth", "answers", "searching", "answer_guard"},
    "naming": {"sentences", "cases", "truth", "answers", "answer_guard"},
    "telling": {"cases", "truth", "answers", "searching"},
    "grading": {
        *("check_table", "sentences", "cases", "truth", "answers", "searching"),
        *("asking", "naming", "telling", "answer_guard"),
    },
    "trying": {"sentences", "cases", "truth", "answers", "asking", "telling", "answer_guard"},
    "server": {"cases", "answers", "asking", "telling", "grading", "trying", "answer_guard"},
}
PRACTICE_ROOMS: dict[str, set[str]] = {
    "__init__": set(),
    "daily_backup": set(),
    "derive_schedules": set(),
    "gpu": set(),
    "library": {"derive_schedules"},
    "workspace": {"daily_backup", "derive_schedules", "library"},
    "health": {"gpu", "workspace"},
    "settings": {"workspace"},
    "first_run": {"settings", "workspace"},
    "log": {"derive_schedules", "workspace"},
    "anki": {"log", "workspace"},
    "cards": {"derive_schedules", "log", "workspace"},
    "challenges": {"cards", "gpu", "log", "workspace"},
    "mock": {"cards", "challenges", "log", "workspace"},
    "plan": {"cards", "challenges", "workspace"},
    "stats": {"cards", "plan", "workspace"},
    "today": {"cards", "plan", "workspace"},
    "sittings": {"cards", "log", "stats", "workspace"},
}
INNER_ROOMS = {"judge": JUDGE_ROOMS, "practice": PRACTICE_ROOMS}
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
    "genanki": {"export"},
    "zstandard": {"store"},
    "numpy": set(),
}
NEVER_AT_THE_TOP = {
    *(("doors", name) for name in ("tui", "mcp", "anyio", "jsonschema", "aiohttp")),
    ("commands", "tui"),
    ("cli", "tui"),
    ("commands", "rich"),
    ("memory", "fsrs_rs_python"),
    ("export", "genanki"),
    ("store", "zstandard"),
    *(("export", name) for name in ("weasyprint", "ziafont", "ziamath")),
    ("cohort", "ray"),
}
MOST_LINES = 700
LONGEST_FUNCTION = 70
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NETWORK = {"http", "urllib.request", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "xmlrpc"}
# What answers on loopback, and asks nobody.
LISTENS = {"browser_server.py": {"aiohttp.web", "aiohttp.http_exceptions.HttpProcessingError"}}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "_data" not in p.parts)


class Import(NamedTuple):
    """A dotted name, its line, and whether it is read at the `top`, in a `function`, or for `types` alone."""

    name: str
    line: int
    where: str


def imports(path: Path) -> list[Import]:
    """Every import of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ["attncli", *path.relative_to(PACKAGE).parts[:-1]]
    where: dict[int, str] = {}
    for node in ast.walk(tree):
        kind = "types" if _is_type_checking(node) else "function" if isinstance(node, FUNCTIONS) else ""
        where |= {id(child): kind for child in ast.walk(node) if kind and where.get(id(child)) != "types"}
    found = []
    for node in ast.walk(tree):
        place = where.get(id(node), "top")
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, place) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(filter(None, [base, node.module]))
            found += [Import(f"{name}.{alias.name}", node.lineno, place) for alias in node.names]
    return found


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    assert room in RULES, f"{path} stands in no room of the table"
    inside, outside = RULES[room]
    for name, line, place in imports(path):
        top = place == "top"
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


def imported_rooms(path: Path) -> dict[str, int]:
    """The rooms beside its own that a file imports, each with a line where it does."""
    house = ["attncli", room_of(path)]
    parts = [(found.name.split("."), found.line) for found in imports(path)]
    return {part[2]: line for part, line in parts if part[:2] == house and len(part) > 2}


INNER_FILES = [path for house in INNER_ROOMS for path in sorted((PACKAGE / house).rglob("*.py"))]


@pytest.mark.parametrize("path", INNER_FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_an_inner_room_imports_only_those_above_it(path: Path) -> None:
    house, name = path.relative_to(PACKAGE).parts[:2]
    room, rooms = name.removesuffix(".py"), INNER_ROOMS[house]
    assert room in rooms, f"{path} stands in no room of the table"
    for target, line in imported_rooms(path).items():
        allowed = target == room or target in rooms[room]
        assert allowed, f"{path.relative_to(ROOT)}:{line}; {room} may import {sorted(rooms[room])}"


@pytest.mark.parametrize("house", INNER_ROOMS)
def test_inner_rooms_make_no_circle_and_nothing_in_their_table_is_unused(house: str) -> None:
    before: set[str] = set()
    for room, allowed in INNER_ROOMS[house].items():
        assert allowed <= before, f"{room} may import what stands below it"
        before.add(room)
        single = PACKAGE / house / f"{room}.py"
        files = [single] if single.exists() else sorted((PACKAGE / house / room).rglob("*.py"))
        used = {target for path in files for target in imported_rooms(path)}
        assert allowed <= used, f"{room} imports no {sorted(allowed - used)}"


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph(counted: Callable[[Import], bool]) -> dict[str, set[str]]:
    """Which modules of attncli each of them imports, by the imports that are `counted`."""
    names = {dotted(path) for path in modules()}
    graph = {}
    for path in modules():
        mine = dotted(path)
        wanted = {found.name for found in imports(path) if counted(found)}
        graph[mine] = {name if name in names else name.rpartition(".")[0] for name in wanted} & names - {mine}
    return graph


def circles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The groups of modules of which each leads to each other one."""
    reach = {name: set(following) for name, following in graph.items()}
    for middle in reach:
        for following in reach.values():
            if middle in following:
                following |= reach[middle]
    return sorted({tuple(sorted(other for other in reach[name] if name in reach[other])) for name in reach} - {()})


IMPORTS_COUNTED: dict[str, Callable[[Import], bool]] = {
    "at the top": lambda found: found.where == "top",
    "at the top and in functions": lambda found: found.where != "types",
    "types too": lambda found: True,
}


@pytest.mark.parametrize("counted", IMPORTS_COUNTED.values(), ids=list(IMPORTS_COUNTED))
def test_imports_run_in_no_circle(counted: Callable[[Import], bool]) -> None:
    assert not circles(import_graph(counted))


def test_a_circle_is_found_whatever_its_length() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(graph) == [("b", "c")]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"a"}}) == [("a", "b", "c", "d")]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_talks_to_the_network(path: Path) -> None:
    used = {name for name, _, _ in imports(path) if any(name == n or name.startswith(n + ".") for n in NETWORK)}
    assert used <= LISTENS.get(path.name, set())


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_stays_small_enough_to_read(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, f"{path.name}:{node.lineno} {node.name}"


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
    allowed = set(IMPORTS)
    allowed |= {"__future__"} | ({"hypothesis"} if path.name == "inputs.py" else set())
    writes_kernels = path.parent.name in ("right", "wrong") and "kernel: true" in (
        path.parents[1] / "challenge.yaml"
    ).read_text(encoding="utf-8")
    allowed |= {"triton"} if path.name == "kernel.py" or writes_kernels else set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= allowed, f"{path}:{getattr(node, 'lineno', 0)}"


TEXT_ALONE = {"torch", "rich", "yaml", "sqlite3"}


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import attncli.cli", {"torch", "textual", "rich", "yaml", "pydantic", "fsrs", "hypothesis", "sqlite3"}),
        ("import attncli.practice.review", {"torch", "textual", "yaml", "pydantic", "hypothesis"}),
        ("import attncli.judge.client", {"torch", "hypothesis"}),
        (
            "import attncli.experiments.runner, attncli.experiments.plots",
            {"torch", "rich", "yaml", "sqlite3"},
        ),
        ("import attncli.ladder.engine, attncli.ladder.engine", TEXT_ALONE),
        ("import attncli.sandbox.zygote_client", {"torch", "hypothesis"}),
        ("import attncli.tui.app", {"torch", "hypothesis", "yaml", "pydantic"}),
    ],
)
def test_importing_a_room_does_not_load_what_it_must_not(statement: str, absent: set[str]) -> None:
    leaked = loaded_by(statement) & absent
    assert not leaked, f"{statement} loads {leaked}"
