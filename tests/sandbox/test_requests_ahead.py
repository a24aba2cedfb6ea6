"""Send requests before their replies: order, endings and forgeries are as with one at a time."""

from __future__ import annotations

import pytest

from attncli.sandbox.zygote_client import Ending, Reply, Worker, ZygoteClient

from .conftest import MEMORY_MIB, SECONDS

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("nothing_left")]

COUNT = "n = 0\ndef f():\n    global n\n    n += 1\n    return n\n"
RUN = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}


def ahead(worker: Worker, source: str, count: int, seconds: float = SECONDS) -> list[Reply | Ending]:
    worker.load(source.encode(), "submission.py", ["f"], SECONDS)
    for _ in range(count):
        worker.send(RUN, [])
    return [worker.receive(seconds) for _ in range(count)]


def value(reply: Reply | Ending) -> object:
    assert isinstance(reply, Reply)
    return reply.header["outcomes"][0]["tree"][1]


def test_replies_come_in_the_order_of_the_requests_and_an_exception_ends_nothing(worker: Worker) -> None:
    assert [value(reply) for reply in ahead(worker, COUNT, 50)] == list(range(1, 51))
    source = COUNT + "g = f\ndef f():\n    g()\n    if n == 2: raise ValueError('two')\n    return n\n"
    replies = ahead(worker, source, 3)
    assert [reply.header["op"] for reply in replies if isinstance(reply, Reply)] == ["result", "raised", "result"]
    worker.load(b"def f(text): return text", "submission.py", ["f"], SECONDS)
    long = "x" * 900_000  # large replies do not block large requests
    for _ in range(6):
        worker.send({"op": "run", "steps": [{"op": "call", "name": "f", "args": [["s", long]]}]}, [])
    assert all(value(worker.receive(SECONDS)) == long for _ in range(6))


def test_the_end_of_the_worker_or_a_loop_is_told_where_it_came(worker: Worker, zygote: ZygoteClient) -> None:
    source = COUNT + "g = f\ndef f():\n    import os\n    return g() if n < 2 else os._exit(3)\n"
    first, second, *rest = ahead(worker, source, 5)
    assert [value(first), value(second)] == [1, 2]
    assert [ending.reason for ending in rest if isinstance(ending, Ending)] == ["exited"] * 3
    source = COUNT + "g = f\ndef f():\n    while n: pass\n    return g()\n"
    with zygote.worker(MEMORY_MIB) as other:
        first, second, third = ahead(other, source, 3, seconds=0.5)
    assert value(first) == 1
    assert isinstance(second, Ending) and second.reason == "timeout" and second is third


def test_more_replies_than_requests_are_a_protocol_error(worker: Worker) -> None:
    source = "import os\ndef f():\n    if os.fork is None: pass\n    os.write(3, b'aTn1' + bytes(12))\n    return 1\n"
    first, *_ = ahead(worker, source, 3)
    assert isinstance(first, Ending) and first.reason == "protocol"
