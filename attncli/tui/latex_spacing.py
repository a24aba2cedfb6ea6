r"""Spacing of LaTeX in a terminal, as TeX does by itself and TeXicode does not; where a formula too wide may be cut.

Relations and binary signs get a space on both sides, `\log p` and `a, b` one in between; a base with two short scripts
is grouped (`x_j^2` becomes `{x_{j}}^{2}`), so that it takes one row instead of three. Nothing is spaced in scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

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


def spaced(tex: str, short_script: Callable[[str, str], bool]) -> str:
    """The same formula with spaces; `short_script(mark, text)`, mark ^ or _, tells what fits into one row."""
    return "".join(_Spacer(_tokens(tex), short_script).run(scripts=False))


def split_at(tex: str, marks: frozenset[str]) -> list[str]:
    """The formula cut before each of `marks` (`GAPS`, `RELATIONS` or `SIGNS`) that stands outside of all brackets."""
    parts, depth = [""], 0
    for token in _tokens(tex):
        if depth == 0 and token in marks and parts[-1].strip():
            parts.append("")
        depth += _DEPTH.get(token, 0) + token.startswith("\\begin") - token.startswith("\\end")
        parts[-1] += f"{token} " if token.startswith("\\") else token
    return parts


def _tokens(tex: str) -> list[str]:
    """Tokens without white space; the arguments of `\\text` and the like stay whole."""
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
    """The index after the argument that begins at `start`: one token, or a group in braces."""
    if start >= len(tokens) or tokens[start] != "{":
        return min(start + 1, len(tokens))
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index], 0)
        if depth == 0:
            return index + 1
    return len(tokens)


class _Spacer:
    """One pass over a list of tokens; groups and scripts recurse."""

    def __init__(self, tokens: Sequence[str], short_script: Callable[[str, str], bool]) -> None:
        self.tokens = tokens
        self.short_script = short_script
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
        """The argument at this place, without its braces."""
        start = self.at
        self.at = _end_of_argument(self.tokens, start)
        argument = self.tokens[start : self.at]
        return argument[1:-1] if argument and argument[0] == "{" else argument

    def _inner(self, tokens: Sequence[str], scripts: bool) -> list[str]:
        return _Spacer(tokens, self.short_script).run(scripts)

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
        if len(found) == 2 and _single(base) and all(self.short_script(mark, text) for mark, text in found.items()):
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
    """One letter, or one command that stands for a letter."""
    return (len(base) == 1 and base.isalpha()) or bool(re.fullmatch(r"\\(?!sum|prod|int|lim)[A-Za-z]+ ", base))
