"""Where things lie: the data that comes with the program, and what belongs to one learner.

Nothing is created here: a folder comes into being when something is first written to it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from attncli.errors import UsageError

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
