"""`attn serve`: the app in a browser on the same machine, behind a secret path, with one app process for each visitor.

Every request must name this machine as its host and start with the token, or it gets status 403 and no text. The page
loads only files of this server, and its policy forbids anything else. An app draws into a pipe by Textual's web driver:
frames go both ways, a letter (D data, M meta as JSON), the length in four bytes, the payload.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from html import escape
from importlib.util import find_spec
from pathlib import Path
from secrets import compare_digest
from socket import socket
from typing import TYPE_CHECKING, Any

from attncli.domain.text import Lang, printable
from attncli.errors import EnvironmentFailure
from attncli.words.serve_texts import PAGE, TOO_MANY

if TYPE_CHECKING:
    from aiohttp import web

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
ESCAPE = "\x1b[27u"

DATA, META = b"D", b"M"
READY = b"__GANGLION__\n"
LENGTH_BYTES = 4
# Leaving may take seconds: the app writes its daily copy, or waits for a judge that is starting.
SECONDS_TO_LEAVE = 15.0
LAST_OUTPUT_BYTES = 2000
MOST_LINES_BEFORE = 10

Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]


def serve(listening: socket, command: Sequence[str], token: str, lang: Lang, on_ready: Callable[[str], None]) -> None:
    """Serve on the socket `listening` until Ctrl-C or SIGTERM, then stop all apps; `on_ready` gets the URL."""
    from aiohttp import web
    from aiohttp.http_exceptions import HttpProcessingError

    async def session() -> None:
        browser_server = BrowserServer(command, token, lang)
        log = logging.getLogger(__name__)
        # Anybody can send bytes that are not HTTP, as often as they like: no log for those.
        log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
        runner = web.AppRunner(browser_server.application(), access_log=None, logger=log, shutdown_timeout=1.0)
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


class BrowserServer:
    """Serves the app that `command` opens to browsers that know `token`."""

    def __init__(self, command: Sequence[str], token: str, lang: Lang) -> None:
        self.command, self.token, self.lang = command, token, lang
        self._apps: dict[web.WebSocketResponse, AppProcess] = {}
        self._visitors = 0
        self._strangers: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    def application(self) -> web.Application:
        """Return the application; the token is part of every route."""
        from aiohttp import web

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if self._is_allowed(request):
                self._admit(request.protocol)
                return await handler(request)
            refused = web.Response(status=403)
            refused.force_close()
            return refused

        application = web.Application(middlewares=[guard])
        root = f"/{self.token}"
        application.add_routes(
            [
                web.get(f"{root}/", self._page),
                web.get(f"{root}/page.css", _file("page.css", "text/css")),
                web.get(f"{root}/page.js", _file("page.js", "text/javascript")),
                web.get(f"{root}/ws", self._visit),
                web.static(f"{root}/static", terminal_files()),
            ]
        )
        application.on_response_prepare.append(self._set_headers)
        application.on_shutdown.append(self._stop_all)
        return application

    def connection_handler(self, server: web.Server) -> web.RequestHandler:
        """Return the handler of a new connection.

        The connection is closed unless it names the token within HEAD_SECONDS. There are at most MOST_STRANGERS
        connections that have not yet; for another one the oldest is closed.
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

    async def _page(self, request: web.Request) -> web.Response:
        from aiohttp import web

        texts = {name: PAGE[name][self.lang] for name in ("closed", "again", "noscript")}
        texts |= {"lang": self.lang, "websocket": f"ws://{request.host}/{self.token}/ws"}
        page = (FILES / "index.html").read_text(encoding="utf-8")
        filled = page.format(**{name: escape(text) for name, text in texts.items()})
        return web.Response(text=filled, content_type="text/html")

    async def _visit(self, request: web.Request) -> web.StreamResponse:
        """Serve one visitor with an app that lives as long as the connection."""
        from aiohttp import web

        if request.headers.get("Origin") != f"http://{request.host}":
            return web.Response(status=403)
        page = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await page.prepare(request)
        if self._visitors >= MOST_VISITORS:
            await page.send_bytes(TOO_MANY[self.lang].encode())
            await page.close()
            return page
        self._visitors += 1
        try:
            await self._with_app(page, _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24))
        finally:
            self._visitors -= 1
        return page

    async def _with_app(self, page: web.WebSocketResponse, columns: int, rows: int) -> None:
        app = self._apps[page] = await AppProcess.start(self.command, columns, rows)
        drawing = asyncio.create_task(_draw(app, page))
        try:
            async for message in page:
                await _handle_message(app, page, message.data)
        finally:
            await asyncio.shield(self._stop(page))
            await drawing

    async def _stop(self, page: web.WebSocketResponse) -> None:
        if page in self._apps:
            await self._apps[page].stop()
            self._apps.pop(page, None)

    async def _stop_all(self, application: web.Application) -> None:
        pages = list(self._apps)
        await asyncio.gather(*(self._stop(page) for page in pages))
        await asyncio.gather(*(page.close() for page in pages))


