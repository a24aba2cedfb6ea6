"""The system-call filter: an allow-list compiled to classic BPF and installed for this process.

Everything that is not listed is answered with EPERM, calls newer than the table with ENOSYS (so that the C library
falls back to the older one), another architecture's calls (`int 0x80`, x32) kill the process. What Landlock does not
cover is covered here: sockets, new processes, signals, chmod, shared anonymous memory, ptrace.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
from collections.abc import Sequence

from .policy import CPU, WorkerPolicy
from .syscall_numbers import AUDIT_ARCH, NEWEST_KNOWN, NUMBERS, X32_BIT

_ALLOWED_WORDS = """
    read write readv writev pread64 preadv close close_range lseek fstat stat lstat newfstatat statx access faccessat
    faccessat2 readlink readlinkat getdents getdents64 getcwd dup dup2 dup3 pipe pipe2 poll ppoll
    select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 fadvise64
    mprotect munmap mremap madvise brk mincore membarrier
    futex set_robust_list get_robust_list rseq set_tid_address
    rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack rt_sigpending rt_sigtimedwait rt_sigsuspend restart_syscall
    pause alarm setitimer getitimer exit exit_group
    getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min
    getpriority getcpu uname sysinfo getrusage getrlimit getrandom
"""
ALLOWED = tuple(_ALLOWED_WORDS.split())

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ABOVE = 0x15, 0x35, 0x25
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16

_CLONE_THREAD = 0x00010000
_CLONE_NEW_NAMESPACE = 0x7E020000
_PRCTL_ALLOWED = (15, 16, 0x53564D41)  # SET_NAME, GET_NAME, SET_VMA
_IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_IOCTL_REFUSED = (0x5412, 0x541C, 0x541D)  # TIOCSTI TIOCLINUX TIOCCONS: they type into a terminal, or take it over
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030)  # DUPFD GETFD SETFD GETFL SETFL DUPFD_CLOEXEC; SETOWN would send signals
_SHARED_AND_ANONYMOUS = 0x21
_GROWS_DOWN = 0x100  # a stack, which no limit on data counts
_OPEN_TO_WRITE = 0x00400243  # O_WRONLY O_RDWR O_CREAT O_TRUNC O_TMPFILE

Instruction = tuple[int, int, int, int]


def _statement(code: int, value: int) -> Instruction:
    return code, 0, 0, value


def _return(verdict: int) -> Instruction:
    return _statement(_RETURN, verdict)


def _refuse(error: int = errno.EPERM) -> Instruction:
    return _return(_ERRNO | error)


def _load_argument(index: int, high: bool = False) -> Instruction:
    return _statement(_LOAD, _ARGUMENTS_OFFSET + 8 * index + (4 if high else 0))


def _when(code: int, value: int, verdict: int) -> list[Instruction]:
    return [(code, 0, 1, value), _return(verdict)]


def _one_of(index: int, values: Sequence[int]) -> list[Instruction]:
    """Allow the call if the low word of the argument is one of the values."""
    tests = [line for value in values for line in _when(_IF_EQUAL, value, _ALLOW)]
    return [_load_argument(index), *tests, _refuse()]


def _none_of(index: int, values: Sequence[int]) -> list[Instruction]:
    """Allow the call unless the low word of the argument is one of the values."""
    tests = [line for value in values for line in _when(_IF_EQUAL, value, _ERRNO | errno.EPERM)]
    return [_load_argument(index), *tests, _return(_ALLOW)]


def _masked(index: int, mask: int, wanted: int) -> list[Instruction]:
    return [_load_argument(index), _statement(_AND, mask), *_when(_IF_EQUAL, wanted, _ALLOW), _refuse()]


def _not_masked(index: int, mask: int) -> list[Instruction]:
    refused = _when(_IF_EQUAL, mask, _ERRNO | errno.EPERM)
    return [_load_argument(index), _statement(_AND, mask), *refused, _return(_ALLOW)]


def _mapping(shared_memory: bool) -> list[Instruction]:
    """Neither memory shared with nobody's file, unless that is allowed, nor memory that grows like a stack."""
    grows = [_load_argument(3), _statement(_AND, _GROWS_DOWN), *_when(_IF_EQUAL, _GROWS_DOWN, _ERRNO | errno.EPERM)]
    return [*grows, _return(_ALLOW)] if shared_memory else [*grows, *_not_masked(3, _SHARED_AND_ANONYMOUS)]


