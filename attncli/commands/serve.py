"""`attn serve`."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from secrets import token_urlsafe

import click

import attncli
from attncli.commands.session import Session, session
from attncli.commands.shared.stdout import echo
from attncli.errors import UsageError

PORT = 8767
TOKEN_BYTES = 24
START = "import sys; sys.path.append({root!r}); from attncli.__main__ import main; sys.exit(main())"


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to listen; 0 picks a free one.",
)
def serve(port: int) -> None:
    """Serve the app to a browser on this machine, at the URL that is printed; Ctrl-C ends it."""
    from attncli.servers.browser import LOOPBACK
    from attncli.servers.browser import serve as serve_browser

    current = session()
    current.workspace().close()
    with socket.socket() as listening:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            said = f"cannot listen on port {port} of {LOOPBACK} ({error.strerror})"
            raise UsageError(f"{said}; choose another: attn serve --port 0 picks a free one") from error
        serve_browser(listening, _opens_the_app(current), token_urlsafe(TOKEN_BYTES), current.lang, echo)


def _opens_the_app(current: Session) -> list[str]:
    """The command of one visitor's app: the same program, home and options."""
    root = str(Path(attncli.__file__).parent.parent)
    words = [sys.executable, "-P", "-c", START.format(root=root), "--home", str(current.home.root.absolute())]
    words += ["--lang", current.lang_option] if current.lang_option else []
    return [*words, "--debug"] if current.debug else words
