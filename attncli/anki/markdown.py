"""Convert the HTML of Anki notes to Markdown: text, lists, code, formulas, links. Pictures and sounds are left out.

`_Reader` reads HTML into lines of runs, and `written` writes them as Markdown. It parses the result again and, if the
visible text differs, writes a plainer form. All of it takes linear time, however broken the HTML is.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attncli.domain.text import code_block, code_span, printable

LONGEST_TEXT = 64 * 1024
LONGEST_SOURCE = 4 * LONGEST_TEXT
LONGEST_RICH = 16 * 1024
"""Longer texts get no emphasis and have all punctuation escaped, so that parsing them stays fast."""
MOST_LINES = 2000
DEEPEST_LIST = 4
LINE_BREAK = "  \n"
LANGUAGE = "text"
"""The language of code blocks."""


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one line: `kind` is text, indent, code, block, formula or display; `marks` are `**`, `*` or both."""

    text: str
    kind: str = "text"
    marks: str = ""
    link: str = ""


@dataclass(slots=True)
class Line:
    """A line: `marker` starts a list item, `indent` is the column of its text, `gap` an empty line before it.

    A block of code is one line with one run of the kind `block`.
    """

    runs: list[Run] = field(default_factory=list)
    indent: int = 0
    marker: str = ""
    gap: bool = False

    @property
    def is_apart(self) -> bool:
        """Return True if this is a block of code or a display formula."""
        return bool(self.runs) and self.runs[0].kind in ("block", "display")


def markdown_of(source: str, asked: bool = False) -> tuple[str, int]:
    """Convert HTML, however broken, to Markdown; return it with the number of pictures and sounds left out.

    In a question (`asked`), closed `<details>` are left out.
    """
    reader = _Reader(asked)
    source, sounds = _SOUND.subn("", reader.without_formulas(printable(source[:LONGEST_SOURCE])))
    reader.read(source)
    return written(reader.lines), sounds + reader.media


# Reading HTML

