"""A challenge's folder must have all that its files need before any question is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli.errors import JudgeFailed
from attncli.judge.challenge import Folder
from attncli.sandbox import kernels


def test_kernels_without_triton_are_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise ImportError("No module named 'triton'")

    monkeypatch.setattr(kernels, "prepare", absent)
    Folder({"id": "plain"}, tmp_path).prepare()
    with pytest.raises(JudgeFailed, match=r"No module named 'triton'.*pip install 'attncli\[kernels\]'"):
        Folder({"id": "kernel", "kernel": True}, tmp_path).prepare()
