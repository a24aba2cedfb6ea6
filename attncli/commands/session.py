"""What the global options say, and the pieces that every command opens from it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click

from attncli import config, paths
from attncli.domain.text import escaped, printable
from attncli.errors import INTERRUPTED, NO_ROOM, AttnError, NoTerminal, UsageError
from attncli.paths import cannot_write, expanded, write_bytes, write_whole
from attncli.words.command_texts import LEFT_OUT, MORE_LEFT_OUT

if TYPE_CHECKING:
    from attncli.domain.text import Lang
    from attncli.practice.workspace import Clock, Workspace
    from attncli.store.database import Database


COMPLETION_VARIABLE = "_ATTN_COMPLETE"


def present() -> datetime:
    """The clock of the program; cards and challenges get it as an argument."""
    return datetime.now(UTC)


class Session:
    """One call of the program."""

    def __init__(self, clock: Clock = present) -> None:
        self.clock = clock
        self.home_folder: Path | None = None
        self.lang_option: Lang | None = None
        self.debug = False
        self.left_out: list[str] = []
        self._store: Database | None = None

    @cached_property
    def home(self) -> paths.Home:
        return paths.home(self.home_folder, os.environ)

    @cached_property
    def settings(self) -> config.Settings:
        """The learner's settings. Raises ConfigInvalid."""
        return config.load(self.home.config, os.environ)

    @property
    def lang(self) -> Lang:
        return self.lang_option or self.settings.lang

    @property
    def told_in(self) -> Lang:
        """The language of help and errors: `lang`, or the environment's where the settings cannot be read."""
        try:
            return self.lang
        except AttnError:
            return config.default_lang(os.environ)

    def workspace(self) -> Workspace:
        """The learner's workspace, to be used as a context manager; `left_out` then names what banks lack."""
        from attncli.practice.workspace import Workspace

        workspace = Workspace.open(self.home, self.clock, self.lang, self.settings)
        self._store = workspace.store
        self.left_out = workspace.store.files.problems()
        return workspace

    @property
    def remarks(self) -> list[str]:
        """What there is to say of the database, though the command went well."""
        return self._store.remarks if self._store else []


def session() -> Session:
    """The session of the running command."""
    import click

    found = click.get_current_context().find_object(Session)
    assert found is not None, "commands run below the group that makes the session"
    return found


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()


# The options that several commands have.

