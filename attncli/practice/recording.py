"""One change of the log: all or nothing, and derived under the settings and the fit that hold now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attncli.practice.workspace import Workspace


@contextmanager
def recording(workspace: Workspace) -> Iterator[None]:
    """A transaction. What another process has changed since this one opened the workspace is taken over first."""
    with workspace.store.transaction():
        workspace.catch_up()
        yield
