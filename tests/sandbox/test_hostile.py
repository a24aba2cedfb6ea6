"""Run hostile submissions: each is stopped or rejected with the right reason, and leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attncli.sandbox.zygote_client import Reply, ZygoteClient

from .conftest import Grade, verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("nothing_left")]

REFERENCE = Path(__file__).resolve().parents[2] / "attncli" / "errors.py"

PRIVATE = "flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS"
THREAD = "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
SMALL_THREADS = (
    f"import threading, time\nthreading.stack_size(1 << 15)\nfor _ in range(500): {THREAD}\ntime.sleep(1000)"
)
LIMITS = "resource.RLIMIT_DATA, (1 << 20, 1 << 20)"
SWALLOWS = "while True:\n try:\n  while True: pass\n except BaseException: pass"
RECURSES = "callback = ctypes.CFUNCTYPE(None)(lambda: callback())\nsys.setrecursionlimit(10 ** 8)\ncallback()"
FREES = "libc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n"
FREES += "p = ctypes.c_void_p(libc.malloc(64))\nlibc.free(p)\nlibc.free(p)"
TOO_MUCH = "printed more than 1 MiB"
# name: source; each is answered with a PermissionError
REFUSED = {
    "maps memory that grows like a stack": f"import mmap\nmmap.mmap(-1, 6 << 30, {PRIVATE} | 0x100)",
    "maps shared memory": "import mmap\nmmap.mmap(-1, 1 << 30)",
    "makes a memory file": "import os\nos.memfd_create('hostile')",
    "opens a socket": "import socket\nsocket.socket()",
    "opens a Unix socket": "import socket\nsocket.socketpair()",
    "reads the reference": f"open({str(REFERENCE)!r}).read()",
    "lists the checkout": f"import os\nos.listdir({str(REFERENCE.parent)!r})",
    "reads the passwords": "open('/etc/passwd').read()",
    "reads its own memory map": "open('/proc/self/maps').read()",
    "reads its environment": "open('/proc/self/environ').read()",
    "writes to the home folder": "import os\nopen(os.path.expanduser('~/hostile'), 'w').write('x')",
    "writes to the temporary folder": "open('/tmp/hostile', 'w')",
    "writes to shared memory": "open('/dev/shm/hostile', 'w')",
    "makes a folder": "import os\nos.mkdir('/tmp/hostile')",
    "links": "import os\nos.symlink('/etc/passwd', '/tmp/hostile')",
    "links hard": "import os\nos.link('/etc/passwd', '/tmp/hostile')",
    "changes a mode": f"import os\nos.chmod({str(REFERENCE)!r}, 0o777)",
    "changes an owner": f"import os\nos.chown({str(REFERENCE)!r}, 0, 0)",
    "changes times": f"import os\nos.utime({str(REFERENCE)!r}, (1, 1))",
    "deletes": f"import os\nos.unlink({str(REFERENCE)!r})",
    "truncates": f"import os\nos.truncate({str(REFERENCE)!r}, 0)",
    "forks": "import os\nos.fork()",
    "forks for ever": "import os\nwhile True: os.fork()",
    "starts a process": "import subprocess\nsubprocess.run(['ls'])",
    "starts a shell": "import subprocess\nsubprocess.check_output('ls', shell=True)",
    "becomes another program": "import os\nos.execv('/bin/ls', ['ls'])",
    "spawns": "import os\nos.posix_spawn('/bin/ls', ['ls'], {})",
    "multiprocesses": "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "kills its parent": "import os\nos.kill(os.getppid(), 9)",
    "kills process 1": "import os\nos.kill(1, 9)",
    "kills everything": "import os\nos.kill(-1, 9)",
    "kills its group": "import os\nos.killpg(0, 9)",
    "becomes another user": "import os\nos.setuid(0)",
    "changes its root": "import os\nos.chroot('/')",
}
# name: (source, reason, words that the message must hold)
WHILE_LOADED = {
    "loops for ever": ("while True: pass", "timeout", "still running after 0.5 s"),
    "loops in C": ("sum(range(10 ** 15))", "timeout", "still running"),
    "swallows everything and loops": (SWALLOWS, "timeout", "still running"),
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
    "overflows the C stack": (f"import ctypes, sys\n{RECURSES}", "crashed", "SIGSEGV"),
    "frees memory twice": (f"import ctypes\n{FREES}", "crashed", "SIGABRT"),
    "eats bytes": ("x = []\nwhile True: x.append(bytes(1000000))", "memory", "MemoryError"),
    "eats a list": ("x = [0]\nwhile True: x = x * 2", "memory", "MemoryError"),
    "eats tensors": ("import torch\nx = []\nwhile True: x.append(torch.ones(1000000))", "memory", "can't allocate"),
    "eats one huge tensor": ("import torch\ntorch.empty(10 ** 12)", "memory", "can't allocate"),
    "eats mappings": (f"import mmap\nx = []\nwhile True: x.append(mmap.mmap(-1, 1 << 24, {PRIVATE}))", "memory", ""),
    "maps a terabyte for its page tables": (f"import mmap\nmmap.mmap(-1, 1 << 40, {PRIVATE}, prot=1)", "memory", ""),
    "prints for ever": ("while True: print('x' * 1000)", "output", TOO_MUCH),
    "prints to standard error": ("import sys\nwhile True: sys.stderr.write('x' * 50)", "output", TOO_MUCH),
    "prints control sequences": (r"while True: print('\x1b[31m\x1b]0;title\x07' * 100)", "output", TOO_MUCH),
    "asks the web": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')", "refused", "URLError"),
    "looks up a name": ("import socket\nsocket.getaddrinfo('example.com', 80)", "refused", "gaierror"),
    "starts threads for ever": (f"import threading, time\nwhile True: {THREAD}", "refused", "can't start new thread"),
    "starts small threads for ever": (SMALL_THREADS, "refused", "thread"),
    "changes its limits": (f"import resource\nresource.setrlimit({LIMITS})", "exception", "not allowed"),
    **{name: (source, "refused", "PermissionError") for name, source in REFUSED.items()},
}

SYSTEM_CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""
MAPS = "libc.mmap.restype = ctypes.c_void_p"
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
    "shared anonymous memory": f"{MAPS}\nif libc.mmap(0, 4096, 3, 0x21, -1, 0) == 2 ** 64 - 1: check(-1)",
}

INT_80 = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""
# What is refused with a reply leaves the worker as it was: the next file is loaded there.
ENDING = ("forks for ever", "starts threads for ever", "starts small threads for ever")
REPLIED = [name for name, (_, why, _) in WHILE_LOADED.items() if why in ("refused", "exception") and name not in ENDING]
# One of each kind of ending.
FEW = (
    *("loops in C", "sys.exit", "os._exit 7", "kills itself", "eats tensors", "eats mappings", "prints for ever"),
    *("maps a terabyte for its page tables", "starts small threads for ever", "forks for ever"),
)


@pytest.mark.parametrize("kernel", [False, True], ids=["torch alone", "beside Triton"])
def test_what_is_refused_while_loaded_ends_nothing(kernel: bool, load: Grade) -> None:
    for name in REPLIED:
        source, reason, words = WHILE_LOADED[name]
        found, message = verdict(load(source, kernel=kernel))
        assert (found, words in message) == (reason, True), (name, message)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        pytest.param(name, kernel, marks=[pytest.mark.full] * (name not in FEW or kernel))
        for kernel in (False, True)
        for name in WHILE_LOADED
        if name not in REPLIED
    ],
)
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


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers and the instruction are those of x86_64")
def test_raw_system_calls_are_refused_and_calls_of_another_architecture_kill_the_worker(load: Grade) -> None:
    for name, call in RAW_CALLS.items():
        found, message = verdict(load(SYSTEM_CALL + call))
        assert (found, "Operation not permitted" in message) == ("refused", True), (name, message)
    found, message = verdict(load(INT_80))
    assert (found, "SIGSYS" in message) == ("refused", True), message


def test_the_judges_memory_cannot_be_read_and_swallowed_refusals_are_reported(load: Grade) -> None:
    found, message = verdict(load(f"open('/proc/{os.getpid()}/mem', 'rb')"))
    assert (found, "PermissionError" in message) == ("refused", True), message
    for event, attempt in {
        "os.system": "os.system('ls')",
        "os.fork": "os.fork()",
        "subprocess.Popen": "subprocess.run(['ls'])",
        "socket.__new__": "socket.socket()",
        "open": "open('/tmp/hostile', 'w')",
        "os.kill": "os.kill(1, 9)",
        "os.mkdir": "os.mkdir('/tmp/hostile')",
    }.items():
        reply = load(f"import os, socket, subprocess\ntry: {attempt}\nexcept OSError: pass\ndef f(): pass")
        assert isinstance(reply, Reply) and event in reply.header["touched"]


def test_attempts_are_reported_once_and_with_the_request_that_made_them(call: Grade) -> None:
    reply = call("import os\nos.system('ls')\ndef f(): open('/tmp/hostile', 'w') if False else None")
    assert isinstance(reply, Reply) and reply.header["touched"] == []


def test_a_worker_sees_no_judge_no_environment_and_four_descriptors(load: Grade, zygote: ZygoteClient) -> None:
    names = ("attncli", "hypothesis", "attncli.judge", "_hypothesis_globals")
    variables = {"HOME", "LANG", "PATH", "PYTHONHASHSEED", "TORCHINDUCTOR_CACHE_DIR"}
    variables |= {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    source = (
        "import sys, os, importlib.util\n"
        f"loaded = [name for name in {names!r} if name in sys.modules]\n"
        f"found = [name for name in {names[:2]!r} if importlib.util.find_spec(name)]\n"
        "assert not loaded and not found, (loaded, found)\n"
        f"assert set(os.environ) <= {variables!r}, dict(os.environ)\n"
        "def is_open(number):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "assert [n for n in range(64) if is_open(n)] == [0, 1, 2, 3]"
    )
    assert verdict(load(source)) == ("loaded", "")
    assert set(zygote.layers) == {"process", "rlimits", "landlock", "seccomp", "namespaces"}
