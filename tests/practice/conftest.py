from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from attncli.config import Settings
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..support.interviews import write_bank, write_impl

Open = Callable[..., Workspace]
MakeCard = Callable[[str], str]


@pytest.fixture
def open_workspace(tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Clock) -> Iterator[Open]:
    """`open_workspace(name, **settings)` opens workspaces over the small bank, one folder for each `name`."""
    opened: list[Workspace] = []

    def make(name: str = "home", **settings: object) -> Workspace:
        workspace = Workspace.open(
            Home(tmp_path / name),
            moving_clock,
            settings=Settings(**settings),  # type: ignore[arg-type]
            quizbank=small_bank,
            impl=small_impl,
        )
        opened.append(workspace)
        return workspace

    yield make
    for workspace in opened:
        workspace.close()


@pytest.fixture
def fresh(open_workspace: Open) -> Open:
    """`fresh(**settings)` opens a workspace in a new home each time."""
    names = count()
    return lambda **settings: open_workspace(f"fresh-{next(names)}", **settings)


@pytest.fixture
def workspace(open_workspace: Open) -> Workspace:
    return open_workspace()


@pytest.fixture
def interview_room(tmp_path: Path, moving_clock: Clock) -> Iterator[Workspace]:
    """Open a workspace with enough cards and challenges for a mock interview."""
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")
    home = Home(tmp_path / "interviews")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=bank, impl=impl) as opened:
        yield opened


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder
