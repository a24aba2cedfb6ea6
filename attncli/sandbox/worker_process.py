"""The judge's end of one worker: all clocks and limits, and the order in which frames may arrive.

    starting ──ready──> idle ──request──> waiting ──reply──> idle      waiting ──invoke──> answer ──> waiting

Requests may be sent ahead, so that the worker starts the next one while the judge reads a reply. Replies arrive in the
order of the requests. A frame that is malformed, out of turn or without its request's nonce ends the worker with reason
`protocol`. Every ending kills process 1 of the worker's pid namespace, and with it all that the worker has started.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.errors import JudgeFailed
from attncli.i18n import Localised, _

from . import wire
from .policy import CPU, MIB
from .wire import CHANNEL_LOST, OUT_OF_MEMORY

OnInvoke = Callable[[dict[str, Any], memoryview], tuple[dict[str, Any], list[wire.Buffer]]]

LIMIT_BYTES = 1 << 20
KEPT_BYTES = 64 << 10
_HEAD_BYTES = 48 << 10

_ESCAPE_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

_STATUS_TIMEOUT_SECONDS = 1.0
_OUT_OF_MEMORY_WORDS = ("std::bad_alloc", "can't allocate memory", "Cannot allocate memory", "MemoryError")
# All calls of the judge's callables within a request may take this many times the request's limit.
_INVOKES_OVERTIME = 2.0
_REPLY_OPERATIONS = {"read": "read", "load": "loaded", "case": "case", "tests": "tests", "test": "test"}

_KILL_TIMEOUT_MS = 5000


# Reasons why a worker ended


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a worker. `reason`: exited, crashed, timeout, memory, output, refused or protocol.

    `message` continues "the submission ...".
    """

    reason: str
    message: Localised
    printed: str


class Stopped(Exception):
    """The worker ended or must be ended."""

    def __init__(self, reason: str, message: Localised) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def classify(status: Mapping[str, Any], doing: str, memory_mib: int, printed: str) -> Stopped:
    """Return the reason of a worker's end, from exit status, signal or excess while `doing` ("loaded" or "called").

    `printed` is the output so far: an abort after an out-of-memory message counts as memory.
    """
    if "excess" in status:
        if status["excess"] == "memory":
            return out_of_memory(memory_mib)
        return Stopped("refused", _("started too many threads or processes"))
    if "exit" in status:
        code = status["exit"]
        if code == OUT_OF_MEMORY:
            return out_of_memory(memory_mib)
        if code == CHANNEL_LOST:
            return Stopped("protocol", _("closed its channel to the judge"))
        return Stopped("exited", _("ended the process with exit status {code} (os._exit or sys.exit)", code=code))
    number = status["signal"]
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGXCPU:
        return Stopped("timeout", _("used more processor time than a whole session may"))
    if number == signal.SIGSYS:
        return Stopped("refused", _("made a system call of another architecture (SIGSYS)"))
    if number == signal.SIGABRT and any(words in printed for words in _OUT_OF_MEMORY_WORDS):
        return out_of_memory(memory_mib)
    if doing == "loaded":
        return Stopped("crashed", _("killed by {signal} while loading", signal=name))
    return Stopped("crashed", _("killed by {signal} during a call", signal=name))


def out_of_memory(memory_mib: int) -> Stopped:
    return Stopped("memory", _("needed more than {mib} MiB of memory", mib=memory_mib))


def _not_set_up(reason: object) -> JudgeFailed:
    return JudgeFailed(_("cannot set up the sandbox's process ({reason}); run attn doctor", reason=reason))


