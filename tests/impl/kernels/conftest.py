"""Run kernels compiled if there is a GPU, else in Triton's interpreter."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

# Only there are wheels of Triton.
LINUX = sys.platform == "linux"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if LINUX and DEVICE == "cpu":
    from attncli.sandbox.kernels import quicken
    from tests.impl.kernels import rounding_interpreter

    rounding_interpreter.install()
    quicken(rounding_interpreter.interpreter)

IMPL = Path(__file__).parents[3] / "impl"
FOLDERS = sorted(path.parent for path in IMPL.glob("*/*/kernel.py")) if LINUX else []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if LINUX:
        return
    skipped = pytest.mark.skip(reason="Triton has wheels for Linux alone")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(skipped)


def kernel_of(folder: Path) -> ModuleType:
    """Load the kernel of a challenge under a unique name, since Triton reads its source again."""
    name = f"kernel_of_{folder.name.replace('-', '_')}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(folder / "kernel.py")
        sys.modules[name] = module
        try:
            exec(compile((folder / "kernel.py").read_bytes(), module.__file__, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
