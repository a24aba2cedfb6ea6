"""Draw docs/pictures/tour.svg: a card, a rejection and the summary in turn. Run: python tools/pictures.py

The pictures are the app's own screens, in a fresh home at a fixed time. Grading takes a few seconds.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from random import Random

from rich.console import Console
from rich.markdown import Markdown
from rich.segment import Segment, Segments

from attncli import paths
from attncli.domain.log_row import Rating
from attncli.export.render import to_markdown
from attncli.export.summary import summarise
from attncli.practice import record
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp

ROOT = Path(__file__).parents[1]
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
INTERVIEW = date(2026, 3, 23)
TOPIC, CARD = "att", "att-02"
WRONG = ROOT / "impl" / "attention" / "sdpa" / "wrong" / "no-scale.py"
COLUMNS, LINES = 100, 34
SECONDS_A_FRAME = 6


async def card(workspace: Workspace) -> str:
    """Draw the answer of a card with two points ticked."""
    record.answer(workspace, CARD, Rating.GOOD, NOW - timedelta(days=9))
    app = AttnApp(workspace, Random(0), "review", topic=TOPIC)
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await pilot.pause(0.5)
        await pilot.press("space", "a", "b")
        await pilot.pause(0.5)
        return app.export_screenshot(title="attn review")


async def rejection(workspace: Workspace) -> str:
    """Draw the report on attention without the division by √d."""
    file = workspace.home.solutions / "sdpa.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(WRONG.read_text(encoding="utf-8").split('"""')[2].lstrip(), encoding="utf-8")
    app = AttnApp(workspace, Random(0), "challenge", id="sdpa")
    async with app.run_test(size=(COLUMNS, LINES)) as pilot:
        await pilot.pause(0.5)
        await pilot.press("g")
        await app.workers.wait_for_complete()
        await pilot.pause(0.5)
        return app.export_screenshot(title="attn challenges")


def summary(folder: Path) -> str:
    """Draw the first lines of the summary after some weeks of simulated reviews."""
    with Workspace.open(paths.home(folder, {}), lambda: NOW, "en") as workspace:
        rng = Random(3)
        for at in (NOW - timedelta(days=ago) for ago in (12, 0)):
            for id in sorted(workspace.store.index.card_ids()):
                if rng.random() < 0.3:
                    record.answer(workspace, id, Rating(rng.choice((1, 2, 3, 3, 3, 3, 4))), at)
        text = to_markdown(summarise(workspace, "en", INTERVIEW))
    console = Console(record=True, width=COLUMNS, height=LINES, file=StringIO(), force_terminal=True)
    lines = console.render_lines(Markdown(text), pad=False)[:LINES]
    console.print(Segments(segment for line in lines for segment in (*line, Segment.line())))
    return console.export_svg(title="attn export summary")


def moving(frames: list[str]) -> str:
    """Combine Rich's drawings into one SVG that shows each for some seconds; without animation it shows the first."""
    width, height = max(tuple(map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frame)[0])) for frame in frames)
    seconds, percent = SECONDS_A_FRAME * len(frames), 100 / len(frames)
    style = "\n".join(
        f"@keyframes frame{at} {{ 0% {{ opacity: 0 }} {at * percent:.2f}% {{ opacity: 1 }}"
        f" {(at + 1) * percent:.2f}% {{ opacity: {int(at == len(frames) - 1)} }} }}\n"
        f".frame{at} {{ opacity: {int(at == 0)}; animation: frame{at} {seconds}s step-end infinite }}"
        for at in range(len(frames))
    )
    drawn = "\n".join(
        f'<g class="frame{at}">{re.sub(r"@font-face {.*?}", "", frame, flags=re.DOTALL)}</g>'
        for at, frame in enumerate(frames)
    )
    box = f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg"'
    return f"<svg {box}>\n<style>\n{style}\n</style>\n{drawn}\n</svg>\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Workspace.open(paths.home(Path(folder) / "a", {}), lambda: NOW, "en") as workspace:
            frames = [asyncio.run(card(workspace)), asyncio.run(rejection(workspace))]
        frames.append(summary(Path(folder) / "b"))
    target = ROOT / "docs" / "pictures" / "tour.svg"
    target.write_text(moving(frames).replace("Fira Code", "ui-monospace"), encoding="utf-8")


if __name__ == "__main__":
    main()
