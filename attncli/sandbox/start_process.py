"""Starting a process that will run nobody's code but torch's: the command, its environment, the folders it may read.

The environment of a zygote is what a worker could find in its own memory, so nothing of the user's goes there.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from attncli.errors import JudgeFailed, SandboxUnavailable

_KEPT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_FIXED_VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
}


def package_folders() -> list[Path]:
    """Folders with installed packages, the one with torch first. Raises JudgeFailed where torch is not installed."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise JudgeFailed("grading needs PyTorch, and this Python has none: install it with `pip install torch`")
    package = Path(spec.origin).parent
    folders = [package.parent if spec.submodule_search_locations else package]
    folders += [Path(name) for name in sys.path if Path(name).name in ("site-packages", "dist-packages")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def withheld_folders() -> list[Path]:
    """Folders that no worker may read: this package, and the challenges and cards beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    beside = [package.parent / name for name in ("impl", "quizbank", "tests")]
    return [package, *(path for path in beside if (package.parent / "pyproject.toml").exists())]


def folders(site_paths: Sequence[Path] | None = None, withheld: Sequence[Path] = ()) -> dict[str, list[str]]:
    """What a zygote has to know: where packages lie, and what no worker may read."""
    packages = package_folders() if site_paths is None else list(site_paths)
    hidden = [*withheld_folders(), *(Path(path) for path in withheld)]
    return {"packages": [str(path) for path in packages], "withheld": [str(path) for path in hidden]}


def launch(python: str, arguments: Sequence[str], log: IO[Any], **streams: Any) -> subprocess.Popen[bytes]:
    """Run `launch.py` with these arguments; errors go to `log`.

    Raises SandboxUnavailable on anything but Linux, JudgeFailed where `python` is no program.
    """
    if sys.platform != "linux":
        raise SandboxUnavailable(f"grading needs Linux, and this is {sys.platform}: on Windows use WSL")
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    launcher = Path(__file__).with_name("launch.py")
    try:
        return subprocess.Popen(
            [python, "-s", "-S", "-P", "-B", str(launcher), *arguments],
            env=kept | _FIXED_VARIABLES,
            cwd="/",
            stderr=log,
            start_new_session=True,  # Ctrl-C in the terminal is the judge's to handle
            **streams,
        )
    except OSError as error:
        raise JudgeFailed(f"{python} cannot be started for the sandbox: {error.strerror}") from error
