"""The zygote: imports torch once, in one thread, and forks a worker whenever it is asked to.

It never sees a learner's file, a reference, hypothesis or the judge. It ends when the judge closes the control socket.

    zygote ──clone──> I: process 1 of a new pid namespace, trusted ──fork──> W: process 2, the worker
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
from . import namespaces as limits
from .policy import CPU, MIB, POLICIES, WorkerPolicy
from .wire import LENGTH_DIGITS

SWEEP_MS = 250
IDLE_MS = 1500
# Where nobody ever lets it be idle: a proof of many files.
FORKS_BEFORE_WARMTH = 8


class Filtered(PathFinder):
    """Finds modules on the path as usual, except the packages in `without`."""

    without: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in cls.without:
            return None
        return PathFinder.find_spec(fullname, path, target)


def warm_up() -> None:
    """Run once what torch sets up lazily, so that every worker has it already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that there is no numpy, which it does not need
        import torch

    from .compiler import postpone_compiler
    from .tracing import CallTrace, CostTrace

    torch.set_num_threads(1)
    postpone_compiler()
    x = torch.ones(1, 2, 4, 8, requires_grad=True)
    with CallTrace(""), CostTrace([x]):
        y = torch.nn.functional.scaled_dot_product_attention(x, x, x) @ torch.ones(8, 8)
    torch.autograd.backward(y.sum())
    torch.autograd.grad((x * x).sum(), [x])
    torch.einsum("bhtd,bhsd->bhts", x, x).softmax(-1)
    torch.frombuffer(bytearray(8), dtype=torch.float32)
    # It reads /proc for what the processor can do, which no worker may; on newer ones a product has done so already.
    torch.ones(1, dtype=torch.float16).float()


def warm_up_further() -> None:
    """Run once what makes torch import half a second's worth of symbolic algebra: done while nobody is waiting."""
    import torch

    torch.ones(2, 2, device="meta") @ torch.ones(2, device="meta")
    torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.ones(3, 2))
    weight = torch.nn.Parameter(torch.ones(2))
    torch.optim.AdamW([weight])
    gc.freeze()


