"""Read frames from any split of the stream; all else raises FrameError, with memory bounded by the bytes received."""

from __future__ import annotations

import json
import struct
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.sandbox import wire

keys = st.text(max_size=8)
leaves = st.none() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20)
trees = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
headers = st.dictionaries(keys, trees, max_size=2).map(lambda header: header | {"op": "x"})
payloads = st.lists(st.binary(max_size=100), max_size=3)


def encoded(header: dict, buffers: list[bytes]) -> bytes:
    return b"".join(bytes(chunk) for chunk in wire.chunks(header, buffers))


@given(st.lists(st.tuples(headers, payloads), max_size=3), st.integers(1, 400))
def test_frames_come_back_whatever_the_pieces(frames: list, size: int) -> None:
    stream = b"".join(encoded(header, buffers) for header, buffers in frames)
    reader, found = wire.FrameReader(), []
    for position in range(0, len(stream), size):
        found += reader.feed(stream[position : position + size])
    assert [(f.header, bytes(f.payload)) for f in found] == [(h, b"".join(b)) for h, b in frames]
    assert reader.empty


def test_large_payloads_are_sent_in_pieces_into_writable_memory_of_the_receiver() -> None:
    payload = b"x" * 200_000
    chunks = wire.chunks({"op": "x"}, [memoryview(payload), b"y"])
    assert len(chunks) == 3
    (frame,) = wire.FrameReader().feed(b"".join(chunks))
    assert bytes(frame.payload) == payload + b"y"
    frame.payload[0] = 0
    assert bytes(frame.payload[:2]) == b"\0x"


@given(st.binary(max_size=2000))
def test_random_bytes_give_only_frame_errors(data: bytes) -> None:
    with suppress(wire.FrameError):
        wire.FrameReader(1000, 1000).feed(data)


@given(headers, payloads, st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=4))
def test_mutated_frames_give_only_frame_errors(header: dict, buffers: list[bytes], changes: list) -> None:
    frame = bytearray(encoded(header, buffers))
    for place, value in changes:
        frame[place % len(frame)] = value
    with suppress(wire.FrameError):
        assert all(isinstance(found.header["op"], str) for found in wire.FrameReader(10_000, 10_000).feed(frame))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_lengths_beyond_the_limits_are_refused_before_anything_is_allocated(header: int, payload: int) -> None:
    reader = wire.FrameReader(100, 1000)
    prefix = struct.pack("<4sIQ", wire.MAGIC, header, payload)
    if 0 < header <= 100 and payload <= 1000:
        assert reader.feed(prefix) == []
        return
    with pytest.raises(wire.FrameError):
        reader.feed(prefix)


def test_a_claimed_payload_costs_nothing_until_it_arrives() -> None:
    reader = wire.FrameReader()
    tracemalloc.start()
    reader.feed(struct.pack("<4sIQ", wire.MAGIC, 10, wire.PAYLOAD_LIMIT) + b'{"op":"x"}' + b"x" * 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


def test_what_is_no_header_is_a_frame_error() -> None:
    deep = (b'{"op":' + b"[" * 1000 + b"]" * 1000 + b"}", b'{"op":"x","y":' + b'{"z":' * 1000 + b"0" + b"}" * 1001)
    number = b'{"op":"x","n":' + b"9" * 5000 + b"}"
    mixed = b'{"op":"x","y":' + b'[{"z":' * 100 + b"0" + b"}]" * 100 + b"}"
    for text in (b"[]", b"{}", b'{"op":1}', b'{"op":"x"', b"\xff", number, mixed, *deep):
        with pytest.raises(wire.FrameError):
            wire.parse_header(text)
    for header in ({"op": {1, 2}}, {"op": b"x"}):
        with pytest.raises(TypeError):
            wire.chunks(header)
    # Brackets in strings and many shallow parts are no nesting.
    for header in ({"op": "x", "text": "[{" * 1000 + '\\"[['}, {"op": "x", "parts": [[k] for k in range(500)]}):
        assert wire.parse_header(json.dumps(header).encode()) == header
