"""Text as it stands: brackets in it are brackets, and nothing in it can be clicked."""

from __future__ import annotations

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static

from attncli.domain.printable import printable


class Plain(Static):
    """Textual reads a string as mark-up unless told otherwise; this one is told, and every text of the app is one."""

    def __init__(self, content: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_content(content), markup=False, id=id, classes=classes)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        super().update(_content(content), layout=layout)


def heading(text: str) -> Plain:
    """A line over what follows; how it looks is for the style sheet of the screen."""
    return Plain(text, classes="heading")


def _content(content: VisualType) -> VisualType:
    return Content(printable(content)) if isinstance(content, str) else content
