"""One zygote and the results of all references, shared by the ladder tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from attncli.ladder import BY_ID, Engines, Files
from attncli.sandbox.zygote_client import ZygoteClient
from verified import failed

ROOT = Path(__file__).parents[2]
IMPL = ROOT / "impl"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and sys.platform != "linux":
            item.add_marker(pytest.mark.skip(reason="workers want Linux"))


def submission(id: str, name: str) -> str:
    """Return the text of a file of a piece's challenge, such as `wrong/clockwise`."""
    piece = BY_ID[id]
    return (IMPL / piece.track / id / f"{name}.py").read_text(encoding="utf-8")


def wrong_names(id: str) -> list[str]:
    """Return the names of a piece's wrong files that miss *solved*."""
    folder = IMPL / BY_ID[id].track / id / "wrong"
    known = failed(id)
    return [path.stem for path in sorted(folder.glob("*.py")) if known.get(path.stem, ["", "solved"])[1] == "solved"]


def right_names(id: str) -> list[str]:
    return [path.stem for path in sorted((IMPL / BY_ID[id].track / id / "right").glob("*.py"))]


@pytest.fixture(scope="session")
def zygote() -> Iterator[ZygoteClient]:
    with ZygoteClient.start() as started:
        started.ready()
        yield started


@pytest.fixture(scope="session")
def engines(zygote: ZygoteClient) -> Engines:
    return Engines(Files(IMPL), zygote.worker)


@pytest.fixture(scope="session")
def impatient(zygote: ZygoteClient) -> Engines:
    return Engines(Files(IMPL), zygote.worker, seconds=5.0, patience=1.0)
