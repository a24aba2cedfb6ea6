r"""The words of a formula that somebody typed: LaTeX, Unicode and ASCII spellings brought to one row of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attncli.domain.arithmetic import ComputeError

_GREEK_LETTERS = "αβγδεϵζηθκλμνξπρστφϕχψω"
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi phi chi psi omega"
).split()
_GREEK = dict(zip(_GREEK_LETTERS, _GREEK_NAMES, strict=True))
RAISED = "↑"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿⁱᵗ"
_LETTERS = str.maketrans(
    {
        **_GREEK,
        **dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚₛₜₓᵥ", "0123456789aehijklmnopstxv", strict=True)),
        **dict.fromkeys("·×⋅∙", "*"),
        **dict.fromkeys("÷∕", "/"),
        **dict.fromkeys("−–—", "-"),
        **dict(zip("（）", "()", strict=True)),
        "√": " sqrt ",
        "$": " ",
    }
)
_LOWERED = str.maketrans(_RAISED, "0123456789-+nit")
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:left|right|displaystyle|mathrm|mathit|text|operatorname)(?![A-Za-z])|\\[,;:! ]", " "),
        (r"\\[dt]?frac(?![A-Za-z])", " @ "),
        (r"\\(?:cdot|times)(?![A-Za-z])", " * "),
        (r"\\div(?![A-Za-z])", " / "),
        (r"\*\*", "^"),
        (r"_\s*\{\s*(\w+)\s*\}", r"\1"),
        (r"(?<=\w)_(?=\w)", ""),
        (r"\\(?=[A-Za-z])", " "),
    )
)
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+(?!\w))?|\.\d+)|(?P<word>[A-Za-z]\w*)|(?P<sign>[-+*/^@↑()\[\]{}])|\s+"
)


class Words:
    """Reads formulas in the given variables. `names` are the functions and constants that are known besides."""

    def __init__(self, variables: Sequence[str], names: Iterable[str]) -> None:
        spellings = {name: name for name in names}
        for variable in variables:
            for spelling in _greek_spellings(_plain(variable)):
                spellings.setdefault(spelling, f"${variable}")
        spellings |= {_plain(variable): f"${variable}" for variable in variables}
        self._meaning = spellings
        self._longest_first = sorted(spellings, key=len, reverse=True)

    def tokens(self, text: str) -> list[str]:
        """Numbers, signs, and `name:` before each name; a variable is `name:$…`.

        Raises:
            ComputeError: a character or name that is not known.
        """
        plain = _plain(text)
        tokens: list[str] = []
        at = 0
        while at < len(plain):
            found = _TOKEN.match(plain, at)
            if found is None:
                raise ComputeError(f'"{text[:60]}" cannot be read at {plain[at]}; write a formula such as 2*i/d')
            if word := found["word"]:
                tokens += self._names(word)
            elif not found.group().isspace():
                tokens.append(found.group())
            at = found.end()
        return tokens

    def _names(self, word: str) -> list[str]:
        """A run of letters and digits as known names, longest first: `id` is i times d."""
        tokens = []
        at = 0
        while at < len(word):
            name = next((name for name in self._longest_first if word.startswith(name, at)), None)
            if name is not None:
                tokens.append(f"name:{self._meaning[name]}")
                at += len(name)
            elif found := re.compile(r"\d+").match(word, at):
                tokens.append(found.group())
                at = found.end()
            else:
                known = sorted({meaning[1:] for meaning in self._meaning.values() if meaning[0] == "$"})
                names = ", ".join(known) or "none"
                raise ComputeError(f'"{word[:40]}" is not a name of this formula; its variables are {names}')
        return tokens


def _plain(text: str) -> str:
    text = re.sub(f"[{_RAISED}]+", lambda run: f"{RAISED}{{{run.group().translate(_LOWERED)}}}", text).translate(
        _LETTERS
    )
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def _greek_spellings(name: str) -> list[str]:
    """`b1` may be typed β1 or beta1, and `beta1` b1."""
    found = []
    for greek in _GREEK_NAMES:
        if name.startswith(greek):
            found.append(greek[0] + name.removeprefix(greek))
        elif name[:1] == greek[0] and not any(name.startswith(other) for other in _GREEK_NAMES):
            found.append(greek + name[1:])
    return found
