"""The zygote: imports torch once, in one thread, and forks a worker for each request.

It never sees a learner's file, a reference, hypothesis or the judge. It ends when the judge closes the control socket.

    zygote ──clone──> process 1 of a new pid namespace, trusted: watches the worker ──fork──> process 2, the worker
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import platform
import select
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from . import landlock, namespaces, seccomp
from .policy import CPU, MIB, POLICIES
from .wire import LENGTH_DIGITS

SWEEP_MS = 250
IDLE_MS = 1500
FORKS_BEFORE_WARMTH = 8  # for a zygote that is never idle, as while many files are verified
GRACE_MS = 2000  # for the judge to shut down after its standard input has ended
POLL_MS = 50
# Pages that the worker shared with the zygote or had not read yet, and memory that the kernel's limits do not count.
_SLACK_BYTES = 128 * MIB
# More processes than any policy allows; counting a fork bomb's thousands would take longer than POLL_MS.
_COUNTED = 512


def main(descriptor: int, parent: int) -> NoReturn:
    """Run a zygote that imports torch itself; its request is the first message on the control socket."""
    control = socket.socket(fileno=descriptor)
    prepare_and_serve(control, json.loads(control.recv(namespaces.MESSAGE_BYTES)), parent)


def prepare_and_serve(control: socket.socket, request: dict[str, Any], parent: int) -> NoReturn:
    """Report the available layers to the judge, then serve. `parent` is 0 when the judge's thread may end before it."""
    try:
        if not any(finder is Filtered for finder in sys.meta_path):
            import_packages(request["packages"])
        if request.get("testing"):
            Filtered.without -= landlock.BLOCKED_PACKAGES
            importlib.import_module("sandbox.own_tests").import_libraries()
            warm_up_further()
            Filtered.without |= landlock.BLOCKED_PACKAGES
        library = [Path(name) for name in sys.path if name not in request["packages"] and Path(name).exists()]
        packages, withheld = ([Path(name) for name in request[key]] for key in ("packages", "withheld"))
        available = Available()
        available.enter_namespaces()
        available.prepare_filters(landlock.Installation(library, packages, withheld))
        available.hide([path for path in withheld if path.is_dir()])
        _check_threads()
        gc.freeze()
        gc.enable()
    except (ImportError, OSError, RuntimeError) as error:
        traceback.print_exc()
        control.send(json.dumps({"op": "failed", "text": f"{type(error).__name__}: {error}"[:2000]}).encode())
        os._exit(1)
    if parent:
        namespaces.die_with(parent)
    control.send(json.dumps({"op": "ready", "notes": available.notes}).encode())
    ForkServer(control, available).serve()


class Filtered(PathFinder):
    """Find modules on the path as usual, except the packages in `without`."""

    without: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in cls.without:
            return None
        return PathFinder.find_spec(fullname, path, target)


def import_packages(packages: Sequence[str]) -> None:
    """Import torch from these folders, and the worker; hide the packages that workers may not import."""
    sys.path.extend(packages)
    sys.meta_path[sys.meta_path.index(PathFinder)] = Filtered
    Filtered.without = landlock.BLOCKED_PACKAGES | landlock.FOR_KERNELS
    warm_up()
    importlib.import_module("sandbox.worker")


