"""Frames between judge and worker: a small JSON header and raw bytes. Nothing is ever unpickled.

    4 bytes magic | u32 header length | u64 payload length | header (JSON object) | payload

Both lengths are checked against limits before anything is allocated, and memory grows only with the bytes that have
arrived. A header's nesting is counted before it is parsed; counting and parsing the worst header takes 0.25 s and 100
MiB. Malformed frames raise FrameError. The module also has the words for a worker's end, for both sides.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

MAGIC = b"aTn1"
HEADER_LIMIT = 1 << 20
PAYLOAD_LIMIT = 256 << 20
MAX_DEPTH = 128
LENGTH_DIGITS = 8  # of the length before each setup message of `zygote.serve_both`
_PREFIX = struct.Struct("<4sIQ")
READ_BYTES = 1 << 18
_JOIN_BELOW = 1 << 16
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NESTING = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

CHANNEL_LOST, OUT_OF_MEMORY = 74, 75  # exit statuses of the worker itself

Buffer = bytes | bytearray | memoryview


class FrameError(ValueError):
    """Bytes that are not a frame, or a frame beyond its limits."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A header and its payload. The payload is the receiver's own, writable memory."""

    header: dict[str, Any]
    payload: memoryview


def chunks(header: dict[str, Any], buffers: Sequence[Buffer] = ()) -> list[Buffer]:
    """Return a frame as byte strings to be sent, small ones joined. Raises TypeError if JSON cannot hold `header`."""
    text = json.dumps(header, separators=(",", ":")).encode()
    views = [memoryview(buffer).cast("B") for buffer in buffers if len(memoryview(buffer).cast("B"))]
    prefix = _PREFIX.pack(MAGIC, len(text), sum(map(len, views))) + text
    if sum(map(len, views)) < _JOIN_BELOW:
        return [b"".join([prefix, *views])]
    return [prefix, *views]


def parse_header(text: bytes) -> dict[str, Any]:
    """Return the JSON object of a header. Raises FrameError for anything else."""
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH:
        # The nesting depth of brackets outside strings, in linear time and memory for any `text`.
        unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
        brackets = b"".join(unescaped.split(b'"')[::2]).translate(None, _NO_BRACKETS)
        if max(accumulate(map(_NESTING.__getitem__, brackets)), default=0) > MAX_DEPTH:
            raise FrameError(f"a header nested deeper than {MAX_DEPTH}")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError("a header that is not JSON") from error
    if not isinstance(header, dict) or not isinstance(header.get("op"), str):
        raise FrameError("a header without an operation")
    return header


class FrameReader:
    """Collects bytes as they arrive, and returns frames when they are complete."""

    def __init__(self, limit_header: int = HEADER_LIMIT, limit_payload: int = PAYLOAD_LIMIT) -> None:
        self.limit_header = limit_header
        self.limit_payload = limit_payload
        self._head = bytearray()
        self._payload = bytearray()
        self._header: dict[str, Any] | None = None
        self._payload_length = 0

    @property
    def empty(self) -> bool:
        """Return True between frames, when no byte of another one has arrived."""
        return not self._head and self._header is None

    def feed(self, data: Buffer) -> list[Frame]:
        """Return the frames that these bytes complete. Raises FrameError; the reader cannot be used after that."""
        frames = []
        rest = memoryview(data)
        while len(rest) or self._complete():
            rest = self._take(rest)
            if self._complete():
                frames.append(self._finish())
        return frames

    def _complete(self) -> bool:
        return self._header is not None and len(self._payload) == self._payload_length

    def _take(self, data: memoryview) -> memoryview:
        if self._header is not None:
            needed = self._payload_length - len(self._payload)
            self._payload += data[:needed]
            return data[needed:]
        header_length = self._lengths()[0] if len(self._head) >= _PREFIX.size else 0
        needed = _PREFIX.size + header_length - len(self._head)
        self._head += data[:needed]
        if len(self._head) >= _PREFIX.size:
            header_length, self._payload_length = self._lengths()
            if len(self._head) == _PREFIX.size + header_length:
                self._header = parse_header(bytes(self._head[_PREFIX.size :]))
        return data[needed:]

    def _lengths(self) -> tuple[int, int]:
        magic, header_length, payload_length = _PREFIX.unpack_from(self._head)
        if magic != MAGIC:
            raise FrameError("bytes that do not begin a frame")
        if not 0 < header_length <= self.limit_header:
            raise FrameError(f"a header of {header_length} bytes; the limit is {self.limit_header}")
        if payload_length > self.limit_payload:
            raise FrameError(f"a payload of {payload_length} bytes; the limit is {self.limit_payload}")
        return header_length, payload_length

    def _finish(self) -> Frame:
        if self._header is None:
            raise FrameError("no frame to finish")
        frame = Frame(self._header, memoryview(self._payload))
        self._head, self._payload, self._header, self._payload_length = bytearray(), bytearray(), None, 0
        return frame
