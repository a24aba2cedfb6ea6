"""Namespaces, capabilities, rlimits, and the rules by which processes die together.

The zygote moves into its own user, network, IPC and UTS namespaces. Every worker has its own pid namespace: process 1
is trusted code and process 2 the worker, so that signals keep their usual meaning there, and killing process 1 kills
everything at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import select
import signal
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .policy import CPU, MIB, WorkerPolicy
from .seccomp import NUMBERS

NEW_MOUNTS = 0x00020000
NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
INSIDE_ID = 1000
WORKER_PID = 2

MESSAGE_BYTES = 1 << 16  # between the judge and its zygote
CPU_SECONDS = 900
STACK_BYTES = 64 * MIB
# Address space beyond written memory: maps that are only read fill page tables, which no other limit counts.
_READ_ONLY_BYTES = 8192 * MIB
_RESIDENT = ("RssAnon", "RssShmem", "VmPTE")
_PROCESS_LIMIT_PER_NAMESPACE_SINCE = (5, 14)

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_MS_NO_SUID_DEV, _MS_NO_SUID_DEV_EXEC = 0b110, 0b1110
_MS_READ_ONLY_NO_SUID_DEV_EXEC, _MS_RECURSIVE_PRIVATE = 0b1111, 0x4000 | 1 << 18

# Namespaces and mounts


def enter_user_namespace() -> None:
    """Move this process into new user, network, IPC and UTS namespaces, with its id mapped to an ordinary one.

    Raises OSError where the kernel, a container or AppArmor refuses.
    """
    uid, gid = os.geteuid(), os.getegid()
    _unshare(NEW_USER | NEW_NET | NEW_IPC | NEW_UTS)
    own = Path("/proc/self")
    with contextlib.suppress(FileNotFoundError):
        (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{INSIDE_ID} {uid} 1")
    (own / "gid_map").write_text(f"{INSIDE_ID} {gid} 1")


def _unshare(flags: int) -> None:
    """Move this process into new namespaces. Raises OSError if the kernel refuses."""
    _check(_libc().unshare(ctypes.c_int(flags)))


def cover(folders: Sequence[Path]) -> None:
    """Mount an empty folder that nobody may enter over each of these, for this process and its children alone.

    Must run in this process's own user namespace. Raises OSError where mounting is refused.
    """
    enter_own_mounts()
    libc = _libc()
    flags = ctypes.c_ulong(_MS_READ_ONLY_NO_SUID_DEV_EXEC)
    for folder in folders:
        _check(libc.mount(b"none", os.fsencode(folder), b"tmpfs", flags, b"size=4k,nr_inodes=1,mode=0000"))


def enter_own_mounts() -> None:
    """Make later mounts visible to this process and its children alone; they vanish when these end.

    Must run in this process's own user namespace. Raises OSError where the kernel refuses.
    """
    _unshare(NEW_MOUNTS)
    _check(_libc().mount(b"none", b"/", None, ctypes.c_ulong(_MS_RECURSIVE_PRIVATE), None))


def mount_memory(folder: Path, size_mib: int) -> None:
    """Mount a folder in memory over this one. Raises OSError where mounting is refused."""
    options = f"size={size_mib}m,nr_inodes=4096,mode=0700".encode()
    _check(_libc().mount(b"none", os.fsencode(folder), b"tmpfs", ctypes.c_ulong(_MS_NO_SUID_DEV), options))


def mount_processes() -> None:
    """Mount a /proc of this pid namespace over the present one. Raises OSError where mounting is refused."""
    _check(_libc().mount(b"none", b"/proc", b"proc", ctypes.c_ulong(_MS_NO_SUID_DEV_EXEC), None))


def fork_into_pid_namespace() -> int:
    """Fork as `os.fork` does, but make the child process 1 of a new pid namespace. Needs a single-threaded process.

    The raw system call bypasses the C library, with which a process in between would be needed. So the child may
    compute, fork and exit, but neither start threads nor raise signals for itself. Raises OSError where the kernel
    refuses.
    """
    flags = ctypes.c_ulong(NEW_PID | signal.SIGCHLD)
    none = ctypes.c_ulong(0)
    number = ctypes.c_long(NUMBERS[platform.machine()]["clone"])
    pid = int(ctypes.PyDLL(None, use_errno=True).syscall(number, flags, none, none, none, none))
    _check(pid)
    return pid


def why_unavailable() -> str | None:
    """Return None if user and pid namespaces can be made, else the reason. Tries them in a child process."""
    if platform.machine() not in NUMBERS:
        return f"no system-call table for {platform.machine()}"
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _try_in_child()
        except OSError as error:
            os.write(writable, (error.strerror or "refused").encode())
        os._exit(1)
    os.close(writable)
    reason = os.read(readable, 200).decode()
    os.close(readable)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == 0:
        return None
    return f"user and pid namespaces are refused ({reason or f'exit status {status}'})"


def _try_in_child() -> None:
    enter_user_namespace()
    pid = fork_into_pid_namespace()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


# Capabilities, privileges, and processes that die together


def empty_bounding_set() -> None:
    """Keep this process and its children from gaining a capability that they do not have."""
    for capability in range(_LAST_CAPABILITY + 1):
        with contextlib.suppress(OSError):
            _prctl(_PR_CAPBSET_DROP, capability)


def give_up_privileges() -> None:
    """Give up every capability, and forbid core-dump programs (RLIMIT_CORE does not) and ptrace by the same user.

    It also sets no_new_privs, which Landlock and seccomp require of users other than root.
    """
    _prctl(_PR_SET_DUMPABLE, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _check(_libc().capset(header, bytes(24)))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has died."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies; exit if `parent` is no longer the parent."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def die_with_holder(lifeline: int) -> None:
    """Do as `die_with` for a parent in another pid namespace, which alone has the write end of the pipe `lifeline`."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(1)


