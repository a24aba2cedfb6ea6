"""The worker: locks itself in, then runs the learner's file and what it is asked to call in it.

It starts as a fork of the zygote. The judge's socket is descriptor 3; standard output and error are one pipe.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import fcntl
import io
import linecache
import mmap
import os
import signal
import sys
import tempfile
import types
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from . import (
    cuda_start,
    grants,
    kernels,
    landlock,
    layer_probes,
    limits,
    namespaces,
    placement,
    seccomp,
    source_reading,
    wire,
)
from .endings import CHANNEL_LOST, OUT_OF_MEMORY
from .exceptions import ExceptionGuard, report
from .interpreter import serve
from .policy import CPU, WorkerPolicy
from .touched import Attempts

CHANNEL, RULESET = 3, 4
BROKEN = 70
_FIRST_FREE = 16
_RESERVE_BYTES = 8 << 20
_KEPT_VARIABLES = ("HOME", "LANG", "PATH")
_FIXED_VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp",  # torch's compiler makes this folder when it is imported; it is there already
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """Which layers the zygote found to be available, and how much memory the worker may take.

    `installation` is what rules of the worker's own are made of, where its policy needs them.
    """

    memory_mib: int
    ruleset: int | None
    seccomp: bool
    user_namespace: bool
    parent: int
    policy: WorkerPolicy = CPU
    installation: grants.Installation | None = None
    folder: Path = grants.OWN_FOLDER

    @property
    def own_folders(self) -> list[Path]:
        """The folders that the worker may write to."""
        own = [self.folder] if self.policy.folder_mib else []
        return [*own, Path(self.policy.cache_folder)] if self.policy.cache_folder else own


class Channel:
    """The judge's socket as a descriptor: read and written without socket calls, which are refused."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reader = wire.FrameReader(limit_header=1 << 32, limit_payload=1 << 40)  # the judge is trusted
        self._buffer = bytearray(wire.READ_BYTES)
        self._arrived: deque[wire.Frame] = deque()

    def sendall(self, data: wire.Buffer) -> None:
        rest = memoryview(data).cast("B")
        while len(rest):
            rest = rest[os.write(self._descriptor, rest) :]

    def receive(self) -> wire.Frame | None:
        """The next frame, or None when the judge has closed the channel."""
        while not self._arrived:
            count = os.readv(self._descriptor, [self._buffer])
            if not count:
                return None
            self._arrived.extend(self._reader.feed(memoryview(self._buffer)[:count]))
        return self._arrived.popleft()


def _take_descriptors(frames: int, output: int, ruleset: int | None) -> None:
    """Move what stays open to fixed places and close everything else."""
    null = os.open(os.devnull, os.O_RDWR)
    sources = [null, output, output, frames] + ([] if ruleset is None else [ruleset])
    copies = [_copy_above(descriptor) for descriptor in sources]
    for place, descriptor in enumerate(copies):
        os.dup2(descriptor, place)
    os.closerange(len(sources), 4096)


def _copy_above(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_FREE)


def _replace_streams() -> None:
    """Unbuffered text streams, so that what is printed before a crash is kept."""
    streams = {"stdin": io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")}
    for name in ("stdout", "stderr"):
        raw: Any = io.FileIO({"stdout": 1, "stderr": 2}[name], "w", closefd=False)
        streams[name] = io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)
    for name, stream in streams.items():
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = ["submission.py"]
    faulthandler.enable(file=2, all_threads=False)


def _scrub_environment(plan: Confinement) -> None:
    policy = plan.policy
    names = (*_KEPT_VARIABLES, *policy.kept_variables)
    kept = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.clear()
    os.environ.update(kept | _FIXED_VARIABLES | dict(policy.variables))
    tempfile.tempdir = "/tmp"  # else the library looks for a folder to write to, and some imports fail with that
    if policy.folder_mib:
        tempfile.tempdir = os.environ["TMPDIR"] = str(plan.folder)
        os.environ["TRITON_CACHE_DIR"] = policy.cache_folder or f"{plan.folder}/triton"
        os.environ["HOME"] = str(plan.folder)


def _expose_to_out_of_memory_killer() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def confine(plan: Confinement, after: Callable[[str], None]) -> None:
    """Put every available layer on this process, for good. `after(layer)` is called behind each one.

    Raises OSError if a layer that was found to be available is refused now: the worker must not go on then.
    """
    _expose_to_out_of_memory_killer()
    namespaces.die_with(plan.parent)
    _mount(plan)
    namespaces.forbid_core_dumps()
    namespaces.drop_capabilities()
    namespaces.forbid_new_privileges()
    after("namespaces")
    limits.apply(plan.memory_mib, plan.user_namespace, plan.policy)
    if plan.ruleset is not None:
        own = None if plan.policy.shares_rules or plan.installation is None else plan.installation
        ruleset = RULESET if own is None else grants.ruleset_for(plan.policy, own, plan.own_folders)
        landlock.restrict(ruleset)
        for descriptor in {RULESET, ruleset}:
            os.close(descriptor)
    after("landlock")
    if plan.seccomp:
        seccomp.install(os.getpid(), may_write=plan.ruleset is not None, policy=plan.policy)
    after("seccomp")


