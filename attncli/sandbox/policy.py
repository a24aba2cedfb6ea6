"""The permissions of a worker, as data: one policy for the CPU, weaker ones for a GPU; and the probes of each layer.

A GPU's driver takes `ioctl` calls that nobody can list, maps more addresses than there is memory, starts threads and
names them; SECURITY.md says what that costs. CUDA starts in a worker, behind all layers: these do not bind threads
started before them. It must not start in the zygote: a CUDA context does not survive a fork, and even asking whether
there is a GPU breaks torch in the child. The first backward pass asks that.
"""

from __future__ import annotations

import errno
import mmap
import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

MIB = 1 << 20
MEMORY_MIB = 1024
"""The default memory of a submission."""

LAYERS = ("process", "rlimits", "landlock", "seccomp", "namespaces")
GPUS = ("/dev/nvidia[0-9]*", "/dev/dxg")
AMD_GPUS = ("/dev/kfd",)
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
"""Environment variables that make torch find no GPU and start no threads for one."""
Findings = dict[str, dict[str, str]]  # probe outcomes ("ok" or an errno name) by layer and probe


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPolicy:
    """The permissions of one kind of worker. The defaults are those of a worker on the CPU.

    - `kernel_limits_memory`: rlimits bound written memory and addresses. Without it only process 1's watch bounds
      resident memory, with `runtime_mib` more for the GPU's own libraries.
    - `written_bytes`: size limit of a file; only memory files can be written unless `folder_mib` gives a folder.
    - `processes`: limit of threads and processes.
    - `calls`, `fcntl`: system calls and fcntl commands allowed in addition. `any_ioctl`: all ioctl commands but those
      that type into a terminal. `shared_memory`: anonymous shared maps.
    - `unix_sockets`: Unix sockets may be made, and no socket connected.
    - `reads`, `devices`, `programs`: path patterns that may be read, opened as a device, and executed.
    - `names_threads`: a /proc of the worker's own pid namespace, with its own task folder writable.
    - `folder_mib`: size of the worker's own folder at /dev/shm, in memory, gone with the worker.
    - `starts_processes`: the worker may run `programs`.
    - `cache_folder`: a folder of the judge's that workers share for compiled kernels.
    - `start_seconds`: time limit for the worker to be ready.
    """

    name: str
    device: str = "cpu"
    kernel_limits_memory: bool = True
    runtime_mib: int = 0
    written_bytes: int = 0
    open_files: int = 64
    processes: int = 64
    calls: tuple[str, ...] = ()
    any_ioctl: bool = False
    shared_memory: bool = False
    unix_sockets: bool = False
    names_threads: bool = False
    reads: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    folder_mib: int = 0
    starts_processes: bool = False
    cache_folder: str = ""
    start_seconds: float = 20.0
    fcntl: tuple[int, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    kept_variables: tuple[str, ...] = ()

    @property
    def shares_rules(self) -> bool:
        """Return True if its Landlock rules are the same for every worker, so that they are built once."""
        return not (self.reads or self.devices or self.programs or self.names_threads or self.folder_mib)


CPU = WorkerPolicy(name="cpu")
CUDA = WorkerPolicy(
    name="cuda",
    device="cuda",
    kernel_limits_memory=False,
    runtime_mib=2048,
    written_bytes=1024 * MIB,
    open_files=1024,
    processes=256,
    calls=tuple(
        "memfd_create ftruncate fallocate sched_setaffinity mlock munlock mlock2 get_mempolicy set_mempolicy mbind"
        " statfs fstatfs bind listen getsockname setsockopt".split()
    ),
    any_ioctl=True,
    shared_memory=True,
    unix_sockets=True,
    names_threads=True,
    start_seconds=120.0,  # libraries of gigabytes, read from a disk for the first time
    fcntl=(1033, 1034),  # ADD_SEALS GET_SEALS, of memory files
    reads=(
        *("/proc/driver/nvidia", "/proc/meminfo", "/proc/cpuinfo", "/proc/devices", "/proc/modules", "/proc/self"),
        *("/sys/bus/pci", "/sys/devices/pci*", "/sys/devices/system/cpu", "/sys/devices/system/node"),
        *("/proc/sys/vm/mmap_min_addr", "/sys/devices/system/memory/block_size_bytes"),
        *("/sys/module/nvidia*", "/usr/local/nvidia*", "/usr/local/cuda*", "/usr/lib/wsl/lib", "/etc/nvidia"),
    ),
    devices=("/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-*", "/dev/nvidia-caps/*", "/dev/dxg"),
    variables=(("CUDA_CACHE_DISABLE", "1"), ("CUDA_MODULE_LOADING", "LAZY")),
    kept_variables=("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"),
)
CUDA_KERNELS = replace(
    CUDA,
    name="cuda-kernels",
    calls=(
        *CUDA.calls,
        *(
            "fork vfork execve wait4 waitid arch_prctl chdir umask mkdir mkdirat rmdir unlink unlinkat rename renameat"
            " renameat2 flock fsync fdatasync fchmod pwrite64 copy_file_range utimensat"
        ).split(),
    ),
    programs=(
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/lib*",
        "/usr/lib*",
        "/usr/libexec",
        "/usr/local/bin",
        "/usr/local/cuda*",
    ),
    reads=(*CUDA.reads, "/usr/include", "/usr/local/include"),
    folder_mib=256,
    starts_processes=True,
    variables=(*CUDA.variables, ("PATH", "/usr/bin:/bin")),
)
# The GPU's layers on a machine without one, for tests. No command asks for them.
REHEARSED = replace(CUDA, name="cuda-rehearsed", device="cpu")
REHEARSED_KERNELS = replace(CUDA_KERNELS, name="cuda-kernels-rehearsed", device="cpu")
POLICIES = {policy.name: policy for policy in (CPU, CUDA, CUDA_KERNELS, REHEARSED, REHEARSED_KERNELS)}


def gpu_is_seen(patterns: Sequence[str] = GPUS) -> bool:
    """Return True if this machine shows an NVIDIA GPU."""
    return any(any(Path("/").glob(pattern.lstrip("/"))) for pattern in patterns)


def policy_of(device: str, kernel: bool = False, cache_folder: str = "") -> WorkerPolicy:
    """Return the policy for a submission on a device; on a GPU, one with a `kernel` needs a compiler."""
    if device != CUDA.device:
        return CPU
    return replace(CUDA_KERNELS, cache_folder=cache_folder) if kernel else CUDA


# Probes of the layers


class Probes:
    """Probe each layer in a worker, the canary, so that layers are proved and not assumed.

    Every probe runs before its layer is on, where it must succeed, and after, where it must fail: a probe that failed
    before proves nothing. Positive controls show that torch still works inside.
    `places` has `file` (readable outside), `folder` (writable outside), `port` (of a listener on the loopback of the
    judge's network, 0 for none) and `memory_mib` (the budget).
    """

    def __init__(self, places: dict[str, Any]) -> None:
        self._places = places
        self._findings: Findings = {}

    def after(self, layer: str) -> None:
        """Record the outcomes of all probes, now that `layer` is on."""
        tries = {
            "read": Path(self._places["file"]).read_bytes,
            "write": self._write,
            "connect": self._connect,
            "socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
            "fork": self._fork,
        }
        self._findings[layer] = {name: _outcome(action) for name, action in tries.items()}

    def finish(self) -> Findings:
        """Return all findings, with process numbers, the memory limit and the positive controls."""
        self._findings["process"] = {"pid": str(os.getpid()), "parent": str(os.getppid())}
        sizes_mib = {"small": 1, "beyond": int(self._places["memory_mib"]) + 64}
        self._findings["rlimits"] = {name: _outcome(partial(_map, size)) for name, size in sizes_mib.items()}
        self._findings["controls"] = {"torch": _outcome(self._torch), "library": _outcome(self._library)}
        if self._places.get("names_threads"):
            self._findings["controls"]["threads"] = _outcome(self._name_thread)
        if self._places.get("writes"):
            self._findings["controls"]["folder"] = _outcome(self._write_own)
            self._findings["controls"]["program"] = _outcome(self._run_program)
        return self._findings

    def _write(self) -> None:
        path = Path(self._places["folder"]) / "written-by-the-canary"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.unlink()

    def _connect(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
            end.settimeout(1)
            end.connect(("127.0.0.1", int(self._places["port"])))

    def _fork(self) -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    def _name_thread(self) -> None:
        """Name a thread, as CUDA does when it starts."""
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("canary")

    def _write_own(self) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("canary")

    def _run_program(self) -> None:
        """Run a program, as a compiler is run."""
        if subprocess.run(["/bin/sh", "-c", "exit 3"], check=False).returncode != 3:
            raise OSError(errno.EIO, "a program ended in another way than it should")

    def _torch(self) -> None:
        import torch

        if float((torch.ones(3, 3) @ torch.ones(3)).sum()) != 9.0:
            raise OSError(errno.EIO, "torch computes wrongly")

    def _library(self) -> None:
        import colorsys

        if colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[2] != 0.0:
            raise OSError(errno.EIO, "the library computes wrongly")


def _map(size_mib: int) -> None:
    mmap.mmap(-1, size_mib * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()


def _outcome(action: Any) -> str:
    """Return "ok", or the name of the error with which the kernel refused."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "failed")
    except MemoryError:
        return "ENOMEM"
    return "ok"


def layers_in_force(findings: Findings, policy: WorkerPolicy = CPU) -> dict[str, bool]:
    """Map each layer to True if the canary's findings prove it. A policy that runs a compiler lets the canary fork."""
    before, behind_landlock, behind_seccomp = findings["namespaces"], findings["landlock"], findings["seccomp"]
    alone = findings["process"] == {"pid": "2", "parent": "1"}
    unreachable = before.get("connect") not in ("ok", None)
    return {
        "process": True,
        "rlimits": findings["rlimits"] == {"small": "ok", "beyond": "ENOMEM"},
        "landlock": all(_refused(name, before, behind_landlock) for name in ("read", "write")),
        "seccomp": _refused("socket", behind_landlock, behind_seccomp)
        and (policy.starts_processes or _refused("fork", behind_landlock, behind_seccomp)),
        "namespaces": alone and unreachable,
    }


def _refused(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Return True if a probe succeeded before a layer and was refused after it."""
    return before.get(name) == "ok" and after.get(name) in ("EACCES", "EPERM")


def broken_controls(findings: Findings) -> list[str]:
    """Return the positive controls that failed: nothing can be graded in such a sandbox."""
    return [f"{name}: {outcome}" for name, outcome in findings["controls"].items() if outcome != "ok"]
