"""Whatever a command prints passes one function."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "attncli"
COMMANDS = sorted((PACKAGE / "commands").rglob("*.py"))
# `echo`, its progress line, binary documents and the log; formatted Markdown, whose segments are cleaned one by one.
ALLOWED = {
    "session.py": {"print", "sys.stderr.write", "log.write"},
    "options.py": {"sys.stdout.buffer.write"},
    "cards.py": {"Console"},
}


def ways_past(text: str) -> list[str]:
    """Calls that print without `echo`."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in ("print", "input") or name.startswith(("click.echo", "click.secho", "click.prompt")):
                found.append(f"{node.lineno}: {name}")
            if name.endswith((".write", ".writelines")) or "Console" in name or name.startswith("traceback.print"):
                found.append(f"{node.lineno}: {name}")
    return found


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_no_command_prints_past_it(path: Path) -> None:
    ways = {way.split(": ")[1] for way in ways_past(path.read_text(encoding="utf-8"))}
    assert ways - ALLOWED.get(path.name, set()) == set()


@pytest.mark.parametrize(
    "line",
    [
        "print(card.title)",
        "click.echo(card.title)",
        "sys.stdout.write(card.title)",
        "stream.write(card.title)",
        "rich.console.Console().print(card.title)",
        "click.prompt(card.title)",
    ],
)
def test_a_way_past_it_would_be_seen(line: str) -> None:
    assert ways_past(line)
