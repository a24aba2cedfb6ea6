"""Where things lie: the data that comes with the program, and what belongs to one learner.

Nothing is created here: a folder comes into being when something is first written to it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

from attncli.errors import NO_ROOM, AttnError, EnvironmentFailure, UsageError, remedy_for

_PACKAGE = Path(__file__).resolve().parent


def _bundled(name: str, package: Path) -> Path:
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def bundled_quizbank(package: Path = _PACKAGE) -> Path:
    """The folder of the bank that comes with the program: the wheel's copy, or the checkout's."""
    return _bundled("quizbank", package)


def bundled_impl(package: Path = _PACKAGE) -> Path:
    """The folder of the challenges that come with the program: the wheel's copy, or the checkout's."""
    return _bundled("impl", package)


def in_checkout(package: Path = _PACKAGE) -> bool:
    """Whether the program runs from a checkout, in whose folders new challenges are contributed."""
    return not (package / "_data").is_dir() and (package.parent / "pyproject.toml").is_file()


@dataclass(frozen=True, slots=True)
class Home:
    """Everything that belongs to one learner, under one folder."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "progress.db"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def banks(self) -> Path:
        return self.root / "banks"

    @property
    def card_draft(self) -> Path:
        return self.root / "card-draft.json"

    @property
    def challenges(self) -> Path:
        return self.root / "challenges"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def summaries(self) -> Path:
        return self.root / "summaries"

    @property
    def log(self) -> Path:
        return self.root / "log"

    def keep_private(self) -> None:
        """Take away what others may do in the folder, where it is the caller's and holds nothing but what attn writes.

        A folder that everybody writes to, such as /tmp, stays as it is.
        """
        if not hasattr(os, "geteuid"):
            return
        with suppress(OSError):
            status = self.root.stat()
            shared = status.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and not status.st_mode & stat.S_ISVTX
            if shared and status.st_uid == os.geteuid() and all(map(self._is_own, self.root.iterdir())):
                self.root.chmod(stat.S_IMODE(status.st_mode) & stat.S_IRWXU)

    def _is_own(self, path: Path) -> bool:
        """Whether this is something that attn writes, or begins with its name, or is hidden."""
        files = (self.database, self.config, self.card_draft)
        folders = (self.banks, self.challenges, self.solutions, self.backups, self.summaries, self.log)
        return path in folders or path.name.startswith((".", *(file.name for file in files)))


def expanded(path: str) -> str:
    """Return `path` with `~` as the shell would have it, which leaves `--option=~/x` alone."""
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError:  # there is no such user
        return path


def _named(path: Path) -> Path:
    root = Path(expanded(str(path)))
    if root.parts[:1] and root.parts[0].startswith("~"):
        raise UsageError(f"{path} names no user that this machine has; write the path in full")
    root = root.absolute()
    if not (_is_there(root) or _is_there(root.parent)):
        raise UsageError(
            f"there is no folder {root.parent} for the learner's folder {root}; "
            "make it first, or correct --home or ATTN_HOME"
        )
    return root


def _is_there(path: Path) -> bool:
    """Whether there is something, or the system says why not in its own words once it is used."""
    try:
        return path.exists()
    except OSError:
        return True


def home(override: Path | None, environ: Mapping[str, str]) -> Home:
    """Return the learner's folder: `override` (`--home`), then `ATTN_HOME`, then the platform's user data folder.

    A folder that is named may be new, but not the one that it lies in: that is taken for a slip. Raises UsageError.
    """
    if override is not None:
        return Home(_named(override))
    named = environ.get("ATTN_HOME")
    if named:
        return Home(_named(Path(named)))
    from platformdirs import user_data_path

    return Home(user_data_path("attncli", appauthor=False))


# Writing a file at one stroke: whenever the power fails, the old content is there or the new one, never a part.

FORGOTTEN_SECONDS = 600


def write_whole(path: Path, lines: Iterable[str]) -> int:
    """Writes `lines` to `path`, on disk when this returns; how many. Raises OSError, then `path` is as it was.

    A link stays a link. What is no ordinary file (a pipe, a device) is written to as it stands.
    """
    return _write(path, _encoded(lines))


def write_bytes(path: Path, content: bytes) -> None:
    """Writes `content` to `path` as `write_whole` writes lines. Raises OSError, then `path` is as it was."""
    _write(path, [content])


def put_text(path: Path, text: str, remedy: str) -> None:
    """Writes `text` to `path` as `write_whole` does, with the folders that it takes.

    Raises UsageError, with its `remedy`, or EnvironmentFailure where there is no room; then `path` is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [text])
    except OSError as error:
        raise cannot_write(path, error, remedy) from error


def replace_whole(path: Path, lines: Iterable[str], confirm: Callable[[], None]) -> int:
    """Puts a new file with `lines` at `path`, which is on disk when this returns; how many. A link is replaced.

    `confirm` is called when all is written but the name; if it raises, `path` is as it was, as after an OSError.
    """
    return _replace(path, _encoded(lines), confirm)


def free_name(path: Path, named: str) -> Path:
    """The first name beside `path` that nothing has: `named` says how, by {name}, {stem}, {suffix} and {number}."""
    for number in count(1):
        free = path.with_name(named.format(name=path.name, stem=path.stem, suffix=path.suffix, number=number))
        if not free.exists():
            break
    return free


def flush_folder(folder: Path) -> None:
    """Waits until the names in `folder` are on disk, where the system can be asked for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def cannot_write(path: Path, error: OSError, remedy: str) -> AttnError:
    """The error for a place that cannot be written: `remedy` helps if the place is unfit, space if there is none."""
    if error.errno in NO_ROOM:
        return EnvironmentFailure(f"cannot write {path} ({error.strerror}); free some disk space and try again")
    remedy = remedy_for(error, remedy)
    return UsageError(f"cannot write {path} ({error.strerror}); {remedy}")


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode("utf-8") for line in lines)


def _write(path: Path, pieces: Iterable[bytes]) -> int:
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            return _written(file, pieces)
    return _replace(path, pieces, lambda: None)


def _replace(path: Path, pieces: Iterable[bytes], confirm: Callable[[], None]) -> int:
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with part.open("xb") as file:
            _forget_older(path, part)
            count = _written(file, pieces)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            part.chmod(path.stat().st_mode & 0o777)
        confirm()
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)
    return count


def _written(file: IO[bytes], pieces: Iterable[bytes]) -> int:
    count = 0
    for piece in pieces:
        file.write(piece)
        count += 1
    return count


def _forget_older(path: Path, part: Path) -> None:
    """Removes what a killed run left: parts of the same file that are much older than this one."""
    now = part.stat().st_mtime
    for old in path.parent.glob(f".{_literal(path.name)}.*.part"):
        with suppress(OSError):
            if now - old.stat().st_mtime > FORGOTTEN_SECONDS:
                old.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
