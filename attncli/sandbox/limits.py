"""Setting the kernel's limits of a worker: memory, files, descriptors, threads, and how much processor time it has."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .policy import CPU, MIB, WorkerPolicy

MESSAGE_BYTES = 1 << 16  # between the judge and its zygote
CPU_SECONDS = 900
STACK_BYTES = 64 * MIB
# Address space besides what is written: maps that are only read fill page tables, which no other limit counts.
_READ_ONLY_BYTES = 8192 * MIB
_RESIDENT = ("RssAnon", "RssShmem", "VmPTE")
_PROCESS_LIMIT_PER_NAMESPACE_SINCE = (5, 14)


def private_bytes(pid: int | str = "self") -> int:
    """VmData: writable private memory of a process, which is what RLIMIT_DATA counts."""
    return _status(pid).get("VmData", 0) * 1024


def data_bytes() -> int:
    """Writable private memory and stack of this process, 0 where it cannot be told.

    Read at every look at an answer, several times an example: a file object takes twice as long.
    """
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(file, 256).split()[5]) * resource.getpagesize()
        finally:
            os.close(file)
    except OSError:
        return 0


class Usage(NamedTuple):
    """What one process or several take: anonymous and shared resident memory with its page tables, and threads."""

    memory_bytes: int
    threads: int


def usage(pid: int | str) -> Usage:
    """What a process takes; nothing when it is gone."""
    words = _status(pid)
    return Usage(sum(words.get(name, 0) * 1024 for name in _RESIDENT), words.get("Threads", 0))


def address_bytes(pid: int | str = "self") -> int:
    """VmSize: all that a process has mapped."""
    return _status(pid).get("VmSize", 0) * 1024


def _status(pid: int | str) -> dict[str, int]:
    """The numbers in a process's status by name, those of memory in KiB; none when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {word[0].rstrip(":"): int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}


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


def _stack_bytes() -> int:
    """The stack's own limit, which new threads take over too, unless it is none."""
    soft = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return STACK_BYTES if soft == resource.RLIM_INFINITY else min(soft, STACK_BYTES)


def _kernel_version() -> tuple[int, ...]:
    words = os.uname().release.replace("-", ".").split(".")
    return tuple(int(word) for word in words[:2] if word.isdigit())


def apply(memory_mib: int, in_user_namespace: bool, policy: WorkerPolicy = CPU) -> None:
    """Limit this process for good: `memory_mib` on top of what it has now, no files written, no core.

    Where the policy says so memory is not limited here: a GPU's runtime maps more addresses than there is memory, and
    locks some of it. The number of processes is limited only inside a user namespace of a kernel that counts them
    there; elsewhere the limit would count everything that the user runs.
    """
    if policy.kernel_limits_memory:
        _limit(resource.RLIMIT_DATA, private_bytes() + memory_mib * MIB)
        _limit(resource.RLIMIT_AS, address_bytes() + memory_mib * MIB + _READ_ONLY_BYTES)
        _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_STACK, _stack_bytes())
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, policy.written_bytes)
    _limit(resource.RLIMIT_NOFILE, policy.open_files)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    if in_user_namespace and _kernel_version() >= _PROCESS_LIMIT_PER_NAMESPACE_SINCE:
        _limit(resource.RLIMIT_NPROC, policy.processes)
