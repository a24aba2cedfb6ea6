"""Text from elsewhere as it may be shown: nothing in it steers a terminal, turns its direction or hides.

Cards, code, reports and paths come from other people. `printable` is what all of it passes before a terminal or a page
gets it, `escaped` what JSON passes, where a sign must survive but not act.

Hidden are Unicode's categories Cc, Cf, Cs, Co, Zl and Zp, noncharacters, and what Unicode calls ignorable by default.
Kept are newline and tab, the format characters of Arabic and Syriac that are drawn, and U+FE0E and U+FE0F directly
behind a sign that exists as text and as emoji; and the joiners U+200C and U+200D where they are part of the spelling:
between two letters of a script that joins them (Arabic, Indic scripts, Mongolian), U+200D between two emoji too.
"""

from __future__ import annotations

from functools import cache
from re import Pattern

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
