"""Text in two languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Localised:
    """The same content, written once for each language (Markdown, `$…$` inline and `$$…$$` display formulas)."""

    en: str
    zh: str

    def __getitem__(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en

    def __add__(self, other: Localised) -> Localised:
        return Localised(self.en + other.en, self.zh + other.zh)

    @staticmethod
    def of(document: dict[str, str]) -> Localised:
        return Localised(en=document["en"], zh=document["zh"])
