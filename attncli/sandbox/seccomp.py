"""The system-call filter: an allow-list compiled to classic BPF and installed for this process.

Calls that are not listed get EPERM; calls newer than the table get ENOSYS, so that the C library falls back to older
ones; calls of another architecture (`int 0x80`, x32) kill the process. The filter covers calls that Landlock does not:
sockets, new processes, signals, chmod, shared anonymous memory, ptrace.
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

_CLONE_THREAD = 0x00010000
_CLONE_NEW_NAMESPACE = 0x7E020000
_PRCTL_ALLOWED = (15, 16, 0x53564D41)  # SET_NAME, GET_NAME, SET_VMA
_IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX
_IOCTL_REFUSED = (0x5412, 0x541C, 0x541D)  # TIOCSTI TIOCLINUX TIOCCONS: they type into a terminal, or take it over
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030)  # DUPFD GETFD SETFD GETFL SETFL DUPFD_CLOEXEC; SETOWN would send signals
_SHARED_AND_ANONYMOUS = 0x21
_UNIX = 1
_GROWS_DOWN = 0x100  # a stack, which no limit on data counts
_OPEN_TO_WRITE = 0x00400243  # O_WRONLY O_RDWR O_CREAT O_TRUNC O_TMPFILE

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ABOVE = 0x15, 0x35, 0x25
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16

Instruction = tuple[int, int, int, int]

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
NEWEST_KNOWN = 462


def why_unavailable() -> str | None:
    """Return None if a filter can be installed, else the reason."""
    machine = platform.machine()
    if machine not in NUMBERS:
        return f"no system-call table for {machine}"
    kill = ctypes.c_uint32(_KILL)
    try:
        system_call(NUMBERS[machine]["seccomp"], ctypes.c_uint(2), ctypes.c_uint(0), ctypes.byref(kill))
    except OSError as error:
        return f"the kernel answers seccomp with {errno.errorcode.get(error.errno or 0, str(error))}"
    return None


def install(pid: int, may_write: bool, policy: WorkerPolicy = CPU) -> None:
    """Install the filter on this process permanently. Needs no_new_privs. Raises OSError if the kernel refuses."""
    machine = platform.machine()
    code = compile_filter(machine, pid, may_write, policy)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    system_call(NUMBERS[machine]["seccomp"], ctypes.c_uint(1), ctypes.c_uint(0), ctypes.byref(program))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def system_call(number: int, *arguments: object) -> int:
    """Make a system call and return its result. Raises OSError."""
    result = int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


@functools.cache
def compile_filter(machine: str, pid: int, may_write: bool, policy: WorkerPolicy = CPU) -> bytes:
    """Return the BPF program as `struct sock_filter[]`. `pid` is the one process that may be signalled: the worker.

    With `may_write`, Landlock decides which files may be written; without it the filter refuses opening to write.
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
    for name, body in _argument_rules(pid, may_write, policy).items():
        if name in numbers:
            program += [(_IF_EQUAL, 0, len(body), numbers[name]), *body]
    program.append(_refuse())
    return b"".join(struct.pack("=HBBI", *line) for line in program)