def _mount(plan: Confinement) -> None:
    """Mount what a policy for a GPU needs. Where no /proc can be mounted the canary says what does not work.

    Without a user namespace there are no mounts of one's own: a compiler writes to `folder`, an ordinary one, then.
    """
    threads, folder_mib = plan.policy.names_threads, plan.policy.folder_mib
    if not plan.user_namespace:
        return
    if threads or folder_mib:
        namespaces.enter_own_mounts()
    if threads:
        with contextlib.suppress(OSError):
            namespaces.mount_processes()
    if folder_mib:
        namespaces.mount_memory(plan.folder, folder_mib)


@dataclass(slots=True)
class WorkerSession:
    """One learner's file in one worker: requests in, replies out."""

    channel: Channel
    filename: str = "submission.py"
    namespace: dict[str, Any] = field(default_factory=dict)
    attempts: Attempts = field(default_factory=Attempts)
    reserve: mmap.mmap | None = None

    def run(self) -> NoReturn:
        """Serve until the judge closes the channel or it is lost."""
        self.attempts.watch()
        self.reserve = mmap.mmap(-1, _RESERVE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        try:
            wire.send_frame(self.channel, {"op": "ready"})
            while (frame := self.channel.receive()) is not None:
                for chunk in self.answer(frame):
                    self.channel.sendall(chunk)
            os._exit(CHANNEL_LOST)
        except OSError:
            os._exit(CHANNEL_LOST)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)

    def answer(self, frame: wire.Frame) -> list[wire.Buffer]:
        """The reply to one request, ready to be sent."""
        guard = ExceptionGuard()
        with guard:
            return self._finish(frame.header, *self._perform(frame))
        if issubclass(type(guard.error), MemoryError):
            self._free_reserve()
        return self._finish(frame.header, report(guard, self.filename), [])

    def _free_reserve(self) -> None:
        """Memory for telling the judge that there is none left."""
        if self.reserve is not None:
            self.reserve.close()
            self.reserve = None

    def _perform(self, frame: wire.Frame) -> tuple[dict[str, Any], Sequence[wire.Buffer]]:
        if frame.header["op"] == "read":
            rules = source_reading.Rules(**frame.header["rules"])
            return {"op": "read", **source_reading.read_source(bytes(frame.payload), rules)}, []
        if frame.header["op"] == "load":
            return self._load(frame.header, bytes(frame.payload)), []
        nonce = frame.header["nonce"]

        def invoke(header: dict[str, Any], buffers: Sequence[wire.Buffer]) -> tuple[dict[str, Any], memoryview]:
            return self._invoke(nonce, header, buffers)

        return serve(self.namespace, frame.header, frame.payload, invoke)

    def _load(self, header: dict[str, Any], source: bytes) -> dict[str, Any]:
        self.filename = header["filename"]
        module = types.ModuleType("submission")
        module.__file__ = self.filename
        sys.modules["submission"] = module
        self.namespace = module.__dict__
        text = source.decode("utf-8", "replace")
        linecache.cache[self.filename] = (len(text), None, text.splitlines(keepends=True), self.filename)
        if header.get("kernel"):
            kernels.prepare(interpreted=header.get("device") != placement.CUDA)
        code = compile(source, self.filename, "exec", dont_inherit=True)
        builtins.exec(code, self.namespace)
        names = {name: _kind(self.namespace[name]) for name in header["entry"] if name in self.namespace}
        return {"op": "loaded", "names": names}

    def _invoke(
        self, nonce: str, header: dict[str, Any], buffers: Sequence[wire.Buffer]
    ) -> tuple[dict[str, Any], memoryview]:
        wire.send_frame(self.channel, header | {"op": "invoke", "nonce": nonce}, buffers)
        frame = self.channel.receive()
        if frame is None:
            os._exit(CHANNEL_LOST)
        return frame.header, frame.payload

    def _finish(
        self, request: dict[str, Any], reply: dict[str, Any], buffers: Sequence[wire.Buffer]
    ) -> list[wire.Buffer]:
        stamp = {"nonce": request["nonce"], "touched": self.attempts.take()}
        limit = request.get("reply_limit", wire.PAYLOAD_LIMIT)
        text = f"the result is larger than {limit >> 20} MiB"
        if sum(len(buffer) for buffer in buffers) <= limit:
            chunks = wire.chunks(reply | stamp, buffers)
            if len(chunks[0]) <= wire.HEADER_LIMIT:
                return chunks
            text = f"the description of the result is larger than {wire.HEADER_LIMIT >> 20} MiB"
        return wire.chunks({"op": "raised", "reason": "too-large", "type": "", "text": text, "frames": []} | stamp, [])


def _kind(value: object) -> str:
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) else type(value).__name__


def run(frames: int, output: int, plan: Confinement, canary_places: dict[str, Any] | None) -> NoReturn:
    """The life of a worker, in the forked process. Never returns."""
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _take_descriptors(frames, output, plan.ruleset)
        _replace_streams()
        _scrub_environment(plan)
        channel = Channel(CHANNEL)
        probes = layer_probes.Probes(canary_places) if canary_places is not None else None
        try:
            confine(plan, probes.after if probes is not None else lambda layer: None)
            if plan.policy.device == placement.CUDA:
                cuda_start.begin(plan.memory_mib)
        except OSError as error:
            wire.send_frame(channel, {"op": "broken", "text": str(error)})
            os._exit(BROKEN)
        if probes is not None:
            wire.send_frame(channel, {"op": "canary", "findings": probes.finish()})
            os._exit(0)
        WorkerSession(channel).run()
    finally:
        os._exit(BROKEN)
