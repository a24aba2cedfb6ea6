"""What a worker may do, as data: one policy for the CPU, and weaker ones for a GPU.

A GPU's driver is spoken to by `ioctl` calls that nobody can list, maps more addresses than there is memory, starts
threads and names them. What that costs is told in SECURITY.md. CUDA begins in a worker, behind all layers: threads that
it had started before them would not be held by them. Nothing of it may begin in the zygote: a CUDA context does not
survive a fork, and even asking whether there is a GPU leaves torch unfit for use in the child.
"""

from __future__ import annotations

import errno
import mmap
import os
import socket
import subprocess
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MIB = 1 << 20
MEMORY_MIB = 1024
"""What a submission may have, where nothing else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPolicy:
    """The defaults are those of a worker on the CPU.

    `kernel_limits_memory`: written memory and addresses have limits of the kernel's; without, the judge's watch alone
    holds what is resident, with `runtime_mib` more for what the GPU's own libraries take. `written_bytes` is the most
    that a file may grow to, and there is none to write to but memory files, `processes` the most threads and processes.
    `calls` are system calls allowed besides, `any_ioctl` all but those that type into a terminal, `shared_memory` maps
    that are nobody's file. `reads`, `devices` and `programs` are patterns of what may be read, opened as a device, and
    executed; `names_threads` gives the worker a /proc of its own pid namespace, and opens its own task folder in it.
    `folder_mib` is the size of a folder of its own at /dev/shm, in memory and gone with it; `starts_processes` lets it
    run what `programs` names. `cache_folder` is a folder of the judge's that workers share for compiled kernels.
    `start_seconds` bounds how long it may take to be ready, `fcntl` lists commands allowed besides.
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
        """Whether its Landlock rules are the same for every worker, so that they are made once."""
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
        " statfs fstatfs".split()
    ),
    any_ioctl=True,
    shared_memory=True,
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
    variables=(
        *CUDA.variables,
        ("PATH", "/usr/bin:/bin"),
    ),
)
# The same layers where there is no GPU to begin: tests hold them to what they are to refuse. No command asks for them.
REHEARSED = replace(CUDA, name="cuda-rehearsed", device="cpu")
REHEARSED_KERNELS = replace(CUDA_KERNELS, name="cuda-kernels-rehearsed", device="cpu")
POLICIES = {policy.name: policy for policy in (CPU, CUDA, CUDA_KERNELS, REHEARSED, REHEARSED_KERNELS)}


def policy_of(device: str, kernel: bool = False, cache_folder: str = "") -> WorkerPolicy:
    """Return the policy for a submission on a device; on a GPU one that holds a `kernel` needs a compiler."""
    if device != CUDA.device:
        return CPU
    return replace(CUDA_KERNELS, cache_folder=cache_folder) if kernel else CUDA


# Probes of each layer: a worker, the canary, tries at start what must fail, so that layers are known and not assumed.
#
# Every probe is made before its layer is on, where it must succeed, and after, where it must fail: a probe that failed
# before proves nothing. Positive controls show that torch still works inside.

LAYERS = ("process", "rlimits", "landlock", "seccomp", "namespaces")
Findings = dict[str, dict[str, str]]


def _outcome(action: Any) -> str:
    """ "ok", or the name of the error with which the kernel refused."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "failed")
    except MemoryError:
        return "ENOMEM"
    return "ok"


class Probes:
    """Makes the probes in a worker that is being confined.

    `places` names what to try: `file` (readable outside), `folder` (writable outside), `port` (of a listener on the
    loopback of the judge's network, 0 for none) and `memory_mib` (the budget).
    """

    def __init__(self, places: dict[str, Any]) -> None:
        self._places = places
        self._findings: Findings = {}

    def after(self, layer: str) -> None:
        """Note how everything that a layer is to refuse goes, now that `layer` has been put on."""
        tries = {"read": self._read, "write": self._write, "connect": self._connect, "socket": self._socket}
        self._findings[layer] = {name: _outcome(action) for name, action in tries.items()}
        self._findings[layer]["fork"] = _outcome(self._fork)

    def finish(self) -> Findings:
        """All findings, with process numbers, the memory limit and the positive controls."""
        self._findings["process"] = {"pid": str(os.getpid()), "parent": str(os.getppid())}
        self._findings["rlimits"] = {"small": _outcome(self._small), "beyond": _outcome(self._beyond)}
        self._findings["controls"] = {"torch": _outcome(self._torch), "library": _outcome(self._library)}
        if self._places.get("names_threads"):
            self._findings["controls"]["threads"] = _outcome(self._name_thread)
        if self._places.get("writes"):
            self._findings["controls"]["folder"] = _outcome(self._write_own)
            self._findings["controls"]["program"] = _outcome(self._run_program)
        return self._findings

    def _read(self) -> None:
        Path(self._places["file"]).read_bytes()

    def _write(self) -> None:
        path = Path(self._places["folder"]) / "written-by-the-canary"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.unlink()

    def _socket(self) -> None:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()

    def _connect(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
            end.settimeout(1)
            end.connect(("127.0.0.1", int(self._places["port"])))

    def _fork(self) -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    def _small(self) -> None:
        mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    def _beyond(self) -> None:
        size = (int(self._places["memory_mib"]) + 64) * MIB
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    def _name_thread(self) -> None:
        """As CUDA does when it begins."""
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("canary")

    def _write_own(self) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("canary")

    def _run_program(self) -> None:
        """As a compiler is run."""
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


def _turned(findings: Findings, name: str, before: str, after: str) -> bool:
    """Whether a probe succeeded before a layer and was refused behind it."""
    return findings[before].get(name) == "ok" and findings[after].get(name) in ("EACCES", "EPERM")


def layers_in_force(findings: Findings, policy: WorkerPolicy = CPU) -> dict[str, bool]:
    """Layer name to whether the canary's outcomes prove it. A policy that lets a compiler run lets the canary fork."""
    first, second, last = "namespaces", "landlock", "seccomp"
    alone = findings["process"] == {"pid": "2", "parent": "1"}
    unreachable = findings[first].get("connect") not in ("ok", None)
    return {
        "process": True,
        "rlimits": findings["rlimits"] == {"small": "ok", "beyond": "ENOMEM"},
        "landlock": _turned(findings, "read", first, second) and _turned(findings, "write", first, second),
        "seccomp": _turned(findings, "socket", second, last)
        and (policy.starts_processes or _turned(findings, "fork", second, last)),
        "namespaces": alone and unreachable,
    }


def broken_controls(findings: Findings) -> list[str]:
    """Positive controls that failed: inside such a sandbox nothing can be graded."""
    return [f"{name}: {outcome}" for name, outcome in findings["controls"].items() if outcome != "ok"]
