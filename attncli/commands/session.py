"""One call of `attn`: its session, its output, its options, and the boundary that turns errors into exit codes.

Commands print through `echo` and its relatives alone: they remove characters that would steer a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO

from attncli import config, paths
from attncli.domain.text import escaped, printable
from attncli.errors import DISK_FULL, INTERRUPTED, AttnError, NoTerminal, reason_of
from attncli.i18n import Localised, _

if TYPE_CHECKING:
    from attncli.i18n import Lang
    from attncli.practice.workspace import Clock, Workspace
    from attncli.store.database import Database

COMPLETION_VARIABLE = "_ATTN_COMPLETE"
LEFT_OUT_SHOWN = 20
ERASE_LINE = "\r\x1b[2K"


def utc_now() -> datetime:
    """Return the time now; everything below the commands gets this clock as an argument."""
    return datetime.now(UTC)


class Session:
    """One call of the program: the values of the global options, and the settings and workspace opened from them.

    `left_out` contains the bank problems that leave out cards or challenges.
    """

    def __init__(self, clock: Clock = utc_now) -> None:
        self.clock = clock
        self.home_folder: Path | None = None
        self.lang_option: Lang | None = None
        self.debug = False
        self.left_out: list[Localised] = []
        self._store: Database | None = None

    @cached_property
    def home(self) -> paths.Home:
        return paths.home(self.home_folder, os.environ)

    @cached_property
    def settings(self) -> config.Settings:
        """The learner's settings. Raises ConfigInvalid, EnvironmentFailure."""
        return config.load(self.home.config, os.environ)

    @property
    def lang(self) -> Lang:
        return self.lang_option or self.settings.lang

    @property
    def message_lang(self) -> Lang:
        """The language of help and errors: `lang`, or the environment's if the settings cannot be read."""
        try:
            return self.lang
        except AttnError:
            return config.default_lang(os.environ)

    def workspace(self, at: datetime | None = None) -> Workspace:
        """Open the learner's workspace, a context manager, and fill `left_out`; rows until `at` count."""
        from attncli.practice.workspace import Workspace

        if is_first := not self.home.database.exists():
            show_progress(_("Reading the question bank …")[self.lang])
        workspace = Workspace.open(self.home, self.clock, self.lang, self.settings, at=at)
        if is_first:
            show_progress("")
        self._store = workspace.store
        self.left_out = workspace.store.files.problems()
        return workspace

    @property
    def remarks(self) -> list[Localised]:
        """The remarks about the database to print after a successful command."""
        return self._store.remarks if self._store else []


def session() -> Session:
    """Return the session of the running command."""
    import click  # not loaded by `attn due`

    found = click.get_current_context().find_object(Session)
    assert found is not None, "commands run below the group that makes the session"
    return found


# The boundary


class Boundary:
    """Turn every exception but SystemExit into one line on stderr and an exit code, `code`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.code = 0

    def __enter__(self) -> Boundary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if error is not None:
            self.code = self._code_of(error)
            if self.session.debug and not isinstance(error, BrokenPipeError):
                import traceback

                echo("".join(traceback.format_exception(error)), err=True, end="")
                _log_trace(self.session, error)
        return not isinstance(error, SystemExit)

    def _code_of(self, error: BaseException) -> int:
        match error:
            case AttnError():
                return self._report(error.message, error.exit_code)
            case KeyboardInterrupt():
                return self._report(_("interrupted; everything recorded so far is kept"), INTERRUPTED)
            case BrokenPipeError():
                discard()
                return 0
            case OSError() if error.filename is None and error.errno in DISK_FULL:
                discard()
                return self._report(
                    _("cannot write the output ({why}); free some space or send it elsewhere", why=reason_of(error)),
                    AttnError.exit_code,
                )
            case MemoryError():
                return self._report(_("out of memory; close other programs and try again"), AttnError.exit_code)
        place = _log_trace(self.session, error)
        problem = _("unexpected {kind}: {error}; {place}", kind=type(error).__name__, error=error, place=place)
        return self._report(problem, AttnError.exit_code)

    def _report(self, message: Localised, code: int) -> int:
        show_progress("")
        print_message(self.session, message)
        return code


def print_message(session: Session, message: Localised) -> None:
    """Print a message of the program on stderr, on one line, in the learner's language."""
    echo(f"attn: {' '.join(printable(message[session.message_lang]).split())}", err=True)


