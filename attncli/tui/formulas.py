"""Formulas in card text: rewrite Markdown with `$…$` and `$$…$$`, and draw LaTeX for a terminal.

`draw` draws in two dimensions, `one_line` writes a formula inside a sentence. TeXicode draws fractions, roots and
matrices well but fails quietly: an unknown command becomes `?`, a syntax error a row of prose. So commands with an
equivalent are rewritten first, the upright font is chosen, wrong or rare script glyphs are switched off, and every sign
of failure raises `UnreadableLatex`; the caller then shows the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from rich.cells import cell_len
from texicode import arts, symbols_art
from textual.content import Content

from attncli.domain.text import FULL_WIDTH, beyond_limits, part_pattern, printable

# Card text

FORMULA_FENCE = "formula"

_FOLD = re.compile(rf"(?<=[{FULL_WIDTH}])(?: |\n *)(?=[{FULL_WIDTH}])")
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")
_LINE_START = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|>)\s+)*")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>.+?)\*\*|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|\[(?P<link>[^\[\]]+)\]\([^)\s]{1,2000}\)|\\(?P<escaped>[\\*_`\[\]$])"
)
_STYLES = {"code": "$text-warning", "strong": "bold", "em": "italic", "link": "underline", "escaped": ""}


def unfolded(text: str) -> str:
    """Remove hidden characters, and the spaces that YAML folding leaves between two Chinese characters."""
    return _FOLD.sub("", printable(text))


def for_markdown(text: str) -> str:
    """Return Markdown that Textual can show; code stays as it is.

    An inline formula becomes one line of Unicode, a display formula a fenced block named `formula`, which
    `widgets/markdown.py` draws.
    """

    def rewritten(match: re.Match[str]) -> str:
        if match["display"] is not None:
            return _display(match)
        if match["inline"] is not None:
            return _formula_in_markdown(match["inline"])
        return match[0]

    return part_pattern().sub(rewritten, unfolded(text))


def _display(match: re.Match[str]) -> str:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    tex = " ".join(match["display"].split())
    if line.lstrip().startswith("|"):
        return _formula_in_markdown(tex)
    start = _LINE_START.match(line)
    indent = re.sub(r"[^\s>]", " ", start[0]) if start else ""
    return f"\n{indent}\n{indent}```{FORMULA_FENCE}\n{indent}{tex}\n{indent}```\n{indent}\n{indent}"


def _formula_in_markdown(tex: str) -> str:
    try:
        return _MARKDOWN_SIGN.sub(r"\\\1", one_line(tex))
    except UnreadableLatex:
        return f"`{tex}`"


def inline(text: str) -> Content:
    """Return one paragraph as Content without the Markdown widget: code, bold, emphasis and formulas are styled."""
    whole = Content("")
    position = 0
    text = unfolded(text)
    for match in part_pattern().finditer(text):
        tex = match["inline"] if match["inline"] is not None else match["display"]
        if tex is None:
            continue
        whole += _styled(text[position : match.start()]) + _formula(tex)
        position = match.end()
    return whole + _styled(text[position:])


def _formula(tex: str) -> Content:
    try:
        return Content(one_line(" ".join(tex.split())))
    except UnreadableLatex:
        return Content.styled(tex, _STYLES["code"])


def _styled(text: str) -> Content:
    whole = Content("")
    position = 0
    for match in _INLINE.finditer(text):
        kind = str(match.lastgroup)
        whole += Content(text[position : match.start()]) + Content.styled(match[kind], _STYLES[kind])
        position = match.end()
    return whole + Content(text[position:])


# Drawing

_ALIASES = tuple(
    (re.compile(rf"\\(?:{names})(?![A-Za-z])"), to)
    for names, to in (
        (r"operatorname\*?|mathbf|boldsymbol|bm|mathit", r"\\mathrm"),
        ("textbf|textit|textrm|textsf|texttt|mbox|textnormal", r"\\text"),
        ("lVert|rVert|Vert", r"\\|"),
        ("lvert|rvert|vert", "|"),
        ("limits|nolimits|displaystyle|textstyle|scriptstyle", ""),
        ("implies", r"\\Rightarrow "),
        ("dots[bcmio]?", r"\\dots "),
        ("argmax", r"\\mathrm{argmax}"),
        ("argmin", r"\\mathrm{argmin}"),
        ("coloneqq", ":="),
        (r"left\s*\\langle", r"\\langle "),
        (r"right\s*\\rangle", r"\\rangle "),
        ("leqslant", r"\\le "),
        ("geqslant", r"\\ge "),
    )
)
_FAILURES = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class UnreadableLatex(ValueError):
    """Raised for LaTeX that cannot be drawn; show its source."""


@lru_cache(maxsize=512)
def draw(tex: str) -> tuple[str, ...]:
    """Return the rows of the formula for a fixed-width font, without blank margins. Raises `UnreadableLatex`."""
    from texicode.pipeline import render_tex_rows

    source = _prepared(tex)
    try:
        rows = ["".join(row) for row in render_tex_rows(source, False)]
    except _FAILURES as error:
        raise UnreadableLatex(str(error)) from error
    if any(row.startswith("TeXicode:") for row in rows) or ("?" not in tex and any("?" in row for row in rows)):
        raise UnreadableLatex(tex)
    return _trimmed(rows)


def draw_within(tex: str, width: int) -> tuple[str, ...]:
    """Return the rows of the formula; if wider than `width` cells, break it at gaps, then relations, then signs.

    A part that is still too wide is left so. Raises `UnreadableLatex`.
    """
    if _width(draw(tex)) <= width:
        return draw(tex)
    lines = _broken(tex, width, (GAPS, RELATIONS, SIGNS))
    return tuple(margin + row for margin, line in lines for row in draw(line))


def _broken(tex: str, width: int, marks: Sequence[frozenset[str]]) -> list[tuple[str, str]]:
    """Return (margin, part) for every line; parts after a gap start at the edge, continued ones are indented."""
    if not marks or _width(draw(tex)) <= width:
        return [("", tex)]
    margin = "" if marks[0] is GAPS else "  "
    lines: list[tuple[str, str]] = []
    for part in split_at(tex, marks[0]):
        for inner, piece in _broken(part, width - len(margin), marks[1:]):
            joined = f"{lines[-1][1]} {piece}" if lines else ""
            if lines and not inner and _width(draw(joined)) + len(lines[-1][0]) <= width:
                lines[-1] = (lines[-1][0], joined)
            else:
                lines.append(
                    ((margin if lines else "") + inner, piece.removeprefix(r"\qquad ").removeprefix(r"\quad "))
                )
    return lines


def _width(rows: Sequence[str]) -> int:
    return max(cell_len(row) for row in rows)


@lru_cache(maxsize=2048)
def one_line(tex: str) -> str:
    """Return the formula in one line of Unicode with no-break spaces. Raises `UnreadableLatex`."""
    from texicode.lexer import lexer
    from texicode.parser import parse

    try:
        nodes = parse(lexer(_prepared(tex), False), False)
        return (_Line(nodes).text(0) if nodes else "").strip().replace(" ", "\u00a0")
    except _FAILURES as error:
        raise UnreadableLatex(str(error)) from error


def _prepared(tex: str) -> str:
    bare = tex.replace("\\{", "").replace("\\}", "")
    if not tex.strip() or bare.count("{") != bare.count("}") or beyond_limits(tex):
        raise UnreadableLatex(tex)
    scripts = _script_glyphs()
    for pattern, replacement in _ALIASES:
        tex = pattern.sub(replacement, tex)

    def has_glyphs(mark: str, text: str) -> bool:
        row = 0 if mark == "^" else 1
        return all(scripts.get(letter, "  ")[row] != " " for letter in text.replace("\\top ", "⊤"))

    return "".join(_Spacer(_tokens(tex.strip()), has_glyphs).run(scripts=False))


_WRONG_LETTER = {"V": (1,), "S": (0, 1), "X": (0, 1), "Z": (0,), "Y": (0, 1), "I": (1,), "F": (0,), "y": (1,)}
_RARE_GLYPH = {"C": (0,), "Q": (0,), "q": (0,), "Y": (0,), "!": (0,)}


@cache
def _script_glyphs() -> dict[str, Any]:
    """Return TeXicode's table of small letters, {letter: [superscript, subscript]}, corrected in place.

    Glyphs that TeXicode draws as another letter (subscript V as v), or that fonts often lack, become spaces.
    """
    arts.font = arts.font_normal
    table: dict[str, Any] = arts.unicode_scripts
    table["⊤"] = ["ᵀ", " "]
    for corrections in (_WRONG_LETTER, _RARE_GLYPH):
        for letter, places in corrections.items():
            for place in places:
                table[letter][place] = " "
    return table


def _trimmed(rows: list[str]) -> tuple[str, ...]:
    """Remove empty rows above and below, and the common margin on the left."""
    while rows and not rows[0].strip():
        rows = rows[1:]
    while rows and not rows[-1].strip():
        rows = rows[:-1]
    if not rows:
        raise UnreadableLatex("nothing to draw")
    margin = min(len(row) - len(row.lstrip()) for row in rows if row.strip())
    return tuple(row[margin:].rstrip() for row in rows)


# One line from TeXicode's parse tree

Node = tuple[str, tuple[str, str], list[int], list[int]]
"""(kind, token, children, scripts)"""

_BIG = {"sum": "∑", "prod": "∏", "int": "∫", "oint": "∮", "iint": "∬", "iiint": "∭", "lim": "lim"}
_LONGEST_SMALL_WORD = 3
_BRACKETS = {"pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖", "cases": ("{", "")}
_ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "widetilde": "\u0303"} | {
    "dot": "\u0307",
    "ddot": "\u0308",
    "vec": "\u20d7",
    "check": "\u030c",
    "breve": "\u0306",
    "acute": "\u0301",
    "grave": "\u0300",
    "mathring": "\u030a",
}


class _Line:
    """Writes the nodes of a formula in one line.

    Fractions become `a/b`; scripts become small letters if Unicode has them, else `x^(…)` and `x_(…)`. Parentheses
    keep the grouping, so that `R_{n-m}` never becomes `R_n-m`. Methods raise ValueError for nodes without such a form.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self._texts: dict[int, str] = {}

    def text(self, index: int) -> str:
        """Return the node at `index` in one line; every node is written once."""
        if index not in self._texts:
            self._texts[index] = self._written(index)
        return self._texts[index]

    def _written(self, index: int) -> str:
        kind, token, children, scripts = self.nodes[index]
        write = _WRITERS.get(kind)
        if write is None:
            raise ValueError(f"no linear form for {token[1]}")
        text = write(self, token[1], children)
        if scripts:
            text += self._scripts(scripts)
        return text + (" " if kind == "ctr_base" else "")

    def joined(self, children: Sequence[int]) -> str:
        out = ""
        after_fraction = 0
        for child in children:
            piece = self.text(child)
            if after_fraction and (piece[:1].isalnum() or piece[:1] in "(∑∏√∫"):
                out = f"{out[:-after_fraction]}({out[-after_fraction:]})"
            elif piece[:1].isalnum() and _open_ended(out):
                out += " "
            out += piece
            after_fraction = len(piece) if self.nodes[child][0] == "cmd_frac" else 0
        return out.replace("  ", " ")

    def _scripts(self, scripts: Sequence[int]) -> str:
        written = {self.nodes[i][0]: self.joined(self.nodes[i][2]) for i in scripts}
        if len(written) != len(scripts):
            raise ValueError("double script")
        order = sorted(written.items(), key=lambda item: item[0] not in ("sub_scrpt", "btm_scrpt"))
        return "".join(_script(1 if kind in ("sub_scrpt", "btm_scrpt") else 0, text) for kind, text in order)

    def group(self, _: str, children: Sequence[int]) -> str:
        return self.joined(children)

    def letter(self, value: str, _: Sequence[int]) -> str:
        return {"~": " ", "'": "′", "*": "∗", "-": "−"}.get(value, value)

    def command(self, value: str, _: Sequence[int]) -> str:
        if value in _BIG:
            return _BIG[value]
        if value not in symbols_art.symbols:
            raise ValueError(f"unknown command {value}")
        return "".join(symbols_art.symbols[value])

    def font(self, value: str, children: Sequence[int]) -> str:
        plain, alphabet = arts.alphabets["normal"], arts.font_normal.get(value, arts.alphabets["normal"])
        if value in ("text", "mathrm", "mathbf", "mathit", "operatorname"):
            return self.joined(children)
        return self.joined(children).translate(str.maketrans(plain, alphabet))

    def fraction(self, _: str, children: Sequence[int]) -> str:
        above, below = (self.text(child).strip() for child in children)
        above = f"({above})" if _has_sign(above) else above
        below = f"({below})" if _has_sign(below) or not self._one_factor(children[1]) else below
        return f"{above}/{below}"

    def _one_factor(self, index: int) -> bool:
        kind, _, children, _ = self.nodes[index]
        if kind in ("opn_brac", "cmd_font", "cmd_text"):
            return self.text(index).isdigit() or len(children) == 1 or kind != "opn_brac"
        return True

    def root(self, _: str, children: Sequence[int]) -> str:
        degree = _script(0, self.text(children[0])) if len(children) > 1 else ""
        inside = self.text(children[-1])
        return f"{degree}√{inside if len(inside) == 1 or _word(inside) else f'({inside})'}"

    def binomial(self, _: str, children: Sequence[int]) -> str:
        return f"C({self.text(children[0])}, {self.text(children[1])})"

    def accent(self, value: str, children: Sequence[int]) -> str:
        inside = self.text(children[0])
        return inside[:1] + _ACCENTS[value] + inside[1:]

    def delimited(self, _: str, children: Sequence[int]) -> str:
        left, *inside, right = (self.text(child) for child in children)
        return ("" if left == "." else left) + "".join(inside) + ("" if right == "." else right)

    def environment(self, value: str, children: Sequence[int]) -> str:
        rows: list[list[str]] = [[""]]
        for child in children:
            if self.nodes[child][0] == "row_sep":
                rows.append([""])
            elif self.nodes[child][0] == "amp_sep":
                rows[-1].append("")
            elif self.nodes[child][0] != "cmd_end":
                rows[-1][-1] += self.text(child)
        left, right = _BRACKETS.get(value, ("", ""))
        return left + "; ".join(" ".join(cell.strip() for cell in row) for row in rows if any(row)) + right