def children_of(pid: int | str) -> list[int]:
    """Return the living children of a process and its threads, as far as /proc shows them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def kill_children(spared: frozenset[int] = frozenset()) -> None:
    """Kill this process's children, and the orphans they leave, except `spared`: for use without a pid namespace."""
    while children := [pid for pid in children_of(os.getpid()) if pid not in spared]:
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _prctl(option: int, value: int) -> None:
    _check(_libc().prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


# Resource limits, and the usage of a process


def apply(memory_mib: int, in_user_namespace: bool, policy: WorkerPolicy = CPU) -> None:
    """Limit this process permanently: `memory_mib` on top of its present memory, no files written, no core.

    The policy may leave memory unlimited: a GPU's runtime maps more addresses than there is memory, and locks some of
    it. The number of processes is limited only inside a user namespace of a kernel that counts them there; elsewhere
    the limit would count everything that the user runs.
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


@contextmanager
def memory_at_most(memory_mib: int) -> Iterator[None]:
    """Limit this process to `memory_mib` on top of its present memory; torch and Python raise beyond it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    asked = private_bytes() + memory_mib * MIB
    resource.setrlimit(resource.RLIMIT_DATA, (asked if hard == resource.RLIM_INFINITY else min(asked, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _stack_bytes() -> int:
    """Return the stack's limit, which new threads inherit: the present one, at most STACK_BYTES."""
    soft = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return STACK_BYTES if soft == resource.RLIM_INFINITY else min(soft, STACK_BYTES)


def _kernel_version() -> tuple[int, ...]:
    words = os.uname().release.replace("-", ".").split(".")
    return tuple(int(word) for word in words[:2] if word.isdigit())


class Usage(NamedTuple):
    """Anonymous and shared resident memory with its page tables, and threads, of one process or several."""

    memory_bytes: int
    threads: int


def usage(pid: int | str) -> Usage:
    """Return the usage of a process, zeros if it has ended."""
    words = _status(pid)
    return Usage(sum(words.get(name, 0) * 1024 for name in _RESIDENT), words.get("Threads", 0))


def private_bytes(pid: int | str = "self") -> int:
    """Return VmData, the writable private memory of a process that RLIMIT_DATA counts."""
    return _status(pid).get("VmData", 0) * 1024


def address_bytes(pid: int | str = "self") -> int:
    """Return VmSize, all that a process has mapped."""
    return _status(pid).get("VmSize", 0) * 1024


def data_bytes() -> int:
    """Return the writable private memory and stack of this process, 0 where /proc cannot be read.

    Called several times per example: a file object would take twice as long.
    """
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(file, 256).split()[5]) * resource.getpagesize()
        finally:
            os.close(file)
    except OSError:
        return 0


def _status(pid: int | str) -> dict[str, int]:
    """Return the numbers in a process's status by name, memory in KiB; empty if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {word[0].rstrip(":"): int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}
