"""Landlock: the files that a worker may open. Python and torch to read, `/dev/null`, and nothing else on the CPU.

A ruleset is built once in the zygote; a worker puts it on itself. All file rights that the kernel's version knows are
handled, so whatever is not granted is refused. TCP is refused where the version has network rules; signals and abstract
Unix sockets stay inside the worker where it has scopes. Landlock does not govern chmod, chown, utime or metadata: the
system-call filter refuses the first three; `stat` on a known path still tells its size.
Package folders are never granted whole, nor is the checkout: a reference that lies in there would be readable.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
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
_READ = READ_FILE | READ_DIR


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
        self._rights = _handled_file_rights(_version())
        attributes = _attributes(_version())
        self.descriptor = system_call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))

    def allow_reading(self, path: Path) -> None:
        """Grant reading of a file, or of a folder and all beneath it."""
        self._allow(path, _READ if path.is_dir() else READ_FILE)

    def allow_device(self, path: Path) -> None:
        """Grant reading and writing of one device file."""
        self._allow(path, READ_FILE | WRITE_FILE | TRUNCATE)

    def allow_driver(self, path: Path) -> None:
        """Grant all uses of one device file, `ioctl` too."""
        self._allow(path, READ_FILE | WRITE_FILE | TRUNCATE | DEVICE_CONTROL)

    def allow_executing(self, path: Path) -> None:
        """Grant reading and executing of a program, or of all beneath a folder."""
        self._allow(path, EXECUTE | (_READ if path.is_dir() else READ_FILE))

    def allow_naming(self, path: Path) -> None:
        """Grant reading and writing of the files beneath a folder, and creating none."""
        self._allow(path, _READ | WRITE_FILE | TRUNCATE)

    def allow_everything(self, path: Path) -> None:
        """Grant every use of the files beneath a folder."""
        self._allow(path, self._rights)

    def _allow(self, path: Path, rights: int) -> None:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights & self._rights, descriptor)
            system_call(_ADD, ctypes.c_int(self.descriptor), ctypes.c_int(_RULE_PATH_BENEATH), rule, ctypes.c_uint32(0))
        finally:
            os.close(descriptor)


def restrict(ruleset: int) -> None:
    """Put the ruleset on this process for good. Needs no_new_privs. Raises OSError if the kernel refuses."""
    system_call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))


def build(read: Iterable[Path], devices: Iterable[Path]) -> tuple[Ruleset, list[str]]:
    """Return a ruleset with these grants, and a note for every path that was not granted.

    A note does not make the layer count as missing.
    """
    ruleset = Ruleset()
    return ruleset, _grant([(ruleset.allow_reading, read), (ruleset.allow_device, devices)])


def ruleset_for(policy: WorkerPolicy, installation: Installation, own_folders: Sequence[Path]) -> int:
    """Return the ruleset descriptor of a worker whose policy grants more than the shared rules.

    It is built in the worker: its own /proc/self/task and its own folder exist nowhere else. Programs that it may run
    lie in the system's folders or come with Triton, which compiles a launcher against Python's headers.
    """
    ruleset = Ruleset()
    compilers = [entry / "triton" for entry in installation.packages] if policy.starts_processes else []
    headers = [Path(sysconfig.get_path(name)) for name in ("include", "platinclude")] if compilers else []
    _grant(
        [
            (ruleset.allow_reading, [*installation.readable(), *_matching(policy.reads), *headers]),
            (ruleset.allow_device, map(Path, WRITE_DEVICES)),
            (ruleset.allow_driver, _matching(policy.devices)),
            (ruleset.allow_executing, [*_matching(policy.programs), *compilers]),
            (ruleset.allow_naming, [Path("/proc/self/task")] if policy.names_threads else []),
            (ruleset.allow_everything, own_folders),
        ]
    )
    return ruleset.descriptor


def _grant(granted: Iterable[tuple[Callable[[Path], None], Iterable[Path]]]) -> list[str]:
    """Grant each path by its method. Returns a note for every path that was not granted."""
    notes = []
    for allow, paths in granted:
        for path in paths:
            try:
                allow(path)
            except OSError as error:
                notes.append(f"{path} is not granted to workers: {error.strerror}")
    return notes


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
        readable += [path for entry in self._package_entries() for path in outside(entry, withheld)]
        return _without_nested(readable)

    def _package_entries(self) -> Iterator[Path]:
        for folder in self.packages:
            for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
                name = entry.name.split(".")[0].split("-")[0]
                if name not in BLOCKED_PACKAGES and entry.suffix != ".pth":
                    yield entry


def _package_folders_in(roots: Iterable[Path]) -> Iterator[Path]:
    """Yield folders of installed packages in a library: another copy of attncli may lie there."""
    for root in roots:
        for pattern in ("*-packages", "python3*/*-packages"):
            yield from root.glob(pattern)


def _mapped_libraries(own: Path = Path(sys.base_prefix)) -> Iterator[Path]:
    """Yield the shared libraries that this process has mapped: their folder if it is Python's (`own`), else the files.

    A folder that LD_LIBRARY_PATH names may hold anything.
    """
    lines = Path("/proc/self/maps").read_text().splitlines()
    for name in {line.split(maxsplit=5)[5] for line in lines if ".so" in line and line.count("/")}:
        path = Path(name)
        yield path.parent if path.parent == own / "lib" else path


def _without_nested(paths: Iterable[Path]) -> list[Path]:
    """Return the outermost of these paths, each once."""
    kept: list[str] = []
    for path in sorted(f"{path}/" for path in paths):
        if not kept or not path.startswith(kept[-1]):
            kept.append(path)
    return [Path(path) for path in kept]


def outside(root: Path, withheld: Sequence[Path]) -> Iterator[Path]:
    """Yield paths that together hold everything beneath `root` except `withheld` (resolved paths).

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


def _attributes(abi: int) -> bytes:
    files = _handled_file_rights(abi)
    if abi >= 6:
        return struct.pack("=QQQ", files, _TCP_BIND_AND_CONNECT, _SCOPE_ABSTRACT_SOCKET_AND_SIGNAL)
    if abi >= 4:
        return struct.pack("=QQ", files, _TCP_BIND_AND_CONNECT)
    return struct.pack("=Q", files)
