"""Draws docs/review.svg: a revealed card in the app, without a terminal. Run: python docs/screenshot.py"""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from attncli import paths
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


async def draw(folder: Path) -> str:
    with Workspace.open(paths.home(folder, {}), lambda: NOW, "en") as workspace:
        app = AttnApp(workspace, Random(0), "review", topic="att")
        async with app.run_test(size=(100, 36)) as pilot:
            await pilot.pause(0.5)
            await pilot.press("space")
            await pilot.press("a", "b")
            await pilot.pause(0.5)
            return app.export_screenshot(title="attn review")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        target = Path(__file__).with_name("review.svg")
        target.write_text(asyncio.run(draw(Path(folder))), encoding="utf-8")
