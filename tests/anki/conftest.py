"""Share the workspace fixtures of the use cases with the deck tests."""

from __future__ import annotations

from ..practice.conftest import open_workspace, workspace

__all__ = ["open_workspace", "workspace"]
