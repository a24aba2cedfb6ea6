"""`attn serve`: the app in a browser on the same machine, behind a secret path, with one app process for each visitor.

textual-serve runs the apps and carries keys and pictures. Every request must name this machine as its host and start
with the token, or it gets status 403 and no text. The page loads only files of this server, and its policy forbids
anything else.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from html import escape
from pathlib import Path
from secrets import compare_digest
from socket import socket
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager
from textual_serve.server import Server, to_int

from attncli.domain.text import printable
from attncli.i18n import Lang, _

LOOPBACK = "127.0.0.1"
# Not localhost: a browser may ask [::1] first, where another program may listen.
THIS_MACHINE = re.compile(r"127\.0\.0\.1(:[0-9]{1,5})?")
FILES = Path(__file__).with_name("page")
MOST_VISITORS = 16
MOST_STRANGERS = 64
HEAD_SECONDS = 5.0
# Connections accepted at once: far fewer than MOST_STRANGERS, so that none is closed before it is read.
ACCEPTED_AT_ONCE, MOST_WAITING = 16, 128
MOST_CELLS = 1000
HEARTBEAT_SECONDS = 15.0
# Clears the terminal of the page.
EMPTY = b"\x1b[2J\x1b[H"
# Escape in kitty's keyboard protocol: after a bare escape character the next key would be read as Alt and that key.
ESCAPE = b"\x1b[27u"
# An exit may take seconds: the app writes its daily copy, or waits for a judge that is starting.
SECONDS_TO_LEAVE = 15.0
LAST_OUTPUT_BYTES = 2000
NOT_A_MESSAGE = (ValueError, TypeError, LookupError, AttributeError, AssertionError, OverflowError, RecursionError)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve(listening: socket, command: Sequence[str], token: str, lang: Lang, on_ready: Callable[[str], None]) -> None:
    """Serve on the socket `listening` until Ctrl-C or SIGTERM, then stop all apps; `on_ready` gets the URL."""

    async def session() -> None:
        browser_server = BrowserServer(command, token, lang)
        log = logging.getLogger(__name__)
        # Do not log requests that are not HTTP: anybody can send them without limit.
        log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
        logging.getLogger("textual-serve").addHandler(logging.NullHandler())
        application = await browser_server.application()
        runner = web.AppRunner(application, access_log=None, logger=log, shutdown_timeout=1.0)
        await runner.setup()
        server = runner.server
        assert server is not None
        loop, terminated = asyncio.get_running_loop(), asyncio.Event()
        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGTERM, terminated.set)
        try:
            accepting = loop.create_server(
                lambda: browser_server.connection_handler(server), sock=listening, backlog=ACCEPTED_AT_ONCE
            )
            with closing(await accepting):
                listening.listen(MOST_WAITING)
                on_ready(f"http://{LOOPBACK}:{listening.getsockname()[1]}/{token}/")
                await terminated.wait()
        finally:
            await runner.cleanup()

    asyncio.run(session())


class BrowserServer(Server):
    """Serves the app that `app_command` opens to browsers that know `token`."""

    def __init__(self, app_command: Sequence[str], token: str, lang: Lang) -> None:
        super().__init__("attn", LOOPBACK)
        self.app_command, self.token, self.lang = app_command, token, lang
        self._apps: set[AppProcess] = set()
        self._strangers: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    async def application(self) -> web.Application:
        """Return the application of textual-serve below the token, behind the guard."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if self._is_allowed(request):
                self._admit(request.protocol)
                return await handler(request)
            refused = web.Response(status=403)
            refused.force_close()
            return refused

        page = await self._make_app()
        page.router.add_static("/page", FILES)
        guarded = web.Application(middlewares=[guard])
        guarded.add_subapp(f"/{self.token}", page)
        guarded.on_response_prepare.append(self._set_headers)
        return guarded

    def connection_handler(self, server: web.Server) -> web.RequestHandler:
        """Return the handler of a new connection.

        The connection is closed unless it names the token within HEAD_SECONDS. At most MOST_STRANGERS
        connections may still owe it; a further one closes the oldest.
        """
        if len(self._strangers) >= MOST_STRANGERS:
            self._turn_away(next(iter(self._strangers)))
        stranger = server()
        self._strangers[stranger] = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._turn_away, stranger)
        return stranger

    def _admit(self, connection: web.RequestHandler) -> None:
        if (timer := self._strangers.pop(connection, None)) is not None:
            timer.cancel()

    def _turn_away(self, stranger: web.RequestHandler) -> None:
        self._admit(stranger)
        if stranger.transport is not None:
            stranger.transport.abort()

    def _is_allowed(self, request: web.Request) -> bool:
        """Return whether the request names this machine, not another name that resolves to it, and the token."""
        token = f"{request.path}/".split("/")[1].encode("utf-8", "replace")
        return THIS_MACHINE.fullmatch(request.host) is not None and compare_digest(token, self.token.encode())

    async def _set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(
            {
                "Server": "attn",
                "Content-Security-Policy": policy(request.host),
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cache-Control": "no-store",
            }
        )

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: `serve` prints the URL."""

    async def on_shutdown(self, app: web.Application) -> None:
        """Stop all apps."""
        await asyncio.gather(*(running.stop() for running in self._apps))

    async def handle_index(self, request: web.Request) -> web.Response:
        """Return the page in the learner's language."""
        messages = {
            "closed": _("The app has closed."),
            "again": _("Open it again"),
            "noscript": _("The app needs JavaScript."),
        }
        texts = {name: message[self.lang] for name, message in messages.items()}
        texts |= {"lang": self.lang, "websocket": f"ws://{request.host}/{self.token}/ws"}
        page = (FILES / "index.html").read_text(encoding="utf-8")
        filled = page.format(**{name: escape(text) for name, text in texts.items()})
        return web.Response(text=filled, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one visitor with an app that lives as long as the connection."""
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden
        page = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await page.prepare(request)
        if len(self._apps) >= MOST_VISITORS:
            await page.send_bytes(_("Too many apps are open; close one.")[self.lang].encode())
            await page.close()
            return page
        app = AppProcess(self.app_command, page, self.download_manager)
        self._apps.add(app)
        try:
            width, height = to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24)
            await app.start(_cells(width), _cells(height))
            while not page.closed:
                with suppress(*NOT_A_MESSAGE):
                    await self._process_messages(page, app)
        finally:
            await asyncio.shield(app.stop())
            self._apps.discard(app)
        return page


def _cells(value: float) -> int:
    """Return a number of columns or rows between 1 and MOST_CELLS.

    Raises:
        ValueError, TypeError, OverflowError: the page did not send a finite number.
    """
    return max(1, min(int(value), MOST_CELLS))


def policy(host: str) -> str:
    """Return a Content-Security-Policy: files of this server and one WebSocket; the terminal sets inline styles."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"img-src 'self' data:; connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class AppProcess(AppService):
    """One running app that draws on `page`; the caller of `start` calls `stop`."""

    def __init__(self, app_command: Sequence[str], page: web.WebSocketResponse, downloads: DownloadManager) -> None:
        async def close() -> None:
            await page.close()

        super().__init__(
            "attn", write_bytes=page.send_bytes, write_str=page.send_str, close=close, download_manager=downloads
        )
        self.app_command = app_command

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # A new session, so that Ctrl-C reaches only the server, which then stops its apps.
        options: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}
        environment = self._build_environment(width, height)
        self._process = process = await asyncio.create_subprocess_exec(
            *self.app_command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, **options
        )
        assert process.stderr is not None
        self._last_output = asyncio.create_task(_last_output(process.stderr))
        # textual-serve would print what it reads of stderr; `run` shows it in the page.
        process.stderr = asyncio.StreamReader()
        process.stderr.feed_eof()
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Draw until the app ends, then clear the page and, if the app failed, show its last output on stderr."""
        await super().run()
        assert self._process is not None
        failed = await self._process.wait()
        last_output = await self._last_output
        with suppress(ConnectionError):
            await self.remote_write_bytes(EMPTY)
            if failed:
                await self.remote_write_bytes(printable(last_output).replace("\n", "\r\n").encode())
            await self.remote_close()

    async def on_data(self, payload: bytes) -> None:
        """Draw; keep reading after the page has closed, because an app with a full pipe could not exit."""
        with suppress(ConnectionError):
            await super().on_data(payload)

    async def on_meta(self, data: bytes) -> None:
        """Do nothing: `run` sees the end of the app, and the page opens no links and saves no files."""

    async def send_bytes(self, data: bytes) -> bool:
        """Send keys and mouse events, as a terminal does."""
        return await super().send_bytes(ESCAPE if data == b"\x1b" else data)

    async def set_terminal_size(self, width: int, height: int) -> None:
        """Send a new size of the page."""
        await super().set_terminal_size(_cells(width), _cells(height))

    async def stop(self) -> None:
        """Stop the app, by force if it takes too long."""
        if self._process is None or self._task is None:
            return
        await self.send_meta({"type": "quit"})
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            self._process.kill()
        await self._task


async def _last_output(stream: asyncio.StreamReader) -> str:
    """Read to the end, and return the last LAST_OUTPUT_BYTES."""
    last = b""
    while chunk := await stream.read(LAST_OUTPUT_BYTES):
        last = (last + chunk)[-LAST_OUTPUT_BYTES:]
    return last.decode("utf-8", "replace")
