"""The field of a numeric card, with the unit that is asked for."""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.practice.ask import Asked
from attncli.tui.widgets.typed_answer import TypedAnswer
from attncli.words.app_texts import say


class NumericAnswer(TypedAnswer):
    """One field; `48`, `1.5e3`, `3/4`, `1.2 TiB` and `1750亿` are all understood."""

    numbers = True

    def __init__(self, asked: Asked, lang: Lang) -> None:
        super().__init__(asked, [say("numeric.prompt", lang)], asked.task.unit if asked.task else "", lang)
