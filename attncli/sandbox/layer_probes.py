"""Probes of each layer: a worker, the canary, tries at start what must fail, so that layers are known and not assumed.

Every probe is made before its layer is on, where it must succeed, and after, where it must fail: a probe that failed
before proves nothing. Positive controls show that torch still works inside.
"""

from __future__ import annotations

import errno
import mmap
import os
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from .policy import CPU, MIB, WorkerPolicy

LAYERS = ("process", "rlimits", "landlock", "seccomp", "namespaces")
Findings = dict[str, dict[str, str]]


def _outcome(action: Any) -> str:
    """ "ok", or the name of the error with which the kernel refused."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "failed")
    except MemoryError:
        return "ENOMEM"
    return "ok"


class Probes:
    """Makes the probes in a worker that is being confined.

    `places` names what to try: `file` (readable outside), `folder` (writable outside), `port` (of a listener on the
    loopback of the judge's network, 0 for none) and `memory_mib` (the budget).
    """

    def __init__(self, places: dict[str, Any]) -> None:
        self._places = places
        self._findings: Findings = {}

    def after(self, layer: str) -> None:
        """Note how everything that a layer is to refuse goes, now that `layer` has been put on."""
        tries = {"read": self._read, "write": self._write, "connect": self._connect, "socket": self._socket}
        self._findings[layer] = {name: _outcome(action) for name, action in tries.items()}
        self._findings[layer]["fork"] = _outcome(self._fork)

    def finish(self) -> Findings:
        """All findings, with process numbers, the memory limit and the positive controls."""
        self._findings["process"] = {"pid": str(os.getpid()), "parent": str(os.getppid())}
        self._findings["rlimits"] = {"small": _outcome(self._small), "beyond": _outcome(self._beyond)}
        self._findings["controls"] = {"torch": _outcome(self._torch), "library": _outcome(self._library)}
        if self._places.get("names_threads"):
            self._findings["controls"]["threads"] = _outcome(self._name_thread)
        if self._places.get("writes"):
            self._findings["controls"]["folder"] = _outcome(self._write_own)
            self._findings["controls"]["program"] = _outcome(self._run_program)
        return self._findings

    def _read(self) -> None:
        Path(self._places["file"]).read_bytes()

    def _write(self) -> None:
        path = Path(self._places["folder"]) / "written-by-the-canary"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        path.unlink()

    def _socket(self) -> None:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()

    def _connect(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as end:
            end.settimeout(1)
            end.connect(("127.0.0.1", int(self._places["port"])))

    def _fork(self) -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    def _small(self) -> None:
        mmap.mmap(-1, MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    def _beyond(self) -> None:
        size = (int(self._places["memory_mib"]) + 64) * MIB
        mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    def _name_thread(self) -> None:
        """As CUDA does when it begins."""
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("canary")

    def _write_own(self) -> None:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("canary")

    def _run_program(self) -> None:
        """As a compiler is run."""
        if subprocess.run(["/bin/sh", "-c", "exit 3"], check=False).returncode != 3:
            raise OSError(errno.EIO, "a program ended in another way than it should")

    def _torch(self) -> None:
        import torch

        if float((torch.ones(3, 3) @ torch.ones(3)).sum()) != 9.0:
            raise OSError(errno.EIO, "torch computes wrongly")

    def _library(self) -> None:
        import colorsys

        if colorsys.rgb_to_hsv(0.0, 0.0, 0.0)[2] != 0.0:
            raise OSError(errno.EIO, "the library computes wrongly")


def _turned(findings: Findings, name: str, before: str, after: str) -> bool:
    """Whether a probe succeeded before a layer and was refused behind it."""
    return findings[before].get(name) == "ok" and findings[after].get(name) in ("EACCES", "EPERM")


def layers_in_force(findings: Findings, policy: WorkerPolicy = CPU) -> dict[str, bool]:
    """Layer name to whether the canary's outcomes prove it. A policy that lets a compiler run lets the canary fork."""
    first, second, last = "namespaces", "landlock", "seccomp"
    alone = findings["process"] == {"pid": "2", "parent": "1"}
    unreachable = findings[first].get("connect") not in ("ok", None)
    return {
        "process": True,
        "rlimits": findings["rlimits"] == {"small": "ok", "beyond": "ENOMEM"},
        "landlock": _turned(findings, "read", first, second) and _turned(findings, "write", first, second),
        "seccomp": _turned(findings, "socket", second, last)
        and (policy.starts_processes or _turned(findings, "fork", second, last)),
        "namespaces": alone and unreachable,
    }


def broken_controls(findings: Findings) -> list[str]:
    """Positive controls that failed: inside such a sandbox nothing can be graded."""
    return [f"{name}: {outcome}" for name, outcome in findings["controls"].items() if outcome != "ok"]
