"""The options of a choice card, in the order drawn for this time."""

from __future__ import annotations

from textual.content import Content

from attncli.domain.card import ChoiceCard
from attncli.domain.card import Option as OfferedAnswer
from attncli.domain.text import Lang
from attncli.practice.cards.ask import Asked
from attncli.tui.markup import inline
from attncli.tui.widgets.answers import MarkedRows
from attncli.words.app_texts import say


class ChoiceAnswer(MarkedRows):
    """Letters choose; with one right option a choice replaces the last. Revealed, every wrong option says why."""

    def __init__(self, asked: Asked, card: ChoiceCard, lang: Lang) -> None:
        self.asked, self.card = asked, card
        self.lang: Lang = lang
        super().__init__([inline(self._option(place).text[lang]) for place in range(len(card.options))])
        self.closed = asked.revealed

    def _option(self, place: int) -> OfferedAnswer:
        return self.card.options[self.asked.option_order[place]]

    def mark(self, index: int) -> str:
        letter = chr(ord("A") + index)
        chosen = self.asked.option_order[index] in self.asked.chosen
        if self.closed:
            sign = "✓" if self._option(index).correct else "✗" if chosen else " "
            return f"{letter} {sign}"
        sign = ("x" if self.card.multiple else "•") if chosen else " "
        return f"{letter} [{sign}]" if self.card.multiple else f"{letter} ({sign})"

    def text(self, index: int) -> Content:
        option = self._option(index)
        text = self.texts[index]
        if not self.closed:
            return text
        if self.asked.option_order[index] in self.asked.chosen:
            text = Content.assemble(text, (f"  {say('mark.your-answer', self.lang)}", "bold"))
        if option.why_not is not None:
            text = Content.assemble(text, "\n", inline(option.why_not[self.lang]).stylize("$text-muted"))
        return text

    def choose(self, index: int) -> None:
        option = self.asked.option_order[index]
        if self.card.multiple:
            self.asked.chosen ^= {option}
        else:
            self.asked.chosen = {option}

    def complete(self) -> None:
        """Enter without a choice means the option under the cursor, where only one is right."""
        if not self.card.multiple and not self.asked.chosen:
            self.choose(self.cursor)
