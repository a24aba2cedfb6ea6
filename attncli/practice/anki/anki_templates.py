"""What the two sides of an Anki card say: the template of its note type, filled with the fields of its note. HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from attncli.domain.anki import ForeignCard

_TAG = re.compile(r"\{\{([^{}]{1,200})\}\}")
_CLOZE = re.compile(r"\{\{c([\d,]{1,100})::((?:(?!\{\{c[\d,]{1,100}::|\}\}).)*)\}\}", re.DOTALL)
_BLANK = re.compile(r"<[^<>]{0,2000}>|&nbsp;|\s")
_FROM_OUTSIDE = ("tts ", "tts-voices")
MOST_DEPTH = 8
LONGEST_TEMPLATE = 2**18
LONGEST_SIDE = 2**18
"""Characters: a side is cut there while it is put together."""
HIDDEN = "[…]"
OCCLUSION = "image-occlusion:"
HINT = "hint"


def sides(card: ForeignCard) -> tuple[str, str]:
    """The question and the answer, the answer without the question again.

    A hint is hidden in front. One that the back does not show either stands below the answer.
    """
    question = _Side(card, card.template.question, asked=True)
    answer = _Side(card, card.template.answer, asked=False)
    hints = [f"<p>{escape(name)}: {text}</p>" for name, text in question.hints.items() if name not in answer.used]
    return question.text, "".join([answer.text, *hints])[:LONGEST_SIDE]


class _Side:
    """A template with its sections kept or dropped and its fields put in; an unknown field says nothing."""

    def __init__(self, card: ForeignCard, template: str, asked: bool) -> None:
        self._fields: Mapping[str, str] = card.fields
        self._number = card.ord + 1 if card.template.is_cloze else 0
        self._asked = asked
        self._filled: dict[str, bool] = {}
        self.used: set[str] = set()
        self.hints: dict[str, str] = {}
        self.text = self._joined(template[:LONGEST_TEMPLATE])

    def _joined(self, template: str) -> str:
        parts, size, at, shown = list[str](), 0, 0, [True]
        for found in _TAG.finditer(template):
            between, at = template[at : found.start()], found.end()
            name = found[1].strip()
            sign = name[0] if name[:1] in ("#", "^", "/") else ""
            name = name.removeprefix(sign).strip()
            told = between if shown[-1] else ""
            if sign == "/":
                shown = shown[:-1] if len(shown) > 1 else shown
            elif sign:
                shown.append(shown[-1] and self._is_filled(name) == (sign == "#"))
            elif shown[-1]:
                told += self._field(name)
            parts.append(told)
            size += len(told)
            if size > LONGEST_SIDE:
                break
        return "".join([*parts, template[at:] if shown[-1] else ""])[:LONGEST_SIDE]

    def _is_filled(self, name: str) -> bool:
        if self._number and name == f"c{self._number}":
            return True
        if name not in self._filled:
            self._filled[name] = bool(_BLANK.sub("", self._fields.get(name, "")[:LONGEST_SIDE]))
        return self._filled[name]

    def _field(self, name: str) -> str:
        *filters, field = [part.strip() for part in name.split(":")]
        if field not in self._fields or any(one.startswith(_FROM_OUTSIDE) for one in filters):
            return ""
        if "type" in filters and self._asked:
            return ""
        text = self._fields[field][:LONGEST_SIDE]
        if HINT in filters and self._asked:
            if self._is_filled(field):
                self.hints[field] = text
            return ""
        self.used.add(field)
        return gaps(text, self._number, self._asked) if self._number and "cloze" in filters else text


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
