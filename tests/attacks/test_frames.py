"""Parse ATTN_ANSWERS hostile headers, some as large as they may be: within limits of time and memory."""

from __future__ import annotations

import json
import os
import random
import resource
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from attncli.sandbox import wire
from attncli.sandbox.namespaces import memory_at_most

pytestmark = pytest.mark.sandbox

HEADERS = int(os.environ.get("ATTN_ANSWERS", "2000"))
LARGE = 0.005
# The worst takes a quarter of a second and 100 MiB.
SECONDS, MEMORY_MIB = 2.0, 128


def parsed(text: bytes) -> dict[str, Any] | None:
    """Return the header, or None if it is rejected; fail if it takes too much time or memory."""
    header, started = None, resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with memory_at_most(MEMORY_MIB), suppress(wire.FrameError):
        header = wire.parse_header(text)
    # User time only: kernel time includes the memory of other processes.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - started < SECONDS, text[:200]
    return header


def filled(unit: bytes, before: bytes = b'{"op":"x","y":[', after: bytes = b"0]}") -> bytes:
    return before + unit * ((wire.HEADER_LIMIT - len(before) - len(after)) // len(unit)) + after


BRACKETS = b'","y":[' + b"[]," * 129 + b"[]]}"
WORST = {
    "one long string behind many brackets": filled(b"a", b'{"op":"result","x":"', BRACKETS),
    "escapes behind many brackets": filled(b'\\"', b'{"op":"result","x":"', BRACKETS),
    "backslashes": filled(b"\\", b'{"op":"x","y":"', b""),
    "quotes": filled(b'"', b"", b""),
    "short strings": filled(b'"ab",'),
    "empty lists": filled(b"[],"),
    "empty objects": filled(b"{},"),
    "lists of one": filled(b"[1],"),
    "objects of one": filled(b'{"":1},'),
    "nested as deep as may be": filled(b'{"":' * 120 + b"0" + b"}" * 120 + b","),
    "nested without end": filled(b"[", b'{"op":', b""),
    "opened and never closed": filled(b'{"":[', b'{"op":"x","y":', b""),
    "numbers": filled(b"1.1,"),
    "digits": filled(b"1", b'{"op":"x","y":', b"}"),
    "digits of a fraction": filled(b"1", b'{"op":"x","y":0.', b"}"),
    "an exponent": filled(b"9", b'{"op":"x","y":1e', b"}"),
    "surrogates": filled(rb"\ud83d", b'{"op":"x","y":"', b'"}'),
    "a wide character": filled(b"a", '{"op":"x","y":"😀'.encode(), b'"}'),
    "spaces": filled(b" ", b'{"op":', b'"x"}'),
    "no UTF-8": filled(b"\xff", b'{"op":"', b'"}'),
}


def test_the_worst_headers_are_bounded() -> None:
    for name, text in WORST.items():
        assert len(text) <= wire.HEADER_LIMIT, name
        parsed(text)


SIGNS = [bytes([sign]) for sign in b'[]{},:" -0\\']
PARTS = (
    *(*SIGNS, b'\\"', b"\\\\", b"\\u", b"null", b"NaN", b"1e9", b"[" * 40, b"]" * 40, b'{"":' * 40, b"}" * 40),
    *(b'"a":', b'"a",', b"a" * 30, b"9" * 30, b"\xff", "é".encode()),
)


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def document(chance: random.Random, size: int) -> bytes:
    """Return a deep or shallow JSON document of about `size`."""
    leaves: list[Callable[[], Any]] = [
        lambda: chance.choice([None, True, 1.5, -7]),
        lambda: chance.choice('["[{"}]\\,:é') * chance.randrange(9),
        lambda: chance.getrandbits(60),
    ]
    value: Any = chance.choice(leaves)()
    made = [value]
    for _ in range(size // 30):
        inner = made[-1]
        new = [[inner], {chance.choice('"]\\a'): inner}, chance.choice(leaves)(), chance.choice(leaves)()]
        made.append(chance.choice(new))
    return json.dumps({"op": "x", "parts": made}, ensure_ascii=chance.random() < 0.5).encode()[: wire.HEADER_LIMIT]


def text_of(chance: random.Random, size: int) -> bytes:
    if chance.random() < 0.5:
        return document(chance, size)
    few = chance.sample(PARTS, chance.randrange(1, 5))
    text = b'{"op":"x","y":' + b"".join(chance.choices(few, k=size // sum(map(len, few)) + 1))
    return (text + b"}" if chance.random() < 0.5 else text)[:size]


@pytest.mark.slow
def test_whatever_a_header_is_it_costs_no_more_than_it_may() -> None:
    chance = random.Random("headers")
    taken = 0
    for _ in range(HEADERS):
        size = wire.HEADER_LIMIT if chance.random() < LARGE else chance.randrange(10, 3000)
        header = parsed(text_of(chance, size))
        if header is not None:
            taken += 1
            assert isinstance(header["op"], str) and depth(header) <= wire.MAX_DEPTH
    assert HEADERS // 20 < taken < HEADERS


def test_depth_is_counted_outside_strings_alone() -> None:
    for levels in (wire.MAX_DEPTH - 1, wire.MAX_DEPTH, wire.MAX_DEPTH + 1, 500):
        deep: Any = ['"]}\\', "[{" * 200]
        for number in range(levels - 2):
            deep = [deep, '\\"['] if number % 2 else {'"[\\': deep}
        header = parsed(json.dumps({"op": "x", "y": deep}).encode())
        assert (header is not None) == (levels <= wire.MAX_DEPTH)