@dataclass(slots=True)
class Available:
    """The layers that can be set up here, and a note in words for each that cannot."""

    namespaces: bool = False
    seccomp: bool = False
    ruleset: int | None = None
    installation: landlock.Installation | None = None
    notes: list[str] = field(default_factory=list)

    def enter_namespaces(self) -> None:
        """Move into namespaces of our own if that is possible. Must come before a second thread exists."""
        reason = namespaces.why_unavailable()
        if reason is None:
            namespaces.enter_user_namespace()
            namespaces.empty_bounding_set()
        else:
            self.notes.append(f"namespaces: {reason}")
        self.namespaces = reason is None

    def hide(self, folders: Sequence[Path]) -> None:
        """Cover folders, so that not even the sizes of their files can be told."""
        if self.namespaces:
            try:
                namespaces.cover(folders)
            except OSError as error:
                self.notes.append(f"mounts: the challenges' folders are not covered ({error.strerror})")

    def prepare_filters(self, installation: landlock.Installation) -> None:
        """Find out about seccomp and Landlock, and build the Landlock ruleset that all workers share."""
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
    """Serves fork requests on the control socket."""

    def __init__(self, control: socket.socket, available: Available) -> None:
        self._control = control
        self._available = available
        self._lifeline, self._held = os.pipe()
        self._initials: set[int] = set()
        self._warm = False
        self._forks = 0

    def serve(self) -> NoReturn:
        """Fork workers until the judge has gone, then end, and with it every worker."""
        namespaces.adopt_orphans()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        while True:
            if not poller.poll(self._patience_ms()):
                self._be_idle()
                continue
            data, descriptors = self._request()
            if not data:
                os._exit(0)
            self._fork(json.loads(data), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            self._forks += 1
            if self._forks == FORKS_BEFORE_WARMTH:
                self._become_warm()

    def _request(self) -> tuple[bytes, list[int]]:
        """What the judge asks for; nothing where it has gone, also where it has not read all that it was told.

        An exception would end this process too, but only after Python has taken torch apart: a third of a second.
        """
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, limits.MESSAGE_BYTES, 4)
        except ConnectionResetError:
            return b"", []
        return data, descriptors

    def _patience_ms(self) -> int | None:
        """How long to wait for a request before something else is done."""
        if not self._available.namespaces:
            return SWEEP_MS
        return None if self._warm else IDLE_MS

    def _be_idle(self) -> None:
        if not self._available.namespaces:
            self._sweep()
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
        self._tell({"op": "warm"})

    def _tell(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Tell the judge something; nothing where it has gone, which the next request shows."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    def _sweep(self) -> None:
        """Without pid namespaces: kill what a worker has left behind and this process has adopted."""
        self._initials &= set(namespaces.children_of(os.getpid()))
        namespaces.kill_children(frozenset(self._initials))

    def _fork(self, request: dict[str, Any], descriptors: Sequence[int]) -> None:
        try:
            pid = namespaces.fork_into_pid_namespace() if self._available.namespaces else os.fork()
            if pid:
                if not self._available.namespaces:
                    self._initials.add(pid)
                self._announce(request, pid)
                return
        except OSError as error:
            text = f"no process could be started: {error.strerror}"
            self._tell({"op": "failed", "id": request["id"], "text": text})
            return
        try:
            os.close(self._held)
            namespaces.die_with_holder(self._lifeline)
            self._be_initial(request, descriptors)
        finally:
            os._exit(1)

    def _announce(self, request: dict[str, Any], pid: int) -> None:
        """Tell the judge the worker's process 1, with a descriptor by which it can be killed."""
        handle = os.pidfd_open(pid)
        self._tell({"op": "forked", "id": request["id"], "pid": pid}, [handle])
        os.close(handle)

    def _be_initial(self, request: dict[str, Any], descriptors: Sequence[int]) -> NoReturn:
        """Fork the worker, watch it until it has ended and tell the judge how it did."""
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
        most_bytes = most_bytes_of(request["watched_mib"])
        pid = os.fork()
        if pid == 0:
            os.close(status)
            self._become_worker(request, policy, frames, output, parent, folder)
        os.close(frames)
        os.close(output)
        ended = wait_for(pid, most_bytes, policy.processes)
        os.write(status, json.dumps(ended).encode())
        if parent != 1:
            namespaces.kill_children()
        os._exit(0)

    def _become_worker(
        self, request: dict[str, Any], policy: WorkerPolicy, frames: int, output: int, parent: int, folder: Path
    ) -> NoReturn:
        from . import worker

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        available = self._available
        layers = (available.ruleset, available.seccomp, available.namespaces)
        plan = worker.Confinement(request["memory_mib"], *layers, parent, policy, available.installation, folder)
        worker.run(frames, output, plan, request.get("canary"))


def _check_threads() -> None:
    """Raises RuntimeError unless this process has one thread: a lock held by another would stay locked in a fork."""
    if (count := len(list(Path("/proc/self/task").iterdir()))) != 1:
        raise RuntimeError(f"torch left {count} threads, so that forking would not be safe")


def import_packages(packages: Sequence[str]) -> None:
    """Import torch from these folders, and what a worker needs besides; find what is withheld from workers no more."""
    sys.path.extend(packages)
    sys.meta_path[sys.meta_path.index(PathFinder)] = Filtered
    Filtered.without = landlock.BLOCKED_PACKAGES | landlock.FOR_KERNELS
    warm_up()
    importlib.import_module("sandbox.worker")


def _prepare(library: Sequence[Path], request: dict[str, Any]) -> Available:
    packages, withheld = ([Path(name) for name in request[key]] for key in ("packages", "withheld"))
    available = Available()
    available.enter_namespaces()
    available.prepare_filters(landlock.Installation(library, packages, withheld))
    available.hide([path for path in withheld if path.is_dir()])
    _check_threads()
    gc.freeze()
    gc.enable()
    return available


def _library(packages: Sequence[str]) -> list[Path]:
    """The folders of the standard library."""
    return [Path(name) for name in sys.path if name not in packages and Path(name).exists()]


def prepare_and_serve(control: socket.socket, request: dict[str, Any], parent: int) -> NoReturn:
    """Tell the judge what is available, and serve. `parent` is 0 when the judge's thread may end before it."""
    try:
        if not any(finder is Filtered for finder in sys.meta_path):
            import_packages(request["packages"])
        available = _prepare(_library(request["packages"]), request)
    except (ImportError, OSError, RuntimeError) as error:
        traceback.print_exc()
        control.send(json.dumps({"op": "failed", "text": f"{type(error).__name__}: {error}"[:2000]}).encode())
        os._exit(1)
    if parent:
        namespaces.die_with(parent)
    control.send(json.dumps({"op": "ready", "notes": available.notes}).encode())
    ForkServer(control, available).serve()


def main(descriptor: int, parent: int) -> NoReturn:
    """A zygote that imports torch itself; its request comes first on the control socket."""
    control = socket.socket(fileno=descriptor)
    prepare_and_serve(control, json.loads(control.recv(limits.MESSAGE_BYTES)), parent)


# One process imports torch and then splits in two: the child becomes the zygote, the parent the judge.
#
# Importing torch takes longer than a grading, and two processes that do it at once hinder each other. The child has
# seen nothing but torch and this package when it is made: no challenge, no reference, nothing of the user's
# environment. The parent reads what it needs to be the judge only afterwards.

# How long the judge may take to end in order once nobody is left to ask it.
GRACE_MS = 2000


def serve_both() -> NoReturn:
    """Reads two messages from standard input, each behind its length: for the zygote, then for the judge."""
    _end_with_standard_input()
    setup = _message()
    import_packages(setup["packages"])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    judge = os.getpid()
    child = os.fork()
    if child == 0:
        ours.close()
        _leave_the_judge()
        prepare_and_serve(theirs, setup, judge)
    theirs.close()
    _become_judge(_message(), ours, child)


def _end_with_standard_input() -> None:
    """Fork a process that kills this one if it goes on after its standard input has ended.

    The judge has a thread that waits for that end, but the thread gets no turn while C code holds the interpreter.
    """
    judge = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(judge)
        return
    os.closerange(1, judge)
    poller = select.poll()
    poller.register(judge, select.POLLIN)
    poller.register(0, 0)  # a hang-up is told in any case
    poller.poll()
    poller.unregister(0)
    if not poller.poll(GRACE_MS):
        signal.pidfd_send_signal(judge, signal.SIGKILL)
    os._exit(0)


def _message() -> dict[str, Any]:
    length = int(_exactly(LENGTH_DIGITS))
    message: dict[str, Any] = json.loads(_exactly(length))
    return message


def _exactly(count: int) -> bytes:
    """So many bytes and no more: what follows is the judge's."""
    data = b""
    while len(data) < count:
        chunk = os.read(0, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def _leave_the_judge() -> None:
    """Let go of the judge's streams: they must end when the judge does."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)


def _become_judge(setup: dict[str, Any], control: socket.socket, child: int) -> NoReturn:
    gc.freeze()
    Filtered.without -= landlock.BLOCKED_PACKAGES
    sys.path.insert(0, setup["root"])
    sys.dont_write_bytecode = bool(setup["dont_write_bytecode"])
    os.environ.update(setup["environment"])
    server = importlib.import_module("attncli.judge.server")
    sys.exit(server.main(control, child))


# Wait for a worker and watch what it uses: the work of process 1 of its pid namespace, which does nothing else.
#
# It shares no interpreter with the worker, nor with the judge, which may be busy with an answer meanwhile. The
# kernel's limits come first (see `limits`); this is for what they do not count, and where they do not bind.

POLL_MS = 50
# Pages that the worker shared with the zygote or had not read yet, and what the kernel's limits do not count of them.
_SLACK_BYTES = 128 * MIB
# More processes than any policy allows; a bomb's thousands would take longer to look at than the watch sleeps.
_COUNTED = 512


def most_bytes_of(memory_mib: int) -> int:
    """How much a worker may hold that this process forks and that has `memory_mib` for itself."""
    return namespaces.usage("self").memory_bytes + memory_mib * MIB + _SLACK_BYTES


def wait_for(worker: int, memory_bytes: int, threads: int) -> dict[str, str | int]:
    """Reap children until the child `worker` has ended, and return its `exit` status or the `signal` that ended it.

    Kills it if one process below this one holds more than `memory_bytes`, or if they have more than `threads` threads
    in all, and returns `excess`: "memory" or "threads". Looking costs some 0.1 ms twenty times a second.
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


def used_below(pid: int | str = "self") -> namespaces.Usage:
    """The most memory that one process below this one holds, and all their threads.

    Below process 1 is the worker. Where no filter forbids it to fork, so is whatever it has started.
    """
    below = namespaces.children_of(pid)
    for child in below:
        if len(below) < _COUNTED:
            below += namespaces.children_of(child)
    found = [namespaces.usage(child) for child in below[:_COUNTED]]
    memory_bytes = max((used.memory_bytes for used in found), default=0)
    return namespaces.Usage(memory_bytes, sum(used.threads for used in found))


def _excess(used: namespaces.Usage, memory_bytes: int, threads: int) -> str:
    if used.memory_bytes > memory_bytes:
        return "memory"
    return "threads" if used.threads > threads else ""


def _reaped(worker: int) -> dict[str, str | int] | None:
    """Reap what has ended; how the worker did, if it is among that."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return None
        if pid == worker:
            code = os.waitstatus_to_exitcode(status)
            return {"signal": -code} if code < 0 else {"exit": code}
