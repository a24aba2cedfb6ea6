"""The entry point of `attn` and `python -m attncli`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from attncli.i18n import _

try:
    from attncli.commands.session import Boundary, Session, flush_stderr, print_message, replace_closed_streams
except KeyboardInterrupt:
    print("attn: interrupted before it began", file=sys.stderr)
    sys.exit(130)

PLAIN_DUE = (["due"], ["due", "--json"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return the exit code.

    Prompts and status bars call `attn due`. Its plain forms skip the option parser, which would double the run time.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    replace_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    session = Session()
    with Boundary(session) as boundary:
        if words in PLAIN_DUE:
            from attncli.commands.due import print_due

            print_due(session, at=None, as_json="--json" in words)
        else:
            from attncli.cli import run

            boundary.code = run(words, session)
        sys.stdout.flush()
    if boundary.code == 0:  # a failed command has already printed its one line
        if session.left_out:
            first, *others = session.left_out
            problem = _("skipped: {first}", first=first)
            if others:
                problem = _("skipped: {first} (and {more} more; see `attn bank check`)", first=first, more=len(others))
            print_message(session, problem)
        for remark in session.remarks:
            print_message(session, remark)
    flush_stderr()
    return boundary.code


if __name__ == "__main__":
    sys.exit(main())
