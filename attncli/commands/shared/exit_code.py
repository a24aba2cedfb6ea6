"""The edge of the program: whatever is raised inside becomes an exit code and one line on stderr."""

from __future__ import annotations

import sys
from types import TracebackType

from attncli.commands.session import Session
from attncli.commands.shared.stdout import discard, echo, show_progress
from attncli.domain.printable import printable
from attncli.errors import INTERRUPTED, NO_ROOM, AttnError


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
