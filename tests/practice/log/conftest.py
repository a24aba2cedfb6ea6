"""A folder that machines share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder
