"""Limit the running app's imports and memory: never torch, and little before the first frame."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BUDGET_MIB = 120

PROGRAM = """
import asyncio, json, sys
from datetime import datetime, UTC
from pathlib import Path
from random import Random
from attncli.config import Settings
from attncli.paths import Home
from attncli.practice.workspace import Workspace
home, keys = Home(Path(sys.argv[1])), sys.argv[2:]
from attncli.tui.app import AttnApp
workspace = Workspace.open(home, lambda: datetime(2026, 6, 12, 9, tzinfo=UTC), settings=Settings())
app = AttnApp(workspace, Random(1))
async def drive():
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        first = sorted(sys.modules)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.1)
        status = Path("/proc/self/status")
        lines = status.read_text().splitlines() if status.exists() else []
        peak = [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
        print(json.dumps({"first": first, "all": sorted(sys.modules), "peak_mib": peak[0] if peak else 0}))
asyncio.run(drive())
app.grader.close()
"""


def driven(home: Path, *keys: str) -> dict[str, Any]:
    """Return the modules loaded at the first frame and at the end, and the peak memory of the app's own process."""
    command = [sys.executable, "-c", PROGRAM, str(home), *keys]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.full
def test_no_screen_loads_torch_and_all_of_them_fit_the_memory_budget(tmp_path: Path) -> None:
    keys = ["r", "space", "3", "escape", "s", "escape", "slash", "escape", "c", "enter", "h", "escape", "escape", "l"]
    found = driven(tmp_path, *keys)
    loaded = {name.split(".")[0] for name in found["all"]}
    assert "attncli.tui.screens.challenge" in found["all"] and "attncli.tui.screens.stats" in found["all"]
    assert loaded.isdisjoint({"torch", "numpy", "hypothesis", "tree_sitter"}), loaded
    assert found["peak_mib"] <= BUDGET_MIB


@pytest.mark.slow
def test_once_the_bank_is_indexed_the_first_frame_waits_for_nothing_heavy(tmp_path: Path) -> None:
    driven(tmp_path)
    first = set(driven(tmp_path)["first"])
    heavy = set("textual.widgets._markdown markdown_it yaml pydantic fsrs tomlkit pygments.lexers.python".split())
    assert first.isdisjoint(heavy), first & heavy
