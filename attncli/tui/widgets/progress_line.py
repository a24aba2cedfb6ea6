"""How far a sitting is: `3/12` and a bar."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from attncli.tui.columns import bar


class Progress(Widget):
    """One line; `done` of `total`."""

    DEFAULT_CSS = """
    Progress { height: 1; width: 1fr; color: $primary; }
    """
    done: reactive[int] = reactive(0)
    total: reactive[int] = reactive(0)

    def __init__(self, done: int = 0, total: int = 0) -> None:
        super().__init__()
        self.set_reactive(Progress.done, done)
        self.set_reactive(Progress.total, total)

    def show(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    def render(self) -> Content:
        label = f" {self.done}/{self.total} "
        share = self.done / self.total if self.total else 0.0
        return Content.assemble((label, "bold"), bar(share, max(1, self.size.width - len(label) - 1), "$primary"))
