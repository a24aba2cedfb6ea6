"""The command palette, which may be closed before it has opened, or opened where there is no room for it."""

from __future__ import annotations

from textual import work
from textual.command import CommandList, CommandPalette

_GATHER = CommandPalette._gather_commands.__wrapped__  # type: ignore[attr-defined]


class Palette(CommandPalette):
    """Looks for nothing where there is no list to show it in, and pages through none without a height."""

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        if self.query(CommandList):
            await _GATHER(self, search_value)

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)
