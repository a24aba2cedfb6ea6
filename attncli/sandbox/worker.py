"""The worker: confines itself, then loads the learner's file and runs the judge's requests on it.

It starts as a fork of the zygote. The judge's socket is descriptor 3; standard output and error are one pipe.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import torch

from . import devices, kernels, landlock, namespaces, seccomp, source_reading, wire
from .interpreter import serve
from .kernels import KernelFault
from .own_tests import OPERATIONS, TestSession
from .policy import CPU, MIB, NO_GPU, Probes, WorkerPolicy
from .typed_case import FILE, TypedCase
from .wire import CHANNEL_LOST, OUT_OF_MEMORY

CHANNEL, RULESET = 3, 4
BROKEN = 70
_FIRST_FREE = 16
_RESERVE_BYTES = 8 << 20
_INHERITED_VARIABLES = ("HOME", "LANG", "PATH")
_FIXED_VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp",  # torch's compiler makes this folder when it is imported; /tmp exists
}
_WORKSPACE_MIB = 512  # GPU memory for CUDA's own libraries

TEXT_LIMIT = 4000
FRAMES_KEPT = 20
_CHAIN_LIMIT = 8
MOST_LINES = 1 << 24
_REFUSED_ERRNOS = frozenset(  # EAGAIN: too many processes
    {errno.EPERM, errno.EACCES, errno.EROFS, errno.EFBIG, errno.ENETUNREACH, errno.EAGAIN}
)
_MEMORY_MESSAGES = ("can't allocate memory", "DefaultCPUAllocator", "not enough memory", "std::bad_alloc")
_REFUSED_MESSAGES = ("can't start new thread",)

_REPORTED_EVENTS = frozenset(
    [
        *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
        *("subprocess.Popen", "os.kill", "os.killpg", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link"),
        *("os.symlink", "os.chmod", "os.chown", "os.truncate", "os.utime", "os.setxattr"),
    ]
)
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST_EVENTS = 100


@dataclass(frozen=True, slots=True)
class Confinement:
    """The layers that are available, and the memory that the worker may take.

    `installation` serves to build the worker's own Landlock rules if its policy needs them.
    """

    memory_mib: int
    ruleset: int | None
    seccomp: bool
    user_namespace: bool
    parent: int
    policy: WorkerPolicy = CPU
    installation: landlock.Installation | None = None
    folder: Path = landlock.OWN_FOLDER

    @property
    def own_folders(self) -> list[Path]:
        """Return the folders that the worker may write to."""
        own = [self.folder] if self.policy.folder_mib else []
        return [*own, Path(self.policy.cache_folder)] if self.policy.cache_folder else own


def run(frames: int, output: int, plan: Confinement, canary_places: dict[str, Any] | None) -> NoReturn:
    """Confine the forked process and serve requests in it; with `canary_places`, probe the layers and exit instead."""
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _take_descriptors(frames, output, plan.ruleset)
        _reopen_streams()
        _scrub_environment(plan)
        channel = Channel(CHANNEL)
        probes = Probes(canary_places) if canary_places is not None else None
        try:
            confine(plan, probes.after if probes is not None else lambda layer: None)
            if plan.policy.device == devices.CUDA:
                _start_cuda(plan.memory_mib)
            else:
                _find_no_gpu()
        except OSError as error:
            channel.send(wire.chunks({"op": "broken", "text": str(error)}))
            os._exit(BROKEN)
        if probes is not None:
            channel.send(wire.chunks({"op": "canary", "findings": probes.finish()}))
            os._exit(0)
        WorkerSession(channel).run()
    finally:
        os._exit(BROKEN)


def _take_descriptors(frames: int, output: int, ruleset: int | None) -> None:
    """Move the descriptors to keep to fixed places and close all others."""
    null = os.open(os.devnull, os.O_RDWR)
    sources = [null, output, output, frames] + ([] if ruleset is None else [ruleset])
    copies = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_FREE) for descriptor in sources]
    for place, descriptor in enumerate(copies):
        os.dup2(descriptor, place)
    os.closerange(len(sources), 4096)


def _reopen_streams() -> None:
    """Open unbuffered text streams, so that output before a crash is kept."""
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
    names = (*_INHERITED_VARIABLES, *policy.kept_variables)
    kept = {name: os.environ[name] for name in names if name in os.environ}
    os.environ.clear()
    os.environ.update(kept | _FIXED_VARIABLES | dict(policy.variables))
    tempfile.tempdir = "/tmp"  # otherwise the library looks for a folder to write to, and some imports fail
    if policy.folder_mib:
        tempfile.tempdir = os.environ["TMPDIR"] = str(plan.folder)
        os.environ["TRITON_CACHE_DIR"] = policy.cache_folder or f"{plan.folder}/triton"
        os.environ["HOME"] = str(plan.folder)


def confine(plan: Confinement, after: Callable[[str], None]) -> None:
    """Apply every available layer to this process, permanently. `after(layer)` is called after each one.

    Raises OSError if an available layer is refused now: the worker must not go on.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # the out-of-memory killer's first choice
    namespaces.die_with(plan.parent)
    _mount(plan)
    namespaces.give_up_privileges()
    after("namespaces")
    namespaces.apply(plan.memory_mib, plan.user_namespace, plan.policy)
    if plan.ruleset is not None:
        own = None if plan.policy.shares_rules or plan.installation is None else plan.installation
        ruleset = RULESET if own is None else landlock.ruleset_for(plan.policy, own, plan.own_folders)
        landlock.restrict(ruleset)
        for descriptor in {RULESET, ruleset}:
            os.close(descriptor)
    after("landlock")
    if plan.seccomp:
        seccomp.install(os.getpid(), may_write=plan.ruleset is not None, policy=plan.policy)
    after("seccomp")


