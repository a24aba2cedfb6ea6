"""`attn`, and `python -m attncli`, which is the same."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

try:
    from attncli.commands.session import Boundary, Session, let_go_of_stderr, stand_in_for_closed, tell
except KeyboardInterrupt:
    print("attn: interrupted before it began", file=sys.stderr)
    sys.exit(130)

PLAIN_DUE = (["due"], ["due", "--json"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; the exit code.

    `attn due` is what prompts and status bars call. In its plain forms it starts without the option parser, which
    would take as long as all the rest of it.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    stand_in_for_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    session = Session()
    with Boundary(session) as boundary:
        if words in PLAIN_DUE:
            from attncli.commands.cards import report

            report(session, at=None, as_json="--json" in words)
        else:
            from attncli.cli import run

            boundary.code = run(words, session)
        sys.stdout.flush()
    if boundary.code == 0 and session.left_out:
        tell(session, _left_out(session.left_out))
    if boundary.code == 0:
        for remark in session.remarks:
            tell(session, remark)
    let_go_of_stderr()
    return boundary.code


def _left_out(problems: Sequence[str]) -> str:
    """Broken bank files in one line; a command that failed has said its own line, and says nothing else."""
    more = f" (and {len(problems) - 1} more; `attn bank check` lists them)" if len(problems) > 1 else ""
    return f"left out: {problems[0]}{more}"


if __name__ == "__main__":
    sys.exit(main())