def _null_pointer(index: int) -> list[Instruction]:
    refused_high = [_load_argument(index, high=True), (_IF_EQUAL, 1, 0, 0), _refuse()]
    return [*refused_high, _load_argument(index), *_when(_IF_EQUAL, 0, _ALLOW), _refuse()]


def _opening(may_write: bool) -> dict[str, list[Instruction]]:
    """Without Landlock nothing may be opened to be written, as far as the flags tell."""
    if may_write:
        return {"open": [_return(_ALLOW)], "openat": [_return(_ALLOW)]}
    return {"open": _masked(1, _OPEN_TO_WRITE, 0), "openat": _masked(2, _OPEN_TO_WRITE, 0)}


def _special_cases(pid: int, may_write: bool, policy: WorkerPolicy) -> dict[str, list[Instruction]]:
    thread = 0 if policy.starts_processes else _CLONE_THREAD
    return {
        **_opening(may_write),
        "clone": _masked(0, thread | _CLONE_NEW_NAMESPACE, thread),
        "clone3": [_refuse(errno.ENOSYS)],
        "kill": _one_of(0, [pid]),
        "tgkill": _one_of(0, [pid]),
        "prctl": _one_of(0, _PRCTL_ALLOWED),
        "ioctl": _none_of(1, _IOCTL_REFUSED) if policy.any_ioctl else _one_of(1, _IOCTL_ALLOWED),
        "fcntl": _one_of(1, (*_FCNTL_ALLOWED, *policy.fcntl)),
        "prlimit64": _null_pointer(2),
        "mmap": _mapping(policy.shared_memory),
    }


@functools.cache
def compile_filter(machine: str, pid: int, may_write: bool, policy: WorkerPolicy = CPU) -> bytes:
    """The BPF program as `struct sock_filter[]`. `pid` is the one process that may be signalled: the worker itself.

    `may_write` leaves it to Landlock which files may be written; without, opening a file to write is refused here.
    Raises KeyError for a machine without a table.
    """
    numbers = NUMBERS[machine]
    program = [_statement(_LOAD, _ARCH_OFFSET), (_IF_EQUAL, 1, 0, AUDIT_ARCH[machine]), _return(_KILL)]
    program.append(_statement(_LOAD, _NUMBER_OFFSET))
    if machine == "x86_64":
        program += _when(_IF_AT_LEAST, X32_BIT, _KILL)
    program += _when(_IF_ABOVE, NEWEST_KNOWN, _ERRNO | errno.ENOSYS)
    for name in (*ALLOWED, *policy.calls):
        if name in numbers:
            program += _when(_IF_EQUAL, numbers[name], _ALLOW)
    for name, body in _special_cases(pid, may_write, policy).items():
        if name in numbers:
            program += [(_IF_EQUAL, 0, len(body), numbers[name]), *body]
    program.append(_refuse())
    return b"".join(struct.pack("=HBBI", *line) for line in program)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def why_unavailable() -> str | None:
    """None where a filter can be installed, else the reason in words."""
    machine = platform.machine()
    if machine not in NUMBERS:
        return f"no system-call table for {machine}"
    kill = ctypes.c_uint32(_KILL)
    try:
        _call(NUMBERS[machine]["seccomp"], ctypes.c_uint(2), ctypes.c_uint(0), ctypes.byref(kill))
    except OSError as error:
        return f"the kernel answers seccomp with {errno.errorcode.get(error.errno or 0, str(error))}"
    return None


def install(pid: int, may_write: bool, policy: WorkerPolicy = CPU) -> None:
    """Put the filter on this process for good. Needs no_new_privs. Raises OSError if the kernel refuses."""
    machine = platform.machine()
    code = compile_filter(machine, pid, may_write, policy)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _call(NUMBERS[machine]["seccomp"], ctypes.c_uint(1), ctypes.c_uint(0), ctypes.byref(program))
