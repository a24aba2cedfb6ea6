"""The judge's end of the zygote: start one, request workers from it, and report the layers in force.

Loads no torch. A layer that is not available is missing from `layers`, and `notes` says why. The layers are proved by a
canary: a worker that probes each of them and reports.
"""

from __future__ import annotations

import contextlib
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
from attncli.i18n import N_, _

from . import namespaces
from .launch import folders, launch
from .policy import CPU, CUDA, LAYERS, MEMORY_MIB, WorkerPolicy, broken_controls, layers_in_force
from .worker_process import Ending, OnInvoke, Process, Reply, Worker

__all__ = ["Ending", "ForkedProcess", "OnInvoke", "Process", "Reply", "Worker", "ZygoteClient"]

CANARY_MEMORY_MIB = 256
START_SECONDS = 60.0

WEAKER = N_("code can reach the GPU driver; host memory is monitored, not capped (SECURITY.md)")
_AS_ROOT = N_("running as root; the thread limit is enforced by monitoring only")
_GOT_PAST = N_("set up, but the self-test bypassed it")
_NOT_IN_FORCE = N_("not active")


class ZygoteClient:
    """A running zygote. `start` returns at once; `ready` waits until torch is imported and the canary has reported."""

    def __init__(
        self,
        process: subprocess.Popen[bytes] | ForkedProcess,
        control: socket.socket,
        log: IO[bytes],
        seconds: float = START_SECONDS,
    ) -> None:
        """Take a running process: `control` is our end of its socket, `log` the file of its errors."""
        self._process, self._control, self._log = process, control, log
        self._deadline = time.monotonic() + seconds
        self._lock = threading.RLock()
        self._ready = False
        self._request_count = 0
        self._prepared: _RequestedWorker | None = None
        self._zygote_warmed = False
        self._forked: dict[int, Process] = {}  # by the number of the request, until it is taken
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
        testing: bool = False,
    ) -> ZygoteClient:
        """Start the process. `seconds` bounds the wait of `ready`; `withheld` adds folders that no worker may read.

        With `testing` its workers have Hypothesis and pytest, to run a learner's tests.

        Raises SandboxUnavailable on anything but Linux, JudgeFailed if torch is missing or `python` cannot be run.
        """
        request = {**folders(site_paths, withheld), "testing": testing}
        in_main_thread = threading.current_thread() is threading.main_thread()
        parent = os.getpid() if in_main_thread else 0
        with contextlib.ExitStack() as cleanup:
            own_end, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            cleanup.enter_context(own_end)
            log = cleanup.enter_context(tempfile.TemporaryFile())
            with other_end:
                own_end.send(json.dumps(request).encode())
                control = other_end.fileno()
                arguments = ["zygote", str(control), str(parent)]
                streams = {"stdin": subprocess.DEVNULL, "stdout": log, "pass_fds": [control]}
                process = launch(python, arguments, log, **streams)
            cleanup.pop_all()
        return cls(process, own_end, log, seconds)

    def __enter__(self) -> ZygoteClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def layers(self) -> tuple[str, ...]:
        """Return the layers that the canary proved, of process, rlimits, landlock, seccomp, namespaces."""
        return self.layers_under(CPU)

    def layers_under(self, policy: WorkerPolicy) -> tuple[str, ...]:
        """Return the layers that a canary proves for this policy; it runs once.

        Raises JudgeFailed if no such worker can start, for example because CUDA does not start in it.
        """
        with self._lock:
            self.ready()
            if policy.name not in self._layers:
                self._judge_canary(self._run_canary(policy), policy)
            return self._layers[policy.name]

    @property
    def notes(self) -> list[str]:
        """Return the reasons for missing layers and for other weaknesses of the sandbox, one line each."""
        self.ready()
        return list(self._notes)

    def ready(self) -> None:
        """Wait until the zygote can fork workers. Raises JudgeFailed if it cannot start."""
        with self._lock:
            if self._ready:
                return
            message, _ = self._receive(self._deadline)
            if message["op"] != "ready":
                raise self._failure(str(message.get("text")))
            self._notes = [str(note) for note in message["notes"]]
            if os.geteuid() == 0:
                self._notes.append(f"process: {_AS_ROOT}")
            self._ready = True
            self._judge_canary(self._run_canary(CPU), CPU)

    def worker(self, memory_mib: int = MEMORY_MIB, policy: WorkerPolicy = CPU) -> Worker:
        """Return a fresh worker with `memory_mib` MiB for the submission. Raises JudgeFailed if the zygote has died."""
        with self._lock:
            self.ready()
            prepared = self._take_prepared(memory_mib, policy)
            return prepared or self._await_worker(self._request_worker(memory_mib, policy))

    def prepare(self, memory_mib: int = MEMORY_MIB, policy: WorkerPolicy = CPU) -> None:
        """Request the next worker before it is needed; `worker` reports what fails."""
        with self._lock, contextlib.suppress(JudgeFailed):
            self.ready()
            if self._prepared is None:
                self._zygote_warmed = False
                self._prepared = self._request_worker(memory_mib, policy)

    def alive(self) -> bool:
        """Return True while the process runs and has not closed its socket: its workers die before it has ended."""
        poller = select.poll()
        poller.register(self._control, 0)  # a hang-up is reported in any case
        return self._process.poll() is None and not poller.poll(0)

    def close(self) -> None:
        """Kill every worker, then the zygote, and remove their files. Does nothing the second time."""
        running = namespaces.children_of(self._process.pid) if self._control.fileno() >= 0 and self.alive() else ()
        for pid in running:  # process 1 of each worker
            with contextlib.suppress(ProcessLookupError):
                Process(pid, os.pidfd_open(pid)).kill()
        self._control.close()
        for process in self._forked.values():
            process.kill()
        self._forked.clear()
        if self._prepared is not None:
            self._prepared.close()
            self._prepared = None
        self._process.kill()
        self._process.wait()
        self._log.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def _take_prepared(self, memory_mib: int, policy: WorkerPolicy) -> Worker | None:
        """Return the prepared worker, unless it is of another kind or the zygote has warmed up further since."""
        requested, self._prepared = self._prepared, None
        if requested is None:
            return None
        worker = self._await_worker(requested)
        while select.select([self._control], [], [], 0)[0]:
            self._handle_message(*self._receive(time.monotonic()))
        if (requested.memory_mib, requested.policy) == (memory_mib, policy) and not self._zygote_warmed:
            return worker
        worker.kill()
        return None

    def _request_worker(self, memory_mib: int, policy: WorkerPolicy, **extra: Any) -> _RequestedWorker:
        """Request a worker without waiting for it."""
        self._request_count += 1
        watched_mib = memory_mib + policy.runtime_mib
        request = {"memory_mib": memory_mib, "watched_mib": watched_mib, "policy": policy.name, **extra}
        if policy.folder_mib:
            self._scratch = self._scratch or tempfile.TemporaryDirectory(prefix="attn-compiled-")
            request |= {"folder": f"{self._scratch.name}/{self._request_count}", "cache_folder": policy.cache_folder}
        own_end, other_end = socket.socketpair()
        output, output_writer = os.pipe()
        status, status_writer = os.pipe()
        requested = _RequestedWorker(self._request_count, memory_mib, policy, own_end, output, status)
        try:
            data = json.dumps(request | {"op": "fork", "id": requested.number}).encode()
            socket.send_fds(self._control, [data], [other_end.fileno(), output_writer, status_writer])
        except OSError as error:
            requested.close()
            raise self._failure(str(error)) from error
        finally:
            other_end.close()
            os.close(output_writer)
            os.close(status_writer)
        return requested

    def _await_worker(self, requested: _RequestedWorker) -> Worker:
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(requested.close)
            while requested.number not in self._forked:
                self._handle_message(*self._receive(time.monotonic() + 20))
            cleanup.pop_all()
        process = self._forked.pop(requested.number)
        start_seconds = requested.policy.start_seconds
        return Worker(
            process, requested.frames, requested.output, requested.status, requested.memory_mib, start_seconds
        )

    def _handle_message(self, message: dict[str, Any], handle: int | None) -> None:
        """Process a message from the zygote. Raises JudgeFailed for `failed`."""
        if message["op"] == "forked" and handle is not None:
            self._forked[message["id"]] = Process(int(message["pid"]), handle)
        if message["op"] == "warm":
            self._zygote_warmed = True
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
        log = os.pread(self._log.fileno(), namespaces.MESSAGE_BYTES, 0)
        last = log.decode("utf-8", "replace").strip().splitlines()[-1:]
        said = f"{why} {' '.join(last)}".strip()
        return JudgeFailed(_("the sandbox stopped: {said}; run attn doctor", said=said))

    def _run_canary(self, policy: WorkerPolicy) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="attn-canary-") as folder, socket.socket() as listener:
            file = Path(folder) / "canary"
            file.write_text("canary")
            places = {"file": str(file), "folder": folder, "port": _listen(listener), "memory_mib": CANARY_MEMORY_MIB}
            if policy is not CPU:
                places |= {"names_threads": policy.names_threads, "writes": bool(policy.folder_mib)}
            requested = self._request_worker(CANARY_MEMORY_MIB, policy, canary=places)
            return self._await_worker(requested).canary_findings()

    def _judge_canary(self, findings: dict[str, Any], policy: WorkerPolicy) -> None:
        broken = broken_controls(findings)
        if broken:
            raise JudgeFailed(
                _("Python does not work in the sandbox ({names}); run attn doctor", names=", ".join(broken))
            )
        proved = layers_in_force(findings, policy)
        self._layers[policy.name] = tuple(name for name in LAYERS if proved[name])
        for name in LAYERS:
            if policy is CPU and not proved[name] and not any(note.startswith(f"{name}:") for note in self._notes):
                self._notes.append(f"{name}: {_GOT_PAST}")


