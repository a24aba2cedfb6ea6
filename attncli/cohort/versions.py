"""What a result depends on besides files and options."""

from __future__ import annotations

import platform
from importlib import metadata

from attncli import __version__
from attncli.errors import EnvironmentFailure


def versions() -> dict[str, str]:
    """Versions of the program and of what it computes with. Raises EnvironmentFailure where there is no torch."""
    try:
        torch = metadata.version("torch")
    except metadata.PackageNotFoundError as error:
        raise EnvironmentFailure("grading needs PyTorch, and this Python has none: install it with pip") from error
    return {"attncli": __version__, "python": platform.python_version(), "torch": torch}