def warm_up() -> None:
    """Import torch and trigger its lazy setup, so that every worker has it already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that there is no numpy, which it does not need
        import torch

    from .compiler import postpone_compiler
    from .devices import backward_starts_gpu
    from .tracing import CallTrace, CostTrace

    torch.set_num_threads(1)
    postpone_compiler()
    x = torch.ones(1, 2, 4, 8, requires_grad=True)
    with CallTrace(""), CostTrace([x]):
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x) @ torch.ones(8, 8)
    if not backward_starts_gpu():
        torch.autograd.backward(y.sum())
        torch.autograd.grad((x * x).sum(), [x])
    torch.einsum("bhtd,bhsd->bhts", x, x).softmax(-1)
    torch.frombuffer(bytearray(8), dtype=torch.float32)
    # This reads the processor's features from /proc, which no worker may do.
    torch.ones(1, dtype=torch.float16).float()


def warm_up_further() -> None:
    """Make torch import its symbolic algebra, which takes 0.5 s, while the judge is not waiting."""
    import torch

    from .devices import backward_starts_gpu

    torch.ones(2, 2, device="meta") @ torch.ones(2, device="meta")
    torch.func.vmap(torch.sin)(torch.ones(3, 2))
    if not backward_starts_gpu():
        torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(3, 2))
    weight = torch.nn.Parameter(torch.ones(2))
    torch.optim.AdamW([weight])
    gc.freeze()


def _check_threads() -> None:
    """Raise RuntimeError unless this process has one thread: a lock of another thread would stay locked in a fork."""
    if (count := len(list(Path("/proc/self/task").iterdir()))) != 1:
        raise RuntimeError(f"torch left {count} threads, so that forking would not be safe")


@dataclass(slots=True)
class Available:
    """The layers that can be set up here, and a note for each that cannot."""

    namespaces: bool = False
    seccomp: bool = False
    ruleset: int | None = None
    installation: landlock.Installation | None = None
    notes: list[str] = field(default_factory=list)

    def enter_namespaces(self) -> None:
        """Move into new namespaces if possible. Must run before a second thread exists."""
        reason = namespaces.why_unavailable()
        if reason is None:
            namespaces.enter_user_namespace()
            namespaces.empty_bounding_set()
        else:
            self.notes.append(f"namespaces: {reason}")
        self.namespaces = reason is None

    def hide(self, folders: Sequence[Path]) -> None:
        """Cover folders, so that not even the sizes of their files can be read."""
        if self.namespaces:
            try:
                namespaces.cover(folders)
            except OSError as error:
                self.notes.append(f"mounts: the challenges' folders are not covered ({error.strerror})")

    def prepare_filters(self, installation: landlock.Installation) -> None:
        """Check for seccomp and Landlock, and build the Landlock ruleset that all workers share."""
        self.installation = installation
        reason = seccomp.why_unavailable()
        self.seccomp = reason is None
        if reason is not None:
            self.notes.append(f"seccomp: {reason}")
        reason = landlock.why_unavailable()
        if self.seccomp:
            seccomp.compile_filter(platform.machine(), namespaces.WORKER_PID, reason is None)
        if reason is not None:
            self.notes.append(f"landlock: {reason}; files that this user can read can be read")
            return
        devices = [Path(name) for name in landlock.WRITE_DEVICES]
        ruleset, notes = landlock.build(installation.readable(), devices)
        self.ruleset = ruleset.descriptor
        self.notes += notes


class ForkServer:
    """Serve fork requests on the control socket."""

    def __init__(self, control: socket.socket, available: Available) -> None:
        self._control = control
        self._available = available
        self._lifeline, self._held = os.pipe()
        self._watchers: set[int] = set()
        self._warm = False
        self._forks = 0

    def serve(self) -> NoReturn:
        """Fork workers until the judge ends, then exit, which ends every worker."""
        namespaces.adopt_orphans()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        while True:
            until_idle_ms = None if self._warm else IDLE_MS
            if not poller.poll(until_idle_ms if self._available.namespaces else SWEEP_MS):
                self._on_idle()
                continue
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, namespaces.MESSAGE_BYTES, 4)
            except ConnectionResetError:
                data, descriptors = b"", []
            if not data:  # the judge has ended; Python would take 0.3 s to tear torch down
                os._exit(0)
            self._fork(json.loads(data), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self._forks += 1
            if self._forks == FORKS_BEFORE_WARMTH:
                self._become_warm()

    def _on_idle(self) -> None:
        """Warm up further. Without pid namespaces, kill the orphans of workers, which this process has adopted."""
        if not self._available.namespaces:
            self._watchers &= set(namespaces.children_of(os.getpid()))
            namespaces.kill_children(frozenset(self._watchers))
        self._become_warm()

    def _become_warm(self) -> None:
        if self._warm:
            return
        self._warm = True
        try:
            warm_up_further()
        except (AttributeError, ImportError, RuntimeError):
            traceback.print_exc()
        _check_threads()
        self._send({"op": "warm"})

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send the judge a message; if the judge has ended, ignore that, since the next request shows it."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    def _fork(self, request: dict[str, Any], descriptors: Sequence[int]) -> None:
        try:
            pid = namespaces.fork_into_pid_namespace() if self._available.namespaces else os.fork()
            if pid:
                if not self._available.namespaces:
                    self._watchers.add(pid)
                handle = os.pidfd_open(pid)  # by which the judge kills process 1, and with it the worker
                self._send({"op": "forked", "id": request["id"], "pid": pid}, [handle])
                os.close(handle)
                return
        except OSError as error:
            text = f"no process could be started: {error.strerror}"
            self._send({"op": "failed", "id": request["id"], "text": text})
            return
        try:
            os.close(self._held)
            namespaces.die_with_holder(self._lifeline)
            self._watch_worker(request, descriptors)
        finally:
            os._exit(1)

    def _watch_worker(self, request: dict[str, Any], descriptors: Sequence[int]) -> NoReturn:
        """Fork the worker, watch it until it has ended and send the judge its status. Runs in process 1."""
        frames, output, status = descriptors
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._control.close()
        os.close(self._lifeline)
        namespaces.adopt_orphans()
        parent = os.getpid()
        policy = replace(POLICIES[request.get("policy", CPU.name)], cache_folder=request.get("cache_folder", ""))
        folder = (
            Path(request["folder"]) if policy.folder_mib and not self._available.namespaces else landlock.OWN_FOLDER
        )
        if folder is not landlock.OWN_FOLDER:
            folder.mkdir(mode=0o700)
        most_bytes = namespaces.usage("self").memory_bytes + request["watched_mib"] * MIB + _SLACK_BYTES
        pid = os.fork()
        if pid == 0:
            from . import worker

            os.close(status)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            available = self._available
            layers = (available.ruleset, available.seccomp, available.namespaces)
            plan = worker.Confinement(request["memory_mib"], *layers, parent, policy, available.installation, folder)
            worker.run(frames, output, plan, request.get("canary"))
        os.close(frames)
        os.close(output)
        ended = wait_for(pid, most_bytes, policy.processes)
        os.write(status, json.dumps(ended).encode())
        if parent != 1:
            namespaces.kill_children()
        os._exit(0)


# Watching a worker, in process 1 of its pid namespace


def wait_for(worker: int, memory_bytes: int, threads: int) -> dict[str, str | int]:
    """Reap children until the child `worker` has ended, and return its `exit` status or the `signal` that ended it.

    Kills it if one process below this one holds more than `memory_bytes`, or if they have more than `threads` threads
    in all, and returns `excess`: "memory" or "threads". This covers memory that the kernel's limits do not count, and
    processes that they do not bind. Each check costs some 0.1 ms, twenty times a second.
    """
    handle = os.pidfd_open(worker)
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    while True:
        poller.poll(POLL_MS)
        if (ended := _reaped(worker)) is not None:
            return ended
        if excess := _excess(used_below(), memory_bytes, threads):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return {"excess": excess}


def _reaped(worker: int) -> dict[str, str | int] | None:
    """Reap every child that has ended; return the worker's status if it is one of them."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return None
        if pid == worker:
            code = os.waitstatus_to_exitcode(status)
            return {"signal": -code} if code < 0 else {"exit": code}