def _log_trace(session: Session, error: BaseException) -> Localised:
    """Append the traceback to the log and return where it can be found."""
    import traceback

    try:
        file = session.home.log / "attn.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as log:
            trace = "".join(traceback.format_exception(error))
            log.write(printable(f"{session.clock().isoformat()} {' '.join(sys.argv)}\n{trace}\n"))
    except (OSError, AttnError):
        return _("run it again with --debug to see the traceback")
    return _("the traceback is in {file}; please report it", file=file)


# Output


def on_terminal() -> bool:
    """Return True if stdout is a terminal."""
    return sys.stdout.isatty()


def echo(text: object = "", *, err: bool = False, end: str = "\n") -> None:
    """Print `text` without characters that would steer a terminal or hide; commands print through this alone."""
    print(printable(str(text)), end=end, file=sys.stderr if err else sys.stdout, flush=True)


def show_progress(text: str) -> None:
    """Replace the current line on stderr by `text`; without a terminal do nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{ERASE_LINE}{printable(text)}")
        sys.stderr.flush()


def show_thousands(done: int) -> None:
    """Show `done` if it is a multiple of 1000."""
    if done % 1000 == 0:
        show_progress(f"{done} …")


def discard(stream: TextIO | None = None) -> None:
    """Point `stream` (default: stdout) at the null device, because the interpreter flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def flush_stderr() -> None:
    """Flush stderr; if its terminal has closed, discard the rest, or Python would exit with 120."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def replace_closed_streams() -> None:
    """Replace a stdout or stderr that was closed at start (None in Python) by the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - open until exit


@contextmanager
def keep_verdict() -> Iterator[None]:
    """Ignore a reader that closes the pipe, so that the exit code still gives the verdict."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard()


def print_left_out(problems: Iterable[Localised]) -> None:
    """Print the log rows that an import, export or sync left out, LEFT_OUT_SHOWN at most, on stderr."""
    lang = session().lang
    problems = list(problems)
    for problem in problems[:LEFT_OUT_SHOWN]:
        echo(_("skipped: {problem}", problem=" ".join(printable(problem[lang]).split()))[lang], err=True)
    if len(problems) > LEFT_OUT_SHOWN:
        echo(_("skipped: {count} more", count=len(problems) - LEFT_OUT_SHOWN)[lang], err=True)


# JSON


def print_result(as_json: bool, document: Callable[[], Any], lines: Callable[[], Iterable[object]]) -> None:
    """Print the document or the lines; only the one that is printed is built."""
    if as_json:
        print_json(document())
        return
    for line in lines():
        echo(line)


def print_json(document: Any) -> None:
    """Print `document` as JSON; characters that the encoding of stdout lacks are escaped."""
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2, default=_in_english)
    echo(text)


def json_text(document: Any) -> str:
    """Return `document` as JSON; characters that would steer a terminal or hide are escaped."""
    return escaped(json.dumps(document, ensure_ascii=False, indent=2, default=_in_english))


def _in_english(value: object) -> str:
    if isinstance(value, Localised):
        return value["en"]
    raise TypeError(f"{type(value).__name__} is not JSON")


# The app


def open_app(screen: Literal["home", "review", "drill", "quiz", "mock"], alternative: Localised, **options: Any) -> int:
    """Run the app, opened at `screen`, and return its exit code. Raises NoTerminal, which names `alternative`."""
    current = session()
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if is_terminal:
        show_progress(_("Reading the question bank …")[current.lang])
    from attncli.tui.app import drawn_in_a_page, run

    if not is_terminal and not drawn_in_a_page(os.environ):
        raise NoTerminal(_("the app needs a terminal; {alternative}", alternative=alternative))
    try:
        return run(current.home, current.settings._replace(lang=current.lang), current.clock, screen, **options)
    finally:
        show_progress("")