def _argument_rules(pid: int, may_write: bool, policy: WorkerPolicy) -> dict[str, list[Instruction]]:
    thread = 0 if policy.starts_processes else _CLONE_THREAD
    refused = _ERRNO | errno.EPERM
    # Without Landlock, opening to write is refused as far as the flags show it.
    opening = {} if may_write else {"open": _masked(1, _OPEN_TO_WRITE, 0), "openat": _masked(2, _OPEN_TO_WRITE, 0)}
    # CUDA makes a Unix socket, and ends with error 304 where connecting it gets EPERM, but not ENOENT.
    nobody = [_refuse(errno.ENOENT)]
    unix = {"socket": _one_of(0, [_UNIX]), "connect": nobody, "unlink": nobody, "unlinkat": nobody}
    # Memory that grows like a stack is refused, and anonymous shared memory unless the policy allows it.
    mapping = [_load_argument(3), _statement(_AND, _GROWS_DOWN), *_when(_IF_EQUAL, _GROWS_DOWN, refused)]
    if not policy.shared_memory:
        mapping += [_load_argument(3), _statement(_AND, _SHARED_AND_ANONYMOUS)]
        mapping += _when(_IF_EQUAL, _SHARED_AND_ANONYMOUS, refused)
    typing = [line for command in _IOCTL_REFUSED for line in _when(_IF_EQUAL, command, refused)]
    any_ioctl = [_load_argument(1), *typing, _return(_ALLOW)]
    return {
        "open": [_return(_ALLOW)],
        "openat": [_return(_ALLOW)],
        **opening,
        "clone": _masked(0, thread | _CLONE_NEW_NAMESPACE, thread),
        "clone3": [_refuse(errno.ENOSYS)],
        "kill": _one_of(0, [pid]),
        "tgkill": _one_of(0, [pid]),
        "prctl": _one_of(0, _PRCTL_ALLOWED),
        "ioctl": any_ioctl if policy.any_ioctl else _one_of(1, _IOCTL_ALLOWED),
        "fcntl": _one_of(1, (*_FCNTL_ALLOWED, *policy.fcntl)),
        "prlimit64": _null_pointer(2),
        "mmap": [*mapping, _return(_ALLOW)],
        **(unix if policy.unix_sockets else {}),
    }


def _one_of(index: int, values: Sequence[int]) -> list[Instruction]:
    """Allow a call if the low word of its argument is one of the values."""
    tests = [line for value in values for line in _when(_IF_EQUAL, value, _ALLOW)]
    return [_load_argument(index), *tests, _refuse()]


def _masked(index: int, mask: int, value: int) -> list[Instruction]:
    return [_load_argument(index), _statement(_AND, mask), *_when(_IF_EQUAL, value, _ALLOW), _refuse()]


def _null_pointer(index: int) -> list[Instruction]:
    refused_high = [_load_argument(index, high=True), (_IF_EQUAL, 1, 0, 0), _refuse()]
    return [*refused_high, _load_argument(index), *_when(_IF_EQUAL, 0, _ALLOW), _refuse()]


def _when(code: int, value: int, verdict: int) -> list[Instruction]:
    return [(code, 0, 1, value), _return(verdict)]


def _load_argument(index: int, high: bool = False) -> Instruction:
    return _statement(_LOAD, _ARGUMENTS_OFFSET + 8 * index + (4 if high else 0))


def _refuse(error: int = errno.EPERM) -> Instruction:
    return _return(_ERRNO | error)


def _return(verdict: int) -> Instruction:
    return _statement(_RETURN, verdict)


def _statement(code: int, value: int) -> Instruction:
    return code, 0, 0, value


# System-call numbers per machine: asm/unistd_64.h for x86_64, asm-generic/unistd.h for aarch64, which has no `open`


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


