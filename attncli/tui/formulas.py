r"""A formula in one line: fractions as `a/b`, scripts as small letters where Unicode has them, else `x^(…)`, `x_(…)`.

Works on TeXicode's parse tree, whose nodes are (kind, token, children, scripts). Grouping is kept with parentheses, so
`R_{n-m}` never becomes `R_n-m` (what converters of plain LaTeX to Unicode do).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from texicode import arts, symbols_art

Node = tuple[str, tuple[str, str], list[int], list[int]]

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


def linear(nodes: Sequence[Node]) -> str:
    """The tree in one line. Raises ValueError for what has no linear form."""
    return _Line(nodes).text(0) if nodes else ""


class _Line:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self._texts: dict[int, str] = {}

    def text(self, index: int) -> str:
        """Return the node at `index` in one line; each node is written once, however often it is asked for."""
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
    """`text` as small letters where all exist, else after ^ or _."""
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
    """A script such as `_model` or a root such as `√dk` would swallow a letter that follows."""
    tail = text.rsplit(" ", 1)[-1]
    cut = max(tail.rfind("_"), tail.rfind("^"), tail.rfind("√"))
    return cut >= 0 and tail[cut + 1 :].isalnum()


def _has_sign(text: str) -> bool:
    """Whether a sign outside of brackets makes the text more than one term or factor."""
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
