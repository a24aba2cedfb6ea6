"""Choose the device to grade a file on, without importing torch."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from attncli.domain.challenge import gains_by_gpu, runs_on_gpu
from attncli.errors import UsageError
from attncli.practice import grade
from attncli.practice.grade import device_for, require_gpu, torch_without_cuda

KERNEL = SimpleNamespace(kernel=True, required=("loads", "work"))
MEMORY = SimpleNamespace(kernel=False, required=("loads", "device", "memory"))
PLACED = SimpleNamespace(kernel=False, required=("loads", "device"))
NUMBERS = SimpleNamespace(kernel=False, required=("loads", "memory"))
BUILDS = {
    "__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n": "2.13.0+cpu",
    "__version__ = '2.13.0'\ncuda: Optional[str] = '12.8'\n": "",
    '__version__ = "2.13.0"\ncuda = "12.8"\n': "",
    "": "",
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """`machine(there, build)` simulates a machine with or without a GPU, and its PyTorch build."""

    def make(there: bool, build: str) -> None:
        monkeypatch.setattr(grade, "gpu_is_seen", lambda: there)
        package = tmp_path / "torch"
        package.mkdir(exist_ok=True)
        (package / "version.py").write_text(build)
        spec = ModuleSpec("torch", None, origin=str(package / "__init__.py"))
        monkeypatch.setattr(grade.importlib.util, "find_spec", lambda name: spec)

    return make


WITHOUT, WITH_CUDA, *_ = BUILDS


@pytest.mark.parametrize(("build", "version"), BUILDS.items())
def test_a_build_without_cuda_is_known_by_its_version_file(machine: Any, build: str, version: str) -> None:
    machine(True, build)
    assert torch_without_cuda() == version


def test_where_there_is_no_gpu_one_line_says_so(machine: Any) -> None:
    machine(False, WITH_CUDA)
    with pytest.raises(UsageError, match="no NVIDIA GPU found; use --device cpu") as caught:
        require_gpu()
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_a_build_without_cuda_is_told_with_what_to_install(machine: Any) -> None:
    machine(True, WITHOUT)
    with pytest.raises(UsageError, match=r"PyTorch 2.13.0\+cpu has no CUDA support; install a CUDA build"):
        device_for(PLACED, "cuda")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("challenge", "auto", "cuda"),
    [
        (KERNEL, ("cuda", True), ("cuda", False)),
        (MEMORY, ("cuda", True), ("cuda", False)),
        (PLACED, ("cpu", False), ("cuda", False)),
        (NUMBERS, ("cpu", False), ("cpu", False)),
    ],
    ids=["kernel", "memory", "placed", "numbers"],
)
def test_auto_takes_a_gpu_where_it_gains(machine: Any, challenge: Any, auto: Any, cuda: Any) -> None:
    machine(True, WITH_CUDA)
    assert device_for(challenge, "auto") == auto
    assert device_for(challenge, "cuda") == cuda
    assert device_for(challenge, "cpu") == ("cpu", False)
    for there, build in ((False, WITH_CUDA), (True, WITHOUT)):
        machine(there, build)
        assert device_for(challenge, "auto") == ("cpu", False), "auto never fails for want of a GPU"


def test_what_gains_runs_there() -> None:
    for challenge in (KERNEL, MEMORY, PLACED, NUMBERS):
        known = (challenge.kernel, challenge.required)
        assert runs_on_gpu(*known) or not gains_by_gpu(*known)


def test_no_torch_is_loaded_to_choose() -> None:
    """This includes machines with a GPU, where the PyTorch build is inspected."""
    source = (
        "import sys\nfrom types import SimpleNamespace\n"
        "from attncli.practice import grade\n"
        "grade.gpu_is_seen = lambda: True\n"
        "grade.device_for(SimpleNamespace(kernel=True, required=()), 'auto')\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)
