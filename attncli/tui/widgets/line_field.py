"""One line that is typed, every printable sign of it."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from attncli.tui.widgets.typed_in_order import KeysInOrder


class LineField(KeysInOrder, Input):
    """`-` and `/` are typed; Textual does not count them as characters.

    Focus selects nothing, so that the next key replaces nothing; a field that offers a value may have it selected.
    """

    SELECTS: ClassVar[bool] = False

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, id=id, select_on_focus=self.SELECTS)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return super().check_consume_key(key, character) or key in ("minus", "slash")


class PassingField(LineField):
    """A field that comes up for one line; Escape leaves it, and the screen's `leave_field` takes it away."""

    SELECTS = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.leave_field", "key.leave-field", key_display="Esc")
    ]
