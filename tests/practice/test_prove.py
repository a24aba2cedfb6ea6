"""Proving many challenges at once."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from attncli.practice import prove

PATIENCE_SECONDS = 20


class Interrupted:
    """A judge in whose turn the learner presses Ctrl-C."""

    def __init__(self, other: Event) -> None:
        self.other = other

    def prove(self, *_: object) -> Any:
        assert self.other.wait(PATIENCE_SECONDS)
        raise KeyboardInterrupt

    def close(self) -> None:
        """There is no process."""


class Busy:
    """A judge that goes on until it is closed."""

    def __init__(self, begun: Event) -> None:
        self.begun, self.closed = begun, Event()
        self.was_closed = False

    def prove(self, *_: object) -> Any:
        self.begun.set()
        self.was_closed = self.closed.wait(PATIENCE_SECONDS)
        return {"sound": [], "wrong": {}, "surprises": []}

    def close(self) -> None:
        self.closed.set()


def test_an_interrupt_does_not_wait_for_the_proofs_that_were_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = Event()
    busy = Busy(begun)
    judges = iter([Interrupted(begun), busy])
    monkeypatch.setattr(prove, "Judge", SimpleNamespace(start=lambda: next(judges)))
    monkeypatch.setattr(prove, "specification", lambda challenge: {})
    challenges: Any = [SimpleNamespace(id=name, folder=str(tmp_path), required=()) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt):
        prove.prove(challenges, streams=1, jobs=2)
    assert busy.was_closed
