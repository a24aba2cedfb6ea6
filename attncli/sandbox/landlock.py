"""Landlock: the files that a worker may open. On the CPU: Python and torch to read, `/dev/null`, and nothing else.

A ruleset is built once in the zygote; a worker applies it to itself. All file rights that the kernel's version knows
are handled, so whatever is not granted is refused. TCP is refused where the version has network rules; signals and
abstract Unix sockets stay inside the worker where it has scopes. Landlock does not govern chmod, chown, utime or
metadata: the system-call filter refuses the first three; `stat` on a known path still returns its size. Package folders
are never granted whole, nor is the checkout: a reference inside them would be readable.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .policy import WorkerPolicy
from .seccomp import system_call

LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
READ_FILES = ("/etc/ld.so.cache", "/dev/urandom")
WRITE_DEVICES = ("/dev/null",)
OWN_FOLDER = Path("/dev/shm")
BLOCKED_PACKAGES = frozenset(
    ["attncli", "hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin"]
)
# Importable only where a kernel is graded. Torch looks for NumPy whenever it meets a plain number, and imports Triton
# to count operations, which makes Triton compile instead of interpret.
FOR_KERNELS = frozenset({"numpy", "triton"})

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, DEVICE_CONTROL = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_FILE_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKET_AND_SIGNAL = 0b11
# The rights on a path, and on all beneath it if it is a folder.
READ = READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | TRUNCATE  # of files that exist
DRIVER = WRITE | DEVICE_CONTROL
PROGRAM = READ | EXECUTE
EVERYTHING = (1 << 64) - 1


def why_unavailable() -> str | None:
    """Return None if Landlock can be used, else the reason."""
    try:
        _version()
    except OSError as error:
        return f"the kernel answers landlock with {errno.errorcode.get(error.errno or 0, str(error))}"
    return None


class Ruleset:
    """A ruleset under construction, as a file descriptor."""

    def __init__(self) -> None:
        abi = _version()
        self._rights = _handled_file_rights(abi)
        attributes = struct.pack("=Q", self._rights)
        if abi >= 4:
            attributes += struct.pack("=Q", _TCP_BIND_AND_CONNECT)
        if abi >= 6:
            attributes += struct.pack("=Q", _SCOPE_ABSTRACT_SOCKET_AND_SIGNAL)
        self.descriptor = system_call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))

    def grant(self, rights: int, paths: Iterable[Path]) -> list[str]:
        """Grant these rights to each path. Returns a note for every path that was not granted."""
        notes = []
        for path in paths:
            of_kind = rights if path.is_dir() else rights & ~READ_DIR
            try:
                descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
                try:
                    rule = struct.pack("=Qi", of_kind & self._rights, descriptor)
                    place = ctypes.c_int(self.descriptor), ctypes.c_int(_RULE_PATH_BENEATH)
                    system_call(_ADD, *place, rule, ctypes.c_uint32(0))
                finally:
                    os.close(descriptor)
            except OSError as error:
                notes.append(f"{path} is not granted to workers: {error.strerror}")
        return notes


def restrict(ruleset: int) -> None:
    """Apply the ruleset to this process permanently. Needs no_new_privs. Raises OSError if the kernel refuses."""
    system_call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def build(read: Iterable[Path], devices: Iterable[Path]) -> tuple[Ruleset, list[str]]:
    """Return a ruleset with these grants, and a note for every path that was not granted.

    A note does not make the layer count as missing.
    """
    ruleset = Ruleset()
    return ruleset, ruleset.grant(READ, read) + ruleset.grant(WRITE, devices)


def ruleset_for(policy: WorkerPolicy, installation: Installation, own_folders: Sequence[Path]) -> int:
    """Return the ruleset descriptor of a worker whose policy grants more than the shared rules.

    It is built in the worker: its own /proc/self/task and its own folder exist nowhere else. Programs that it may run
    lie in the system's folders or come with Triton, which compiles a launcher against Python's headers.
    """
    ruleset = Ruleset()
    compilers = [entry / "triton" for entry in installation.packages] if policy.starts_processes else []
    headers = [Path(sysconfig.get_path(name)) for name in ("include", "platinclude")] if compilers else []
    ruleset.grant(READ, [*installation.readable(), *_matching(policy.reads), *headers])
    ruleset.grant(WRITE, [*map(Path, WRITE_DEVICES), *([Path("/proc/self/task")] if policy.names_threads else [])])
    ruleset.grant(DRIVER, _matching(policy.devices))
    ruleset.grant(PROGRAM, [*_matching(policy.programs), *compilers])
    ruleset.grant(EVERYTHING, own_folders)
    return ruleset.descriptor


@dataclass(frozen=True, slots=True)
class Installation:
    """The folders of Python's library and its packages. `withheld` are folders that no grant may reach."""

    library: Sequence[Path]
    packages: Sequence[Path]
    withheld: Sequence[Path]

    def readable(self) -> list[Path]:
        """Return the paths to grant reading of: the library, and packages one by one, without withheld folders."""
        roots = {Path(name) for name in (*LIBRARY_FOLDERS, *READ_FILES)} | {*self.library, *_mapped_libraries()}
        withheld = [path.resolve() for path in self.withheld]
        excluded = [*withheld, *(path.resolve() for path in (*self.packages, *_package_folders_in(roots)))]
        readable = [path for root in roots for path in outside(root, excluded)]
        for folder in self.packages:
            for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
                if entry.name.split(".")[0].split("-")[0] not in BLOCKED_PACKAGES and entry.suffix != ".pth":
                    readable += outside(entry, withheld)
        kept: list[str] = []  # without folders inside another one
        for name in sorted(f"{path}/" for path in readable):
            if not kept or not name.startswith(kept[-1]):
                kept.append(name)
        return [Path(name) for name in kept]