def _script(place: int, text: str) -> str:
    """Return `text` as a superscript (place 0) or subscript (1): small letters if all exist, else after ^ or _."""
    text = text.strip()
    small = [arts.unicode_scripts.get(letter, (" ", " "))[place] for letter in text.replace("−", "-")]
    is_word = len(text) > _LONGEST_SMALL_WORD and text.isalpha() and text.isascii()
    if small and " " not in small and not is_word:
        return "".join(small)
    if text == "′":
        return text
    mark = "^_"[place]
    return f"{mark}{text}" if len(text) == 1 or _word(text) else f"{mark}({text})"


def _word(text: str) -> bool:
    return text.replace("\u0302", "").isalnum()


def _open_ended(text: str) -> bool:
    """Return True if a letter that follows would join a script such as `_model` or a root such as `√dk`."""
    tail = text.rsplit(" ", 1)[-1]
    cut = max(tail.rfind("_"), tail.rfind("^"), tail.rfind("√"))
    return cut >= 0 and tail[cut + 1 :].isalnum()


def _has_sign(text: str) -> bool:
    """Return True if the text has a sign outside of brackets, so that it is more than one term or factor."""
    depth = 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if depth == 0 and letter in " /+−⋅×":
            return True
    return False


_Writer = Callable[[_Line, str, Sequence[int]], str]
_WRITERS: dict[str, _Writer] = {
    "opn_root": _Line.group,
    "opn_brac": _Line.group,
    "opn_text": _Line.group,
    "opn_degr": _Line.group,
    "big_dlim": _Line.group,
    "cls_dlim": _Line.group,
    "sup_scrpt": lambda line, _, children: _script(0, line.joined(children)),
    "sub_scrpt": lambda line, _, children: _script(1, line.joined(children)),
    "opn_dlim": _Line.delimited,
    "txt_leaf": _Line.letter,
    "cmd_leaf": _Line.command,
    "ctr_base": _Line.command,
    "cmd_font": _Line.font,
    "cmd_text": _Line.font,
    "cmd_frac": _Line.fraction,
    "cmd_binom": _Line.binomial,
    "cmd_sqrt": _Line.root,
    "cmd_acnt": _Line.accent,
    "cmd_bgin": _Line.environment,
}


