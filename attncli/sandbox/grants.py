"""What a worker may read: the standard library, packages one by one, shared libraries; for a GPU see `worker_policy`.

Package folders are never granted whole, nor is the checkout: a reference that lies in there would be readable.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .landlock import Ruleset, grant, outside
from .policy import WorkerPolicy

LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
READ_FILES = ("/etc/ld.so.cache", "/dev/urandom")
WRITE_DEVICES = ("/dev/null",)
OWN_FOLDER = Path("/dev/shm")
BLOCKED_PACKAGES = frozenset(
    ["attncli", "hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "_hypothesis_pytestplugin"]
)
# Found where a kernel is graded and nowhere else. Torch looks for NumPy whenever it meets a plain number, and imports
# Triton to count operations, which settles that it compiles.
FOR_KERNELS = frozenset({"numpy", "triton"})


def matching(patterns: Iterable[str]) -> list[Path]:
    """What is there of these patterns of absolute paths."""
    return [path for pattern in patterns for path in sorted(Path("/").glob(pattern.lstrip("/")))]


def ruleset_for(policy: WorkerPolicy, installation: Installation, own_folders: Sequence[Path]) -> int:
    """Make the rules of one worker whose policy grants more than those that all share.

    Made in the worker: its own /proc/self/task, and a folder of its own, are there nowhere else. A program that may be
    run lies in the system's folders or comes with Triton, which compiles a launcher against Python's headers.
    """
    ruleset = Ruleset()
    compilers = [entry / "triton" for entry in installation.packages] if policy.starts_processes else []
    headers = [Path(sysconfig.get_path(name)) for name in ("include", "platinclude")] if compilers else []
    grant(
        [
            (ruleset.allow_reading, [*installation.readable(), *matching(policy.reads), *headers]),
            (ruleset.allow_device, map(Path, WRITE_DEVICES)),
            (ruleset.allow_driver, matching(policy.devices)),
            (ruleset.allow_executing, [*matching(policy.programs), *compilers]),
            (ruleset.allow_naming, [Path("/proc/self/task")] if policy.names_threads else []),
            (ruleset.allow_everything, own_folders),
        ]
    )
    return ruleset.descriptor


@dataclass(frozen=True, slots=True)
class Installation:
    """Where Python and its packages lie. `withheld` are folders that no grant may reach."""

    library: Sequence[Path]
    packages: Sequence[Path]
    withheld: Sequence[Path]

    def readable(self) -> list[Path]:
        """Every path to grant reading of, none inside another folder of `packages` that was not named itself."""
        whole = {Path(name) for name in (*LIBRARY_FOLDERS, *READ_FILES)} | {*self.library, *_mapped_libraries()}
        withheld = [path.resolve() for path in self.withheld]
        barred = [*withheld, *(path.resolve() for path in (*self.packages, *_package_folders_in(whole)))]
        found = [path for root in whole for path in outside(root, barred)]
        found += [path for entry in self._package_entries() for path in outside(entry, withheld)]
        return _without_nested(found)

    def _package_entries(self) -> Iterator[Path]:
        for folder in self.packages:
            for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
                name = entry.name.split(".")[0].split("-")[0]
                if name not in BLOCKED_PACKAGES and entry.suffix != ".pth":
                    yield entry


def _package_folders_in(roots: Iterable[Path]) -> Iterator[Path]:
    """Folders of installed packages in a library: another copy of attncli may lie there."""
    for root in roots:
        for pattern in ("*-packages", "python3*/*-packages"):
            yield from root.glob(pattern)


def _mapped_libraries(own: Path = Path(sys.base_prefix)) -> Iterator[Path]:
    """The folders of the shared libraries that this process has mapped, where they came with Python (`own`).

    Elsewhere the files alone: a folder that LD_LIBRARY_PATH names may hold anything.
    """
    lines = Path("/proc/self/maps").read_text().splitlines()
    for name in {line.split(maxsplit=5)[5] for line in lines if ".so" in line and line.count("/")}:
        path = Path(name)
        yield path.parent if path.parent == own / "lib" else path


def _without_nested(paths: Iterable[Path]) -> list[Path]:
    """The outermost of these, each once."""
    kept: list[str] = []
    for path in sorted(f"{path}/" for path in paths):
        if not kept or not path.startswith(kept[-1]):
            kept.append(path)
    return [Path(path) for path in kept]
