"""HTML, as Anki's fields hold it, to Markdown: text, lists, code, formulas. Pictures and sounds are left out."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

from attncli.domain.printable import printable

_FORMULA = re.compile(
    r"\\\((?P<inline>.+?)\\\)|\\\[(?P<display>.+?)\\\]"
    r"|\[\$\](?P<old>.+?)\[/\$\]|\[\$\$\](?P<old_display>.+?)\[/\$\$\]|\[latex\](?P<latex>.+?)\[/latex\]"
    r"|<anki-mathjax(?P<block>\s+block=\"true\")?[^>]*>(?P<mathjax>.+?)</anki-mathjax>",
    re.DOTALL | re.IGNORECASE,
)
_DISPLAYED = ("display", "old_display", "block")
_SOUND = re.compile(r"\[(?:sound|anki):[^\]\n]{0,500}\]")
_KEPT = re.compile("\ue000(\\d{1,6})\ue001")
_SPECIAL = re.compile(
    r"[\\`$]|\*(?=\S)|(?<=\S)\*|<(?=[A-Za-z/!?])|\](?=[(\[:])|~(?=~)|(?<![^\W_])_|_(?![^\W_])|\{(?=\{)"
)
_LINE_START = re.compile(r"^(\s*)([#>+|=-]|\d+[.)](?=\s))", re.MULTILINE)
_BLOCKS = frozenset("p div h1 h2 h3 h4 h5 h6 ul ol table tr blockquote section article center hr dl dt dd".split())
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_UNSEEN = frozenset({"script", "style", "head", "title", "template", "object", "svg"})
_MEDIA = frozenset({"img", "video", "audio", "embed", "iframe"})
LONGEST_TEXT = 64 * 1024
DEEPEST = 200
LINE_BREAK = "  \n"
_EMPTY_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")


class Converted(str):
    """Markdown; `left_out` says how many pictures and sounds are not in it."""

    left_out: int

    @staticmethod
    def of(text: str, left_out: int) -> Converted:
        made = Converted(text)
        made.left_out = left_out
        return made


def markdown_of(source: str) -> Converted:
    """The Markdown of a piece of HTML, however broken it is."""
    source = printable(source[: 4 * LONGEST_TEXT])
    reader = _Reader()
    source, sounds = _SOUND.subn("", _FORMULA.sub(reader.formula, source))
    reader.feed(source)
    reader.close()
    text = _EMPTY_LINES.sub("\n\n", reader.text)
    text = _KEPT.sub(reader.given_back, text)
    return Converted.of(printable(text).strip()[:LONGEST_TEXT], sounds + reader.media)


def _formula(found: re.Match[str]) -> str:
    source = next(value for name, value in found.groupdict().items() if value is not None and name != "block")
    latex = html.unescape(re.sub(r"<br\s*/?>|<[^<>]{0,200}>", " ", source)).strip()
    latex = re.sub(r"^\$+|\$+$", "", " ".join(latex.split())).strip()
    if not latex:
        return ""
    if "$" in latex or "`" in latex or latex.endswith("\\") or not _is_balanced(latex):
        return _ticked(latex)
    is_displayed = any(found[name] is not None for name in _DISPLAYED)
    return f"$$\n{latex}\n$$" if is_displayed else f"${latex}$"


def _is_balanced(latex: str) -> bool:
    braces = re.sub(r"\\.", "", latex)
    return braces.count("{") == braces.count("}")


def _ticked(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.kept: list[str] = []
        self.media = 0
        self._unseen = 0
        self._code: list[str] | None = None
        self._is_block_code = False
        self._lists: list[int | None] = []
        self._marks: list[str] = []

    def keep(self, text: str) -> str:
        """What stands for a formula or code until all else has been put in order."""
        self.kept.append(text)
        return f"\ue000{len(self.kept) - 1}\ue001"

    def formula(self, found: re.Match[str]) -> str:
        """What stands for a formula; a displayed one is a paragraph."""
        latex = _formula(found)
        return f"<p>{self.keep(latex)}</p>" if latex.startswith("$$") else self.keep(latex)

    def given_back(self, found: re.Match[str]) -> str:
        """What was kept; a formula is no formula where a digit follows it."""
        kept = "".join(self.kept[int(found[1]) : int(found[1]) + 1])
        return f"{kept} " if kept.endswith("$") and found.string[found.end() : found.end() + 1].isdigit() else kept

    @property
    def text(self) -> str:
        self._end_code()
        return "".join(self.parts + self._marks[::-1])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _MEDIA:
            self.media += 1
        elif tag in _UNSEEN:
            self._unseen += 1
        elif self._unseen:
            return
        elif tag == "br":
            (self.parts if self._code is None else self._code).append(LINE_BREAK if self._code is None else "\n")
        elif self._code is not None:
            if tag in _BLOCKS:
                self._code.append("\n")
        elif tag in ("pre", "code", "kbd", "tt"):
            self._code, self._is_block_code = [], tag == "pre"
        elif tag in ("ul", "ol") and len(self._lists) < DEEPEST:
            self._lists.append(0 if tag == "ol" else None)
            self._break(tag)
        elif tag == "li":
            self._item()
        elif tag in ("td", "th"):
            self._add(" · " if self.parts and not self.parts[-1].endswith("\n") else "")
        elif tag in _MARKS:
            self._open(_MARKS[tag])
        else:
            self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "pre" or (tag in ("code", "kbd", "tt") and not self._is_block_code):
            self._end_code()
        elif self._unseen or self._code is not None:
            return
        elif tag in ("ul", "ol"):
            self._lists = self._lists[:-1]
            self._break(tag)
        elif tag in _MARKS:
            self._close(_MARKS[tag])
        else:
            self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._code is not None:
            self._code.append(data)
            return
        words = re.sub(r"\s+", " ", data)
        self._add(_SPECIAL.sub(lambda found: "\\" + found[0] if found[0] != "{" else "{ ", words))

    def _add(self, text: str) -> None:
        if text.strip() or (self.parts and not self.parts[-1].endswith("\n")):
            at_start = not self.parts or self.parts[-1].endswith("\n")
            if (at_start and text.strip()) or (self.parts and self.parts[-1].endswith(" ")):
                text = text.lstrip(" ")
            self.parts.append(_LINE_START.sub(_escaped_start, text) if at_start else text)

    def _break(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        while self._marks:
            self._close(self._marks[-1])
        if self.parts:
            self.parts.append(LINE_BREAK if self._lists or tag in ("tr", "div") else "\n\n")

    def _item(self) -> None:
        depth = max(0, len(self._lists) - 1)
        count = self._lists[-1] if self._lists else None
        mark = "-"
        if self._lists and count is not None:
            self._lists[-1] = count + 1
            mark = f"{count + 1}."
        self.parts.append(f"\n{'  ' * min(depth, 3)}{mark} ")

    def _open(self, mark: str) -> None:
        if mark not in self._marks and len(self._marks) < DEEPEST:
            self._marks.append(mark)
            self.parts.append(mark)

    def _close(self, mark: str) -> None:
        if not self._marks or self._marks[-1] != mark:
            return
        self._marks.pop()
        space = ""
        while self.parts and self.parts[-1] != mark and not self.parts[-1].strip():
            space = self.parts.pop() + space
        if self.parts and self.parts[-1] == mark:
            self.parts.pop()
        elif self.parts:
            last = self.parts[-1]
            self.parts[-1] = last.rstrip() + mark
            space = last[len(last.rstrip()) :] + space
        self.parts.append(space)

    def _end_code(self) -> None:
        if self._code is None:
            return
        code, self._code = "".join(self._code), None
        code = _KEPT.sub(lambda found: self.given_back(found), code).strip("\n")
        if self._is_block_code or "\n" in code:
            longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
            fence = "`" * max(3, longest + 1)
            self.parts.append("\n\n" + self.keep(f"{fence}text\n{code.rstrip()}\n{fence}") + "\n\n")
        elif code.strip():
            self.parts.append(self.keep(_ticked(code)))
        self._is_block_code = False


def _escaped_start(found: re.Match[str]) -> str:
    mark = found[2]
    return f"{found[1]}{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"{found[1]}\\{mark}"