def _mount(plan: Confinement) -> None:
    """Mount the folders that a policy for a GPU needs. If /proc cannot be mounted, the canary reports the consequences.

    Without a user namespace nothing can be mounted; a compiler then writes to `folder`, an ordinary one.
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


def _start_cuda(memory_mib: int) -> None:
    """Create the CUDA context and limit the submission to `memory_mib` of the device's memory. Raises OSError.

    CUDA's lazy setup (context, workspace of matrix products) is done here, behind all layers and before the submission,
    so that no memory measurement includes it.
    """
    if not torch.backends.cuda.is_built():
        raise OSError(errno.ENODEV, f"PyTorch {torch.__version__} is built without CUDA")
    try:
        torch.cuda.init()
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, (memory_mib + _WORKSPACE_MIB) * MIB / total))
        square = torch.ones(2, 2, device="cuda")
        (square @ square).sum().item()
    except RuntimeError as error:
        raise OSError(errno.EIO, f"CUDA does not begin in the sandbox: {str(error).splitlines()[0][:200]}") from error


def _find_no_gpu() -> None:
    """Make torch look for GPUs, of which this process may use none; torch remembers the result.

    Without this the submission's first backward pass asks, and torch's warning would appear in its output.
    """
    if not devices.backward_starts_gpu():
        return
    os.environ.update(NO_GPU)
    errors, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    torch._C._cuda_getDeviceCount()
    os.dup2(errors, 2)
    os.close(errors)
    os.close(null)


# Serving requests


class Channel:
    """The judge's socket as a descriptor: read and written without socket calls, which are refused."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reader = wire.FrameReader(limit_header=1 << 32, limit_payload=1 << 40)  # the judge is trusted
        self._buffer = bytearray(wire.READ_BYTES)
        self._arrived: deque[wire.Frame] = deque()

    def send(self, chunks: Sequence[wire.Buffer]) -> None:
        """Send a frame. Raises OSError if the judge has ended."""
        for chunk in chunks:
            rest = memoryview(chunk).cast("B")
            while len(rest):
                rest = rest[os.write(self._descriptor, rest) :]

    def receive(self) -> wire.Frame | None:
        """Return the next frame, or None when the judge has closed the channel."""
        while not self._arrived:
            count = os.readv(self._descriptor, [self._buffer])
            if not count:
                return None
            self._arrived.extend(self._reader.feed(memoryview(self._buffer)[:count]))
        return self._arrived.popleft()