# Spacing and cutting

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_THIN = r"\,"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RELATIONS = _words(
    r"= < > \le \leq \ge \geq \ne \neq \approx \equiv \sim \simeq \propto \to \rightarrow \leftarrow \gets "
    r"\Rightarrow \Leftrightarrow \iff \in \notin \subset \subseteq \ll \gg \mapsto \cong \mid"
)
GAPS = _words(r"\quad \qquad")
SIGNS = _words(r"+ - \pm \mp \odot \otimes \oplus")
_FUNCTIONS = _words(r"\log \exp \ln \sin \cos \tan \tanh \max \min \arg \det \sup \inf \Pr \lg")
_OPENERS = _words(r"( [ { \{ \langle \lfloor \lceil & , ; : \, \; \quad \qquad") | {r"\\"}
_CLOSERS = _words(r") ] } \} \rangle \rfloor \rceil")
_DEPTH = {"{": 1, "(": 1, "[": 1, "\\left": 1, "}": -1, ")": -1, "]": -1, "\\right": -1}
_DELIMITED = re.compile(r"\\(left|right|middle|[bB]igg?[lr]?)")
_VERBATIM = _words(r"\text \mathrm \mathbf \mathcal \mathbb \mathsf \mathtt \mathit \begin \end")


def split_at(tex: str, marks: frozenset[str]) -> list[str]:
    """Return the formula cut before each of `marks` (`GAPS`, `RELATIONS` or `SIGNS`) outside of all brackets."""
    parts, depth = [""], 0
    for token in _tokens(tex):
        if depth == 0 and token in marks and parts[-1].strip():
            parts.append("")
        depth += _DEPTH.get(token, 0) + token.startswith("\\begin") - token.startswith("\\end")
        parts[-1] += f"{token} " if token.startswith("\\") else token
    return parts


