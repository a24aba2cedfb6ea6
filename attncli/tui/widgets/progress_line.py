"""How far a sitting is: `3/12`, a bar, and what waits."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from attncli.tui.columns import bar


class Progress(Widget):
    """One line; `done` of `total`, and `beside` the bar what waits."""

    DEFAULT_CSS = """
    Progress { height: 1; width: 1fr; color: $primary; }
    """
    done: reactive[int] = reactive(0)
    total: reactive[int] = reactive(0)

    def __init__(self, done: int = 0, total: int = 0, beside: Content | None = None) -> None:
        super().__init__()
        self._beside = beside or Content("")
        self.set_reactive(Progress.done, done)
        self.set_reactive(Progress.total, total)

    def show(self, done: int, total: int, beside: Content | None = None) -> None:
        self.done, self.total, self._beside = done, total, beside or Content("")
        self.refresh()

    def render(self) -> Content:
        label = f" {self.done}/{self.total} "
        share = self.done / self.total if self.total else 0.0
        waits = Content("  ") + self._beside if self._beside else self._beside
        room = max(1, self.size.width - len(label) - 1 - waits.cell_length)
        return Content.assemble((label, "bold"), bar(share, room, "$primary"), waits)