__all__ = ["UserPath", "at_option", "json_option", "print_json", "print_result"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


class UserPath(click.Path):
    """A path in which `~` is the learner's folder: a shell does not expand it in `--option=~/x`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(expanded(value) if isinstance(value, str) else value, param, ctx)


class MomentType(click.ParamType[datetime]):
    """ISO 8601 with an offset; without one it would mean another moment in every time zone."""

    name = "ISO8601"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value} is no time such as 2026-05-01T09:30:00+02:00", param, ctx)
        if at.tzinfo is None:
            self.fail(f"{value} has no offset; end it with Z or, say, +08:00", param, ctx)
        return at


at_option = click.option("--at", type=MomentType(), help="As if it were then, with offset (default: now).")


# Opening the app, where there is a terminal for it.

Screen = Literal["home", "review", "drill", "quiz", "mock"]


def open_app(screen: Screen, alternative: str, **options: Any) -> int:
    """Runs the app, opened at `screen`; its exit code. Raises NoTerminal, which names the plain `alternative`."""
    from attncli.tui.app import drawn_in_a_page

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if not is_terminal and not drawn_in_a_page(os.environ):
        raise NoTerminal(f"the app needs a terminal; {alternative}")
    from attncli.tui.app import run

    current = session()
    settings = replace(current.settings, lang=current.lang)
    return run(current.home, settings, current.clock, screen, **options)


# The edge of the program: whatever is raised inside becomes an exit code and one line on stderr.


class Boundary:
    """A context in which no exception escapes; `code` is the exit code."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.code = 0

    def __enter__(self) -> Boundary:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if error is not None:
            self.code = self._code_of(error)
            if self.session.debug and not isinstance(error, BrokenPipeError):
                _print_trace(error)
                _log_trace(self.session, error)
        return not isinstance(error, SystemExit)

    def _code_of(self, error: BaseException) -> int:
        match error:
            case AttnError():
                return self._say(error.message, error.exit_code)
            case KeyboardInterrupt():
                return self._say("interrupted; what was printed as recorded is kept", INTERRUPTED)
            case BrokenPipeError():
                discard()
                return 0
            case OSError() if error.filename is None and error.errno in NO_ROOM:
                discard()
                return self._say(
                    f"cannot write the output ({error.strerror}); free some space or send it elsewhere",
                    AttnError.exit_code,
                )
            case MemoryError():
                return self._say("ran out of memory; close other programs and try again", AttnError.exit_code)
        place = _log_trace(self.session, error)
        return self._say(f"unexpected {type(error).__name__}: {error}; {place}", AttnError.exit_code)

    def _say(self, message: str, code: int) -> int:
        show_progress("")
        tell(self.session, " ".join(printable(message).split()))
        return code


def tell(session: Session, line: str) -> None:
    """Prints a line of the program on stderr, in the learner's language."""
    if (lang := session.told_in) != "en":
        from attncli.words.in_chinese import told_in

        line = told_in(lang, line)
    echo(f"attn: {line}", err=True)


def _print_trace(error: BaseException) -> None:
    import traceback

    echo("".join(traceback.format_exception(error)), err=True, end="")


def _log_trace(session: Session, error: BaseException) -> str:
    """Appends the traceback to the log; where it can be found."""
    import traceback

    try:
        file = session.home.log / "attn.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as log:
            trace = "".join(traceback.format_exception(error))
            log.write(printable(f"{session.clock().isoformat()} {' '.join(sys.argv)}\n{trace}\n"))
    except (OSError, AttnError):
        return "run it again with --debug for the traceback"
    return f"the traceback is in {file}; please report it"


# Standard output as it can be: closed, full, or read by somebody who has had enough; the only way to print.

ERASE_LINE = "\r\x1b[2K"


def echo(text: object = "", *, err: bool = False, end: str = "\n") -> None:
    """Prints `text` without whatever in it would steer a terminal or hide; commands print through this alone."""
    print(printable(str(text)), end=end, file=sys.stderr if err else sys.stdout, flush=True)


def echo_bytes(document: bytes) -> None:
    """Writes a document that is no text, such as a PDF, into a pipe."""
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


def show_progress(text: str) -> None:
    """Replaces the line on stderr by `text`, where a person can see it; says nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{ERASE_LINE}{printable(text)}")
        sys.stderr.flush()


def show_thousands(done: int) -> None:
    """Shows how many are done, at every thousandth."""
    if done % 1000 == 0:
        show_progress(f"{done} …")


def discard(stream: TextIO | None = None) -> None:
    """Sends what is still to be printed nowhere; the interpreter flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def let_go_of_stderr() -> None:
    """What the app had still to draw when its window was closed is given up: Python would end with 120 over it."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def stand_in_for_closed() -> None:
    """A program that is started without stdout or stderr has None in their place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - as long as the program


@contextmanager
def verdict_counts() -> Iterator[None]:
    """Around the output of a command whose exit code is a verdict: it stays so when nobody reads to the end."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard()


# `--json`: one document on stdout and nothing else.


def json_text(document: Any) -> str:
    """`document` as JSON; signs that would steer a terminal or hide are written as escapes."""
    return escaped(json.dumps(document, ensure_ascii=False, indent=2))


def print_json(document: Any) -> None:
    """Prints `document`; characters that the terminal's encoding lacks are escaped."""
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    echo(text)


def print_result(as_json: bool, document: Callable[[], Any], lines: Callable[[], Iterable[object]]) -> None:
    """Prints the document or the lines; only what is printed is made."""
    if as_json:
        print_json(document())
        return
    for line in lines():
        echo(line)


# Where an export goes: to a file, whose ending agrees with what is written, or to standard output, which is `-`.

STDOUT = "-"
REMEDY = "name another file with -o"


@dataclass(frozen=True, slots=True)
class Target:
    """`file` is None for standard output."""

    file: Path | None = None

    @property
    def ending(self) -> str:
        """What the file's name asks for, without the dot; empty where it asks for nothing."""
        return self.file.suffix.removeprefix(".").lower() if self.file else ""

    def refuse_other_endings(self, endings: Sequence[str], what: str) -> None:
        """Raises UsageError for a name that asks for another format than the only one that there is."""
        if self.ending and self.ending not in endings:
            known = " or ".join(f".{ending}" for ending in endings)
            raise UsageError(f"{self.file} does not end in {known}, and {what} is written as nothing else; rename it")

    def refuse_terminal(self, what: str, name: str) -> None:
        """Raises UsageError where bytes would be printed for a person to read."""
        if self.file is None and sys.stdout.isatty():
            raise UsageError(f"{what} is nothing for a terminal; name a file: -o {name}")

    def refuse_place(self) -> None:
        """Raises UsageError, before any work is done, where no file can come to lie."""
        if self.file is None:
            return
        if not self.file.absolute().parent.is_dir():
            raise UsageError(f"cannot write {self.file} (there is no folder {self.file.absolute().parent}); {REMEDY}")
        if self.file.is_dir():
            raise UsageError(f"cannot write {self.file} (it is a folder); {REMEDY}")

    def write_text(self, text: str) -> None:
        if self.file is None:
            echo(text, end="")
            return
        try:
            write_whole(self.file, [text])
        except OSError as error:
            raise cannot_write(self.file, error, REMEDY) from error

    def write_bytes(self, document: bytes) -> None:
        if self.file is None:
            echo_bytes(document)
            return
        try:
            write_bytes(self.file, document)
        except OSError as error:
            raise cannot_write(self.file, error, REMEDY) from error


class TargetType(UserPath):
    """The type of an option that names a target; the shell completes it as a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, Target):
            return value
        file: Any = super().convert(value, param, ctx)
        return Target(None if value == STDOUT else Path(file))


# The log rows that an import, an export or a sync had to leave out, told on stderr.

FAULTS_SHOWN = 20


def say_left_out(faults: Iterable[str]) -> None:
    """One line for each fault, as far as they can be read at a glance."""
    lang = session().lang
    faults = [*faults]
    for fault in faults[:FAULTS_SHOWN]:
        echo(LEFT_OUT[lang].format(fault=" ".join(printable(fault).split())), err=True)
    if len(faults) > FAULTS_SHOWN:
        echo(MORE_LEFT_OUT[lang].format(count=len(faults) - FAULTS_SHOWN), err=True)
