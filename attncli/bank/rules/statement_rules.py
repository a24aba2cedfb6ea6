"""What holds for the texts of a challenge: both languages, and a first part that can be read at one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attncli.bank.problems import Finding, Way
from attncli.bank.prose_rules import english_words
from attncli.domain.chinese_characters import is_chinese

MOST_LINES = 25
MOST_WORDS = 180
FOLLOW_UPS = 3
_TEXTS = ("title", "statement", "hardened")
_WRITTEN_TWICE = ("statement", "hardened", "follow_ups")


def statement_findings(value: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with the texts of a `challenge.yaml`, as far as it has them."""
    for way, text in _texts(value):
        if _is_text(text.get("zh")) and not is_chinese(text["zh"]) and text["zh"] != text.get("en"):
            yield Finding((*way, "zh"), "this text has no Chinese; write it in Chinese")
        elif _is_text(text.get("zh")) and not is_chinese(text["zh"]) and way[0] in _WRITTEN_TWICE:
            yield Finding((*way, "zh"), "this text is the English one again; write it in Chinese")
        if _is_text(text.get("en")) and not any("a" <= char <= "z" for char in text["en"].lower()):
            yield Finding((*way, "en"), "this text has no English; write it in English")
    yield from _length_findings(value.get("statement"))


def _texts(value: Mapping[str, Any]) -> Iterator[tuple[Way, Mapping[str, Any]]]:
    found: list[tuple[Way, Any]] = [((key,), value.get(key)) for key in _TEXTS]
    hints = value.get("hints")
    found += [(("hints", number), hint) for number, hint in enumerate(hints if isinstance(hints, list) else ())]
    for number, asked in enumerate(value.get("follow_ups") or ()) if isinstance(value.get("follow_ups"), list) else ():
        if isinstance(asked, dict):
            found += [(("follow_ups", number, key), asked.get(key)) for key in ("ask", "answer")]
    return ((way, text) for way, text in found if isinstance(text, dict))


def follow_up_findings(value: Mapping[str, Any], bundled: bool) -> Iterator[Finding]:
    """What is wrong with what comes after a challenge; one that is not `bundled` may leave it out."""
    asked = value.get("follow_ups") or ()
    if len(asked) != FOLLOW_UPS and (asked or bundled):
        said = f"there are {len(asked)} follow-ups, must be {FOLLOW_UPS}; write what interviewers ask next"
        yield Finding(("follow_ups",), said if bundled else f"{said}, or leave them out", at_key=True)
    if bundled and not value.get("sources"):
        yield Finding(("sources",), "there is no source; name the paper or the page that it comes from", at_key=True)
    for lang in ("en", "zh"):
        questions = [entry["ask"][lang] for entry in asked]
        for number, question in enumerate(questions):
            if question in questions[:number]:
                yield Finding(("follow_ups", number, "ask", lang), "this is asked twice; ask something else")


def _is_text(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _length_findings(statement: Any) -> Iterator[Finding]:
    if not isinstance(statement, dict):
        return
    remedy = "move what production alone asks for to hardened, and leave out what all challenges share"
    for lang in ("en", "zh"):
        text = statement.get(lang)
        if not isinstance(text, str):
            continue
        lines, words = len(text.strip("\n").splitlines()), english_words(text)
        if lines > MOST_LINES:
            yield Finding(("statement", lang), f"the first part has {lines} lines, may have {MOST_LINES}; {remedy}")
        if lang == "en" and words > MOST_WORDS:
            yield Finding(("statement", lang), f"the first part has {words} words, may have {MOST_WORDS}; {remedy}")
