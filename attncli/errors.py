"""All errors that users can meet, as one tree.

    AttnError
    ├── UsageError            exit 2: the call or its input is unusable
    │   ├── NotFound              unknown card, challenge, topic, missing file
    │   ├── NoTerminal            the app was started without a terminal
    │   ├── ClockWrong            the clock, or a given time, lies outside 1990…2199
    │   ├── InvalidInput          an input is invalid; the app has its own text for it
    │   ├── EditorMissing         no editor can be started
    │   └── Outdated              the display is outdated: nothing was recorded, show it again
    ├── Rejected              exit 1: a submission was rejected, a verification failed, a claim was refuted
    ├── NothingFound          exit 1: a search matched nothing
    │   ├── NoCardMatches           no card matches the filter: says which condition to drop
    │   └── TooFewReviews         there are not enough reviews to fit parameters
    ├── BankInvalid           exit 1: a bank has problems (they are listed)
    ├── ConfigInvalid         exit 2: config.toml or a value for it
    ├── StoreError            exit 3: the history or its cache cannot be used
    │   ├── StoreCorrupt          damaged
    │   ├── StoreBusy             another process is writing
    │   └── StoreUnwritable       no permission or no space: it may still be read
    │       └── StoreFull             no space left
    └── EnvironmentFailure    exit 3: the program or its surroundings failed
        ├── JudgeFailed           the judge died, or cannot start
        │   └── NoTorch               PyTorch is not installed
        ├── ClusterFailed         a cluster cannot be reached, or its workers cannot grade
        ├── ExperimentFailed      an experiment died, or returned no valid result
        └── SandboxUnavailable    no isolation can be set up

A message gives the error, its place and a remedy in one line. `exit_code` is that of the process.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence

from attncli.i18n import N_, Lang, Localised, _

INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended."""
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Error numbers of a write that failed because the disk is full or broken."""


_OTHER_PATH = _("choose another path")
_REMEDIES = {
    errno.ENAMETOOLONG: _("choose a shorter path"),
    errno.ENOTDIR: _OTHER_PATH,
    errno.EEXIST: _("move that file out of the way"),
    errno.ELOOP: _OTHER_PATH,
    errno.ENODEV: _OTHER_PATH,
    errno.EISDIR: _("give a file, not a folder"),
    errno.EROFS: _("choose a writable location"),
    **dict.fromkeys(DISK_FULL, _("free some disk space and try again")),
    errno.EMFILE: _("close other programs and try again"),
    errno.ENFILE: _("close other programs and try again"),
    errno.ENOMEM: _("close other programs and try again"),
}
HOME_REMEDY = _("make it writable, or choose another folder with --home")
_OTHER_PLACE = frozenset({errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.ENODEV, errno.EROFS})


def remedy_for(error: OSError, otherwise: Localised) -> Localised:
    """Return the remedy for the cause of `error`; `otherwise` for a missing permission or an unknown cause."""
    return _REMEDIES.get(error.errno or 0, otherwise)


_REASONS = (
    N_("Permission denied"),
    N_("Operation not permitted"),
    N_("No such file or directory"),
    N_("File exists"),
    N_("Not a directory"),
    N_("Is a directory"),
    N_("Directory not empty"),
    N_("File name too long"),
    N_("Too many levels of symbolic links"),
    N_("No space left on device"),
    N_("Disk quota exceeded"),
    N_("File too large"),
    N_("Input/output error"),
    N_("Read-only file system"),
    N_("Text file busy"),
    N_("Too many open files"),
    N_("Cannot allocate memory"),
    N_("Invalid argument"),
    N_("Address already in use"),
    N_("Cannot assign requested address"),
    N_("disk is full"),
    N_("database or disk is full"),
    N_("disk I/O error"),
    N_("database is locked"),
    N_("unable to open database file"),
    N_("attempt to write a readonly database"),
    N_("file is not a database"),
    N_("database disk image is malformed"),
    N_("File is not a zip file"),
)
"""Reasons of the operating system, SQLite and zipfile that have Chinese; others stay English."""


def reason_of(error: Exception) -> Localised:
    """Return the reason that the system gives for `error`."""
    return _(getattr(error, "strerror", None) or str(error))


def unreadable(path: object, error: Exception, remedy: Localised, at_home: bool = False) -> Localised:
    """Say that `path` cannot be read; `remedy` is for a missing permission and unknown causes."""
    remedy = _remedy(error, remedy, at_home)
    return _("cannot read {path} ({reason}); {remedy}", path=path, reason=reason_of(error), remedy=remedy)


def unwritable(path: object, error: OSError, remedy: Localised, at_home: bool = False) -> Localised:
    """Say that `path` cannot be written; `remedy` is for a missing permission and unknown causes."""
    remedy = _remedy(error, remedy, at_home)
    return _("cannot write {path} ({reason}); {remedy}", path=path, reason=reason_of(error), remedy=remedy)


def _remedy(error: Exception, remedy: Localised, at_home: bool) -> Localised:
    if not isinstance(error, OSError):
        return remedy
    if at_home and error.errno in _OTHER_PLACE:
        return _("choose another folder with --home")
    return remedy_for(error, remedy)


def did_you_mean(word: str, known: Iterable[str], otherwise: Localised) -> Localised:
    """Return `did you mean rope?`, or `otherwise` if no known word is like this one."""
    from difflib import get_close_matches

    near = get_close_matches(word[:60], list(known), n=1)
    return _("did you mean {near}?", near=near[0]) if near else otherwise


class AttnError(Exception):
    """Base of all errors that are shown to the user as one line."""

    exit_code = 3

    def __init__(self, message: Localised) -> None:
        super().__init__(message)
        self.message = message

    def line(self, lang: Lang) -> str:
        """Return the message on one line."""
        return " ".join(self.message[lang].split())

    def __str__(self) -> str:
        return self.line("en")


class UsageError(AttnError):
    """The call or its input is unusable."""

    exit_code = 2


class NotFound(UsageError):
    """A card, challenge, topic or file that does not exist."""


class NoTerminal(UsageError):
    """The app was started without a terminal."""


class ClockWrong(UsageError):
    """A time that no review can have."""


class Outdated(UsageError):
    """The intervals on the screen differ from those that would be stored."""


class InvalidInput(UsageError):
    """An invalid input; `reason` is the key of the app's text for it: `tag`, `undo`, `interview-past` and so on.

    `parts` fill the placeholders of that text.
    """

    def __init__(self, message: Localised, reason: str, **parts: str) -> None:
        super().__init__(message)
        self.reason, self.parts = reason, parts


class EditorMissing(UsageError):
    """There is no editor, or it cannot be started."""


class Rejected(AttnError):
    """A grading, verification or experiment failed; its report is printed before this is raised."""

    exit_code = 1


class NothingFound(AttnError):
    """A search matched nothing."""

    exit_code = 1


class NoCardMatches(NothingFound):
    """No card matches the options in `asked`; `without` counts the matches if one option is dropped."""

    def __init__(self, asked: Sequence[str], without: Mapping[str, int]) -> None:
        options = " ".join(asked)
        if not asked:
            super().__init__(_("there are no cards; run `attn bank check` to check the banks"))
        elif without:
            fewer = _(", ").join(_dropped(name, count) for name, count in without.items())
            super().__init__(_("no card matches {asked}; there are {fewer}", asked=options, fewer=fewer))
        else:
            super().__init__(_("no card matches {asked}; drop several of these, or unsuspend cards", asked=options))
        self.without = dict(without)


def _dropped(name: str, count: int) -> Localised:
    if name == "level":
        return _("{count} with --level any", count=count)
    return _("{count} without --{name}", count=count, name=name)


class TooFewReviews(NothingFound):
    """There are `reviews` usable reviews, and a fit needs `needed`."""

    def __init__(self, message: Localised, reviews: int, needed: int) -> None:
        super().__init__(message)
        self.reviews, self.needed = reviews, needed


class BankInvalid(AttnError):
    """A bank has problems; they are printed before this is raised."""

    exit_code = 1


class ConfigInvalid(AttnError):
    """`config.toml` cannot be read, or a value does not fit its key."""

    exit_code = 2


class StoreError(AttnError):
    """The history or its cache cannot be opened, read or written."""


class StoreCorrupt(StoreError):
    """The cache is damaged."""


class StoreBusy(StoreError):
    """Another process is writing to the cache."""


class StoreUnwritable(StoreError):
    """There is no space for the history, or no permission to write it; it may still be read."""


class StoreFull(StoreUnwritable):
    """There is no space to write to the history."""


class EnvironmentFailure(AttnError):
    """The program or its surroundings failed."""


class JudgeFailed(EnvironmentFailure):
    """The judge died or could not start."""


class NoTorch(JudgeFailed):
    """Grading needs PyTorch."""


class ClusterFailed(EnvironmentFailure):
    """A cluster cannot be reached, or its workers cannot grade."""


class ExperimentFailed(EnvironmentFailure):
    """An experiment died, or returned no valid result."""


class SandboxUnavailable(EnvironmentFailure):
    """Not even the weakest isolation can be set up."""
