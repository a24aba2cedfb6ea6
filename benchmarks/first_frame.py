"""Start an app, wait for its first frame, and exit: `first_frame.py minimal` or `first_frame.py attn HOME`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from random import Random


def minimal() -> None:
    from textual.app import App, ComposeResult
    from textual.widgets import Static

    class Minimal(App[None]):
        def compose(self) -> ComposeResult:
            yield Static("hello")

        def on_mount(self) -> None:
            self.call_after_refresh(self.exit)

    Minimal().run(headless=True, size=(80, 24))


def attn(home: Path, hold: bool) -> None:
    from attncli import config, paths
    from attncli.practice.workspace import Workspace
    from attncli.tui.app import AttnApp

    place = paths.home(home, {})
    settings = config.load(place.config, {})
    with Workspace.open(place, lambda: datetime.now(UTC), settings.lang, settings) as workspace:
        app = AttnApp(workspace, Random(0))
        app.call_later(lambda: app.call_after_refresh(app.exit))
        app.run(headless=True, size=(80, 24))
    if hold:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


if __name__ == "__main__":
    if sys.argv[1] == "minimal":
        minimal()
    else:
        attn(Path(sys.argv[2]), "--memory" in sys.argv)