def _file(name: str, content_type: str) -> Handler:
    """Return a handler that serves a file of the page."""
    from aiohttp import web

    async def give(request: web.Request) -> web.StreamResponse:
        return web.Response(text=(FILES / name).read_text(encoding="utf-8"), content_type=content_type)

    return give


async def _draw(app: AppProcess, page: web.WebSocketResponse) -> None:
    """Send to the page what the app draws and, if it failed, its last output on stderr."""
    with suppress(ConnectionError):
        async for drawn in app.drawn():
            await page.send_bytes(drawn)
        await page.send_bytes(EMPTY)
        if last_output := await app.stop():
            await page.send_bytes(printable(last_output).replace("\n", "\r\n").encode())
        await page.close()


async def _handle_message(app: AppProcess, page: web.WebSocketResponse, data: Any) -> None:
    """Pass keys, mouse and size of the page to the app; ignore anything else."""
    with suppress(ValueError, TypeError, KeyError, IndexError, RecursionError, ConnectionError):
        message = json.loads(data)
        match message[0]:
            case "stdin":
                await app.send_keys(ESCAPE if message[1] == "\x1b" else str(message[1]))
            case "resize":
                size = {name: _cells(message[1][name], 0) for name in ("width", "height")}
                if all(size.values()):
                    await app.send({"type": "resize", **size})
            case "ping":
                await page.send_json(["pong", str(message[1])])
            case "blur" | "focus" as kind:
                await app.send({"type": kind})


def _cells(value: Any, otherwise: int) -> int:
    """Return a number of columns or rows between 1 and MOST_CELLS, or `otherwise` if it is not a number."""
    try:
        return max(1, min(int(value), MOST_CELLS))
    except (TypeError, ValueError, OverflowError):
        return otherwise


def policy(host: str) -> str:
    """Return a Content-Security-Policy: files of this server and one WebSocket; the terminal sets inline styles."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"img-src 'self' data:; connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def terminal_files() -> Path:
    """Return the folder of textual-serve with the terminal for the page, its style and font. Its code is not run."""
    found = find_spec("textual_serve")
    if found is None or not found.submodule_search_locations:
        raise EnvironmentFailure("`attn serve` needs textual-serve; install attncli again: pip install attncli")
    return Path(found.submodule_search_locations[0]) / "static"


class AppProcess:
    """One running app; the caller of `start` calls `stop`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._last_output = b""
        self._stderr_task = asyncio.create_task(self._read_stderr())

    @staticmethod
    async def start(command: Sequence[str], columns: int, rows: int) -> AppProcess:
        """Start `command`, which opens the app, for a page of this size."""
        from attncli.tui.app import WEB_DRIVER

        environment = {
            **os.environ,
            "TEXTUAL_DRIVER": WEB_DRIVER,
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(columns),
            "ROWS": str(rows),
        }
        # A new session, so that Ctrl-C reaches only the server, which then stops its apps.
        options: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}
        return AppProcess(
            await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, **options
            )
        )

    async def drawn(self) -> AsyncIterator[bytes]:
        """Yield what the app draws, until it ends."""
        stream = self._process.stdout
        assert stream is not None
        try:
            for _ in range(MOST_LINES_BEFORE):
                if await stream.readline() == READY:
                    break
            while True:
                head = await stream.readexactly(1 + LENGTH_BYTES)
                payload = await stream.readexactly(int.from_bytes(head[1:], "big"))
                if head[:1] == DATA:
                    yield payload
                elif head[:1] == META and json.loads(payload).get("type") == "exit":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def send_keys(self, text: str) -> None:
        """Send keys and mouse events, as a terminal does."""
        await self._write_frame(DATA, text.encode("utf-8", "replace"))

    async def send(self, document: Mapping[str, Any]) -> None:
        """Send a new size, the focus, or the request to quit."""
        await self._write_frame(META, json.dumps(document).encode())

    async def _write_frame(self, kind: bytes, payload: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(kind + len(payload).to_bytes(LENGTH_BYTES, "big") + payload)
            await stream.drain()
        except (ConnectionError, RuntimeError):
            return  # the app has ended, which `drawn` notices

    async def stop(self) -> str:
        """Stop the app, by force if it takes too long, and return its last output on stderr if it failed."""
        await self.send({"type": "quit"})
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._stderr_task
        await self._close_pipes()
        return self._last_output.decode("utf-8", "replace") if self._process.returncode else ""

    async def _close_pipes(self) -> None:
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        into.close()
        with suppress(RuntimeError):  # `drawn` reads to the end itself
            await out.read()

    async def _read_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while chunk := await stream.read(LAST_OUTPUT_BYTES):
            self._last_output = (self._last_output + chunk)[-LAST_OUTPUT_BYTES:]
