"""Why the last key changed nothing."""

from __future__ import annotations

from attncli.tui.widgets.plain import Plain


class FaultLine(Plain):
    """One line above the ratings; the card stays where it is."""

    DEFAULT_CSS = """
    FaultLine { height: auto; width: 1fr; padding: 0 1; color: $warning; text-style: bold; }
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"! {text}")
