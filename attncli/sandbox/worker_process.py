"""The judge's end of one worker: every clock, every bound, and the order in which frames may come.

    starting ──ready──> idle ──request──> waiting ──reply──> idle      waiting ──invoke──> answer ──> waiting

Requests may be sent ahead: the worker goes on with the next one while the judge reads a reply. Replies come in the
order of the requests. A frame out of turn, without its request's nonce or malformed ends the worker as `protocol`.
Whatever ends it, process 1 of its pid namespace is killed, and with it everything that the worker may have started.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.errors import JudgeFailed

from . import wire
from .policy import CPU, MIB
from .wire import Ending, Stopped

OnInvoke = Callable[[dict[str, Any], memoryview], tuple[dict[str, Any], list[wire.Buffer]]]

_END_SECONDS = 1.0
# How many times the limit of a request the judge's own callables may take in it, all calls together.
_INVOKES_OVERTIME = 2.0
# What comes back of a request, where it is no result.
_REPLIES = {"read": "read", "load": "loaded"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the worker answered. The payload is the judge's own, writable memory."""

    header: dict[str, Any]
    payload: memoryview


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request whose reply has not been taken yet."""

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
        self._asked: deque[_Asked] = deque()
        self._started, self._doing = False, "loaded"
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
        """What the submission has printed so far, cleaned of control sequences, at most 64 KiB."""
        return self._printed.text()

    def load(
        self, source: bytes, filename: str, entry: list[str], seconds: float, kernel: bool = False, device: str = "cpu"
    ) -> Reply | Ending:
        """Run the learner's file, with Triton where it holds a `kernel`, which is compiled for the `device` "cuda". The
        reply's op is `loaded` (with `names`) or `raised`."""
        header = {"op": "load", "filename": filename, "entry": entry, "kernel": kernel, "device": device}
        self._doing, self._filename = "loaded", filename
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
        """Send one request, the replies to earlier ones still to come.

        `on_invoke` answers calls of the learner's code to callables that live in the judge; its time does not count.
        What it raises passes through `receive`, and the worker is killed. Nothing may be sent ahead of such a request's
        reply: the learner's code is waiting for an answer then. Raises JudgeFailed if the worker could not be set up.
        """
        if self._ending is not None:
            return
        with self._guarded():
            if not self._asked:
                self._expect_silence()
            self._await_ready()
            asked = _Asked(header["op"], secrets.token_hex(8), on_invoke, reply_limit)
            self._asked.append(asked)
            self._reader.limit_payload = max(item.reply_limit for item in self._asked)
            self._send(header | {"nonce": asked.nonce, "reply_limit": reply_limit}, buffers)

    def receive(self, seconds: float) -> Reply | Ending:
        """The reply to the oldest request without one. Waits at most `seconds`, from now on, for the worker."""
        if self._ending is None:
            with self._guarded():
                return self._await_reply(self._asked.popleft(), seconds)
        assert self._ending is not None
        return self._ending

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """What stops the worker becomes its ending; anything else passes, and takes the worker with it."""
        try:
            yield
        except Stopped as stop:
            self._close_as(stop)
        except BaseException:
            self.kill()
            raise

    def canary_findings(self) -> dict[str, Any]:
        """The findings of a worker that was started as a canary. Raises JudgeFailed if it gives none."""
        try:
            frame = self._next_frame(time.monotonic() + self._start_seconds, "it did not start")
        except Stopped as stop:
            raise JudgeFailed(f"the sandbox's self-test ended early: {stop.message}; {self.printed[-300:]}") from stop
        finally:
            self.kill()
        if frame.header["op"] != "canary":
            raise JudgeFailed(f"the sandbox's self-test could not be set up: {frame.header.get('text')}")
        findings: dict[str, Any] = frame.header["findings"]
        return findings

    def end(self) -> None:
        """Have the worker and all it started killed, without waiting for it: `kill` has to follow."""
        if self._ending is None:
            self._ending = Ending("exited", "was stopped by the judge", "")
        self._process.end()

    def kill(self) -> None:
        """End the worker and all it started. Does nothing the second time."""
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
        message = f"{stop.message}, {place}" if stop.reason == "crashed" and place else stop.message
        self._ending = Ending(stop.reason, message, printed, stop.facts)
        self.kill()

    def _await_ready(self) -> None:
        if self._started:
            return
        try:
            frame = self._next_frame(time.monotonic() + self._start_seconds, "it did not start")
        except Stopped as stop:
            raise JudgeFailed(f"a sandboxed process could not be set up: {stop.message}; see attn doctor") from stop
        if frame.header["op"] != "ready":
            raise JudgeFailed(f"a sandboxed process could not be set up: {frame.header.get('text')}; see attn doctor")
        self._started = True

    def _expect_silence(self) -> None:
        """Between requests nothing may come from the worker."""
        if self._started:
            self._wait(0)
            if self._arrived or not self._reader.empty:
                raise Stopped("protocol", "sent something that it was not asked for")

    def _send(self, header: dict[str, Any], buffers: Sequence[wire.Buffer]) -> None:
        self._outgoing.extend(memoryview(chunk).cast("B") for chunk in wire.chunks(header, buffers))
        self._flush()

    def _await_reply(self, asked: _Asked, seconds: float) -> Reply:
        deadline = time.monotonic() + seconds
        latest = deadline + _INVOKES_OVERTIME * seconds
        allowed = (_REPLIES.get(asked.operation, "result"), "raised")
        while True:
            frame = self._next_frame(min(deadline, latest), f"still running after {seconds:g} s")
            if frame.header.get("nonce") != asked.nonce:
                raise Stopped("protocol", "answered something else than it was asked")
            if frame.header["op"] == "invoke" and asked.on_invoke is not None:
                deadline += self._answer(frame, asked.on_invoke)
            elif frame.header["op"] in allowed:
                self._doing = "loaded" if asked.operation == "read" else "called"
                return self._reply(frame)
            else:
                raise Stopped("protocol", "sent a frame out of turn")

    def _answer(self, frame: wire.Frame, on_invoke: OnInvoke) -> float:
        """Answer a call to one of the judge's callables. Returns the seconds that it took."""
        started = time.monotonic()
        header, buffers = on_invoke(frame.header, frame.payload)
        self._send(header | {"op": "answer"}, buffers)
        return time.monotonic() - started

    def _reply(self, frame: wire.Frame) -> Reply:
        if not self._asked and (self._arrived or not self._reader.empty):
            raise Stopped("protocol", "answered twice")
        self._drain_output()
        self._require_little_output()
        return Reply(frame.header, frame.payload)

    def _next_frame(self, deadline: float, late: str) -> wire.Frame:
        while not self._arrived:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise Stopped("timeout", late)
            self._wait(remaining)
        return self._arrived.popleft()

    def _wait(self, seconds: float) -> None:
        """One turn of the loop over frames, output and the end of the process."""
        frames = self._frames.fileno()
        ready = dict(self._poller.poll(max(0, round(seconds * 1000 + 0.5))))
        if self._output in ready:
            self._take_output()
        if ready.get(frames, 0) & select.POLLOUT:
            self._flush()
        if ready.get(frames, 0) & ~select.POLLOUT and self._read_frames() == 0:
            raise self._how_it_ended()
        if self._status in ready:
            while self._read_frames():
                continue
            if not self._arrived:
                raise self._how_it_ended()

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
        """Take what has arrived: the number of bytes, 0 at the end of the stream, None if there is nothing yet."""
        try:
            count = self._frames.recv_into(self._buffer)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            return 0
        try:
            self._arrived.extend(self._reader.feed(memoryview(self._buffer)[:count]))
        except wire.FrameError as error:
            raise Stopped("protocol", f"sent {error}") from error
        return count

    def _drain_output(self) -> bool:
        """Take what has been printed, as far as it may be. False when the pipe is closed."""
        try:
            while not self._printed.too_much:
                data = os.read(self._output, wire.READ_BYTES)
                if not data:
                    return False
                self._printed.add(data)
        except BlockingIOError:
            return True
        return True

    def _take_output(self) -> None:
        if not self._drain_output():
            self._poller.unregister(self._output)
        self._require_little_output()

    def _require_little_output(self) -> None:
        if self._printed.too_much:
            raise Stopped("output", f"printed more than {LIMIT_BYTES // MIB} MiB")

    def _how_it_ended(self) -> Stopped:
        self._drain_output()
        if not select.select([self._status], [], [], _END_SECONDS)[0]:
            return Stopped("protocol", "closed its channel to the judge")
        report = os.read(self._status, 4096)
        if not report:
            return Stopped("crashed", f"was killed from outside while it was {self._doing}")
        return wire.classify(json.loads(report), self._doing, self._memory_mib, self._printed.text())


