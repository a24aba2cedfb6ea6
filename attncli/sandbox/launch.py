"""Starts a zygote, or a judge with its own: `python -s -S -P -B launch.py zygote DESCRIPTOR PARENT`, or `... judge`.

It is run by its path, with attncli not importable, so it makes a package called `sandbox` of its own folder.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
from pathlib import Path


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
