"""The judge's end of the zygote: starts one, asks it for workers, knows which layers are in force.

Loads no torch. Where a layer cannot be had it is missing from `layers` and named in `notes`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from attncli.errors import JudgeFailed, SandboxUnavailable

from . import namespaces
from . import policy as layer_probes
from .policy import CPU, CUDA, LAYERS, MEMORY_MIB, WorkerPolicy
from .wire import Ending
from .worker_process import OnInvoke, Process, Reply, Worker

__all__ = ["Ending", "ForkedProcess", "OnInvoke", "Process", "Reply", "Worker", "ZygoteClient"]

CANARY_MEMORY_MIB = 256
START_SECONDS = 60.0


class ForkedProcess:
    """A child of this process that nobody has a Popen for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = False

    def poll(self) -> int | None:
        """None while it runs."""
        self._ended = self._ended or os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
        return 0 if self._ended else None

    def wait(self) -> None:
        """Waits until it has ended."""
        self._ended = self._ended or os.waitpid(self.pid, 0)[0] == self.pid

    def kill(self) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)


@dataclass(slots=True)
class _Fork:
    """A worker that was asked for: the judge's ends of what it will be spoken to through."""

    number: int
    memory_mib: int
    policy: WorkerPolicy
    frames: socket.socket
    output: int
    status: int

    def give_up(self) -> None:
        self.frames.close()
        os.close(self.output)
        os.close(self.status)


