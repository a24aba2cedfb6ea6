"""Text: both languages, terminal columns and line breaks, hidden characters, formulas inside Markdown, and search.

Cards, code, reports and paths are untrusted. Their text passes `printable` before a terminal or page, and `escaped`
before JSON. So it cannot send control sequences, change the text direction or hide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from unicodedata import east_asian_width, normalize

_SLOT = r"\{\{\s*(\w+)\s*\}\}"
"""`{{name}}` in the question of a numeric card is replaced by a value drawn when the card is asked."""


def filled(text: str, labels: Mapping[str, str]) -> str:
    """Replace each `{{name}}` in a text by its label; names without a label stay unchanged."""
    return re.sub(_SLOT, lambda slot: labels.get(slot[1], slot[0]), text)


def example_labels(parameters: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> dict[str, str]:
    """Return the labels for lists: the first of each parameter's (label, value) pairs."""
    return {name: str(choices[0][0]) for name, choices in parameters}


# Code in Markdown


def code_block(source: str, language: str = "") -> str:
    """Return `source` as a block of code in Markdown, between fences longer than any run of backticks in it."""
    ticks = "`" * max(3, _longest_ticks(source) + 1)
    return f"{ticks}{language}\n{source}\n{ticks}"


def code_span(source: str) -> str:
    """Return `source`, one line, as inline code in Markdown."""
    ticks = "`" * (_longest_ticks(source) + 1)
    space = " " if source[:1] in "` " or source[-1:] in "` " else ""
    return f"{ticks}{space}{source}{space}{ticks}"


def _longest_ticks(source: str) -> int:
    return max(map(len, re.findall(r"`+", source)), default=0)


# Columns of a terminal

SHADES = "·░▒▓█"
"""Shades from empty to full, distinguishable without colour."""


def left(text: str, width: int) -> str:
    """Pad `text` to at least `width` cells, aligned left."""
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    """Pad `text` to at least `width` cells, aligned right."""
    return " " * (width - cells(text)) + text


def in_columns(rows: Sequence[Sequence[str]], sides: Iterable[Callable[[str, int], str]]) -> Iterator[str]:
    """Yield the rows as lines of columns, each aligned by `left` or `right`."""
    aligned = [(side, max(map(cells, column))) for side, column in zip(sides, zip(*rows, strict=True), strict=False)]
    for row in rows:
        yield "  ".join(side(text, width) for text, (side, width) in zip(row, aligned, strict=True)).rstrip()


def cells(text: str) -> int:
    """Return the width of a text in terminal cells; a Chinese character has two."""
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)


# Chinese characters and line breaks

IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3040-\u30ff"
FULL_WIDTH = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
"""Ranges for a regular expression: characters, punctuation included, that have no blank between them."""

_IDEOGRAPH = f"[{IDEOGRAPHS}]"

CLOSING = "，。、；：？！）】》」』〉〕］｝％·…—～”’,.;:?!)]}%"
OPENING = "（【《「『〈〔［｛“‘([{"
"""Closing punctuation stays with the text before it, opening punctuation with the text after it (GB/T 15834)."""

_FULL_WIDTH = rf"(?:(?![{re.escape(CLOSING + OPENING)}])[{FULL_WIDTH}])"
_CLOSE, _OPEN = f"[{re.escape(CLOSING)}]", f"[{re.escape(OPENING)}]"
_SPACE = r"[^\S\u00a0]"
_LATIN = rf"(?:(?!{_OPEN}+{_FULL_WIDTH})(?:[^\s{FULL_WIDTH}]|\u00a0))+"
_UNIT = rf"(?:{_OPEN}*(?:{_FULL_WIDTH}|{_LATIN}){_CLOSE}*|{_OPEN}+{_CLOSE}*|{_CLOSE}+|\S)"


# Compiled at the first line break, to keep the start of `attn due` fast.


@cache
def word_pattern() -> re.Pattern[str]:
    """Match a word with the spaces around it."""
    return re.compile(rf"{_SPACE}*{_UNIT}{_SPACE}*")


