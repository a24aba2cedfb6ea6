"""A learner who uses the app in the test's own process, through Textual's pilot."""

from collections.abc import Callable
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from attncli.i18n import Lang

LOOKS = 400
SECONDS_BETWEEN = 0.05


class LearnerInApp:
    """Waits for the screen as long as a learner at a busy machine would."""

    def __init__(self, pilot: Pilot[Any], lang: Lang) -> None:
        self.pilot, self.lang = pilot, lang

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(_character_to_key(key) if len(key) == 1 else key)

    async def type(self, text: str) -> None:
        """Send all keys at once, as over a slow line: waiting after each would cost a test a minute."""
        named = {"\n": ("enter", "\r"), "\b": ("backspace", "\x7f")}
        for sign in text:
            self.pilot.app.post_message(events.Key(*named.get(sign, (_character_to_key(sign), sign))))
        await self.pilot.pause()

    def screen(self) -> str:
        strips = self.pilot.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def until(self, holds: Callable[[str], bool], waited_for: str) -> str:
        for _ in range(LOOKS):
            await self.pilot.pause()
            if holds(screen := self.screen()):
                return screen
            await self.pilot.pause(SECONDS_BETWEEN)
        raise AssertionError(f"waited for {waited_for}; this is shown:\n{screen}")
