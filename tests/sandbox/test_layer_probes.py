"""A layer counts as active only if the canary call worked before it and failed behind it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from attncli.errors import JudgeFailed
from attncli.sandbox import landlock, launch
from attncli.sandbox import policy as layer_probes
from attncli.sandbox.zygote_client import ZygoteClient, describe

OPEN = {"read": "ok", "write": "ok", "connect": "ENETUNREACH", "socket": "ok", "fork": "ok"}
AFTER_LANDLOCK = OPEN | {"read": "EACCES", "write": "EACCES", "connect": "EACCES"}
FINDINGS = {
    "namespaces": OPEN,
    "landlock": AFTER_LANDLOCK,
    "seccomp": AFTER_LANDLOCK | {"connect": "EPERM", "socket": "EPERM", "fork": "EPERM"},
    "process": {"pid": "2", "parent": "1"},
    "rlimits": {"small": "ok", "beyond": "ENOMEM"},
    "controls": {"torch": "ok", "library": "ok"},
}
BYPASSED = FINDINGS | {"landlock": AFTER_LANDLOCK | {"read": "ok"}}


def test_all_layers_are_proved() -> None:
    assert all(layer_probes.layers_in_force(FINDINGS).values())
    assert tuple(layer_probes.layers_in_force(FINDINGS)) == layer_probes.LAYERS
    assert layer_probes.broken_controls(FINDINGS) == []
    broken = layer_probes.broken_controls(FINDINGS | {"controls": {"torch": "EIO", "library": "ok"}})
    assert broken == ["torch: EIO"]


def test_a_probe_that_got_through_or_proves_nothing_loses_its_layer() -> None:
    for stage, probe, outcome, lost in (
        ("landlock", "read", "ok", "landlock"),
        ("landlock", "write", "ok", "landlock"),
        ("landlock", "read", "ENOENT", "landlock"),
        ("namespaces", "read", "EACCES", "landlock"),
        ("seccomp", "fork", "ok", "seccomp"),
        ("seccomp", "socket", "ok", "seccomp"),
        ("landlock", "socket", "EPERM", "seccomp"),
        ("namespaces", "connect", "ok", "namespaces"),
        ("process", "pid", "4711", "namespaces"),
        ("process", "parent", "4710", "namespaces"),
        ("rlimits", "beyond", "ok", "rlimits"),
        ("rlimits", "small", "ENOMEM", "rlimits"),
    ):
        found = layer_probes.layers_in_force(FINDINGS | {stage: FINDINGS[stage] | {probe: outcome}})
        assert [name for name, proved in found.items() if not proved] == [lost], (stage, probe, outcome)


@pytest.mark.sandbox
def test_a_layer_that_the_canary_got_past_is_missing_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZygoteClient, "_run_canary", lambda self, policy: BYPASSED)
    with ZygoteClient.start() as zygote:
        assert zygote.layers == ("process", "rlimits", "seccomp", "namespaces")
        assert "landlock: set up, but the self-test bypassed it" in zygote.notes


@pytest.mark.sandbox
def test_a_sandbox_in_which_torch_fails_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZygoteClient, "_run_canary", lambda self, policy: FINDINGS | {"controls": {"torch": "EIO"}})
    with ZygoteClient.start() as zygote, pytest.raises(JudgeFailed, match="Python does not work in the sandbox"):
        zygote.ready()


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_python_that_cannot_be_read_inside_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import colorsys

    library = Path(colorsys.__file__).parent
    with (
        ZygoteClient.start(withheld=[library]) as zygote,
        pytest.raises(JudgeFailed, match=r"self-test ended early|Python does not work in the sandbox|cannot go on"),
    ):
        zygote.ready()
    assert launch.withheld_folders()


@pytest.mark.slow
@pytest.mark.sandbox
def test_describe_tells_the_layers_or_why_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    found = describe()
    assert found["available"] is True
    assert set(found["layers"]) | set(found["missing"]) == set(layer_probes.LAYERS)
    monkeypatch.setattr(sys, "platform", "win32")
    found = describe()
    assert found["available"] is False and "use WSL" in found["notes"][0]


@pytest.mark.slow
@pytest.mark.sandbox
def test_an_ungranted_path_is_no_reason_for_a_missing_landlock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ruleset, ungranted = landlock.build([tmp_path / "gone"], [])
    os.close(ruleset.descriptor)
    receive = ZygoteClient._receive

    def received(self: ZygoteClient, deadline: float) -> tuple[dict[str, Any], int | None]:
        message, handle = receive(self, deadline)
        message["notes"] = [*ungranted, *message.get("notes", [])]
        return message, handle

    monkeypatch.setattr(ZygoteClient, "_receive", received)
    monkeypatch.setattr(ZygoteClient, "_run_canary", lambda self, policy: BYPASSED)
    found = describe()
    assert found["missing"] == {"landlock": "landlock: set up, but the self-test bypassed it"}
    assert len(ungranted) == 1 and str(tmp_path / "gone") in ungranted[0] and ungranted[0] in found["notes"]