def _package_folders_in(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield folders of installed packages in a library: another copy of attncli may be there."""
    for root in roots:
        for pattern in ("*-packages", "python3*/*-packages"):
            yield from root.glob(pattern)


def _mapped_libraries(own: Path = Path(sys.base_prefix)) -> Iterator[Path]:
    """Yield the shared libraries that this process has mapped: their folder if it is Python's (`own`), else the files.

    Folders in LD_LIBRARY_PATH may contain anything, so only their files are yielded.
    """
    lines = Path("/proc/self/maps").read_text().splitlines()
    for name in {line.split(maxsplit=5)[5] for line in lines if ".so" in line and line.count("/")}:
        path = Path(name)
        yield path.parent if path.parent == own / "lib" else path


def outside(root: Path, withheld: Sequence[Path]) -> Iterator[Path]:
    """Yield paths that together cover everything beneath `root` except `withheld` (resolved paths).

    A folder with something withheld is replaced by its entries; links are followed, and dead ones dropped.
    """
    with contextlib.suppress(OSError):
        yield from map(Path, _outside(os.path.realpath(root, strict=True), [str(path) for path in withheld]))


def _outside(path: str, withheld: Sequence[str]) -> Iterator[str]:
    if any(_lies_in(path, folder) for folder in withheld):
        return
    within = [folder for folder in withheld if _lies_in(folder, path)]
    if not within:
        yield path
        return
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                yield from map(str, outside(Path(entry.path), [Path(folder) for folder in withheld]))
            else:
                yield from _outside(entry.path, within)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _matching(patterns: Iterable[str]) -> list[Path]:
    """Return the existing paths that match these absolute patterns."""
    return [path for pattern in patterns for path in sorted(Path("/").glob(pattern.lstrip("/")))]


def _version() -> int:
    """Return the Landlock version of this kernel. Raises OSError where there is none."""
    return system_call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))


def _handled_file_rights(abi: int) -> int:
    bits = max(count for known, count in _FILE_RIGHTS_BY_VERSION.items() if known <= abi)
    return (1 << bits) - 1
