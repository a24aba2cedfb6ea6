"""Landlock: which files a worker may open. Read-only Python and torch, `/dev/null`, and nothing else.

A ruleset is built once in the zygote; a worker puts it on itself. All file rights that the kernel's version knows are
handled, so what is not granted is refused; TCP is refused where the version has network rules, and signals and abstract
Unix sockets stay inside the worker where it has scopes. Landlock does not govern chmod, chown, utime or metadata: the
system-call filter refuses the first three; `stat` on a known path still tells its size.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, DEVICE_CONTROL = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKET_AND_SIGNAL = 0b11
_READ = READ_FILE | READ_DIR


def _call(number: int, *arguments: object) -> int:
    result = int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def version() -> int:
    """The Landlock version of this kernel. Raises OSError where there is none."""
    return _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))


def why_unavailable() -> str | None:
    """None where Landlock can be used, else the reason in words."""
    try:
        version()
    except OSError as error:
        return f"the kernel answers landlock with {errno.errorcode.get(error.errno or 0, str(error))}"
    return None


def _handled_file_rights(abi: int) -> int:
    bits = max(count for known, count in _FILE_RIGHTS_BY_VERSION.items() if known <= abi)
    return (1 << bits) - 1


def _attributes(abi: int) -> bytes:
    files = _handled_file_rights(abi)
    if abi >= 6:
        return struct.pack("=QQQ", files, _TCP_BIND_AND_CONNECT, _SCOPE_ABSTRACT_SOCKET_AND_SIGNAL)
    if abi >= 4:
        return struct.pack("=QQ", files, _TCP_BIND_AND_CONNECT)
    return struct.pack("=Q", files)


class Ruleset:
    """A ruleset under construction, as a file descriptor."""

    def __init__(self) -> None:
        self._rights = _handled_file_rights(version())
        attributes = _attributes(version())
        self.descriptor = _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))

    def allow_reading(self, path: Path) -> None:
        """Grant reading of a file, or of a folder and all beneath it."""
        self._allow(path, _READ if path.is_dir() else READ_FILE)

    def allow_device(self, path: Path) -> None:
        """Grant reading and writing of one device file."""
        self._allow(path, READ_FILE | WRITE_FILE | TRUNCATE)

    def allow_driver(self, path: Path) -> None:
        """Grant all that one device file can do, `ioctl` too."""
        self._allow(path, READ_FILE | WRITE_FILE | TRUNCATE | DEVICE_CONTROL)

    def allow_executing(self, path: Path) -> None:
        """Grant reading and executing of a program, or of all beneath a folder."""
        self._allow(path, EXECUTE | (_READ if path.is_dir() else READ_FILE))

    def allow_naming(self, path: Path) -> None:
        """Grant reading and writing of what is beneath a folder, and making nothing."""
        self._allow(path, _READ | WRITE_FILE | TRUNCATE)

    def allow_everything(self, path: Path) -> None:
        """Grant all that files beneath a folder can be used for."""
        self._allow(path, self._rights)

    def _allow(self, path: Path, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights & self._rights, descriptor)
            _call(_ADD, ctypes.c_int(self.descriptor), ctypes.c_int(_RULE_PATH_BENEATH), rule, ctypes.c_uint32(0))
        finally:
            os.close(descriptor)


def restrict(ruleset: int) -> None:
    """Put the ruleset on this process for good. Needs no_new_privs. Raises OSError if the kernel refuses."""
    _call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def outside(root: Path, withheld: Sequence[Path]) -> Iterator[Path]:
    """`root` as a set of paths that together hold everything beneath it except `withheld` (resolved paths).

    A folder with something withheld is replaced by its entries; links are followed, and dead ones dropped.
    """
    with contextlib.suppress(OSError):
        yield from map(Path, _outside(os.path.realpath(root, strict=True), [str(path) for path in withheld]))


def _outside(real: str, withheld: Sequence[str]) -> Iterator[str]:
    if any(_lies_in(real, folder) for folder in withheld):
        return
    within = [folder for folder in withheld if _lies_in(folder, real)]
    if not within:
        yield real
        return
    with contextlib.suppress(OSError), os.scandir(real) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                yield from map(str, outside(Path(entry.path), [Path(folder) for folder in withheld]))
            else:
                yield from _outside(entry.path, within)


def build(read: Iterable[Path], devices: Iterable[Path]) -> tuple[Ruleset, list[str]]:
    """A ruleset with these grants, and a note for every path that was not granted (no reason for a missing layer)."""
    ruleset = Ruleset()
    return ruleset, grant([(ruleset.allow_reading, read), (ruleset.allow_device, devices)])


def grant(granted: Iterable[tuple[Callable[[Path], None], Iterable[Path]]]) -> list[str]:
    """Grants each path in its way; a note for every one that was not granted."""
    notes = []
    for allow, paths in granted:
        for path in paths:
            try:
                allow(path)
            except OSError as error:
                notes.append(f"{path} is not granted to workers: {error.strerror}")
    return notes