@dataclass(slots=True)
class _RequestedWorker:
    """A requested worker, with the judge's ends of its channel and pipes."""

    number: int
    memory_mib: int
    policy: WorkerPolicy
    frames: socket.socket
    output: int
    status: int

    def close(self) -> None:
        self.frames.close()
        os.close(self.output)
        os.close(self.status)


def _listen(listener: socket.socket) -> int:
    try:
        listener.bind(("127.0.0.1", 0))
        listener.listen(4)
    except OSError:
        return 0
    return int(listener.getsockname()[1])


class ForkedProcess:
    """A forked child of this process, with the interface of Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = False

    def poll(self) -> int | None:
        """Return None while it runs, 0 after that."""
        self._ended = self._ended or os.waitpid(self.pid, os.WNOHANG)[0] == self.pid
        return 0 if self._ended else None

    def wait(self) -> None:
        """Wait until it has ended."""
        self._ended = self._ended or os.waitpid(self.pid, 0)[0] == self.pid

    def kill(self) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)


def describe(gpu: bool = False) -> dict[str, Any]:
    """Start a zygote and return, for `attn doctor`, the layers in force, the reason for each missing one, and notes.

    With `gpu` also the layers for code on the GPU, and the gaps that they leave.
    """
    try:
        with ZygoteClient.start() as zygote:
            layers, notes = zygote.layers, zygote.notes
            on_gpu = {}
            if gpu:
                try:
                    on_gpu = {"gpu": {"layers": list(zygote.layers_under(CUDA)), "notes": [WEAKER]}}
                except JudgeFailed as error:
                    on_gpu = {"gpu": {"layers": [], "notes": [str(error)]}}
    except (JudgeFailed, SandboxUnavailable) as error:
        return {"available": False, "layers": [], "missing": {}, "notes": [str(error)]}
    missing = {
        name: next((note for note in notes if note.startswith(f"{name}:")), _NOT_IN_FORCE)
        for name in LAYERS
        if name not in layers
    }
    return {"available": True, "layers": list(layers), "missing": missing, "notes": notes, **on_gpu}
