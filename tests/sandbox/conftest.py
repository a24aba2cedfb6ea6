"""One zygote for all tests of this folder, and the check that tests leave nothing behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from attncli.sandbox import namespaces
from attncli.sandbox.zygote_client import Ending, Reply, Worker, ZygoteClient

MEMORY_MIB = 384
SECONDS = 20.0
Outcome = Reply | Ending
Grade = Callable[..., Outcome]


@pytest.fixture(scope="session")
def zygote() -> Iterator[ZygoteClient]:
    with ZygoteClient.start() as running:
        running.ready()
        yield running


@pytest.fixture
def worker(zygote: ZygoteClient) -> Iterator[Worker]:
    with zygote.worker(MEMORY_MIB) as running:
        yield running


@pytest.fixture
def load(worker: Worker) -> Grade:
    """Load a source in a fresh worker."""

    def run(source: str, seconds: float = SECONDS, entry: Sequence[str] = ("f",), kernel: bool = False) -> Outcome:
        return worker.load(source.encode(), "submission.py", list(entry), seconds, kernel)

    return run


@pytest.fixture
def call(worker: Worker) -> Grade:
    """Load a source and call its `f` without arguments."""

    def run(source: str, seconds: float = SECONDS, **options: Any) -> Reply | Ending:
        loaded = worker.load(source.encode(), "submission.py", ["f"], SECONDS)
        assert isinstance(loaded, Reply), loaded
        assert loaded.header["op"] == "loaded", loaded.header
        header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}
        return worker.request(header, [], seconds, **options)

    return run


def verdict(outcome: Reply | Ending) -> tuple[str, str]:
    """Return reason and text of a rejection, from an ending or a reply; for other replies, their op and no text."""
    if isinstance(outcome, Ending):
        return outcome.reason, str(outcome.message)
    if outcome.header["op"] == "raised":
        return outcome.header["reason"], f"{outcome.header['type']}: {outcome.header['text']}"
    return outcome.header["op"], ""


def descendants(pid: int) -> list[int]:
    """Return a process's descendants in any pid namespace."""
    own = namespaces.children_of(pid)
    return own + [deeper for child in own for deeper in descendants(child)]


def gone(pid: int) -> bool:
    """Return True once a process has no descendants, within half a minute."""
    deadline = time.monotonic() + 30
    while descendants(pid) and time.monotonic() < deadline:
        time.sleep(0.005)
    return not descendants(pid)


def zygote_pid(zygote: ZygoteClient) -> int:
    return zygote._process.pid


@pytest.fixture
def nothing_left(zygote: ZygoteClient, worker: Worker) -> Iterator[None]:
    """Fail if a test leaves a worker process, or a file in the home or temporary folder."""
    before = _listing()
    yield
    worker.kill()
    assert gone(zygote_pid(zygote)), "a process was left behind"
    assert _listing() == before, "a file was left behind"


def _listing() -> set[str]:
    places = [Path.home(), Path("/dev/shm")]
    names = {str(path) for place in places if place.is_dir() for path in place.iterdir()}
    return {name for name in names if "attn-" in name or "hostile" in name}
