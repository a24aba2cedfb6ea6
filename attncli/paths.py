"""The paths of bundled data and of the learner's files, and atomic writing of files.

No folder is created here: it is created when something is first written to it. A file is written in one step: after a
crash it has the old content or the new one, never a part.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from glob import escape
from itertools import count
from pathlib import Path
from typing import IO

from attncli.errors import DISK_FULL, AttnError, EnvironmentFailure, UsageError, unwritable
from attncli.i18n import Localised, _

_PACKAGE = Path(__file__).resolve().parent

STALE_SECONDS = 600


def bundled_quizbank(package: Path = _PACKAGE) -> Path:
    """Return the folder of the bundled bank, in the wheel or in the checkout."""
    return _bundled("quizbank", package)


def bundled_impl(package: Path = _PACKAGE) -> Path:
    """Return the folder of the bundled challenges, in the wheel or in the checkout."""
    return _bundled("impl", package)


def _bundled(name: str, package: Path) -> Path:
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name


def in_checkout(package: Path = _PACKAGE) -> bool:
    """Return whether the program runs from a checkout, where new challenges go to the bundled folder."""
    return not (package / "_data").is_dir() and (package.parent / "pyproject.toml").is_file()


class Home:
    """The folder of one learner, and the paths in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.database = root / "cache.db"
        self.config = root / "config.toml"
        self.banks = root / "banks"
        self.card_draft = root / "card-draft.json"
        self.challenges = root / "challenges"
        self.solutions = root / "solutions"
        self.backups = root / "backups"
        self.summaries = root / "summaries"
        self.log = root / "log"

    def keep_private(self) -> None:
        """Remove the permissions of others if the folder is the caller's and holds only files of attn.

        A folder with the sticky bit, such as /tmp, stays as it is.
        """
        if not hasattr(os, "geteuid"):
            return
        with suppress(OSError):
            status = self.root.stat()
            shared = status.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and not status.st_mode & stat.S_ISVTX
            if shared and status.st_uid == os.geteuid() and all(map(self._is_own, self.root.iterdir())):
                self.root.chmod(stat.S_IMODE(status.st_mode) & stat.S_IRWXU)

    def _is_own(self, path: Path) -> bool:
        """Return whether attn writes this file or folder, or its name starts with that of such a file or with a dot."""
        files = (".", self.database.name, self.config.name, self.card_draft.name, "machine.json", "progress.db")
        folders = (self.banks, self.challenges, self.solutions, self.backups, self.summaries, self.log)
        return path in folders or path.name in ("history", "damaged") or path.name.startswith(files)


def home(override: Path | None, environ: Mapping[str, str]) -> Home:
    """Return the learner's folder: `override` (`--home`), then `ATTN_HOME`, then the platform's user data folder.

    A named folder may be new, but its parent must exist, or it is taken for a typing mistake. Raises UsageError.
    """
    if override is not None:
        return Home(_checked_root(override))
    if folder := environ.get("ATTN_HOME"):
        return Home(_checked_root(Path(folder)))
    from platformdirs import user_data_path

    return Home(user_data_path("attncli", appauthor=False))


def _checked_root(path: Path) -> Path:
    root = Path(expanded(str(path)))
    if root.parts[:1] and root.parts[0].startswith("~"):
        raise UsageError(_("no user on this machine matches {path}; write the full path", path=path))
    root = root.absolute()
    if not (_may_exist(root) or _may_exist(root.parent)):
        raise UsageError(
            _(
                "cannot create {root}: there is no folder {parent}; create it, or correct --home or ATTN_HOME",
                parent=root.parent,
                root=root,
            )
        )
    return root


def _may_exist(path: Path) -> bool:
    """Return True if the path exists, or if checking fails: using the path then reports a better error."""
    try:
        return path.exists()
    except OSError:
        return True


def expanded(path: str) -> str:
    """Return `path` with `~` expanded, which a shell does not do in `--option=~/x`."""
    try:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    except RuntimeError:  # there is no such user
        return path


# Writing files


def write_whole(path: Path, lines: Iterable[str]) -> int:
    """Write `lines` to `path`, synced to disk, and return how many. Raises OSError; then `path` is unchanged.

    A link stays a link. A pipe or a device is written to directly.
    """
    return _write(path, (line.encode() for line in lines))


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` as `write_whole` does. Raises OSError; then `path` is unchanged."""
    _write(path, [content])


def write_text(path: Path, text: str, remedy: Localised) -> None:
    """Write `text` to `path` as `write_whole` does, and create its folders.

    Raises UsageError with `remedy`, or EnvironmentFailure if there is no space; then `path` is unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [text])
    except OSError as error:
        raise cannot_write(path, error, remedy) from error


def free_name(path: Path, pattern: str) -> Path:
    """Return the first free path beside `path`; `pattern` has {name}, {stem}, {suffix} and {number}, from 1 on."""
    for number in count(1):
        free = path.with_name(pattern.format(name=path.name, stem=path.stem, suffix=path.suffix, number=number))
        if not free.exists():
            break
    return free


def flush_folder(folder: Path) -> None:
    """Sync the names in `folder` to disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def cannot_write(path: Path, error: OSError, remedy: Localised) -> AttnError:
    """Return the error for a path that cannot be written; `remedy` is for causes other than missing space."""
    kind = EnvironmentFailure if error.errno in DISK_FULL else UsageError
    return kind(unwritable(path, error, remedy))


def _write(path: Path, pieces: Iterable[bytes]) -> int:
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            return _written(file, pieces)
    return _replace(path, pieces)


def _replace(path: Path, pieces: Iterable[bytes]) -> int:
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with part.open("xb") as file:
            _remove_stale_parts(path, part)
            count = _written(file, pieces)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            part.chmod(path.stat().st_mode & 0o777)
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


def _remove_stale_parts(path: Path, part: Path) -> None:
    """Remove old parts of the same file, left by runs that were killed."""
    now = part.stat().st_mtime
    for old in path.parent.glob(f".{escape(path.name)}.*.part"):
        with suppress(OSError):
            if now - old.stat().st_mtime > STALE_SECONDS:
                old.unlink()