def used_below(pid: int | str = "self") -> namespaces.Usage:
    """Return the largest memory of a process below this one, and the number of threads of all of them.

    The worker is below process 1, and so is everything it started where no filter forbids it to fork.
    """
    below = namespaces.children_of(pid)
    for child in below:
        if len(below) < _COUNTED:
            below += namespaces.children_of(child)
    usages = [namespaces.usage(child) for child in below[:_COUNTED]]
    memory_bytes = max((used.memory_bytes for used in usages), default=0)
    return namespaces.Usage(memory_bytes, sum(used.threads for used in usages))


def _excess(used: namespaces.Usage, memory_bytes: int, threads: int) -> str:
    if used.memory_bytes > memory_bytes:
        return "memory"
    return "threads" if used.threads > threads else ""


# One process that becomes the zygote and the judge


def serve_both() -> NoReturn:
    """Import torch, then fork: the child becomes the zygote, the parent the judge.

    Importing torch takes longer than a grading, and two processes that do it at once slow each other down. The child
    has seen nothing but torch and this package: no challenge, no reference, nothing of the user's environment.
    Standard input has two messages, each after its length: for the zygote, then for the judge.
    """
    _end_with_standard_input()
    setup = _read_message()
    import_packages(setup["packages"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    judge = os.getpid()
    child = os.fork()
    if child == 0:
        ours.close()
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)  # the judge's streams must end when the judge does
        os.dup2(2, 1)
        os.close(null)
        prepare_and_serve(theirs, setup, judge)
    theirs.close()
    setup = _read_message()
    gc.freeze()
    Filtered.without -= landlock.BLOCKED_PACKAGES
    sys.path.insert(0, setup["root"])
    sys.dont_write_bytecode = bool(setup["dont_write_bytecode"])
    os.environ.update(setup["environment"])
    server = importlib.import_module("attncli.judge.server")
    sys.exit(server.main(ours, child))


def _end_with_standard_input() -> None:
    """Fork a process that kills this one if it runs on after its standard input has ended.

    The judge has a thread that waits for that end, but it cannot run while C code holds the interpreter lock.
    """
    judge = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(judge)
        return
    os.closerange(1, judge)
    poller = select.poll()
    poller.register(judge, select.POLLIN)
    poller.register(0, 0)  # a hang-up is reported in any case
    poller.poll()
    poller.unregister(0)
    if not poller.poll(GRACE_MS):
        signal.pidfd_send_signal(judge, signal.SIGKILL)
    os._exit(0)


def _read_message() -> dict[str, Any]:
    length = int(_read_exactly(LENGTH_DIGITS))
    message: dict[str, Any] = json.loads(_read_exactly(length))
    return message


def _read_exactly(count: int) -> bytes:
    """Read `count` bytes of standard input and no more: the rest is the judge's."""
    data = b""
    while len(data) < count:
        chunk = os.read(0, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data
