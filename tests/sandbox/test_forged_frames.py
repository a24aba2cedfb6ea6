"""Bytes written by a submission to the judge's channel cause a protocol error, never a result."""

from __future__ import annotations

import pickle
import select
import struct

import pytest

from attncli.sandbox import wire
from attncli.sandbox.zygote_client import Ending, Reply, Worker

from .conftest import Grade, verdict

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("nothing_left")]


def frame(header: bytes, payload: bytes = b"", claimed: int | None = None) -> bytes:
    size = len(payload) if claimed is None else claimed
    return struct.pack("<4sIQ", wire.MAGIC, len(header), size) + header + payload


def is_protocol_error(outcome: Reply | Ending) -> bool:
    return isinstance(outcome, Ending) and outcome.reason == "protocol"


FORGED = {
    "noise": b"\xff" * 64,
    "a pickle": pickle.dumps(print) * 4,
    "a header of 4 GiB": struct.pack("<4sIQ", wire.MAGIC, 2**32 - 1, 0),
    "a payload of 2^63 bytes": struct.pack("<4sIQ", wire.MAGIC, 2, 2**63) + b"{}",
    "deep JSON": frame(b'{"op":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a header that is a list": frame(b'["op"]'),
    "a header without an operation": frame(b'{"nonce":"x"}'),
    "broken UTF-8": frame(b'{"op":"\xff\xfe"}'),
    "a number of a million digits": frame(b'{"op":"x","n":' + b"9" * 1_000_000 + b"}"),
    "a second ready": frame(b'{"op":"ready"}'),
    "a failure to set up": frame(b'{"op":"broken","text":"x"}'),
    "canary findings": frame(b'{"op":"canary","findings":{}}'),
    "a loaded with another nonce": frame(b'{"op":"loaded","nonce":"0","names":{"f":"function"},"touched":[]}'),
    "an invoke that nobody answers": frame(b'{"op":"invoke","nonce":"0"}'),
    "a result with a stale nonce": frame(b'{"op":"result","nonce":"0000000000000000","outcomes":[]}'),
}
# One that is no frame, one of a length that nothing may have, one of each layer behind it.
FEW = ("noise", "a payload of 2^63 bytes", "deep JSON", "a second ready", "a result with a stale nonce")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name not in FEW)) for name in FORGED])
def test_forged_while_loaded(name: str, load: Grade) -> None:
    assert is_protocol_error(load(f"import os\ndata = {FORGED[name]!r}\nwhile data: data = data[os.write(3, data):]"))


@pytest.mark.parametrize("name", ["noise", "a second ready", "a result with a stale nonce"])
def test_forged_while_called(name: str, call: Grade) -> None:
    assert is_protocol_error(call(f"import os\ndef f(): os.write(3, {FORGED[name]!r})"))


def test_a_reply_before_the_request_is_out_of_turn(worker: Worker) -> None:
    later = f"def later(): os.write(3, {FORGED['noise']!r})\n"
    source = f"import os, threading\n{later}threading.Timer(0.05, later).start()"
    assert verdict(worker.load(source.encode(), "s.py", [], 20))[0] == "loaded"
    assert select.select([worker._frames], [], [], 5)[0]
    assert is_protocol_error(worker.request({"op": "run", "steps": []}, [], 20))


def test_an_operation_of_another_phase_is_out_of_turn(load: Grade) -> None:
    source = (
        "import sys, os, json, struct\n"
        "frame = sys._getframe()\n"
        "while 'frame' not in frame.f_locals or not hasattr(frame.f_locals['frame'], 'header'): frame = frame.f_back\n"
        "nonce = frame.f_locals['frame'].header['nonce']\n"
        "text = json.dumps({'op': 'result', 'nonce': nonce}).encode()\n"
        f"os.write(3, struct.pack('<4sIQ', {wire.MAGIC!r}, len(text), 0) + text)"
    )
    assert is_protocol_error(load(source))


def test_part_of_a_frame_is_never_a_reply(load: Grade) -> None:
    outcome = load(f"import os\nos.write(3, {frame(b'{}', claimed=100)[:18]!r})\nwhile True: pass", seconds=1)
    assert verdict(outcome)[0] in ("timeout", "protocol")


@pytest.mark.parametrize("then", ["", "\nwhile True: pass", "\nassert os.open('/dev/null', os.O_RDWR) == 3"])
def test_a_closed_channel_is_a_protocol_error(then: str, load: Grade) -> None:
    found, message = verdict(load("import os\nos.close(3)" + then))
    assert found == "protocol"
    assert message == "closed its channel to the judge" or "while" not in then


def test_reading_the_channel_starves_only_the_submission(call: Grade) -> None:
    assert verdict(call("import os\ndef f():\n    while True: os.read(3, 1)", seconds=1))[0] == "timeout"


def test_a_result_beyond_the_limit_is_too_large(call: Grade) -> None:
    outcome = call("import torch\ndef f(): return torch.zeros(1 << 20)", reply_limit=1 << 20)
    assert isinstance(outcome, Reply) and verdict(outcome) == ("too-large", ": the result is larger than 1 MiB")


def test_a_forged_result_beyond_the_limit_is_not_read(call: Grade) -> None:
    huge = frame(b'{"op":"result"}', claimed=1 << 40)
    outcome = call(f"import os\ndef f():\n    os.write(3, {huge!r})\n    while True: os.write(3, bytes(1 << 16))")
    assert verdict(outcome)[0] == "protocol"
