"""What the two sides of an Anki card say: the template of its note type, filled with the fields of its note. HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attncli.domain.anki import ForeignCard

_TAG = re.compile(r"\{\{\s*([#^/]?)\s*([^{}]*?)\s*\}\}")
_CLOZE = re.compile(r"\{\{c(\d+(?:,\d+)*)::((?:(?!\{\{c[\d,]+::|\}\}).)*)\}\}", re.DOTALL)
_BLANK = re.compile(r"<[^>]*>|&nbsp;|\s")
_FROM_OUTSIDE = ("tts ", "tts-voices")
MOST_DEPTH = 8
HIDDEN = "[…]"
OCCLUSION = "image-occlusion:"


def sides(card: ForeignCard) -> tuple[str, str]:
    """The question and the answer, the answer without the question again."""
    number = card.ord + 1 if card.template.is_cloze else 0
    return (
        _filled(card.template.question, card.fields, number, asked=True),
        _filled(card.template.answer, card.fields, number, asked=False),
    )


def _filled(template: str, fields: Mapping[str, str], number: int, asked: bool) -> str:
    """The template with its sections kept or dropped and its fields put in; an unknown field says nothing."""
    parts, at, shown = list[str](), 0, [True]
    for found in _TAG.finditer(template):
        if shown[-1]:
            parts.append(template[at : found.start()])
        at = found.end()
        sign, name = found[1], found[2]
        if sign == "/":
            shown = shown[:-1] if len(shown) > 1 else shown
        elif sign:
            is_there = _is_there(fields.get(name, ""), name, fields, number)
            shown.append(shown[-1] and is_there == (sign == "#"))
        elif shown[-1]:
            parts.append(_field(name, fields, number, asked))
    return "".join([*parts, template[at:] if shown[-1] else ""])


def _is_there(text: str, name: str, fields: Mapping[str, str], number: int) -> bool:
    if number and name == f"c{number}":
        return True
    return bool(_BLANK.sub("", text))


def _field(name: str, fields: Mapping[str, str], number: int, asked: bool) -> str:
    *filters, field = [part.strip() for part in name.split(":")]
    if field not in fields or any(one.startswith(_FROM_OUTSIDE) for one in filters):
        return ""
    if "type" in filters and asked:
        return ""
    text = fields[field]
    return gaps(text, number, asked) if number and "cloze" in filters else text


def gaps(text: str, number: int, asked: bool) -> str:
    """Text with its gaps: where it is asked, the gap `number` shows its hint alone; innermost gaps come first."""

    def gap(found: re.Match[str]) -> str:
        inside, _, hint = found[2].partition("::")
        if inside.startswith(OCCLUSION):
            return ""
        if str(number) not in found[1].split(","):
            return inside
        if asked:
            return f"[{hint}]" if hint.strip() else HIDDEN
        return f"<b>{inside}</b>"

    for _ in range(MOST_DEPTH):
        text, count = _CLOZE.subn(gap, text)
        if not count:
            break
    return text
