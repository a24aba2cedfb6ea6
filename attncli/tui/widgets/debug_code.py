"""The code of a debug card; the learner points at the line that is wrong."""

from __future__ import annotations

from functools import lru_cache

from textual.content import Content
from textual.highlight import highlight

from attncli.domain.card import DebugCard
from attncli.domain.text import Lang
from attncli.practice.cards.ask import Asked
from attncli.tui.widgets.answers import MarkedRows
from attncli.words.app_texts import say


@lru_cache(maxsize=8)
def _lines(code: str) -> list[Content]:
    """Read once for the question and its answer: the colours are a third of what the card costs."""
    return highlight(code.rstrip(), language="python").split("\n", allow_blank=True)


class DebugCode(MarkedRows):
    """Numbered lines; the one under the cursor is the answer. Revealed, the wrong lines are marked."""

    DEFAULT_CSS = """
    DebugCode { background: $surface; padding: 1 1; }
    """

    def __init__(self, asked: Asked, card: DebugCard, lang: Lang) -> None:
        self.asked, self.card = asked, card
        self.lang: Lang = lang
        super().__init__(_lines(card.code))
        self.closed = asked.revealed
        self.cursor = max(0, asked.line - 1)
        if not self.closed:
            asked.line = self.cursor + 1

    def mark(self, index: int) -> str:
        number = f"{index + 1:>2}"
        if not self.closed:
            return f"{number} │"
        wrong = "✗" if index + 1 in self.card.lines else " "
        return f"{number} {wrong}"

    def text(self, index: int) -> Content:
        line = self.texts[index]
        if self.closed and index + 1 in self.card.lines:
            line = line.stylize("bold underline")
        if self.closed and index + 1 == self.asked.line:
            line = Content.assemble(line, (f"  {say('mark.your-answer', self.lang)}", "bold"))
        return line

    def choose(self, index: int) -> None:
        self.asked.line = index + 1

    def press(self, letter: str) -> bool:
        return False

    def action_cursor(self, step: int) -> None:
        super().action_cursor(step)
        self.asked.line = self.cursor + 1
