"""Textual's command palette, made safe: it may be closed before it has opened, or opened where there is no room."""

from __future__ import annotations

from typing import Any

from textual import work
from textual.command import CommandList, CommandPalette

# Textual's own, under names that may go: then the palette gathers as Textual does.
_GATHER: Any = getattr(getattr(CommandPalette, "_gather_commands", None), "__wrapped__", None)
_GROUP = getattr(CommandPalette, "_GATHER_COMMANDS_GROUP", "default")


class Palette(CommandPalette):
    """Looks for nothing where there is no list to show it in, and pages through none without a height."""

    if _GATHER is not None:

        @work(exclusive=True, group=_GROUP)
        async def _gather_commands(self, search_value: str) -> None:
            if self.query(CommandList):
                await _GATHER(self, search_value)

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)
