"""What `attn doctor` says of the sandbox is true also where a layer, or Linux, is missing."""

from __future__ import annotations

import sys

import pytest

from attncli.sandbox.layer_probes import LAYERS
from attncli.sandbox.layers_report import describe

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
