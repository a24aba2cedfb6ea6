"""The code blocks of a text: what is written behind a fence says whether the block runs by itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

from attncli.bank.problems import Finding, shown
from attncli.bank.reading.card_texts import localised

MOST_CHARACTERS = 10_000
KINDS = ("python", "python sketch", "text")
_FENCE = re.compile(
    r"^ *(?P<ticks>```+|~~~+)(?P<info>[^\n]*)\n(?P<code>.*?)^ *(?P=ticks)[`~]* *$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A code block; `info` is python, which runs, `python sketch`, which needs more than it shows, or text."""

    info: str
    code: str


def snippets_of(text: str) -> Iterator[Snippet]:
    """The code blocks of a Markdown text."""
    for found in _FENCE.finditer(text):
        yield Snippet(" ".join(found["info"].split()), dedent(found["code"]))


def snippet_findings(value: object) -> Iterator[Finding]:
    """Blocks that do not say what they are, and Python that is none."""
    for way, text in localised(value):
        for lang in ("en", "zh"):
            for snippet in snippets_of(text[lang]):
                if snippet.info not in KINDS:
                    said = f"a code block is marked {shown(snippet.info, 30)}"
                    yield Finding((*way, lang), f"{said}; write ```python where it runs, ```python sketch or ```text")
                elif snippet.info != "text" and (fault := python_fault(snippet.code)):
                    yield Finding(
                        (*way, lang), f"the code block is not Python ({fault}); correct it or mark it as text"
                    )


def python_fault(code: str) -> str:
    """Why a text is no Python, empty where it is. Long ones are not parsed: Python takes minutes for some."""
    if len(code) > MOST_CHARACTERS:
        return f"over {MOST_CHARACTERS} characters long"
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return ""