class Attempts:
    """Records the forbidden resources that the learner's code tries to use, by an audit hook.

    The kernel's layers refuse it; this reports an attempt even if the code swallows the refusal.
    """

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}
        self._paused = False

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Pause recording while a compiler runs instead of the learner's code."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def watch(self) -> None:
        """Start recording permanently: audit hooks cannot be removed."""
        sys.addaudithook(self._note)

    def take(self) -> list[str]:
        """Return the names of the events since the last call, each once."""
        seen, self._seen = list(self._seen), {}
        return seen

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._paused:
            return
        if event == "open":
            if _writes(arguments) and len(self._seen) < _MOST_EVENTS:
                self._seen["open"] = None
        elif event == "os.mkdir" and type(arguments[0]) is str and os.path.isdir(arguments[0]):  # noqa: PTH112
            return
        elif (event in _REPORTED_EVENTS or event.startswith("socket.")) and len(self._seen) < _MOST_EVENTS:
            self._seen[event] = None


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    return type(flags) is int and bool(flags & _WRITE_FLAGS) and type(path) is not int and path != os.devnull


@dataclass(slots=True)
class WorkerSession:
    """One learner's file in one worker. `reserve` is memory for a last reply when there is none left."""

    channel: Channel
    filename: str = "submission.py"
    namespace: dict[str, Any] = field(default_factory=dict)
    attempts: Attempts = field(default_factory=Attempts)
    tests: TestSession = field(default_factory=TestSession)
    reserve: mmap.mmap | None = None

    def run(self) -> NoReturn:
        """Serve until the judge closes the channel or it is lost."""
        self.attempts.watch()
        self.reserve = mmap.mmap(-1, _RESERVE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        try:
            self.channel.send(wire.chunks({"op": "ready"}))
            while (frame := self.channel.receive()) is not None:
                self.channel.send(self.answer(frame))
            os._exit(CHANNEL_LOST)
        except OSError:
            os._exit(CHANNEL_LOST)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)

    def answer(self, frame: wire.Frame) -> list[wire.Buffer]:
        """Return the reply to one request, as byte strings to be sent."""
        guard = ExceptionGuard()
        with guard:
            return self._reply(frame.header, *self._run_request(frame))
        if issubclass(type(guard.error), MemoryError) and self.reserve is not None:
            self.reserve.close()
            self.reserve = None
        more = self.tests.failure(guard.error) if frame.header["op"] == "test" else {}
        return self._reply(frame.header, report(guard, self.filename) | more, [])

    def _run_request(self, frame: wire.Frame) -> tuple[dict[str, Any], Sequence[wire.Buffer]]:
        if frame.header["op"] == "read":
            rules = source_reading.Rules(**frame.header["rules"])
            return {"op": "read", **source_reading.read_source(bytes(frame.payload), rules)}, []
        if frame.header["op"] == "case":
            return run_case(frame.header["text"], frame.header["entries"])
        if frame.header["op"] == "load":
            return self._load(frame.header, bytes(frame.payload)), []
        if frame.header["op"] in OPERATIONS:
            return self._test(frame.header, bytes(frame.payload)), []
        nonce = frame.header["nonce"]

        def invoke(header: dict[str, Any], buffers: Sequence[wire.Buffer]) -> tuple[dict[str, Any], memoryview]:
            self.channel.send(wire.chunks(header | {"op": "invoke", "nonce": nonce}, buffers))
            answer = self.channel.receive()
            if answer is None:
                os._exit(CHANNEL_LOST)
            return answer.header, answer.payload

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
            kernels.prepare(header.get("device") != devices.CUDA, self.attempts.paused)
        code = compile(source, self.filename, "exec", dont_inherit=True)
        builtins.exec(code, self.namespace)
        found = {name: self.namespace[name] for name in header["entry"] if name in self.namespace}
        kinds = {name: "class" if isinstance(value, type) else type(value).__name__ for name, value in found.items()}
        return {"op": "loaded", "names": kinds}

    def _test(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        if header["op"] == "tests":
            self.filename = header["filename"]
            return self.tests.load(header, payload, lambda: kernels.prepare(True, self.attempts.paused))
        return self.tests.run(header["name"])

    def _reply(
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


def run_case(text: str, entries: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], Sequence[wire.Buffer]]:
    """Record the calls of a case that the learner typed. Returns the reply to "case"."""
    case, guard = TypedCase(text, entries), ExceptionGuard()
    with guard:
        return case.run()
    return {**report(guard, FILE), "frames": case.place_of(guard.trace)}, []


# The learner's exception as plain data


class ExceptionGuard:
    """Run the learner's code in a `with` block: any exception stops here and is kept."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.trace: TracebackType | None = None

    def __enter__(self) -> ExceptionGuard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error, self.trace = error, trace
        return error is not None


def report(guard: ExceptionGuard, filename: str) -> dict[str, Any]:
    """Return the `raised` reply for the exception that a guard caught.

    The exception is hostile input: its class may lie, its `__str__` may raise, loop or return a gigabyte. Only `type`
    and the traceback are trusted.
    """
    error = guard.error
    if error is None:
        raise ValueError("nothing was raised")
    text = text_of(error)
    kernel_fault = {"fault": error.fault} if type(error) is KernelFault else {}
    return {
        "op": "raised",
        "type": type_name(error),
        "text": text,
        "frames": frames_of(error, guard.trace, filename),
        "reason": reason_of(error, text),
        **kernel_fault,
    }


def type_name(error: BaseException) -> str:
    """Return the qualified name of the exception's class, without running the class's own code."""
    kind = type(error)
    name = _plain(type.__dict__["__qualname__"].__get__(kind))
    module = ""
    with ExceptionGuard():
        module = _plain(type.__getattribute__(kind, "__module__"))
    return name if module in ("builtins", "submission", "") else f"{module}.{name}"


def text_of(error: BaseException) -> str:
    """Return `str(error)`, bounded, or a note that it raised."""
    guard, text = ExceptionGuard(), ""
    with guard:
        text = _plain(str(error))
    return text if guard.error is None else "(its text could not be had: __str__ raised)"


def _plain(value: object) -> str:
    """Return the exact `str` of a string, which may be of a hostile subclass; empty for anything else."""
    return str.__str__(value)[:TEXT_LIMIT] if issubclass(type(value), str) else ""


def frames_of(error: BaseException, trace: TracebackType | None, filename: str) -> list[dict[str, Any]]:
    """Return the traceback's frames in the learner's file, the first and last ones if there are many."""
    half = FRAMES_KEPT // 2
    first: list[tuple[int, str]] = []
    last: deque[tuple[int, str]] = deque(maxlen=half)
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            (first if len(first) < half else last).append((trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    if not first and type(error) in (SyntaxError, IndentationError, TabError):
        line = _builtin_attribute(SyntaxError, "lineno", error)
        first.append((line if type(line) is int and 0 <= line < MOST_LINES else 0, "<module>"))
    return [
        {"line": line, "function": function[:200], "code": linecache.getline(filename, line).strip()[:200]}
        for line, function in [*first, *last]
    ]


def reason_of(error: BaseException, text: str) -> str:
    """Return one of the report's reasons: memory, refused, exited, exception."""
    if issubclass(type(error), SystemExit):
        return "exited"
    link: BaseException | None = error
    for _turn in range(_CHAIN_LIMIT):
        if link is None:
            break
        kind = type(link)
        if issubclass(kind, MemoryError):
            return "memory"
        if issubclass(kind, OSError):
            number = _builtin_attribute(OSError, "errno", link)
            if number == errno.ENOMEM:
                return "memory"
            if number in _REFUSED_ERRNOS or kind.__name__ == "gaierror":
                return "refused"
        cause = _builtin_attribute(BaseException, "__cause__", link)
        link = cause if cause is not None else _builtin_attribute(BaseException, "__context__", link)
    if issubclass(type(error), RuntimeError):
        if any(words in text for words in _MEMORY_MESSAGES):
            return "memory"
        if any(words in text for words in _REFUSED_MESSAGES):
            return "refused"
    return "exception"


def _builtin_attribute(owner: type, attribute: str, error: BaseException) -> Any:
    """Return the attribute as the interpreter stores it, whatever the exception's class overrides."""
    return owner.__dict__[attribute].__get__(error)
