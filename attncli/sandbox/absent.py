"""Says at once that a package is not there: torch looks for numpy in every folder whenever it meets a plain number."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_LOOKED_FOR = "numpy"


class Absent:
    """Found first, and finds nothing."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == _LOOKED_FOR:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def note_absence() -> None:
    """Put the finder in place, unless the package is installed."""
    if importlib.util.find_spec(_LOOKED_FOR) is None:
        sys.meta_path.insert(0, Absent)