_X86_64 = _table("""
    access 21  alarm 37  brk 12  capset 126  clock_getres 229  clock_gettime 228  clock_nanosleep 230  clone 56
    clone3 435  close 3  close_range 436  dup 32  dup2 33  dup3 292  epoll_create1 291  epoll_ctl 233
    epoll_pwait 281  epoll_wait 232  eventfd2 290  exit 60  exit_group 231  faccessat 269  faccessat2 439
    fadvise64 221  fcntl 72  fstat 5  futex 202  get_robust_list 274  getcpu 309  getcwd 79  getdents 78
    getdents64 217  getegid 108  geteuid 107  getgid 104  getgroups 115  getitimer 36  getpgid 121  getpgrp 111
    getpid 39  getppid 110  getpriority 140  getrandom 318  getresgid 120  getresuid 118  getrlimit 97  getrusage 98
    getsid 124  gettid 186  gettimeofday 96  getuid 102  ioctl 16  kill 62  landlock_add_rule 445
    landlock_create_ruleset 444  landlock_restrict_self 446  lseek 8  lstat 6  madvise 28  membarrier 324
    mincore 27  mmap 9  mprotect 10  mremap 25  munmap 11  nanosleep 35  newfstatat 262  open 2  openat 257
    pause 34  pipe 22  pipe2 293  poll 7  ppoll 271  prctl 157  pread64 17  preadv 295  prlimit64 302  pselect6 270
    read 0  readlink 89  readlinkat 267  readv 19  restart_syscall 219  rseq 334  rt_sigaction 13  rt_sigpending 127
    rt_sigprocmask 14  rt_sigreturn 15  rt_sigsuspend 130  rt_sigtimedwait 128  sched_get_priority_max 146
    sched_get_priority_min 147  sched_getaffinity 204  sched_getparam 143  sched_getscheduler 145  sched_yield 24
    seccomp 317  select 23  set_robust_list 273  set_tid_address 218  setitimer 38  sigaltstack 131  stat 4
    statx 332  sysinfo 99  tgkill 234  time 201  times 100  uname 63  unshare 272  write 1  writev 20
    bind 49  connect 42  getsockname 51  listen 50  setsockopt 54  socket 41
    arch_prctl 158  chdir 80  copy_file_range 326  execve 59  fallocate 285  fchmod 91  fdatasync 75  flock 73  fork 57
    fstatfs 138  fsync 74  ftruncate 77  get_mempolicy 239  mbind 237  memfd_create 319  mkdir 83  mkdirat 258
    mlock 149  mlock2 325  munlock 150  pwrite64 18  rename 82  renameat 264  renameat2 316  rmdir 84
    sched_setaffinity 203  set_mempolicy 238  statfs 137  umask 95
    unlink 87  unlinkat 263  utimensat 280  vfork 58  wait4 61  waitid 247
""")

_AARCH64 = _table("""
    brk 214  capset 91  clock_getres 114  clock_gettime 113  clock_nanosleep 115  clone 220  clone3 435  close 57
    close_range 436  dup 23  dup3 24  epoll_create1 20  epoll_ctl 21  epoll_pwait 22  eventfd2 19  exit 93
    exit_group 94  faccessat 48  faccessat2 439  fadvise64 223  fcntl 25  fstat 80  futex 98  get_robust_list 100
    getcpu 168  getcwd 17  getdents64 61  getegid 177  geteuid 175  getgid 176  getgroups 158  getitimer 102
    getpgid 155  getpid 172  getppid 173  getpriority 141  getrandom 278  getresgid 150  getresuid 148
    getrlimit 163  getrusage 165  getsid 156  gettid 178  gettimeofday 169  getuid 174  ioctl 29  kill 129
    landlock_add_rule 445  landlock_create_ruleset 444  landlock_restrict_self 446  lseek 62  madvise 233
    membarrier 283  mincore 232  mmap 222  mprotect 226  mremap 216  munmap 215  nanosleep 101  newfstatat 79
    openat 56  pipe2 59  ppoll 73  prctl 167  pread64 67  preadv 69  prlimit64 261  pselect6 72  read 63
    readlinkat 78  readv 65  restart_syscall 128  rseq 293  rt_sigaction 134  rt_sigpending 136  rt_sigprocmask 135
    rt_sigreturn 139  rt_sigsuspend 133  rt_sigtimedwait 137  sched_get_priority_max 125  sched_get_priority_min 126
    sched_getaffinity 123  sched_getparam 121  sched_getscheduler 120  sched_yield 124  seccomp 277
    set_robust_list 99  set_tid_address 96  setitimer 103  sigaltstack 132  statx 291  sysinfo 179  tgkill 131
    times 153  uname 160  unshare 97  write 64  writev 66
    bind 200  connect 203  getsockname 204  listen 201  setsockopt 208  socket 198
    chdir 49  copy_file_range 285  execve 221  fallocate 47  fchmod 52  fdatasync 83  flock 32  fstatfs 44  fsync 82
    ftruncate 46  get_mempolicy 236  mbind 235  memfd_create 279  mkdirat 34  mlock 228  mlock2 284  munlock 229
    pwrite64 68  renameat 38  renameat2 276  sched_setaffinity 122  set_mempolicy 237  statfs 43  umask 166
    unlinkat 35  utimensat 88  wait4 260  waitid 95
""")

NUMBERS = {"x86_64": _X86_64, "aarch64": _AARCH64}