def _tokens(tex: str) -> list[str]:
    """Return tokens without white space; the arguments of `\\text` and the like stay whole."""
    found = _TOKEN.findall(tex)
    tokens: list[str] = []
    index = 0
    while index < len(found):
        token = _THIN if found[index] == "\\ " else found[index]
        index += 1
        if token in _VERBATIM:
            while index < len(found) and found[index].isspace():
                index += 1
            end = _end_of_argument(found, index)
            argument = "".join(found[index:end])
            tokens.append(token + (argument if argument.startswith("{") else f"{{{argument}}}"))
            index = end
        elif not token.isspace():
            tokens.append(token)
    return tokens


def _end_of_argument(tokens: Sequence[str], start: int) -> int:
    """Return the index after the argument that begins at `start`: one token, or a group in braces."""
    if start >= len(tokens) or tokens[start] != "{":
        return min(start + 1, len(tokens))
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index], 0)
        if depth == 0:
            return index + 1
    return len(tokens)


class _Spacer:
    r"""Adds the spaces that TeX adds and TeXicode does not, in one pass over tokens; groups and scripts recurse.

    Relations and binary signs get a space on both sides, `\log p` and `a, b` one in between; scripts get none. A base
    with two scripts for which `has_glyphs(mark, text)`, mark ^ or _, is true is grouped (`x_j^2` becomes
    `{x_{j}}^{2}`), so that it takes one row instead of three.
    """

    def __init__(self, tokens: Sequence[str], has_glyphs: Callable[[str, str], bool]) -> None:
        self.tokens = tokens
        self.has_glyphs = has_glyphs
        self.out: list[str] = []
        self.previous = ""
        self.at = 0
        self.bars = 0

    def run(self, scripts: bool) -> list[str]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token in "^_":
                self._scripts()
            elif token == "{":
                self._emit("{" + "".join(self._inner(self._take(), scripts)) + "}", "}")
            elif _DELIMITED.fullmatch(token):
                self._delimiter(token)
            else:
                self.at += 1
                self._symbol(token, scripts)
        return self.out

    def _take(self) -> Sequence[str]:
        """Return the argument at this place without its braces, and move behind it."""
        start = self.at
        self.at = _end_of_argument(self.tokens, start)
        argument = self.tokens[start : self.at]
        return argument[1:-1] if argument and argument[0] == "{" else argument

    def _inner(self, tokens: Sequence[str], scripts: bool) -> list[str]:
        return _Spacer(tokens, self.has_glyphs).run(scripts)

    def _emit(self, text: str, token: str) -> None:
        self.out.append(text)
        self.previous = token

    def _delimiter(self, token: str) -> None:
        mark = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else "."
        self.at += 2
        closes = token.startswith("\\right") or token.endswith("r")
        self._emit(f"{token}{mark}", ")" if closes else "(")

    def _scripts(self) -> None:
        found: dict[str, str] = {}
        while self.at < len(self.tokens) and self.tokens[self.at] in ("^", "_") and self.tokens[self.at] not in found:
            mark = self.tokens[self.at]
            self.at += 1
            found[mark] = "".join(self._inner(self._take(), scripts=True))
        base = self.out.pop() if self.out else "{}"
        if len(found) == 2 and _single(base) and all(self.has_glyphs(mark, text) for mark, text in found.items()):
            self.out.append(f"{{{base}_{{{found['_']}}}}}^{{{found['^']}}}")
        else:
            self.out.append(base + "".join(f"{mark}{{{text}}}" for mark, text in found.items()))
        if self.previous in _FUNCTIONS:
            self._gap_before_operand()

    def _symbol(self, token: str, scripts: bool) -> None:
        text = f"{token} " if token == r"\\" or (token[0] == "\\" and token[-1].isalpha()) else token
        binary = token in SIGNS and self._after_operand()
        if scripts:
            self._emit(text, token)
        elif token in RELATIONS or binary:
            before = _THIN if self.previous not in _OPENERS and self.previous else ""
            self._emit(f"{before}{text}{_THIN}", token)
        elif token in _FUNCTIONS:
            self._emit((_THIN if self._after_operand() and self.previous not in _CLOSERS else "") + text, token)
            self._gap_before_operand()
        elif token == ",":
            self._emit(f",{_THIN}", ",")
        elif token in ("|", r"\|"):
            self.bars += 1
            self._emit(text, "(" if self.bars % 2 else ")")
        else:
            self._emit(text, token)

    def _after_operand(self) -> bool:
        return bool(self.previous) and self.previous not in _OPENERS | RELATIONS | SIGNS | _FUNCTIONS

    def _gap_before_operand(self) -> None:
        following = self.tokens[self.at] if self.at < len(self.tokens) else ""
        operand = following[:1].isalnum() or (following[:1] == "\\" and following[1:2].isalpha())
        if operand and not _DELIMITED.fullmatch(following) and following not in RELATIONS:
            self.out.append(_THIN)


def _single(base: str) -> bool:
    """Return True for one letter, or one command that means a letter."""
    return (len(base) == 1 and base.isalpha()) or bool(re.fullmatch(r"\\(?!sum|prod|int|lim)[A-Za-z]+ ", base))
