"""The top line: where one is on the left, how things stand on the right."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from attncli.tui.columns import cut


class TitleBar(Widget):
    """`title` in bold, `detail` beside it, `status` at the right edge; a long title gives way first."""

    DEFAULT_CSS = """
    TitleBar { dock: top; height: 1; width: 1fr; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, title: str, detail: str = "", status: str = "") -> None:
        super().__init__()
        self.title, self.detail, self.status = title, detail, status

    def show_status(self, status: str) -> None:
        self.status = status
        self.refresh()

    def show(self, title: str, detail: str = "", status: str = "") -> None:
        self.title, self.detail, self.status = title, detail, status
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        beside = cell_len(self.detail) + cell_len(self.status) + 4
        title = cut(self.title, max(width - beside, min(cell_len(self.title), 12)))
        status = cut(self.status, max(0, width - cell_len(title) - 1))
        detail = cut(self.detail, max(0, width - cell_len(title) - cell_len(status) - 3))
        gap = " " * max(1, width - cell_len(title) - cell_len(detail) - cell_len(status) - 2)
        return Content.assemble((title, "bold $primary"), "  ", detail, gap, (status, "$text-muted"))