@cache
def chunk_pattern() -> re.Pattern[str]:
    """Match a chunk. Lines may break between two: beside CJK except punctuation, but never at no-break spaces."""
    return re.compile(rf"{_UNIT}{_SPACE}*|{_SPACE}+")


def is_chinese(text: str) -> bool:
    """Return True if a text contains any Chinese character."""
    return re.search(_IDEOGRAPH, text) is not None


def wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """Break a paragraph into lines of at most `width` cells; all but the first start with `hanging`.

    A word wider than a line gets its own line.
    """
    lines = [""]
    for chunk in chunk_pattern().findall(text.strip()):
        if lines[-1].strip() and cells(lines[-1] + chunk.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(hanging)
        lines[-1] += chunk
    return lines


# Hidden characters

_HIDDEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
)
_JOINED = "\u0600-\u061b\u061d-\u07ff\u08a0-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_TEXT_OR_EMOJI = "#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff"
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Invisible characters that Python counts as printable."""
_BLANKS = dict.fromkeys(map(ord, "\n\t\xa0\u3000"))


def printable(text: str) -> str:
    """Remove control sequences and hidden characters from a text."""
    if _is_plain(text):
        return text
    return _hidden().sub("", _sequences().sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def marked(text: str, sign: str) -> str:
    """Put `sign` in place of every hidden character, to show that there is one."""
    return text if _is_plain(text) else _hidden().sub(sign, text)


def escaped(json: str) -> str:
    """Write every hidden character of a JSON document as `\\uXXXX`; it can only occur inside a string."""
    return json if _is_plain(json) else _hidden().sub(lambda found: _as_escape(found[0]), json)


def hidden_in(text: str) -> list[str]:
    """Return the hidden characters of a text, each once, in order of appearance."""
    return [] if _is_plain(text) else list(dict.fromkeys(_hidden().findall(text)))


def _is_plain(text: str) -> bool:
    """Return True if a text certainly has no hidden characters; fast for plain text, Chinese too."""
    if not text.isprintable() and not text.translate(_BLANKS).isprintable():
        return False
    return text.isascii() or _UNSEEN.isdisjoint(text)


@cache
def _sequences() -> re.Pattern[str]:
    """Match control sequences; of a string that does not end on its line, only the first two characters."""
    return re.compile(
        r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
        r"|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # OSC and other strings
        r"|\x1b[ -/]*[0-~]"
        r"|\x9b[0-?]*[ -/]*[@-~]"
    )


@cache
def _hidden() -> re.Pattern[str]:
    """Match a character of the Unicode categories Cc, Cf, Cs, Co, Zl or Zp, a noncharacter, or a default-ignorable one.

    Not hidden are newline and tab; the visible format characters of Arabic and Syriac; U+FE0E and U+FE0F behind a sign
    that exists as text and as emoji; the joiners U+200C and U+200D between letters of a script that joins them (Arabic,
    Indic scripts, Mongolian), U+200D between two emoji too.
    """
    return re.compile(
        f"[{_HIDDEN}]|(?<![{_TEXT_OR_EMOJI}])[\ufe0e\ufe0f]|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
        f"|(?<![{_JOINED}{_EMOJI}])(?<![{_EMOJI}]\ufe0f)\u200d|\u200d(?![{_JOINED}{_EMOJI}])"
    )


def _as_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


# Code and formulas in Markdown


@cache
def part_pattern() -> re.Pattern[str]:
    """Match code and formulas in the text of a card; the rest is prose."""
    return re.compile(
        r"(?P<fence>^ *(?P<ticks>`{3,}+|~{3,}+).*?^ *(?P=ticks)[`~]* *$)"
        r"|(?P<code>(?<!`)(?P<tick>`++).+?(?<!`)(?P=tick)(?!`))"
        r"|(?P<escape>\\[\\$])"
        r"|\$\$(?P<display>.+?)\$\$"
        r"|\$(?!\s)(?P<inline>[^$\n]*?[^$\s\\])\$(?!\d)",
        re.DOTALL | re.MULTILINE,
    )


MOST_CHARACTERS = 2000
MOST_DEPTH = 16
_NESTING = re.compile(r"\\(?P<opens>left|begin)(?![A-Za-z])|\\(?P<closes>right|end)(?![A-Za-z])|\\.|[{}]", re.DOTALL)
_DEPTH = {"{": 1, "}": -1}


def beyond_limits(tex: str) -> bool:
    """Return True if a formula is too long or too deeply nested to be drawn."""
    return len(tex) > MOST_CHARACTERS or nesting_depth(tex) > MOST_DEPTH


def nesting_depth(tex: str) -> int:
    r"""Return the largest number of braces, `\left … \right` and `\begin … \end` open at once."""
    depth = deepest = 0
    for found in _NESTING.finditer(tex):
        depth += _DEPTH.get(found[0], bool(found["opens"]) - bool(found["closes"]))
        deepest = max(deepest, depth)
    return deepest


# Search: tokens, stems, and full-text conditions (SQLite's FTS5) of texts and queries


_CJK = f"{IDEOGRAPHS}{KANA}\uac00-\ud7af\U00020000-\U0003ffff"
# Compiled by `re` at the first search, to keep the start of `attn due` fast.
_TOKEN = f"[{_CJK}]+|[^\\W_{_CJK}]+"
_IS_CJK = f"[{_CJK}]"
_ENDING = r"(?<=[a-z]{4})(?:ations?|ing|ed|(?<!s)e?s)$"
SHORTEST_TAKEN_APART = 3
_NOT_TEXT = frozenset(
    {"kind", "level", "core", "compute", "compute_unit", "tolerance", "numbers", "sources", "licence"}
)


def searchable(parts: Iterable[Any]) -> str:
    """Return all text in nested documents as one line of tokens; `√` becomes `sqrt`, as people type it."""
    return " ".join(token for part in parts for text in _texts(part) for token in _tokens(text.replace("√", " sqrt ")))


def runs_of(query: str) -> list[str]:
    """Return the words of a text or query, composed (NFC): Latin ones, and runs of Chinese."""
    return re.findall(_TOKEN, normalize("NFC", query.lower()))


def starting_with(run: str) -> str:
    """Return the condition that finds a Latin word by its stem, and a Chinese run anywhere."""
    return beginning_with(stem(run))


def beginning_with(run: str) -> str:
    """Return the condition that finds a Latin word by its beginning, and a Chinese run anywhere."""
    if re.match(_IS_CJK, run):
        return '"' + " ".join(run) + '"'
    return f'"{run}"*'


def stem(word: str) -> str:
    """Return a longer word without its ending, so that `derivation` finds `derive`."""
    found = re.search(_ENDING, word)
    return word[: found.start()] if found else word


def parts_of_run(run: str) -> list[str]:
    """Return a condition per pair of adjacent characters in a long Chinese run, so that a typo leaves most of them."""
    if not re.match(_IS_CJK, run) or len(run) < SHORTEST_TAKEN_APART:
        return []
    return list(dict.fromkeys(starting_with(run[place : place + 2]) for place in range(len(run) - 1)))


def every_of(conditions: Iterable[str]) -> str:
    return " AND ".join(conditions)


def any_of(conditions: Iterable[str]) -> str:
    """Return a condition that is true if any of these is; empty for none."""
    joined = " OR ".join(f"({condition})" for condition in conditions)
    return f"({joined})" if joined else ""


def all_but_one(conditions: Sequence[str]) -> str:
    """Return a condition that is true if at most one of these is false; for n it has n·log n parts, not n².

    Empty for a single condition, which may be false.
    """
    if len(conditions) < 2:
        return ""
    half = len(conditions) // 2
    left, right = conditions[:half], conditions[half:]
    return any_of(
        every_of(filter(None, both))
        for both in ((every_of(left), all_but_one(right)), (all_but_one(left), every_of(right)))
    )


def in_question(expression: str) -> str:
    """Return the expression limited to the question column."""
    return f"question : ({expression})"


def _tokens(text: str) -> Iterable[str]:
    for run in runs_of(text):
        yield from (run if re.match(_IS_CJK, run) else (run,))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _NOT_TEXT:
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
