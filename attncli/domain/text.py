"""Text in two languages, and the places in it where drawn values go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from re import Pattern
from typing import Any, Literal
from unicodedata import east_asian_width

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")
_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""`{{name}}` in the question of a numeric card: the place of a value that is drawn when the card is asked."""


@dataclass(frozen=True, slots=True)
class Localised:
    """The same content, written once for each language (Markdown, `$…$` inline and `$$…$$` display formulas)."""

    en: str
    zh: str

    def __getitem__(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en

    def __add__(self, other: Localised) -> Localised:
        return Localised(self.en + other.en, self.zh + other.zh)

    def format(self, **parts: object) -> Localised:
        """Both with their places filled; a part may itself be in both languages."""
        return Localised(
            *(self[lang].format(**{name: _in(part, lang) for name, part in parts.items()}) for lang in LANGS)
        )

    def join(self, texts: Iterable[Localised]) -> Localised:
        """The texts with this between each two."""
        every = list(texts)
        return Localised(*(self[lang].join(text[lang] for text in every) for lang in LANGS))

    @staticmethod
    def of(document: dict[str, str]) -> Localised:
        return Localised(en=document["en"], zh=document["zh"])


def _in(part: object, lang: Lang) -> object:
    return part[lang] if isinstance(part, Localised) else part


NOTHING = Localised("", "")


def quoted(text: str) -> Localised:
    """Words that are the same in every language: names, numbers, what the learner's code says."""
    return Localised(text, text)


def filled(text: str, labels: Mapping[str, str]) -> str:
    """The text with the label of each name; a name without one stays as it is written."""
    return _SLOT.sub(lambda slot: labels.get(slot[1], slot[0]), text)


def example_labels(parameters: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> dict[str, str]:
    """The labels that lists show: the first value of each parameter, given as (label, value) pairs."""
    return {name: str(choices[0][0]) for name, choices in parameters}


# Columns of a terminal, in which a Chinese character is two cells wide.

SHADES = "·░▒▓█"
"""From nothing to full, told apart without colour."""


def left(text: str, width: int) -> str:
    """`text` in at least `width` cells, aligned left."""
    return text + " " * (width - cells(text))


def right(text: str, width: int) -> str:
    """`text` in at least `width` cells, aligned right."""
    return " " * (width - cells(text)) + text


def cells(text: str) -> int:
    """How many cells a text takes."""
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)


# Characters of Chinese text, as ranges for the brackets of a regular expression.

IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3040-\u30ff"
FULL_WIDTH = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
"""Between two of these no blank is written: punctuation too."""

_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


def is_chinese(text: str) -> bool:
    """Whether anything in a text is written in Chinese."""
    return _IDEOGRAPH.search(text) is not None


# Where a line of Chinese may break: beside any CJK character, but for punctuation.
#
# Closing punctuation stays with what precedes it and opening punctuation with what follows (GB/T 15834), so no line
# starts with `，` or ends with `（`. A no-break space joins, as its name says.

CLOSING = "，。、；：？！）】》」』〉〕］｝％·…—～”’,.;:?!)]}%"
OPENING = "（【《「『〈〔［｛“‘([{"

_FULL_WIDTH = rf"(?:(?![{re.escape(CLOSING + OPENING)}])[{FULL_WIDTH}])"
_CLOSE, _OPEN = f"[{re.escape(CLOSING)}]", f"[{re.escape(OPENING)}]"
_SPACE = r"[^\S\u00a0]"
_LATIN = rf"(?:(?!{_OPEN}+{_FULL_WIDTH})(?:[^\s{FULL_WIDTH}]|\u00a0))+"
_UNIT = rf"(?:{_OPEN}*(?:{_FULL_WIDTH}|{_LATIN}){_CLOSE}*|{_OPEN}+{_CLOSE}*|{_CLOSE}+|\S)"

WORD = re.compile(rf"{_SPACE}*{_UNIT}{_SPACE}*")
CHUNK = re.compile(rf"{_UNIT}{_SPACE}*|{_SPACE}+")


def wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """The lines of a paragraph, none wider than `width` cells unless one word is; all but the first hang so far in."""
    lines = [""]
    for chunk in CHUNK.findall(text.strip()):
        if lines[-1].strip() and cells(lines[-1] + chunk.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(hanging)
        lines[-1] += chunk
    return lines


# Text from elsewhere as it may be shown: nothing in it steers a terminal, turns its direction or hides.
#
# Cards, code, reports and paths come from other people. `printable` is what all of it passes before a terminal or a
# page gets it, `escaped` what JSON passes, where a sign must survive but not act.
#
# Hidden are Unicode's categories Cc, Cf, Cs, Co, Zl and Zp, noncharacters, and what Unicode calls ignorable by
# default. Kept are newline and tab, the format characters of Arabic and Syriac that are drawn, and U+FE0E and U+FE0F
# directly behind a sign that exists as text and as emoji; and the joiners U+200C and U+200D where they are part of the
# spelling: between two letters of a script that joins them (Arabic, Indic scripts, Mongolian), U+200D between two
# emoji too.

_HIDDEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
)
_JOINED = "\u0600-\u061b\u061d-\u07ff\u08a0-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_TEXT_OR_EMOJI = "#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff"
# Characters that Python counts as printable and nobody sees.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_BLANKS = dict.fromkeys(map(ord, "\n\t\xa0\u3000"))


def printable(text: str) -> str:
    """The text without control sequences and hidden characters."""
    if _is_plain(text):
        return text
    return _hidden().sub("", _sequences().sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def marked(text: str, sign: str) -> str:
    """The text with `sign` in place of every hidden character: for saying that there is one."""
    return text if _is_plain(text) else _hidden().sub(sign, text)


def escaped(json: str) -> str:
    """A JSON document with every hidden character in it, which can only stand in a string, as `\\uXXXX`."""
    return json if _is_plain(json) else _hidden().sub(lambda found: _as_escape(found[0]), json)


def hidden_in(text: str) -> list[str]:
    """The hidden characters of a text, each once, in the order of their first places."""
    return [] if _is_plain(text) else list(dict.fromkeys(_hidden().findall(text)))


def _is_plain(text: str) -> bool:
    """Whether nothing has to be looked for; plain text, Chinese too, is found so without a regular expression."""
    if not text.isprintable() and not text.translate(_BLANKS).isprintable():
        return False
    return text.isascii() or _UNSEEN.isdisjoint(text)


@cache
def _sequences() -> Pattern[str]:
    """A string without its end on the same line loses its first two signs alone, so that it swallows nothing."""
    import re

    return re.compile(
        r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
        r"|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # OSC and other strings
        r"|\x1b[ -/]*[0-~]"
        r"|\x9b[0-?]*[ -/]*[@-~]"
    )


@cache
def _hidden() -> Pattern[str]:
    import re

    return re.compile(
        f"[{_HIDDEN}]|(?<![{_TEXT_OR_EMOJI}])[\ufe0e\ufe0f]|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
        f"|(?<![{_JOINED}{_EMOJI}])(?<![{_EMOJI}]\ufe0f)\u200d|\u200d(?![{_JOINED}{_EMOJI}])"
    )


def _as_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


# What in a text of a card is code or formula; the rest is prose.

PART = re.compile(
    r"(?P<fence>^ *(?P<ticks>`{3,}+|~{3,}+).*?^ *(?P=ticks)[`~]* *$)"
    r"|(?P<code>(?<!`)(?P<tick>`++).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<escape>\\[\\$])"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?!\s)(?P<inline>[^$\n]*?[^$\s\\])\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)


# The bounds of a formula that is drawn: what goes beyond them is shown as its source, whoever wrote it.

MOST_CHARACTERS = 2000
MOST_DEPTH = 16
_NESTING = re.compile(r"\\(?P<opens>left|begin)(?![A-Za-z])|\\(?P<closes>right|end)(?![A-Za-z])|\\.|[{}]", re.DOTALL)
_DEPTH = {"{": 1, "}": -1}


def beyond_limits(tex: str) -> str:
    """Return why a formula is not drawn, with the remedy; empty if it is short and flat enough."""
    if len(tex) > MOST_CHARACTERS:
        return f"is longer than {MOST_CHARACTERS} characters; split it"
    if nesting_depth(tex) > MOST_DEPTH:
        return f"is nested deeper than {MOST_DEPTH}; split it"
    return ""


def nesting_depth(tex: str) -> int:
    r"""Return how many braces, `\left … \right` and `\begin … \end` are open at once, at most."""
    depth = deepest = 0
    for found in _NESTING.finditer(tex):
        depth += _DEPTH.get(found[0], bool(found["opens"]) - bool(found["closes"]))
        deepest = max(deepest, depth)
    return deepest