# The worker


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's reply. The payload is the judge's own, writable memory."""

    header: dict[str, Any]
    payload: memoryview


@dataclass(frozen=True, slots=True)
class _Request:
    """A request without a reply yet."""

    operation: str
    nonce: str
    on_invoke: OnInvoke | None
    reply_limit: int


class Worker:
    """One worker. Use it from one thread; `kill` it when done, or use it in a `with` statement."""

    def __init__(
        self,
        process: Process,
        frames: socket.socket,
        output: int,
        status: int,
        memory_mib: int,
        start_seconds: float = CPU.start_seconds,
    ) -> None:
        self._process = process
        self._start_seconds = start_seconds
        self._frames = frames
        self._frames.setblocking(False)
        self._output, self._status = output, status
        os.set_blocking(output, False)
        self._memory_mib = memory_mib
        self._printed = Printed()
        self._reader = wire.FrameReader(wire.HEADER_LIMIT, wire.PAYLOAD_LIMIT)
        self._buffer = bytearray(wire.READ_BYTES)
        self._outgoing: deque[memoryview] = deque()
        self._arrived: deque[wire.Frame] = deque()
        self._pending: deque[_Request] = deque()
        self._started, self._phase = False, "loaded"
        self._filename = ""
        self._ending: Ending | None = None
        self._poller = select.poll()
        self._watched = {output, status, frames.fileno()}
        for descriptor in self._watched:
            self._poller.register(descriptor, select.POLLIN)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def printed(self) -> str:
        """Return the output of the submission so far, without control sequences, at most 64 KiB."""
        return self._printed.text()

    def load(
        self, source: bytes, filename: str, entry: list[str], seconds: float, kernel: bool = False, device: str = "cpu"
    ) -> Reply | Ending:
        """Run the learner's file. The reply's op is `loaded` (with `names`) or `raised`.

        A file with a `kernel` gets Triton, which compiles for the `device` "cuda" and interprets otherwise.
        """
        header = {"op": "load", "filename": filename, "entry": entry, "kernel": kernel, "device": device}
        self._phase, self._filename = "loaded", filename
        return self.request(header, [source], seconds)

    def request(
        self,
        header: dict[str, Any],
        buffers: Sequence[wire.Buffer],
        seconds: float,
        on_invoke: OnInvoke | None = None,
        reply_limit: int = wire.PAYLOAD_LIMIT,
    ) -> Reply | Ending:
        """Send one request and wait for its reply, at most `seconds` of the worker's own time.

        Raises JudgeFailed if the worker could not be set up.
        """
        self.send(header, buffers, on_invoke, reply_limit)
        return self.receive(seconds)

    def send(
        self,
        header: dict[str, Any],
        buffers: Sequence[wire.Buffer],
        on_invoke: OnInvoke | None = None,
        reply_limit: int = wire.PAYLOAD_LIMIT,
    ) -> None:
        """Send one request, before or after the replies to earlier ones.

        `on_invoke` answers calls of the learner's code to callables that live in the judge; its time does not count.
        Its exceptions pass through `receive`, and the worker is killed. Send nothing else before such a request's
        reply: the learner's code is waiting for an answer. Raises JudgeFailed if the worker could not be set up.
        """
        if self._ending is not None:
            return
        with self._guarded():
            if not self._pending and self._started:
                self._wait(0)
                if self._arrived or not self._reader.empty:
                    raise Stopped("protocol", _("sent a message that was not requested"))
            self._await_ready()
            request = _Request(header["op"], secrets.token_hex(8), on_invoke, reply_limit)
            self._pending.append(request)
            self._reader.limit_payload = max(item.reply_limit for item in self._pending)
            self._send(header | {"nonce": request.nonce, "reply_limit": reply_limit}, buffers)

    def receive(self, seconds: float) -> Reply | Ending:
        """Return the reply to the oldest pending request, or the worker's ending. Waits at most `seconds` from now."""
        if self._ending is None:
            with self._guarded():
                return self._await_reply(self._pending.popleft(), seconds)
        assert self._ending is not None
        return self._ending

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turn `Stopped` into the worker's `Ending`; kill the worker on any other exception."""
        try:
            yield
        except Stopped as stop:
            self._close_as(stop)
        except BaseException:
            self.kill()
            raise

    def canary_findings(self) -> dict[str, Any]:
        """Return the findings of a worker that was started as a canary. Raises JudgeFailed if there are none."""
        try:
            frame = self._next_frame(time.monotonic() + self._start_seconds, _("it did not start"))
        except Stopped as stop:
            raise JudgeFailed(
                _(
                    "the sandbox's self-test ended early: {message}; {printed}",
                    message=stop.message,
                    printed=self.printed[-300:],
                )
            ) from stop
        finally:
            self.kill()
        if frame.header["op"] != "canary":
            raise JudgeFailed(_("the sandbox's self-test could not be set up: {value}", value=frame.header.get("text")))
        findings: dict[str, Any] = frame.header["findings"]
        return findings

    def end(self) -> None:
        """Kill the worker and all it started without waiting until they are gone; call `kill` after that."""
        if self._ending is None:
            self._ending = Ending("exited", _("was stopped by the judge"), "")
        self._process.end()

    def kill(self) -> None:
        """Kill the worker and all it started, and close its descriptors. Does nothing the second time."""
        self.end()
        self._process.kill()
        if self._output >= 0:
            self._frames.close()
            os.close(self._output)
            os.close(self._status)
            self._output = self._status = -1

    def _close_as(self, stop: Stopped) -> None:
        self._process.kill()
        self._drain_output()
        printed, place = split_fatal_error(self.printed, self._filename)
        message = stop.message
        if stop.reason == "crashed" and place:
            message = _("{problem}, {place}", problem=message, place=place)
        self._ending = Ending(stop.reason, message, printed)
        self.kill()

    def _await_ready(self) -> None:
        if self._started:
            return
        try:
            frame = self._next_frame(time.monotonic() + self._start_seconds, _("it did not start"))
        except Stopped as stop:
            raise _not_set_up(stop.message) from stop
        if frame.header["op"] != "ready":
            raise _not_set_up(str(frame.header.get("text")))
        self._started = True

    def _send(self, header: dict[str, Any], buffers: Sequence[wire.Buffer]) -> None:
        self._outgoing.extend(memoryview(chunk).cast("B") for chunk in wire.chunks(header, buffers))
        self._flush()

    def _await_reply(self, request: _Request, seconds: float) -> Reply:
        deadline = time.monotonic() + seconds
        latest = deadline + _INVOKES_OVERTIME * seconds
        allowed = (_REPLY_OPERATIONS.get(request.operation, "result"), "raised")
        while True:
            frame = self._next_frame(min(deadline, latest), _("still running after {seconds:g} s", seconds=seconds))
            if frame.header.get("nonce") != request.nonce:
                raise Stopped("protocol", _("replied to a different request"))
            if frame.header["op"] == "invoke" and request.on_invoke is not None:
                deadline += self._answer(frame, request.on_invoke)
            elif frame.header["op"] in allowed:
                self._phase = "loaded" if request.operation == "read" else "called"
                if not self._pending and (self._arrived or not self._reader.empty):
                    raise Stopped("protocol", _("answered twice"))
                self._drain_output()
                self._check_output_limit()
                return Reply(frame.header, frame.payload)
            else:
                raise Stopped("protocol", _("sent a frame out of turn"))

    def _answer(self, frame: wire.Frame, on_invoke: OnInvoke) -> float:
        """Answer a call to one of the judge's callables. Returns its duration in seconds."""
        started = time.monotonic()
        header, buffers = on_invoke(frame.header, frame.payload)
        self._send(header | {"op": "answer"}, buffers)
        return time.monotonic() - started

    def _next_frame(self, deadline: float, late: Localised) -> wire.Frame:
        while not self._arrived:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise Stopped("timeout", late)
            self._wait(remaining)
        return self._arrived.popleft()

    def _wait(self, seconds: float) -> None:
        """Wait for frames, output or the end of the process, and read the data that has arrived."""
        frames = self._frames.fileno()
        ready = dict(self._poller.poll(max(0, round(seconds * 1000 + 0.5))))
        if self._output in ready:
            if not self._drain_output():
                self._poller.unregister(self._output)
            self._check_output_limit()
        if ready.get(frames, 0) & select.POLLOUT:
            self._flush()
        if ready.get(frames, 0) & ~select.POLLOUT and self._read_frames() == 0:
            raise self._exit_reason()
        if self._status in ready:
            while self._read_frames():
                continue
            if not self._arrived:
                raise self._exit_reason()

    def _flush(self) -> None:
        frames = self._frames.fileno()
        try:
            while self._outgoing:
                sent = self._frames.send(self._outgoing[0])
                rest = self._outgoing.popleft()[sent:]
                if len(rest):
                    self._outgoing.appendleft(rest)
        except BlockingIOError:
            self._poller.modify(frames, select.POLLIN | select.POLLOUT)
            return
        except (BrokenPipeError, ConnectionResetError):
            self._outgoing.clear()
        self._poller.modify(frames, select.POLLIN)

    def _read_frames(self) -> int | None:
        """Read the available bytes. Returns their number, 0 at the end of the stream, None if there are none yet."""
        try:
            count = self._frames.recv_into(self._buffer)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            return 0
        try:
            self._arrived.extend(self._reader.feed(memoryview(self._buffer)[:count]))
        except wire.FrameError as error:
            raise Stopped("protocol", _("sent {error}", error=error)) from error
        return count

    def _drain_output(self) -> bool:
        """Read the output, up to its limit. Returns False when the pipe is closed."""
        try:
            while not self._printed.too_much:
                data = os.read(self._output, wire.READ_BYTES)
                if not data:
                    return False
                self._printed.add(data)
        except BlockingIOError:
            return True
        return True

    def _check_output_limit(self) -> None:
        if self._printed.too_much:
            raise Stopped("output", _("printed more than {mib} MiB", mib=LIMIT_BYTES // MIB))

    def _exit_reason(self) -> Stopped:
        self._drain_output()
        if not select.select([self._status], [], [], _STATUS_TIMEOUT_SECONDS)[0]:
            return Stopped("protocol", _("closed its channel to the judge"))
        report = os.read(self._status, 4096)
        if not report:
            return Stopped("crashed", _("was killed from outside"))
        return classify(json.loads(report), self._phase, self._memory_mib, self._printed.text())


class Process:
    """Process 1 of a worker's pid namespace, held by a descriptor that cannot refer to another process."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle: int | None = handle

    def end(self) -> None:
        """Kill it and all processes in its namespace, without waiting until they are gone."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill(self) -> None:
        """Kill it, wait until it and all processes in its namespace are gone, and close the descriptor."""
        if self._handle is None:
            return
        self.end()
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        poller.poll(_KILL_TIMEOUT_MS)
        os.close(self._handle)
        self._handle = None


# The output of a submission


class Printed:
    """Collects output: keeps the beginning and the end, counts the middle."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = _HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: -(KEPT_BYTES - _HEAD_BYTES)]

    @property
    def too_much(self) -> bool:
        return self.total > LIMIT_BYTES

    def text(self) -> str:
        """Return the output without control sequences, at most KEPT_BYTES of it."""
        left_out = self.total - len(self._head) - len(self._tail)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return clean((bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace"))


def clean(text: str) -> str:
    """Remove control sequences, control characters and direction overrides; keep newlines and tabs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL_CHARACTERS.sub("", _ESCAPE_SEQUENCES.sub("", text))


def split_fatal_error(text: str, filename: str) -> tuple[str, str]:
    """Split off the interpreter's report of a crash. Returns the text before it and its place in the learner's file."""
    before, mark, report = text.rpartition("Fatal Python error: ")
    if not mark:
        return text, ""
    place = re.search(rf'File "{re.escape(filename)}", line (\d+) in (\S+)', report)
    return before, f"in line {place[1]} ({place[2]})" if place else ""