class ZygoteClient:
    """A running zygote. `start` returns at once; `ready` waits until torch is imported and the canary has reported."""

    def __init__(
        self,
        process: subprocess.Popen[bytes] | ForkedProcess,
        control: socket.socket,
        log: IO[bytes],
        seconds: float = START_SECONDS,
    ) -> None:
        """For a process that is there already: `control` is our end of its socket, `log` what it writes errors to."""
        self._process, self._control, self._log = process, control, log
        self._deadline = time.monotonic() + seconds
        self._lock = threading.RLock()
        self._ready = False
        self._requests = 0
        self._ahead: _Fork | None = None
        self._grown_warmer = False
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._layers: dict[str, tuple[str, ...]] = {}
        self._notes: list[str] = []

    @classmethod
    def start(
        cls,
        python: str = sys.executable,
        site_paths: Sequence[Path] | None = None,
        seconds: float = START_SECONDS,
        withheld: Sequence[Path] = (),
    ) -> ZygoteClient:
        """Start the process. `seconds` bounds how long `ready` may wait; `withheld` adds folders never to be readable.

        Raises SandboxUnavailable on anything but Linux, JudgeFailed where there is no torch or `python` is no program.
        """
        request = folders(site_paths, withheld)
        in_main_thread = threading.current_thread() is threading.main_thread()
        parent = os.getpid() if in_main_thread else 0
        with contextlib.ExitStack() as cleanup:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            cleanup.enter_context(ours)
            log = cleanup.enter_context(tempfile.TemporaryFile())
            with theirs:
                ours.send(json.dumps(request).encode())
                control = theirs.fileno()
                arguments = ["zygote", str(control), str(parent)]
                streams = {"stdin": subprocess.DEVNULL, "stdout": log, "pass_fds": [control]}
                process = launch(python, arguments, log, **streams)
            cleanup.pop_all()
        return cls(process, ours, log, seconds)

    def __enter__(self) -> ZygoteClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that the canary proved, of process, rlimits, landlock, seccomp, namespaces."""
        return self.layers_under(CPU)

    def layers_under(self, policy: WorkerPolicy) -> tuple[str, ...]:
        """The layers that a canary proves for workers of this policy, once for all of them.

        Raises JudgeFailed where such a worker cannot be had, as where CUDA does not begin in it.
        """
        with self._lock:
            self.ready()
            if policy.name not in self._layers:
                self._judge_canary(self._run_canary(policy), policy)
            return self._layers[policy.name]

    @property
    def notes(self) -> list[str]:
        """Why a layer is missing, and what else weakens the sandbox, one line each."""
        self.ready()
        return list(self._notes)

    def ready(self) -> None:
        """Wait until workers can be had. Raises JudgeFailed if the zygote cannot start."""
        with self._lock:
            if self._ready:
                return
            message, _ = self._receive(self._deadline)
            if message["op"] != "ready":
                raise self._failure(str(message.get("text")))
            self._notes = [str(note) for note in message["notes"]]
            if os.geteuid() == 0:
                self._notes.append("process: running as root; the number of threads is limited by a watch alone")
            self._ready = True
            self._judge_canary(self._run_canary(CPU), CPU)

    def worker(self, memory_mib: int = MEMORY_MIB, policy: WorkerPolicy = CPU) -> Worker:
        """A fresh worker with `memory_mib` MiB for the submission. Raises JudgeFailed if the zygote has died."""
        with self._lock:
            self.ready()
            return self._forked_ahead(memory_mib, policy) or self._started(self._ask(memory_mib, policy))

    def prepare(self, memory_mib: int = MEMORY_MIB, policy: WorkerPolicy = CPU) -> None:
        """Ask for the next worker before it is needed; what fails is said when it is needed."""
        with self._lock, contextlib.suppress(JudgeFailed):
            self.ready()
            if self._ahead is None:
                self._ahead = self._ask(memory_mib, policy)

    def alive(self) -> bool:
        """Whether the process is there still, and has not begun to end: its workers die before it has."""
        poller = select.poll()
        poller.register(self._control, 0)  # a hang-up is told in any case
        return self._process.poll() is None and not poller.poll(0)

    def close(self) -> None:
        """End every worker, then the zygote, which clears away what is left of them. Does nothing the second time."""
        if self._control.fileno() >= 0:
            for worker in self._held():
                worker.kill()
        self._control.close()
        if self._ahead is not None:
            self._ahead.give_up()
            self._ahead = None
        self._process.kill()
        self._process.wait()
        self._log.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def _held(self) -> list[Process]:
        """Process 1 of every worker that is still there."""
        found = []
        for pid in namespaces.children_of(self._process.pid) if self.alive() else ():
            with contextlib.suppress(ProcessLookupError):
                found.append(Process(pid, os.pidfd_open(pid)))
        return found

    def _forked_ahead(self, memory_mib: int, policy: WorkerPolicy) -> Worker | None:
        """The worker that was asked for ahead, unless it is of another kind or the zygote is warmer by now."""
        fork, self._ahead = self._ahead, None
        if fork is None:
            return None
        self._grown_warmer = False
        worker = self._started(fork)
        while select.select([self._control], [], [], 0)[0]:
            self._heed(*self._receive(time.monotonic()))
        if (fork.memory_mib, fork.policy) == (memory_mib, policy) and not self._grown_warmer:
            return worker
        worker.kill()
        return None

    def _ask(self, memory_mib: int, policy: WorkerPolicy, **more: Any) -> _Fork:
        """Asks for a worker, and does not wait for it."""
        self._requests += 1
        watched_mib = memory_mib + policy.runtime_mib
        request = {"memory_mib": memory_mib, "watched_mib": watched_mib, "policy": policy.name, **more}
        if policy.folder_mib:
            self._scratch = self._scratch or tempfile.TemporaryDirectory(prefix="attn-compiled-")
            request |= {"folder": f"{self._scratch.name}/{self._requests}", "cache_folder": policy.cache_folder}
        ours, theirs = socket.socketpair()
        output, output_writer = os.pipe()
        status, status_writer = os.pipe()
        fork = _Fork(self._requests, memory_mib, policy, ours, output, status)
        try:
            data = json.dumps(request | {"op": "fork", "id": fork.number}).encode()
            socket.send_fds(self._control, [data], [theirs.fileno(), output_writer, status_writer])
        except OSError as error:
            fork.give_up()
            raise self._failure(str(error)) from error
        finally:
            theirs.close()
            os.close(output_writer)
            os.close(status_writer)
        return fork

    def _started(self, fork: _Fork) -> Worker:
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(fork.give_up)
            process = self._await_fork(fork.number)
            cleanup.pop_all()
        start_seconds = fork.policy.start_seconds
        return Worker(process, fork.frames, fork.output, fork.status, fork.memory_mib, start_seconds)

    def _await_fork(self, number: int) -> Process:
        while True:
            message, handle = self._receive(time.monotonic() + 20)
            if message.get("id") == number and message["op"] == "forked" and handle is not None:
                return Process(int(message["pid"]), handle)
            self._heed(message, handle)

    def _heed(self, message: dict[str, Any], handle: int | None) -> None:
        """What the zygote says besides the answer that is waited for."""
        if handle is not None:
            os.close(handle)
        if message["op"] == "warm":
            self._grown_warmer = True
        if message["op"] == "failed":
            raise self._failure(str(message.get("text")))

    def _receive(self, deadline: float) -> tuple[dict[str, Any], int | None]:
        remaining = max(0.0, deadline - time.monotonic())
        if not select.select([self._control], [], [], remaining)[0]:
            raise self._failure("it did not answer in time")
        try:
            data, handles, _, _ = socket.recv_fds(self._control, namespaces.MESSAGE_BYTES, 1)
        except ConnectionResetError:
            data, handles = b"", []
        if not data:
            raise self._failure("it died")
        message: dict[str, Any] = json.loads(data)
        return message, handles[0] if handles else None

    def _failure(self, why: str) -> JudgeFailed:
        said = os.pread(self._log.fileno(), namespaces.MESSAGE_BYTES, 0)
        last = said.decode("utf-8", "replace").strip().splitlines()[-1:]
        return JudgeFailed(f"the sandbox's process cannot go on: {why} {' '.join(last)} (attn doctor says more)")

    def _run_canary(self, policy: WorkerPolicy) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="attn-canary-") as folder, socket.socket() as listener:
            file = Path(folder) / "canary"
            file.write_text("canary")
            places = {"file": str(file), "folder": folder, "port": _listen(listener), "memory_mib": CANARY_MEMORY_MIB}
            if policy is not CPU:
                places |= {"names_threads": policy.names_threads, "writes": bool(policy.folder_mib)}
            fork = self._ask(CANARY_MEMORY_MIB, policy, canary=places)
            return self._started(fork).canary_findings()

    def _judge_canary(self, findings: dict[str, Any], policy: WorkerPolicy) -> None:
        broken = layer_probes.broken_controls(findings)
        if broken:
            raise JudgeFailed(f"inside the sandbox Python does not work here ({', '.join(broken)}): see attn doctor")
        proved = layer_probes.layers_in_force(findings, policy)
        self._layers[policy.name] = tuple(name for name in layer_probes.LAYERS if proved[name])
        for name in layer_probes.LAYERS:
            if policy is CPU and not proved[name] and not any(note.startswith(f"{name}:") for note in self._notes):
                self._notes.append(f"{name}: was set up, but the self-test got past it")


def _listen(listener: socket.socket) -> int:
    try:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4)
    except OSError:
        return 0
    return int(listener.getsockname()[1])


# What `attn doctor` says of the sandbox: which layers are in force, and why one is missing.

WEAKER = "covers less: the GPU's driver is open to a file, host memory is watched and not limited (SECURITY.md)"


def describe(gpu: bool = False) -> dict[str, Any]:
    """For `attn doctor`: the layers in force, the reason for each missing one, and notes. Starts a zygote for it.

    Where there is a `gpu` also the layers for what runs on it, and what these leave open.
    """
    try:
        with ZygoteClient.start() as zygote:
            layers, notes = zygote.layers, zygote.notes
            on_gpu = {"gpu": _on_gpu(zygote)} if gpu else {}
    except (JudgeFailed, SandboxUnavailable) as error:
        return {"available": False, "layers": [], "missing": {}, "notes": [error.message]}
    missing = {
        name: next((note for note in notes if note.startswith(f"{name}:")), "not in force")
        for name in LAYERS
        if name not in layers
    }
    return {"available": True, "layers": list(layers), "missing": missing, "notes": notes, **on_gpu}


def _on_gpu(zygote: ZygoteClient) -> dict[str, Any]:
    """The layers behind which files run on a GPU; none where CUDA does not begin there, and why."""
    try:
        return {"layers": list(zygote.layers_under(CUDA)), "notes": [WEAKER]}
    except JudgeFailed as error:
        return {"layers": [], "notes": [error.message]}


# Starting a process that will run nobody's code but torch's: the command, its environment, the folders it may read.
#
# The environment of a zygote is what a worker could find in its own memory, so nothing of the user's goes there.

_KEPT_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HOME", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
_FIXED_VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
}


def package_folders() -> list[Path]:
    """Folders with installed packages, the one with torch first. Raises JudgeFailed where torch is not installed."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise JudgeFailed("grading needs PyTorch, and this Python has none: install it with `pip install torch`")
    package = Path(spec.origin).parent
    folders = [package.parent if spec.submodule_search_locations else package]
    folders += [Path(name) for name in sys.path if Path(name).name in ("site-packages", "dist-packages")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def withheld_folders() -> list[Path]:
    """Folders that no worker may read: this package, and the challenges and cards beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    beside = [package.parent / name for name in ("impl", "quizbank", "tests")]
    return [package, *(path for path in beside if (package.parent / "pyproject.toml").exists())]


def folders(site_paths: Sequence[Path] | None = None, withheld: Sequence[Path] = ()) -> dict[str, list[str]]:
    """What a zygote has to know: where packages lie, and what no worker may read."""
    packages = package_folders() if site_paths is None else list(site_paths)
    hidden = [*withheld_folders(), *(Path(path) for path in withheld)]
    return {"packages": [str(path) for path in packages], "withheld": [str(path) for path in hidden]}


def launch(python: str, arguments: Sequence[str], log: IO[Any], **streams: Any) -> subprocess.Popen[bytes]:
    """Run `launch.py` with these arguments; errors go to `log`.

    Raises SandboxUnavailable on anything but Linux, JudgeFailed where `python` is no program.
    """
    if sys.platform != "linux":
        raise SandboxUnavailable(f"grading needs Linux, and this is {sys.platform}: on Windows use WSL")
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    launcher = Path(__file__).with_name("launch.py")
    try:
        return subprocess.Popen(
            [python, "-s", "-S", "-P", "-B", str(launcher), *arguments],
            env=kept | _FIXED_VARIABLES,
            cwd="/",
            stderr=log,
            start_new_session=True,  # Ctrl-C in the terminal is the judge's to handle
            **streams,
        )
    except OSError as error:
        raise JudgeFailed(f"{python} cannot be started for the sandbox: {error.strerror}") from error
