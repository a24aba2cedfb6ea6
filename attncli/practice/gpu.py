"""Is there a GPU, and can PyTorch use it? Asked without loading torch."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from attncli.errors import UsageError

_GPUS = (Path("/dev/nvidia0"), Path("/dev/dxg"))
_VERSION = re.compile(r"^__version__\s*=\s*['\"](?P<version>[^'\"]*)", re.MULTILINE)
_CUDA = re.compile(r"^cuda\b[^=\n]*=\s*['\"](?P<cuda>[^'\"]+)", re.MULTILINE)


def gpu_is_seen() -> bool:
    """Whether an NVIDIA GPU is visible to this machine."""
    return any(path.exists() for path in _GPUS)


def torch_without_cuda() -> str:
    """The version of an installed PyTorch that is built without CUDA; empty where it has it, or cannot be told."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    try:
        said = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return ""
    version = _VERSION.search(said)
    return "" if version is None or _CUDA.search(said) else version["version"]


def require_gpu() -> None:
    """Raises UsageError where nothing can be graded on a GPU."""
    if not gpu_is_seen():
        raise UsageError("no NVIDIA GPU is visible here; use --device cpu: device placement is proved without one")
    if version := torch_without_cuda():
        raise UsageError(f"PyTorch {version} is built without CUDA; install a build with it (pytorch.org/get-started)")
