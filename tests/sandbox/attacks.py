"""Grade a few submissions and print the results as JSON: run as a program, in which a layer may be missing."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from typing import Any

from attncli.sandbox.namespaces import children_of
from attncli.sandbox.zygote_client import Reply, ZygoteClient

ATTACKS = {
    "sound": "import torch\nassert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8",
    "loop": "while True: pass",
    "exit": "import os\nos._exit(5)",
    "crash": "import ctypes\nctypes.string_at(0)",
    "memory": "x = []\nwhile True: x.append(bytes(1000000))",
    "print": "while True: print('x' * 1000)",
    "read": "open('/etc/passwd').read()",
    "write": "import os\nopen(os.path.expanduser('~/hostile'), 'w').write('x')",
    "socket": "import socket\nsocket.socket()",
    "connect": "import socket\nsocket.create_connection(('127.0.0.1', 1))",
    "fork": "import os\nif os.fork() == 0: os._exit(0)",
    "orphan": (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0: time.sleep(1000)\n"
        "    os._exit(0)\n"
        "os._exit(0)"
    ),
    "bomb": "import os\nwhile True: os.fork()",
    "bomb-in-a-thread": (
        "import os, threading\ndef go():\n    while True: os.fork()\n"
        "threading.Thread(target=go).start()\nwhile True: pass"
    ),
    "threads": (
        "import threading, time\n"
        "threading.stack_size(1 << 16)\n"
        "for _ in range(200): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
    ),
    "kill": "import os\nos.kill(1 if os.getpid() == 2 else os.getppid(), 9)",
}
SECONDS = defaultdict(lambda: 10.0, loop=0.5)


def outcome(zygote: ZygoteClient, name: str) -> str:
    with zygote.worker(256) as worker:
        found = worker.load(ATTACKS[name].encode(), "s.py", [], SECONDS[name])
    if not isinstance(found, Reply):
        return found.reason
    return str(found.header.get("reason", found.header["op"]))


def left_behind(pid: int) -> list[int]:
    """Return the zygote's descendants that still exist after up to half a minute."""
    deadline = time.monotonic() + 30
    while children_of(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return children_of(pid)


def main(names: list[str]) -> None:
    with ZygoteClient.start() as zygote:
        report: dict[str, Any] = {"layers": list(zygote.layers), "notes": zygote.notes, "uid": os.getuid()}
        report["outcomes"] = {name: outcome(zygote, name) for name in names or ATTACKS}
        report["left"] = left_behind(zygote._process.pid)
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
