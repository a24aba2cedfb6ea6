"""Verify many challenges at once."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from attncli.bank.loader import load_challenge
from attncli.paths import bundled_impl
from attncli.practice import verify
from attncli.practice.library import challenge_of
from attncli.practice.verify import can_be_run

PATIENCE_SECONDS = 20


class Interrupted:
    """A judge during whose verification the learner presses Ctrl-C."""

    def __init__(self, other: Event) -> None:
        self.other = other

    def verify(self, *_: object) -> Any:
        assert self.other.wait(PATIENCE_SECONDS)
        raise KeyboardInterrupt

    def close(self) -> None:
        """Do nothing, as there is no process."""


class Busy:
    """A judge that runs until it is closed."""

    def __init__(self, begun: Event) -> None:
        self.begun, self.closed = begun, Event()
        self.was_closed = False

    def verify(self, *_: object) -> Any:
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
    monkeypatch.setattr(verify, "Judge", SimpleNamespace(start=lambda: next(judges)))
    monkeypatch.setattr(verify, "specification", lambda challenge: {})
    challenges: Any = [SimpleNamespace(id=name, folder=str(tmp_path), required=()) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt):
        verify.verify_challenges(challenges, streams=1, jobs=2)
    assert busy.was_closed


def test_only_kernels_need_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    document = load_challenge(bundled_impl() / "kernels" / "vector-add" / "challenge.yaml").documents[0]
    kernel = challenge_of(document)
    assert kernel.kernel
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not can_be_run(kernel)
    assert can_be_run(replace(kernel, kernel=False))


def test_a_mistake_that_does_not_compose_fails_a_proof_and_misjudges_no_file(tmp_path: Path) -> None:
    found = {"file": "repairs.yaml", "line": 5, "stream": 0, "verdict": "accepted", "message": "mean, planted: …"}
    proof = verify.Proof("double", tmp_path, 3, 6, [found])
    document = proof.document()
    assert not proof.holds and document["failures"] == [found]
    assert document["right"] == {"accepted": 3, "total": 3} and document["wrong"] == {"rejected": 6, "total": 6}
    assert proof.failures() == [f"{tmp_path / 'repairs.yaml'}:5: mean, planted: …"]