# Process 1 of a worker's pid namespace, as the judge holds it.

_GONE_MS = 5000


class Process:
    """To be killed by a descriptor that cannot mean another process."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle: int | None = handle

    def end(self) -> None:
        """Kill it, and with it all processes in its namespace, without waiting until they are gone."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill(self) -> None:
        """Kill it, wait until it and all processes in its namespace are gone, and let go of it."""
        if self._handle is None:
            return
        self.end()
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        poller.poll(_GONE_MS)
        os.close(self._handle)
        self._handle = None


# What a submission prints: bounded, and cleaned of everything that could drive a terminal.

LIMIT_BYTES = 1 << 20
KEPT_BYTES = 64 << 10
_HEAD_BYTES = 48 << 10

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without control sequences, control characters and direction overrides; newlines and tabs stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


class Printed:
    """Collects output: the beginning and the end are kept, the middle is counted."""

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
        """What was printed, cleaned, at most KEPT_BYTES of it."""
        left_out = self.total - len(self._head) - len(self._tail)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return clean((bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace"))


def split_fatal_error(text: str, filename: str) -> tuple[str, str]:
    """The text without the interpreter's own report of a crash, and where that says it was in the learner's file."""
    before, mark, report = text.rpartition("Fatal Python error: ")
    if not mark:
        return text, ""
    place = re.search(rf'File "{re.escape(filename)}", line (\d+) in (\S+)', report)
    return before, f"in line {place[1]} ({place[2]})" if place else ""
