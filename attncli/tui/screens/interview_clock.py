"""The clock of a mock interview, on each screen that the interview is held on."""

from __future__ import annotations

from typing import ClassVar

from textual.screen import ModalScreen

from attncli.practice.mock import MockInterview
from attncli.tui.screens.base import AttnScreen


class InterviewClock(AttnScreen):
    """Leaving stops the clock, and so does another screen over this one, but for those it goes on under."""

    GOES_ON_UNDER: ClassVar[tuple[type[object], ...]] = (ModalScreen,)
    interview: MockInterview
    is_left = False
    is_settled = False

    def action_back(self) -> None:
        self.stop_clock()
        self.attn.go_back()

    def on_screen_suspend(self) -> None:
        if not isinstance(self.app.screen, self.GOES_ON_UNDER):
            self.stop_clock()

    async def on_screen_resume(self) -> None:
        if not self.is_left and not self.is_settled:
            self.interview.go_on()

    def on_unmount(self) -> None:
        self.stop_clock()

    def stop_clock(self) -> None:
        """Keeps the time, unless the interview goes on on another screen."""
        if not self.is_left and self.interview.is_running:
            with self.attn.telling():
                self.interview.pause()
