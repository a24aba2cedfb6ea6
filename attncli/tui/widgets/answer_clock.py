"""The half minute that an answer takes aloud: it counts down under the question, and interrupts nothing."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content
from textual.widget import Widget

from attncli.domain.review_time import ANSWER_SECONDS
from attncli.domain.text import Lang
from attncli.practice.workspace import Clock
from attncli.tui.columns import bar
from attncli.words.app_texts import say

TICK_SECONDS = 1.0
# Without motion the line changes only so often, and has no bar.
STEADY_SECONDS = 10


class AnswerClock(Widget):
    """One line; it takes no focus, and when the time is up it says so and stays as it is."""

    DEFAULT_CSS = """
    AnswerClock { height: 1; width: 1fr; padding: 0 2; color: $text-muted; }
    """

    def __init__(self, clock: Clock, began_at: datetime, lang: Lang, *, steady: bool) -> None:
        super().__init__()
        self._clock, self._began_at, self._steady = clock, began_at, steady
        self._lang: Lang = lang
        self._shown = self._left()

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self.tick)

    def tick(self) -> None:
        """Draws the line anew if it says something else by now."""
        left = self._left()
        if left != self._shown:
            self._shown = left
            self.refresh()

    def _left(self) -> int:
        spent = max(0, int((self._clock() - self._began_at).total_seconds()))
        left = max(0, ANSWER_SECONDS - spent)
        return -(-left // STEADY_SECONDS) * STEADY_SECONDS if self._steady else left

    def render(self) -> Content:
        left = self._shown
        if not left:
            return Content(say("review.time-up", self._lang, seconds=ANSWER_SECONDS))
        told = say("review.time-left", self._lang, seconds=left)
        if self._steady:
            return Content(told)
        width = max(1, self.size.width - Content(told).cell_length - 1)
        return Content.assemble(f"{told} ", bar(left / ANSWER_SECONDS, width, "$primary"))
