"""Start a zygote, or a judge with its own zygote, in a process without the user's environment.

`launch` runs this file by its path: `python -s -S -P -B launch.py zygote DESCRIPTOR PARENT`, or `... judge`. attncli is
not importable there, so the file registers its own folder as a package called `sandbox`. A worker could find the
environment of its zygote in its own memory; so only the variables below are passed on.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

_KEPT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_FIXED_VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
}


def launch(python: str, arguments: Sequence[str], log: IO[Any], **streams: Any) -> subprocess.Popen[bytes]:
    """Run this file with these arguments, with errors going to `log`.

    Raises SandboxUnavailable on anything but Linux, JudgeFailed if `python` cannot be run.
    """
    from ..errors import JudgeFailed, SandboxUnavailable
    from ..i18n import _

    if sys.platform != "linux":
        raise SandboxUnavailable(
            _("grading needs Linux, and this is {platform}: on Windows use WSL", platform=sys.platform)
        )
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    try:
        return subprocess.Popen(
            [python, "-s", "-S", "-P", "-B", __file__, *arguments],
            env=kept | _FIXED_VARIABLES,
            cwd="/",
            stderr=log,
            start_new_session=True,  # the judge handles Ctrl-C in the terminal
            **streams,
        )
    except OSError as error:
        raise JudgeFailed(
            _("{python} cannot be started for the sandbox: {strerror}", python=python, strerror=error.strerror)
        ) from error


def folders(site_paths: Sequence[Path] | None = None, withheld: Sequence[Path] = ()) -> dict[str, list[str]]:
    """Return the setup of a zygote: the package folders, and the folders that no worker may read."""
    packages = package_folders() if site_paths is None else site_paths
    return {"packages": list(map(str, packages)), "withheld": list(map(str, [*withheld_folders(), *withheld]))}


def package_folders() -> list[Path]:
    """Return the folders of installed packages, torch's first. Raises JudgeFailed where torch is not installed."""
    from ..errors import JudgeFailed
    from ..i18n import _

    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise JudgeFailed(_("grading needs PyTorch, which this Python lacks: install it with `pip install torch`"))
    package = Path(spec.origin).parent
    folders = [package.parent if spec.submodule_search_locations else package]
    folders += [Path(name) for name in sys.path if Path(name).name in ("site-packages", "dist-packages")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def withheld_folders() -> list[Path]:
    """Return the folders that no worker may read: this package, and a checkout's challenges, cards and tests."""
    package = Path(__file__).resolve().parent.parent
    beside = [package.parent / name for name in ("impl", "quizbank", "tests")]
    return [package, *(path for path in beside if (package.parent / "pyproject.toml").exists())]


def package_of_this_folder(name: str = "sandbox") -> None:
    """Register the folder of this file as the top-level package `name`."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is no package")
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    gc.disable()  # importing torch makes a million objects that stay: looking through them costs a tenth of the start
    package_of_this_folder()
    if sys.argv[1] == "judge":
        importlib.import_module("sandbox.zygote").serve_both()
    importlib.import_module("sandbox.zygote").main(int(sys.argv[2]), int(sys.argv[3]))