_TOKEN = re.compile(
    r"<!--(?P<comment>)|<[!?][^<>]{0,2000}>"
    r"|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]{0,30})(?![A-Za-z0-9-])"
    r"(?P<attributes>(?>(?:[^<>\"']{1,2000}|\"[^\"<]{0,2000}\"|'[^'<]{0,2000}')*)(?=>)|[^<>]{0,2000})>"
)
_ATTRIBUTE = re.compile(r"([A-Za-z-]{1,30})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.IGNORECASE)
_OPENED = re.compile(r"\\\(|\\\[|\[\$\$?\]|\[latex\]|<anki-mathjax(?![\w-])[^<>]{0,200}>", re.IGNORECASE)
_CLOSED = {"\\(": "\\)", "\\[": "\\]", "[$]": "[/$]", "[$$]": "[/$$]", "[latex]": "[/latex]"}
_LOWER = {ord(letter): ord(letter.lower()) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_SOUND = re.compile(r"\[(?:sound|anki):[^\[\]\n]{0,500}\]")
_PLACEHOLDER = re.compile("\ue000(\\d{1,6})\ue001")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>\"\\`\x00-\x1f]{1,2000}", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")
_INDENT = re.compile(r"[ \t\n\r\f]*\xa0[ \t\n\r\f\xa0]+")

_PARAGRAPHS = frozenset("p h1 h2 h3 h4 h5 h6 table blockquote section article hr dl pre ul ol".split())
_LINES = frozenset("div tr dt dd center summary details header footer figure figcaption fieldset form".split())
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_INVISIBLE = frozenset("script style head title template object svg button select textarea canvas noscript".split())
_MEDIA = frozenset("img video audio embed iframe".split())
_VOID = frozenset("img br hr input embed col wbr area base link meta param source track".split())
_CODE = frozenset("pre code kbd tt samp".split())
_RAISED = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
)
_LOWERED = str.maketrans("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


class _Reader:
    """Reads HTML into lines."""

    def __init__(self, asked: bool) -> None:
        self.lines: list[Line] = [Line()]
        self.media = 0
        self._asked = asked
        self._formulas: dict[int, tuple[str, str, str]] = {}
        self._size = 0
        self._skipped: tuple[str, int] | None = None
        self._code: list[str] | None = None
        self._is_block = False
        self._lists: list[int | None] = []
        self._widths: list[int] = []
        self._marks = dict.fromkeys(("**", "*"), 0)
        self._link = ""
        self._scripts: list[tuple[str, Line, int]] = []

    def without_formulas(self, source: str) -> str:
        """Return the source with a placeholder for each formula, whose content is neither HTML nor Markdown."""
        lower, parts, at, missing = source.translate(_LOWER), list[str](), 0, set[str]()
        for found in _OPENED.finditer(source):
            opened = lower[found.start() : found.end()]
            closed = _CLOSED.get(opened, "</anki-mathjax>")
            if found.start() < at or closed in missing:
                continue
            end = lower.find(closed, found.end())
            if end < 0:
                missing.add(closed)
                continue
            parts.append(source[at : found.start()])
            at = end + len(closed)
            is_displayed = opened in ("\\[", "[$$]") or 'block="true"' in opened
            latex = " ".join(_text(source[found.end() : end]).split()).strip("$").strip()
            raw = _text(source[found.start() : at])
            self._formulas[len(self._formulas)] = (latex, "display" if is_displayed else "formula", raw)
            parts.append(f"\ue000{len(self._formulas) - 1}\ue001")
        return "".join([*parts, source[at:]])

    def read(self, source: str) -> None:
        """Read the whole source into `lines`."""
        at = 0
        for found in _TOKEN.finditer(source):
            if found.start() < at:
                continue
            self._data(source[at : found.start()])
            at = found.end()
            if found["comment"] is not None:
                end = source.find("-->", at)
                at = end + 3 if end >= 0 else len(source)
            elif found["tag"] and found["end"]:
                self._end(found["tag"].lower())
            elif found["tag"]:
                self._start(found["tag"].lower(), found["attributes"])
        self._data(source[at:])
        self._end_code()
        self.lines = [line for line in self.lines if line.runs]

    @property
    def _line(self) -> Line:
        return self.lines[-1]

    def _start(self, tag: str, attributes: str) -> None:
        if self._skipped:
            name, depth = self._skipped
            self._skipped = (name, depth + (name == tag))
            return
        values = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(attributes)}
        is_hidden = _HIDDEN.search(values.get("style", "")) or re.search(r"(?:^|\s)hidden(?=$|[\s=/])", attributes)
        if tag in _MEDIA:
            self.media += not is_hidden
        if (tag in _INVISIBLE or is_hidden) and tag not in _VOID:
            self._skipped = None if attributes.endswith("/") else (tag, 1)
        elif tag == "br":
            self._new_line()
        elif tag in ("sup", "sub"):
            self._scripts.append((tag, self._line, len(self._line.runs if self._code is None else self._code)))
        elif self._code is not None:
            if tag in _LINES | _PARAGRAPHS:
                self._is_block |= tag == "pre"
                self._code.append("\n")
        elif tag in _CODE:
            self._code, self._is_block = [], tag == "pre"
        elif tag in _MARKS:
            self._marks[_MARKS[tag]] += 1
        elif tag == "a":
            href = printable(_decoded(values.get("href", "").strip()))
            self._link = href if _LINK.fullmatch(href) else ""
        elif tag in ("td", "th"):
            self._add(Run(" · " if self._line.runs else ""))
        elif tag == "li":
            self._item()
        elif tag in ("ul", "ol"):
            start = values.get("start", "")
            first = int(start) if re.fullmatch(r"\d{1,8}", start) else 1
            self._break(gap=not self._lists or first != 1)
            self._lists.append(first if tag == "ol" else None)
            self._widths.append(0)
        else:
            self._boundary(tag)

    def _end(self, tag: str) -> None:
        if self._skipped:
            name, depth = self._skipped
            depth -= name == tag
            self._skipped = (name, depth) if depth else None
        elif tag in ("sup", "sub"):
            self._end_script(tag)
        elif tag == "pre" or (tag in _CODE and not self._is_block):
            self._end_code()
        elif self._code is not None:
            if tag in _LINES and self._code and not self._code[-1].endswith("\n"):
                self._code.append("\n")
        elif tag in _MARKS:
            self._marks[_MARKS[tag]] = max(0, self._marks[_MARKS[tag]] - 1)
        elif tag == "a":
            self._link = ""
        elif tag in ("ul", "ol"):
            self._lists, self._widths = self._lists[:-1], self._widths[:-1]
            self._break(gap=not self._lists)
        else:
            self._boundary(tag)
            if tag == "summary" and self._asked:
                self._skipped = ("details", 1)

    def _boundary(self, tag: str) -> None:
        if tag in _PARAGRAPHS:
            self._break(gap=True)
        elif tag in _LINES:
            self._break()

    def _data(self, source: str) -> None:
        if self._skipped or not source or self._size >= LONGEST_TEXT:
            return
        at = 0
        for found in _PLACEHOLDER.finditer(source):
            self._words(source[at : found.start()])
            at = found.end()
            if kept := self._formulas.pop(int(found[1]), None):
                self._formula(*kept)
        self._words(source[at:])

    def _words(self, source: str) -> None:
        text = printable(_decoded(source))[: max(0, LONGEST_TEXT - self._size)]
        self._size += len(text)
        if self._code is not None:
            self._code.append(text.replace("\xa0", " "))
        elif not self._line.runs and (indent := _INDENT.match(text)):
            blanks = indent[0].replace("\n", "").replace("\r", "")
            rest = _BLANKS.sub(" ", text[indent.end() :])
            self._add(Run("\xa0" * len(blanks) if rest else "", "indent"), Run(rest))
        else:
            self._add(Run(_BLANKS.sub(" ", text)))

    def _formula(self, latex: str, kind: str, raw: str) -> None:
        self._size += len(latex)
        if self._code is not None:
            self._code.append(raw)
        elif not latex:
            return
        elif "$" in latex or "`" in latex or latex.endswith("\\") or not _is_balanced(latex):
            self._add(Run(latex, "code"))
        elif kind == "display":
            self._alone(Run(latex, "display"))
        else:
            self._add(Run(latex, "formula"))

    def _add(self, *runs: Run) -> None:
        marks = "".join(mark for mark, depth in self._marks.items() if depth)
        for run in runs:
            text = run.text
            if run.kind == "text" and (not self._line.runs or self._line.runs[-1].text.endswith((" ", "\xa0"))):
                text = text.lstrip(" ")
            if text:
                self._line.runs.append(replace(run, text=text, marks=marks, link=self._link))

    def _alone(self, run: Run) -> None:
        self._break(gap=True)
        self._line.runs.append(run)
        self._break(gap=True)

    def _new_line(self) -> None:
        if self._code is not None:
            self._code.append("\n")
        else:
            self._break(gap=not self._line.runs)

    def _break(self, gap: bool = False) -> None:
        """End the line unless it is empty; `gap` leaves an empty line before the next."""
        if self._line.runs and len(self.lines) < MOST_LINES:
            self.lines.append(Line())
        if not self._line.runs and not self._line.marker:
            self._line.indent = sum(self._widths[:DEEPEST_LIST])
            self._line.gap |= gap

    def _item(self) -> None:
        self._break()
        if not self._line.runs:
            count = self._lists[-1] if self._lists else None
            marker = "- " if count is None else f"{count}. "
            if self._lists and count is not None:
                self._lists[-1] = count + 1
            if self._lists:
                self._widths[-1] = 0
                self._line.indent = sum(self._widths[:DEEPEST_LIST])
                self._widths[-1] = len(marker)
            self._line.marker = marker

    def _end_script(self, tag: str) -> None:
        """Replace superscript or subscript text by Unicode characters, or put `^` or `_` before it."""
        if not self._scripts or self._scripts[-1][0] != tag:
            return
        _, line, start = self._scripts.pop()
        if self._code is not None:
            self._code[start:] = [_script("".join(self._code[start:]), tag)]
            return
        if line is not self._line:
            return
        runs = line.runs[start:]
        if runs and all(run.kind == "text" for run in runs):
            line.runs[start:] = [replace(runs[0], text=_script("".join(run.text for run in runs), tag))]
        elif runs:
            line.runs.insert(start, replace(runs[0], kind="text", text="^" if tag == "sup" else "_"))

    def _end_code(self) -> None:
        if self._code is None:
            return
        code, self._code = "".join(self._code).strip("\n"), None
        if self._is_block or "\n" in code:
            if code.strip():
                self._alone(Run("\n".join(line.rstrip() for line in code.rstrip().split("\n")), "block"))
        elif code.strip():
            self._add(Run(code, "code"))
        self._is_block = False


def _decoded(source: str) -> str:
    return html.unescape(source) if "&" in source else source


def _text(source: str) -> str:
    return printable(_decoded(_TOKEN.sub(" ", source)))


def _is_balanced(latex: str) -> bool:
    braces = re.sub(r"\\.", "", latex)
    return braces.count("{") == braces.count("}")


def _script(text: str, tag: str) -> str:
    text = text.strip()
    converted = text.translate(_RAISED if tag == "sup" else _LOWERED)
    if all(sign != before for sign, before in zip(converted, text, strict=True)):
        return converted
    sign = "^" if tag == "sup" else "_"
    return f"{sign}{text}" if len(text) == 1 or re.fullmatch(r"[^\W_]+", text) else f"{sign}({text})"


# Writing Markdown

_SPECIAL = re.compile(
    r"[\\`$]|\*(?!\s)|(?<!\s)\*|<(?=[A-Za-z/!?])|\](?=[(\[:])|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_])"
    r"|&(?=#?[A-Za-z0-9]{1,32};)"
)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_LINE_START = re.compile(r"(?:[#>+|=-]|:(?=-)|\d{1,9}(?=[.)](?:\s|$)))")


def written(lines: Sequence[Line]) -> str:
    """Return the lines as Markdown, in the richest form that shows the same text."""
    visible = "".join(_unspaced(run.text) for line in lines for run in line.runs)
    if not visible:
        return ""
    bare = [replace(line, runs=[replace(run, marks="", link="") for run in line.runs]) for line in lines]
    is_long = sum(len(run.text) for line in lines for run in line.runs) > LONGEST_RICH
    for form, careful in ((lines, False), (bare, False), (bare, True))[2 * is_long :]:
        text = printable(_joined(form, careful))
        if len(text) <= LONGEST_TEXT and (_is_plain(text) or _read_again(text) == visible):
            return text
    plain = "\n".join(line.marker + "".join(run.text for run in line.runs) for line in lines)
    return code_block(printable(plain)[: LONGEST_TEXT // 2], LANGUAGE)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _is_plain(text: str) -> bool:
    """Return whether the text is one line without anything that Markdown could interpret."""
    return "\n" not in text and not re.search(r"[\\`*_$<>&~|\[\]]|^[#>+=-]|^\d+[.)]|^\s", text)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.use(dollarmath_plugin, allow_space=True, double_inline=True)


def _read_again(text: str) -> str:
    """Return the visible text of Markdown, without whitespace."""
    parts = list[str]()
    for token in _parser().parse(text):
        parts += (child.content for child in token.children) if token.children is not None else [token.content]
        if token.type == "table_open":
            parts.append("|")
    return _unspaced("".join(parts))


def _joined(lines: Sequence[Line], careful: bool) -> str:
    parts = list[str]()
    for number, line in enumerate(lines):
        between = ""
        if number:
            is_apart = line.gap or line.is_apart or lines[number - 1].is_apart
            between = "\n\n" if is_apart else "\n" if line.marker else LINE_BREAK
        text, margin = _line(line, careful), " " * line.indent
        if between != LINE_BREAK and text.startswith("\xa0"):
            text = f"&nbsp;{text[1:]}"  # a parser would strip it from the start of a paragraph
        inner = f"\n{margin}{' ' * len(line.marker)}"
        parts += [between, margin, line.marker, text.replace("\n", inner)]
    return "".join(parts)


def _line(line: Line, careful: bool) -> str:
    first = line.runs[0]
    if first.kind == "block":
        return code_block(first.text, LANGUAGE)
    if first.kind == "display":
        return f"$$\n{first.text}\n$$"
    groups, is_start = list[tuple[Run, str]](), True
    for run, after in zip(line.runs, [*line.runs[1:], Run("")], strict=True):
        text = _piece(run, after, careful)
        if is_start and run.kind == "text":
            text = _escaped_start(text)
        is_start &= run.kind == "indent"
        if groups and (groups[-1][0].marks, groups[-1][0].link) == (run.marks, run.link):
            text = groups.pop()[1] + text
        groups.append((run, text))
    out = ""
    for (run, text), (_, after_it) in zip(groups, [*groups[1:], (first, "")], strict=True):
        out = _marked(out, text, run, after_it)
    return out.rstrip(" ")


def _piece(run: Run, after: Run, careful: bool) -> str:
    if run.kind == "code":
        return code_span(run.text)
    if run.kind == "formula":
        return f"${run.text}$" + (" " if after.text[:1].isdigit() else "")
    if careful:
        return _PUNCTUATION.sub(r"\\\g<0>", run.text)
    following = "[" if after.link else after.text[:1]
    text = _SPECIAL.sub(
        lambda found: f"\\{found[0]}" if found.end() <= len(run.text) else found[0], run.text + following
    )
    text = text.removesuffix(following)
    return re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", text) if run.link else text


def _escaped_start(text: str) -> str:
    """Escape the start of a line that would be read as a heading, list or quotation."""
    found = _LINE_START.match(text)
    if found is None:
        return text
    at = found.end() if found[0].isdigit() else 0
    return f"{text[:at]}\\{text[at:]}"


def _marked(out: str, text: str, run: Run, after: str) -> str:
    """Append the text in its marks to `out`; marks that a parser would not recognise are left out."""
    core = text.strip(" \xa0")
    if not core or not (run.marks or run.link):
        return out + text
    out += text[: len(text) - len(text.lstrip(" \xa0"))]
    rest = text[len(text.rstrip(" \xa0")) :]
    if run.link:
        out = f"{out[:-1]}\\!" if out.endswith("!") else out
        core = f"[{core}]({run.link.replace('(', '%28').replace(')', '%29')})"
    if run.marks:
        if not _fits(out, core, rest or after):
            lead = _edge(core)
            end = len(core) - _edge(core[lead:][::-1])
            out, core, rest = out + core[:lead], core[lead:end], core[end:] + rest
        if _fits(out, core, rest or after) and not out.endswith("*"):
            core = f"{run.marks}{core}{run.marks[::-1]}"
    return out + core + rest


def _fits(out: str, core: str, after: str) -> bool:
    return _may_stand(out[-1:], core[:1]) and _may_stand(after[:1], core[-1:])


def _edge(text: str) -> int:
    """Count the leading characters of plain punctuation, which may be left outside the emphasis."""
    signs = (n for n, sign in enumerate(text) if unicodedata.category(sign)[0] != "P" or sign in "\\`*_[]()&")
    return next(signs, len(text))


def _may_stand(outside: str, inside: str) -> bool:
    """Return whether CommonMark reads `*` between these characters as the start or end of an emphasis."""
    if not inside or inside.isspace():
        return False
    if unicodedata.category(inside)[0] not in "PS" or not outside.strip():
        return True
    return unicodedata.category(outside)[0] == "P" or _PUNCTUATION.match(outside) is not None
