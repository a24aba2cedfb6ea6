"""The sandbox report of `attn doctor` is also true without a layer, or without Linux."""

from __future__ import annotations

import os
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from attncli.sandbox import landlock
from attncli.sandbox.policy import LAYERS
from attncli.sandbox.zygote_client import ZygoteClient, describe
from tests.sandbox.test_layer_probes import FINDINGS

pytestmark = pytest.mark.sandbox


def test_describe_tells_the_layers() -> None:
    found = describe()
    assert found["available"] is True
    assert set(found["layers"]) | set(found["missing"]) == set(LAYERS)


def test_describe_tells_why_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    found = describe()
    assert found["available"] is False
    assert "use WSL" in found["notes"][0]


def test_a_path_that_is_not_granted_is_no_reason_for_a_missing_landlock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ruleset, ungranted = landlock.build([tmp_path / "gone"], [])
    os.close(ruleset.descriptor)
    findings: dict[str, Any] = deepcopy(FINDINGS)
    findings["landlock"]["read"] = "ok"
    receive = ZygoteClient._receive

    def received(self: ZygoteClient, deadline: float) -> tuple[dict[str, Any], int | None]:
        message, handle = receive(self, deadline)
        message["notes"] = [*ungranted, *message.get("notes", [])]
        return message, handle

    monkeypatch.setattr(ZygoteClient, "_receive", received)
    monkeypatch.setattr(ZygoteClient, "_run_canary", lambda self, policy: findings)
    found = describe()
    assert found["missing"] == {"landlock": "landlock: set up, but the self-test bypassed it"}
    assert len(ungranted) == 1 and str(tmp_path / "gone") in ungranted[0] and ungranted[0] in found["notes"]
