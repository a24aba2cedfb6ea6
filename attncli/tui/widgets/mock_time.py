"""How far a part of an interview is, and the time that it has left, a second at a time."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from attncli.domain.text import Lang
from attncli.practice.mock import MockInterview
from attncli.tui.columns import bar
from attncli.tui.widgets.answer_clock import TICK_SECONDS
from attncli.words import mock_texts

_LITTLE_SECONDS = 60


class MockTimeLine(Widget):
    """One line; it takes no focus, and only it is drawn anew when a second has passed."""

    DEFAULT_CSS = """
    MockTimeLine { height: 1; width: 1fr; padding: 0 1; dock: top; margin: 1 0 0 0; }
    """

    def __init__(self, interview: MockInterview, lang: Lang) -> None:
        super().__init__()
        self._interview, self._lang = interview, lang
        self._shown: tuple[object, ...] = ()
        self._was_up = interview.state.is_over or interview.time.is_up

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self.tick)

    def tick(self) -> None:
        """Draws the line anew if it says something else by now, and tells once that the time is up."""
        if self._interview.state.is_over:
            return
        now = (*self._interview.number, self._interview.time.left_seconds)
        if now != self._shown:
            self._shown = now
            self.refresh()
        if self._interview.time.is_up and not self._was_up:
            self._was_up = True
            self.notify(mock_texts.FINISH[self._lang], severity="warning", markup=False)

    def render(self) -> Content:
        if self._interview.state.is_over:
            return Content("")
        (n, total), time = self._interview.number, self._interview.time
        label, told = f"{n}/{total} ", f" {self._told(time.is_up, time.left_seconds)}"
        share = min(1.0, time.spent_ms / time.budget_ms) if time.budget_ms else 1.0
        style = "bold $warning" if time.left_seconds <= _LITTLE_SECONDS else "bold"
        width = max(1, self.size.width - len(label) - Content(told).cell_length - 2)
        return Content.assemble((label, "bold"), bar(share, width, "$primary"), (told, style))

    def _told(self, is_up: bool, left_seconds: int) -> str:
        if is_up:
            return f"{mock_texts.TIME_UP[self._lang]} {mock_texts.clock_text(left_seconds)}"
        return mock_texts.TIME_LEFT[self._lang].format(time=mock_texts.clock_text(left_seconds))
