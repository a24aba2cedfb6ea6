"""One field for each blank of a cloze card."""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.practice.ask import Asked
from attncli.tui.widgets.typed_answer import TypedAnswer
from attncli.words.app_texts import say


class ClozeAnswer(TypedAnswer):
    """The fields stand in the order of the blanks."""

    def __init__(self, asked: Asked, lang: Lang) -> None:
        labels = [say("cloze.prompt", lang, n=number) for number in range(1, len(asked.texts) + 1)]
        super().__init__(asked, labels, "", lang)
