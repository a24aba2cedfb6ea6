"""Docstrings say what their subject does: they begin with a verb or a noun, never with a question word."""

from __future__ import annotations

import ast
from pathlib import Path

import attncli

PACKAGE = Path(attncli.__file__).parent
QUESTION_WORDS = {"What", "Where", "Whether", "Who", "Which", "Whatever", "Whoever", "Whose", "Why", "When", "How"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_no_docstring_begins_with_a_question_word() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, DOCUMENTED) and (ast.get_docstring(node) or "").split(" ")[0].rstrip(",:") in QUESTION_WORDS
    ]
    assert found == []
