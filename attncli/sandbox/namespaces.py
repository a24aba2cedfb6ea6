"""Namespaces, capabilities and the bonds between processes.

The zygote moves into its own user, network, IPC and UTS namespaces. Every worker has a pid namespace of its own whose
process 1 is trusted code and whose process 2 is the worker, so that signals keep their usual meaning there, and
killing process 1 kills everything at once.
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

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_MS_NO_SUID_DEV, _MS_NO_SUID_DEV_EXEC = 0b110, 0b1110
_MS_READ_ONLY_NO_SUID_DEV_EXEC, _MS_RECURSIVE_PRIVATE = 0b1111, 0x4000 | 1 << 18


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _prctl(option: int, value: int) -> None:
    _check(_libc().prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def unshare(flags: int) -> None:
    """Move this process into new namespaces. Raises OSError if the kernel refuses."""
    _check(_libc().unshare(ctypes.c_int(flags)))


def _map_one_id(uid: int, gid: int) -> None:
    own = Path("/proc/self")
    with contextlib.suppress(FileNotFoundError):
        (own / "setgroups").write_text("deny")
    (own / "uid_map").write_text(f"{INSIDE_ID} {uid} 1")
    (own / "gid_map").write_text(f"{INSIDE_ID} {gid} 1")


def enter_user_namespace() -> None:
    """User, network, IPC and UTS namespaces for this process, with the caller's id mapped to an ordinary one.

    Raises OSError where the kernel, a container or AppArmor refuses.
    """
    uid, gid = os.geteuid(), os.getegid()
    unshare(NEW_USER | NEW_NET | NEW_IPC | NEW_UTS)
    _map_one_id(uid, gid)


def cover(folders: Sequence[Path]) -> None:
    """Lay a folder that nobody may enter over each of these, for this process and its children alone.

    Needs to be in a user namespace of our own. Raises OSError where mounting is refused.
    """
    enter_own_mounts()
    libc = _libc()
    flags = ctypes.c_ulong(_MS_READ_ONLY_NO_SUID_DEV_EXEC)
    for folder in folders:
        _check(libc.mount(b"none", os.fsencode(folder), b"tmpfs", flags, b"size=4k,nr_inodes=1,mode=0000"))


def enter_own_mounts() -> None:
    """What is mounted from here on is there for this process and its children alone, and goes with them.

    Needs to be in a user namespace of our own. Raises OSError where the kernel refuses.
    """
    unshare(NEW_MOUNTS)
    _check(_libc().mount(b"none", b"/", None, ctypes.c_ulong(_MS_RECURSIVE_PRIVATE), None))


def mount_memory(folder: Path, size_mib: int) -> None:
    """Lay a folder in memory over this one. Raises OSError where mounting is refused."""
    told = f"size={size_mib}m,nr_inodes=4096,mode=0700".encode()
    _check(_libc().mount(b"none", os.fsencode(folder), b"tmpfs", ctypes.c_ulong(_MS_NO_SUID_DEV), told))


def mount_processes() -> None:
    """Lay a /proc over the one that is there, whose numbers are those of this pid namespace: threads find themselves in
    it. Raises OSError where mounting is refused."""
    _check(_libc().mount(b"none", b"/proc", b"proc", ctypes.c_ulong(_MS_NO_SUID_DEV_EXEC), None))


def fork_into_pid_namespace() -> int:
    """As `os.fork`, but the child is process 1 of a new pid namespace. Only for a process with a single thread.

    The C library is passed by, which would need a process in between: the child may compute, fork and exit, not start
    threads or raise signals for itself. Raises OSError where the kernel refuses.
    """
    flags = ctypes.c_ulong(NEW_PID | signal.SIGCHLD)
    none = ctypes.c_ulong(0)
    number = ctypes.c_long(NUMBERS[platform.machine()]["clone"])
    pid = int(ctypes.PyDLL(None, use_errno=True).syscall(number, flags, none, none, none, none))
    _check(pid)
    return pid


def _try_in_child() -> None:
    enter_user_namespace()
    pid = fork_into_pid_namespace()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def why_unavailable() -> str | None:
    """None where user and pid namespaces can be made, else the reason in words. Tries them in a child process."""
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


def empty_bounding_set() -> None:
    """See to it that neither this process nor a child can gain a capability that it does not have."""
    for capability in range(_LAST_CAPABILITY + 1):
        with contextlib.suppress(OSError):
            _prctl(_PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    """Give up every capability."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _check(_libc().capset(header, bytes(24)))


def forbid_new_privileges() -> None:
    """Set no_new_privs: needed before Landlock and seccomp by those who are not root."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def forbid_core_dumps() -> None:
    """No core file and no core-dump program (RLIMIT_CORE does not hold those back), nor ptrace by the same user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has died."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Be killed when the parent dies. `parent` is its number as this process sees it: another one means it has died."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def die_with_holder(lifeline: int) -> None:
    """As `die_with`, for a parent in another pid namespace: it holds the only writing end of the pipe `lifeline`."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if select.select([lifeline], [], [], 0)[0]:
        os._exit(1)


def children_of(pid: int | str) -> list[int]:
    """The living children of a process, whichever of its threads started them, as far as /proc shows them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def kill_children(spared: frozenset[int] = frozenset()) -> None:
    """Kill this process's children, and what they leave behind, except `spared`. For where no pid namespace does it."""
    while doomed := [pid for pid in children_of(os.getpid()) if pid not in spared]:
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


# Setting the kernel's limits of a worker: memory, files, descriptors, threads, and how much processor time it has.

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
