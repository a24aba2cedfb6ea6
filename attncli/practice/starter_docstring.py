"""Markdown as the docstring of a Python file: prose filled to a width, code, tables and formulas as they stand."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO

from attncli.domain.chinese_characters import FULL_WIDTH
from attncli.domain.line_breaks import wrapped

_WIDTH = 110
_FOLDED = re.compile(rf"(?<=[{FULL_WIDTH}])\n(?=[{FULL_WIDTH}])")
_VERBATIM = ("|", "#")
_FENCES = ("```", "$$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")


def docstring(text: str) -> str:
    """`text` as a docstring that nothing in it can end."""
    body = "\n".join(_filled(text.strip().replace('"""', "'''")))
    raw = "r" if "\\" in text else ""
    return f'{raw}"""{body}\n"""'


def without_docstring(source: str) -> str:
    """A file without the text at its head; as it is where it has none.

    Looks at the tokens up to the end of that text alone: parsing a whole file can take seconds.
    """
    last = 0
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(StringIO(source, newline="").readline):
            if token.type == tokenize.STRING and not set("bBfF") & set(
                token.string[: token.string.index(token.string[-1])]
            ):
                last = token.end[0]
            elif token.type == tokenize.NEWLINE and last:
                return "".join(list(StringIO(source, newline=""))[last:]).lstrip("\r\n")  # split as Python splits
            elif token.type not in (tokenize.COMMENT, tokenize.NL):
                break
    return source


def _filled(text: str) -> Iterator[str]:
    """The lines of a Markdown text, its paragraphs and list items broken anew."""
    paragraph: list[str] = []
    in_block = False
    for line in text.splitlines():
        fence = line.lstrip().startswith(_FENCES)
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM) or _BULLET.match(line):
            yield from _broken(paragraph)
            paragraph = []
        in_block ^= fence and line.strip().count("$$") != 2
        if in_block or fence or not line.strip() or line.startswith(_VERBATIM):
            yield line
        else:
            paragraph.append(line.strip() if paragraph else line)
    yield from _broken(paragraph)


def _broken(paragraph: list[str]) -> list[str]:
    """One paragraph in lines of the width; those of a list item hang below its text."""
    if not paragraph:
        return []
    whole = _FOLDED.sub("", "\n".join(paragraph)).replace("\n", " ")
    bullet = _BULLET.match(whole)
    margin = len(whole) - len(whole.lstrip())
    lines = wrapped(whole, _WIDTH - margin, " " * (len(bullet[0]) - margin) if bullet else "")
    return [" " * margin + line for line in lines]
