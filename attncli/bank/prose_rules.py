"""How the texts are written: length of the short answer, Chinese punctuation, filler, and the glossary's terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attncli.bank.problems import Finding, shown
from attncli.bank.reading.card_texts import localised, parts_of
from attncli.domain.chinese_characters import IDEOGRAPHS

SHORT_WORDS = (50, 120)
SHORT_CHARACTERS = (100, 260)

_CHINESE_UNIT = re.compile(rf"[{IDEOGRAPHS}]|[^\W{IDEOGRAPHS}]+(?:[.'-][^\W{IDEOGRAPHS}]+)*")
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


def english_words(text: str) -> int:
    """Words between spaces that have at least one letter or digit."""
    return sum(any(char.isalnum() for char in word) for word in text.split())


def chinese_units(text: str) -> int:
    """Chinese characters, and each Latin word, symbol name or number counted as one."""
    return len(_CHINESE_UNIT.findall(text))


def short_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """The 30-second answer: 50 to 120 English words, 100 to 260 Chinese characters."""
    short = card.get("short")
    if not short:
        return
    measures = (
        ("en", english_words, SHORT_WORDS, "words"),
        ("zh", chinese_units, SHORT_CHARACTERS, "characters (a Latin word or number counts as one)"),
    )
    for lang, measure, (least, most), unit in measures:
        length = measure(short[lang])
        if not least <= length <= most:
            remedy = "say more" if length < least else "move detail to explain"
            said = f"the short answer has {length} {unit}, must have {least} to {most}"
            yield Finding(("short", lang), f"{said}; {remedy}")


def measured_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """What a card says that we measured can be run: it has the experiment that shows it."""
    if card.get("experiment"):
        return
    for way, text in localised(dict(card)):
        for lang, words in _OWN_RUN.items():
            if found := words.search(text[lang]):
                said = f'"{found[1]}" is a measurement of our own without an experiment that shows it'
                yield Finding((*way, lang), f"{said}; name it as `experiment`, cite a source, or take the figure out")


def fix_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """A repaired line is shown as code everywhere: backticks in it would set the prose between them as code."""
    for lang, text in (card.get("fix") or {}).items():
        if "`" in text:
            yield Finding(("fix", lang), "a fix is shown as code; remove the backticks and write prose as a comment")


def style_findings(value: object) -> Iterator[Finding]:
    """Half-width punctuation and missing spaces in Chinese, filler in both languages."""
    for way, text in localised(value):
        prose = parts_of(text["zh"]).prose
        for half in _HALF_WIDTH.finditer(prose):
            sign = half[1] or half[2]
            said = f"half-width {sign} in Chinese near {_near(prose, half)}"
            yield Finding((*way, "zh"), f"{said}; write {_FULL_WIDTH[sign]}")
        if joined := _NO_SPACE.search(prose):
            said = f"no space between Chinese and Latin near {_near(prose, joined)}"
            yield Finding((*way, "zh"), f"{said}; add one", error=False)
        for lang, pattern in _FILLER.items():
            if filler := pattern.search(text[lang]):
                yield Finding((*way, lang), f"{shown(filler.group(), 40)} says nothing; remove it", error=False)


def _near(prose: str, found: re.Match[str]) -> str:
    return shown(prose[max(0, found.start() - 6) : found.end() + 6], 40)


@dataclass(frozen=True, slots=True)
class Terms:
    """The glossary as patterns: what cards and challenges must not write, and what to write instead."""

    patterns: tuple[tuple[str, re.Pattern[str], Mapping[str, str]], ...] = ()

    @staticmethod
    def of(glossary: Iterable[Mapping[str, Any]]) -> Terms:
        entries = tuple(glossary)
        found = []
        for lang in ("en", "zh"):
            instead = {str(word): str(term[lang]) for term in entries for word in term.get(f"avoid_{lang}") or ()}
            if instead:
                kept = {str(term[key]) for term in entries for key in (lang, "abbreviation") if term.get(key)}
                found.append((lang, _avoiding(lang, instead, kept), instead))
        return Terms(tuple(found))

    def findings(self, value: object) -> Iterator[Finding]:
        """Terms that the glossary says to avoid, in every text below a value."""
        if not self.patterns:
            return
        for way, text in localised(value):
            for lang, pattern, instead in self.patterns:
                for word in dict.fromkeys(found["avoid"] for found in pattern.finditer(text[lang]) if found["avoid"]):
                    right = instead.get(word) or next(
                        (better for avoided, better in instead.items() if avoided.lower() == word.lower()), ""
                    )
                    said = f"{shown(word, 40)} is not this bank's term"
                    yield Finding((*way, lang), f"{said}; the glossary says {shown(right, 40)}")


def _avoiding(lang: str, instead: Iterable[str], kept: Iterable[str]) -> re.Pattern[str]:
    """Finds avoided words, but not inside a longer term that is right."""
    avoid = _alternatives(lang, instead)
    inside = [term for term in kept if any(word.lower() in term.lower() and word != term for word in instead)]
    flags = re.IGNORECASE if lang == "en" else re.NOFLAG
    right = f"{_alternatives(lang, inside)}|" if inside else ""
    return re.compile(f"{right}(?P<avoid>{avoid})", flags)


def _alternatives(lang: str, words: Iterable[str]) -> str:
    escaped = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return rf"(?<!\w)(?:{escaped})(?!\w)" if lang == "en" else f"(?:{escaped})"
