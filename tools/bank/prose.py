"""Check the wording of bundled cards and challenges: punctuation, filler, glossary terms, claims of own measurements.

`python tools/bank/prose.py` prints each problem as `file:line:column: message`; `tests/tools/test_prose.py` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncli.bank.checked_files import checked_file
from attncli.bank.loader import CHALLENGE, GLOSSARY, bank_files, load_glossary
from attncli.bank.problems import Finding, Problem, shown
from attncli.bank.prose_rules import localised, parts_of
from attncli.domain.text import IDEOGRAPHS
from attncli.i18n import LANGS, quoted
from attncli.paths import bundled_impl, bundled_quizbank

_HALF_WIDTH = re.compile(
    rf"[{IDEOGRAPHS}]\s?([,;:?!])\s?(?=[{IDEOGRAPHS}])|[{IDEOGRAPHS}](\.)(?=\s*[{IDEOGRAPHS}]|\s*$)"
)
_FULL_WIDTH = {",": "，", ";": "；", ":": "：", "?": "？", "!": "！", ".": "。"}
_NO_SPACE = re.compile(rf"[{IDEOGRAPHS}][A-Za-z0-9]|[A-Za-z0-9][{IDEOGRAPHS}]")
_FILLER = {
    "en": re.compile(r"\b(it is (?:important|worth) (?:to note|noting)|needless to say|at the end of the day)\b", re.I),
    "zh": re.compile("(总而言之|综上所述|值得注意的是|众所周知|不言而喻|换句话说就是)"),
}
_OWN_RUN = {
    "en": re.compile(r"\b(runs? of ours|our (?:own )?(?:runs?|measurements?)|we (?:ran|measured))\b", re.I),
    "zh": re.compile(rf"(我们[{IDEOGRAPHS}]{{0,8}}(?:小实验|实测|跑下来|测得))"),
}


def problems(quizbank: Path, impl: Path) -> list[Problem]:
    """Return all wording problems of a bank and its challenges."""
    terms = Terms.of(load_glossary(quizbank / GLOSSARY).documents)
    found = []
    for path in (*bank_files(quizbank), *sorted(impl.glob(f"*/*/{CHALLENGE}"))):
        file = checked_file(path)
        file.findings = list(terms.findings(file.value))
        for number, card in file.cards:
            of_card = (*style_findings(card), *measured_findings(card))
            file.findings += [finding.below(("cards", number)) for finding in of_card]
        found += file.problems
    return found


def style_findings(value: object) -> Iterator[Finding]:
    """Find half-width punctuation and missing spaces in Chinese, and filler in both languages."""
    for way, text in localised(value):
        prose = parts_of(text["zh"]).prose
        for half in _HALF_WIDTH.finditer(prose):
            sign = half[1] or half[2]
            message = f"half-width {sign} in Chinese near {_near(prose, half)}; write {_FULL_WIDTH[sign]}"
            yield Finding((*way, "zh"), quoted(message))
        if joined := _NO_SPACE.search(prose):
            message = f"no space between Chinese and Latin near {_near(prose, joined)}; add one"
            yield Finding((*way, "zh"), quoted(message))
        for lang, pattern in _FILLER.items():
            if filler := pattern.search(text[lang]):
                yield Finding((*way, lang), quoted(f"{shown(filler.group(), 40)} adds nothing; remove it"))


def _near(prose: str, found: re.Match[str]) -> str:
    return shown(prose[max(0, found.start() - 6) : found.end() + 6], 40)


@dataclass(frozen=True, slots=True)
class Terms:
    """The glossary as patterns: terms to avoid in cards and challenges, and their replacements."""

    patterns: tuple[tuple[str, re.Pattern[str], Mapping[str, str]], ...] = ()

    @staticmethod
    def of(glossary: Iterable[Mapping[str, Any]]) -> Terms:
        entries = tuple(glossary)
        patterns = []
        for lang in LANGS:
            instead = {str(word): str(term[lang]) for term in entries for word in term.get(f"avoid_{lang}") or ()}
            if instead:
                kept = {str(term[key]) for term in entries for key in (lang, "abbreviation") if term.get(key)}
                patterns.append((lang, _avoiding(lang, instead, kept), instead))
        return Terms(tuple(patterns))

    def findings(self, value: object) -> Iterator[Finding]:
        """Find terms to avoid in all texts of a value."""
        if not self.patterns:
            return
        for way, text in localised(value):
            for lang, pattern, instead in self.patterns:
                for word in dict.fromkeys(found["avoid"] for found in pattern.finditer(text[lang]) if found["avoid"]):
                    right = instead.get(word) or next(
                        (better for avoided, better in instead.items() if avoided.lower() == word.lower()), ""
                    )
                    message = f"{shown(word, 40)} is not the glossary's term; write {shown(right, 40)}"
                    yield Finding((*way, lang), quoted(message))


def _avoiding(lang: str, instead: Iterable[str], kept: Iterable[str]) -> re.Pattern[str]:
    """Match avoided words, but not inside a longer correct term."""
    avoid = _alternatives(lang, instead)
    inside = [term for term in kept if any(word.lower() in term.lower() and word != term for word in instead)]
    flags = re.IGNORECASE if lang == "en" else re.NOFLAG
    right = f"{_alternatives(lang, inside)}|" if inside else ""
    return re.compile(f"{right}(?P<avoid>{avoid})", flags)


def _alternatives(lang: str, words: Iterable[str]) -> str:
    escaped = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return rf"(?<!\w)(?:{escaped})(?!\w)" if lang == "en" else f"(?:{escaped})"


def measured_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Find claims of own measurements in cards without an experiment."""
    if card.get("experiment"):
        return
    for way, text in localised(dict(card)):
        for lang, words in _OWN_RUN.items():
            if found := words.search(text[lang]):
                message = (
                    f'"{found[1]}" claims our own measurement without an experiment; name one as experiment, '
                    "cite a source, or remove the figure"
                )
                yield Finding((*way, lang), quoted(message))


if __name__ == "__main__":
    faults = problems(bundled_quizbank(), bundled_impl())
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))
