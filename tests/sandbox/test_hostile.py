"""Run hostile submissions: each is stopped or rejected with the right reason, and leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attncli.sandbox.zygote_client import Reply, Worker, ZygoteClient

from .conftest import Grade, verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("nothing_left")]

REFERENCE = Path(__file__).resolve().parents[2] / "attncli" / "errors.py"

# name: (source, reason, words that the message must hold)
WHILE_LOADED = {
    "loops for ever": ("while True: pass", "timeout", "still running after 0.5 s"),
    "loops in C": ("sum(range(10 ** 15))", "timeout", "still running"),
    "swallows everything and loops": (
        "while True:\n try:\n  while True: pass\n except BaseException: pass",
        "timeout",
        "still running",
    ),
    "stops itself": ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "timeout", "still running"),
    "sleeps": ("import time\ntime.sleep(1000)", "timeout", "still running"),
    "sys.exit": ("import sys\nsys.exit(3)", "exited", "SystemExit: 3"),
    "sys.exit without status": ("import sys\nsys.exit()", "exited", "SystemExit"),
    "os._exit 0": ("import os\nos._exit(0)", "exited", "exit status 0 (os._exit or sys.exit)"),
    "os._exit 7": ("import os\nos._exit(7)", "exited", "exit status 7"),
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", "exception", "KeyboardInterrupt"),
    "reads a null pointer": ("import ctypes\nctypes.string_at(0)", "crashed", "killed by SIGSEGV"),
    "aborts": ("import os\nos.abort()", "crashed", "killed by SIGABRT"),
    "kills itself": ("import os\nos.kill(os.getpid(), 9)", "crashed", "killed by SIGKILL"),
    "overflows the C stack": (
        "import ctypes\n"
        "callback = ctypes.CFUNCTYPE(None)(lambda: callback())\n"
        "import sys\nsys.setrecursionlimit(10 ** 8)\ncallback()",
        "crashed",
        "SIGSEGV",
    ),
    "frees memory twice": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n"
        "p = ctypes.c_void_p(libc.malloc(64))\nlibc.free(p)\nlibc.free(p)",
        "crashed",
        "SIGABRT",
    ),
    "eats bytes": ("x = []\nwhile True: x.append(bytes(1000000))", "memory", "MemoryError"),
    "eats a list": ("x = [0]\nwhile True: x = x * 2", "memory", "MemoryError"),
    "eats tensors": ("import torch\nx = []\nwhile True: x.append(torch.ones(1000000))", "memory", "can't allocate"),
    "eats one huge tensor": ("import torch\ntorch.empty(10 ** 12)", "memory", "can't allocate"),
    "eats mappings": (
        "import mmap\nx = []\nwhile True:\n"
        " x.append(mmap.mmap(-1, 1 << 24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))",
        "memory",
        "",
    ),
    "maps memory that grows like a stack": (
        "import mmap\nmmap.mmap(-1, 6 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100)",
        "refused",
        "PermissionError",
    ),
    "maps a terabyte to read, for its page tables": (
        "import mmap\nmmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)",
        "memory",
        "",
    ),
    "maps shared memory": ("import mmap\nmmap.mmap(-1, 1 << 30)", "refused", "PermissionError"),
    "makes a memory file": ("import os\nos.memfd_create('hostile')", "refused", "PermissionError"),
    "prints for ever": ("while True: print('x' * 1000)", "output", "printed more than 1 MiB"),
    "prints to standard error": (
        "import sys\nwhile True: sys.stderr.write('x' * 50)",
        "output",
        "printed more than 1 MiB",
    ),
    "prints control sequences": (
        r"while True: print('\x1b[31m\x1b]0;title\x07' * 100)",
        "output",
        "printed more than 1 MiB",
    ),
    "opens a socket": ("import socket\nsocket.socket()", "refused", "PermissionError"),
    "opens a Unix socket": ("import socket\nsocket.socketpair()", "refused", "PermissionError"),
    "asks the web": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')", "refused", "URLError"),
    "looks up a name": ("import socket\nsocket.getaddrinfo('example.com', 80)", "refused", "gaierror"),
    "reads the reference": (f"open({str(REFERENCE)!r}).read()", "refused", "PermissionError"),
    "lists the checkout": (f"import os\nos.listdir({str(REFERENCE.parent)!r})", "refused", "PermissionError"),
    "reads the passwords": ("open('/etc/passwd').read()", "refused", "PermissionError"),
    "reads its own memory map": ("open('/proc/self/maps').read()", "refused", "PermissionError"),
    "reads its environment": ("open('/proc/self/environ').read()", "refused", "PermissionError"),
    "writes to the home folder": (
        "import os\nopen(os.path.expanduser('~/hostile'), 'w').write('x')",
        "refused",
        "PermissionError",
    ),
    "writes to the temporary folder": ("open('/tmp/hostile', 'w')", "refused", "PermissionError"),
    "writes to shared memory": ("open('/dev/shm/hostile', 'w')", "refused", "PermissionError"),
    "makes a folder": ("import os\nos.mkdir('/tmp/hostile')", "refused", "PermissionError"),
    "links": ("import os\nos.symlink('/etc/passwd', '/tmp/hostile')", "refused", "PermissionError"),
    "links hard": ("import os\nos.link('/etc/passwd', '/tmp/hostile')", "refused", "PermissionError"),
    "changes a mode": (f"import os\nos.chmod({str(REFERENCE)!r}, 0o777)", "refused", "PermissionError"),
    "changes an owner": (f"import os\nos.chown({str(REFERENCE)!r}, 0, 0)", "refused", "PermissionError"),
    "changes times": (f"import os\nos.utime({str(REFERENCE)!r}, (1, 1))", "refused", "PermissionError"),
    "deletes": (f"import os\nos.unlink({str(REFERENCE)!r})", "refused", "PermissionError"),
    "truncates": (f"import os\nos.truncate({str(REFERENCE)!r}, 0)", "refused", "PermissionError"),
    "forks": ("import os\nos.fork()", "refused", "PermissionError"),
    "forks for ever": ("import os\nwhile True: os.fork()", "refused", "PermissionError"),
    "starts a process": ("import subprocess\nsubprocess.run(['ls'])", "refused", "PermissionError"),
    "starts a shell": ("import subprocess\nsubprocess.check_output('ls', shell=True)", "refused", "PermissionError"),
    "becomes another program": ("import os\nos.execv('/bin/ls', ['ls'])", "refused", "PermissionError"),
    "spawns": ("import os\nos.posix_spawn('/bin/ls', ['ls'], {})", "refused", "PermissionError"),
    "multiprocesses": (
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "refused",
        "PermissionError",
    ),
    "starts threads for ever": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "refused",
        "can't start new thread",
    ),
    "starts small threads for ever": (
        "import threading, time\nthreading.stack_size(1 << 15)\n"
        "for _ in range(500): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
        "time.sleep(1000)",
        "refused",
        "thread",
    ),
    "kills its parent": ("import os\nos.kill(os.getppid(), 9)", "refused", "PermissionError"),
    "kills process 1": ("import os\nos.kill(1, 9)", "refused", "PermissionError"),
    "kills everything": ("import os\nos.kill(-1, 9)", "refused", "PermissionError"),
    "kills its group": ("import os\nos.killpg(0, 9)", "refused", "PermissionError"),
    "becomes another user": ("import os\nos.setuid(0)", "refused", "PermissionError"),
    "changes its root": ("import os\nos.chroot('/')", "refused", "PermissionError"),
    "changes its limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (1 << 20, 1 << 20))",
        "exception",
        "not allowed",
    ),
}

SYSTEM_CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""
# x86_64 numbers; each must be answered with EPERM
RAW_CALLS = {
    "ptrace": "check(libc.ptrace(16, os.getppid(), 0, 0))",
    "process_vm_readv": "check(libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0))",
    "unshare": "check(libc.unshare(0x10000000))",
    "mount": "check(libc.mount(b'none', b'/', b'tmpfs', 0, 0))",
    "clone as a process": "check(libc.syscall(56, 17, 0, 0, 0, 0))",
    "clone into a namespace": "check(libc.syscall(56, 0x10000000 | 0x3d0f00, 0, 0, 0, 0))",
    "io_uring": "check(libc.syscall(425, 8, 0))",
    "bpf": "check(libc.syscall(321, 0, 0, 0))",
    "userfaultfd": "check(libc.syscall(323, 0))",
    "keyctl": "check(libc.syscall(250, 0, 0, 0, 0, 0))",
    "pidfd_open": "check(libc.syscall(434, os.getpid(), 0))",
    "memfd_secret": "check(libc.syscall(447, 0))",
    "perf_event_open": "check(libc.syscall(298, 0, 0, 0, 0, 0))",
    "prlimit64": "check(libc.prlimit(0, 2, b'x' * 16, 0))",
    "setpriority": "check(libc.setpriority(0, 0, -20))",
    "sched_setaffinity": "check(libc.sched_setaffinity(0, 8, b'\\xff' * 8))",
    "set a pdeathsig": "check(libc.prctl(1, 0, 0, 0, 0))",
    "send signals by a file": "check(libc.fcntl(3, 8, 1))",
    "become dumpable": "check(libc.prctl(4, 1, 0, 0, 0))",
    "push keys into the terminal": "check(libc.ioctl(0, 0x5412, b'x'))",
    "setxattr": "check(libc.setxattr(b'/tmp', b'user.hostile', b'x', 1, 0))",
    "shared anonymous memory": (
        "libc.mmap.restype = ctypes.c_void_p\nif libc.mmap(0, 4096, 3, 0x21, -1, 0) == 2 ** 64 - 1: check(-1)"
    ),
}

INT_80 = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""


@pytest.mark.parametrize("kernel", [False, True], ids=["torch alone", "beside Triton"])
@pytest.mark.parametrize("name", WHILE_LOADED)
def test_hostile_while_loaded(name: str, kernel: bool, load: Grade) -> None:
    source, reason, words = WHILE_LOADED[name]
    found, message = verdict(load(source, seconds=0.5 if reason == "timeout" else 20, kernel=kernel))
    assert (found, words in message) == (reason, True), message


@pytest.mark.parametrize("name", ["os._exit 7", "reads a null pointer", "eats bytes", "prints for ever", "forks"])
def test_hostile_while_called(name: str, call: Grade) -> None:
    source, reason, words = WHILE_LOADED[name]
    body = "def f():\n" + "".join(f"    {line}\n" for line in source.splitlines())
    found, message = verdict(call(body))
    assert (found, words in message) == (reason, True), message


@pytest.mark.parametrize("name", RAW_CALLS)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
def test_raw_system_calls_are_refused(name: str, load: Grade) -> None:
    found, message = verdict(load(SYSTEM_CALL + RAW_CALLS[name]))
    assert (found, "Operation not permitted" in message) == ("refused", True), message


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="there is no such instruction elsewhere")
def test_calls_of_another_architecture_kill_the_worker(load: Grade) -> None:
    found, message = verdict(load(INT_80))
    assert (found, "SIGSYS" in message) == ("refused", True), message


def test_the_judges_memory_cannot_be_read(load: Grade) -> None:
    found, message = verdict(load(f"open('/proc/{os.getpid()}/mem', 'rb')"))
    assert (found, "PermissionError" in message) == ("refused", True), message


ATTEMPTS = {
    "os.system": "import os\nos.system('ls')",
    "os.fork": "import os\ntry: os.fork()\nexcept OSError: pass",
    "subprocess.Popen": "import subprocess\ntry: subprocess.run(['ls'])\nexcept OSError: pass",
    "socket.__new__": "import socket\ntry: socket.socket()\nexcept OSError: pass",
    "open": "try: open('/tmp/hostile', 'w')\nexcept OSError: pass",
    "os.kill": "import os\ntry: os.kill(1, 9)\nexcept OSError: pass",
    "os.mkdir": "import os\ntry: os.mkdir('/tmp/hostile')\nexcept OSError: pass",
}


@pytest.mark.parametrize("event", ATTEMPTS)
def test_a_swallowed_refusal_is_still_reported(event: str, load: Grade) -> None:
    reply = load(ATTEMPTS[event] + "\ndef f(): pass")
    assert isinstance(reply, Reply)
    assert event in reply.header["touched"]


def test_attempts_are_reported_once_and_with_the_request_that_made_them(call: Grade, worker: Worker) -> None:
    reply = call("import os\nos.system('ls')\ndef f(): open('/tmp/hostile', 'w') if False else None")
    assert isinstance(reply, Reply)
    assert reply.header["touched"] == []


def test_a_worker_sees_no_judge_no_hypothesis_and_no_attncli(load: Grade, zygote: ZygoteClient) -> None:
    names = ("attncli", "hypothesis", "attncli.judge", "_hypothesis_globals")
    source = (
        "import sys, importlib.util\n"
        f"loaded = [name for name in {names!r} if name in sys.modules]\n"
        f"found = [name for name in {names[:2]!r} if importlib.util.find_spec(name)]\n"
        "assert not loaded and not found, (loaded, found)\n"
    )
    assert verdict(load(source))[0] == "loaded"
    assert set(zygote.layers) == {"process", "rlimits", "landlock", "seccomp", "namespaces"}


def test_only_four_descriptors_are_open(load: Grade) -> None:
    source = (
        "import os\n"
        "def is_open(number):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "assert [n for n in range(64) if is_open(n)] == [0, 1, 2, 3]"
    )
    assert verdict(load(source))[0] == "loaded"


def test_the_environment_is_scrubbed(load: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import os\nassert set(os.environ) <= {'HOME', 'LANG', 'PATH', 'PYTHONHASHSEED'} | {\n"
    source += (
        " 'OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'TORCHINDUCTOR_CACHE_DIR'}, dict(os.environ)"
    )
    assert verdict(load(source))[0] == "loaded"
