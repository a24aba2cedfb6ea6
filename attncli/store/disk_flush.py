"""Files that are on disk, and not only in the system's memory, before anything relies on them."""

from __future__ import annotations

import os
from pathlib import Path

from attncli.paths import flush_folder


def flush(path: Path) -> None:
    """Waits until the content of `path` is on disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def put_in_place(part: Path, path: Path) -> None:
    """Gives the finished file `part` the name `path`: whenever the power fails, the old or the new one is there."""
    flush(part)
    part.replace(path)
    flush_folder(path.parent)
