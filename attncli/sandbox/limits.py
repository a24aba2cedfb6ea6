"""Resource limits of a worker: memory, files, descriptors, processor time, threads."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MIB = 1 << 20
OPEN_FILES = 64
CPU_SECONDS = 900
PROCESSES = 64
_PROCESS_LIMIT_PER_NAMESPACE_SINCE = (5, 14)


def private_bytes(pid: int | str = "self") -> int:
    """VmData: writable private memory of a process, which is what RLIMIT_DATA counts."""
    return _status_bytes(pid, ("VmData:",))


def resident_bytes(pid: int | str = "self") -> int:
    """Anonymous and shared resident memory of a process; 0 when it is gone."""
    return _status_bytes(pid, ("RssAnon:", "RssShmem:"))


def _status_bytes(pid: int | str, names: tuple[str, ...]) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


@contextmanager
def memory_at_most(memory_mib: int) -> Iterator[None]:
    """For a while, no more than `memory_mib` on top of what this process has now: beyond it torch and Python raise."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    asked = private_bytes() + memory_mib * MIB
    resource.setrlimit(resource.RLIMIT_DATA, (asked if hard == resource.RLIM_INFINITY else min(asked, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _kernel_version() -> tuple[int, ...]:
    words = os.uname().release.replace("-", ".").split(".")
    return tuple(int(word) for word in words[:2] if word.isdigit())


def apply(memory_mib: int, in_user_namespace: bool) -> None:
    """Limit this process for good: `memory_mib` on top of what it has now, no files written, no core.

    The number of processes is limited only inside a user namespace of a kernel that counts them there; elsewhere
    the limit would count everything that the user runs.
    """
    _limit(resource.RLIMIT_DATA, private_bytes() + memory_mib * MIB)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    if in_user_namespace and _kernel_version() >= _PROCESS_LIMIT_PER_NAMESPACE_SINCE:
        _limit(resource.RLIMIT_NPROC, PROCESSES)
