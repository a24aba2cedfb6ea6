"""Text in two languages, and the places in it where drawn values go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")
_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""`{{name}}` in the question of a numeric card: the place of a value that is drawn when the card is asked."""


@dataclass(frozen=True, slots=True)
class Localised:
    """The same content, written once for each language (Markdown, `$…$` inline and `$$…$$` display formulas)."""

    en: str
    zh: str

    def __getitem__(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en

    def __add__(self, other: Localised) -> Localised:
        return Localised(self.en + other.en, self.zh + other.zh)

    def format(self, **parts: object) -> Localised:
        """Both with their places filled; a part may itself be in both languages."""
        return Localised(
            *(self[lang].format(**{name: _in(part, lang) for name, part in parts.items()}) for lang in LANGS)
        )

    def join(self, texts: Iterable[Localised]) -> Localised:
        """The texts with this between each two."""
        every = list(texts)
        return Localised(*(self[lang].join(text[lang] for text in every) for lang in LANGS))

    @staticmethod
    def of(document: dict[str, str]) -> Localised:
        return Localised(en=document["en"], zh=document["zh"])


def _in(part: object, lang: Lang) -> object:
    return part[lang] if isinstance(part, Localised) else part


NOTHING = Localised("", "")


def quoted(text: str) -> Localised:
    """Words that are the same in every language: names, numbers, what the learner's code says."""
    return Localised(text, text)


def filled(text: str, labels: Mapping[str, str]) -> str:
    """The text with the label of each name; a name without one stays as it is written."""
    return _SLOT.sub(lambda slot: labels.get(slot[1], slot[0]), text)


def example_labels(parameters: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> dict[str, str]:
    """The labels that lists show: the first value of each parameter, given as (label, value) pairs."""
    return {name: str(choices[0][0]) for name, choices in parameters}
