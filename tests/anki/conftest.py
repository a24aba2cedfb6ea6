"""The workspaces of the use cases, for decks."""

from __future__ import annotations

from ..practice.conftest import open_workspace, workspace

__all__ = ["open_workspace", "workspace"]
