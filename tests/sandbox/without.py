"""Start a program as on a kernel without Landlock, seccomp or namespaces: `python without.py NAMES -- PROGRAM`.

A system-call filter of its own answers the calls of those layers, so that the sandbox is tested unchanged.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

ANSWER, ALLOW = 0x00050000, 0x7FFF0000
NEW_NAMESPACE = 0x7E020000
Line = tuple[int, int, int, int]


def when_called(number: int, body: list[Line]) -> list[Line]:
    return [(0x15, 0, len(body), number), *body]


def refuse(number: int, error: int) -> list[Line]:
    return when_called(number, [(0x06, 0, 0, ANSWER | error)])


def only_if(offset: int, test: int, value: int, error: int) -> list[Line]:
    """Refuse if the argument at `offset` equals (0x15) the value or shares a bit with it (0x45)."""
    return [(0x20, 0, 0, offset), (test, 0, 1, value), (0x06, 0, 0, ANSWER | error), (0x06, 0, 0, ALLOW)]


LAYERS = {
    "landlock": refuse(444, errno.ENOSYS) + refuse(445, errno.ENOSYS) + refuse(446, errno.ENOSYS),
    "seccomp": refuse(317, errno.ENOSYS) + when_called(157, only_if(16, 0x15, 22, errno.EINVAL)),
    "namespaces": refuse(272, errno.EPERM)
    + refuse(435, errno.ENOSYS)
    + when_called(56, only_if(16, 0x45, NEW_NAMESPACE, errno.EPERM)),
}


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def remove(names: list[str]) -> None:
    """Remove the layers for this process and all that it starts. x86_64 only."""
    lines: list[Line] = [(0x20, 0, 0, 0)]
    for name in names:
        lines += LAYERS[name]
    lines.append((0x06, 0, 0, ALLOW))
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(lines), ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.syscall(317, 1, 0, ctypes.byref(program)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    split = sys.argv.index("--")
    remove(sys.argv[1:split])
    os.execvp(sys.argv[split + 1], sys.argv[split + 1 :])
