"""The app in a browser of the same machine: one page behind a secret path, an app process for each visitor.

Every request has to name this machine as its host and to begin with the token, else it gets status 403 and no word.
The page loads nothing but files of this server, and its policy lets it load nothing else.
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
# Not localhost: a browser may ask [::1] first, where anybody may listen.
THIS_MACHINE = re.compile(r"127\.0\.0\.1(:[0-9]{1,5})?")
FILES = Path(__file__).with_name("page")
MOST_VISITORS = 16
MOST_STRANGERS = 64
HEAD_SECONDS = 5.0
# Connections taken at once: far fewer than MOST_STRANGERS, so that nobody gives way before being heard.
ACCEPTED_AT_ONCE, MOST_WAITING = 16, 128
MOST_CELLS = 1000
HEARTBEAT_SECONDS = 15.0
# Clears the page.
EMPTY = b"\x1b[2J\x1b[H"
# Escape with an end of its own (kitty's keyboard protocol): a bare one would take the next key for Alt with it.
ESCAPE = "\x1b[27u"
Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]


class BrowserServer:
    """Serves the app that `command` opens to whoever knows `token`."""

    def __init__(self, command: Sequence[str], token: str, lang: Lang) -> None:
        self.command, self.token, self.lang = command, token, lang
        self._apps: dict[web.WebSocketResponse, AppProcess] = {}
        self._coming = 0
        self._strangers: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    def application(self) -> web.Application:
        """The routes, all of them behind the token."""
        from aiohttp import web

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if self._is_meant(request):
                self._let_in(request.protocol)
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
        application.on_response_prepare.append(self._say_policy)
        application.on_shutdown.append(self._end_all)
        return application

    def meet(self, server: web.Server) -> web.RequestHandler:
        """What `server` handles a new connection by.

        The connection is closed unless it names the token within HEAD_SECONDS. Of those that have not yet there are
        MOST_STRANGERS at most: the one that came first gives way to the next.
        """
        if len(self._strangers) >= MOST_STRANGERS:
            self._turn_away(next(iter(self._strangers)))
        stranger = server()
        self._strangers[stranger] = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._turn_away, stranger)
        return stranger

    def _let_in(self, connection: web.RequestHandler) -> None:
        if (timer := self._strangers.pop(connection, None)) is not None:
            timer.cancel()

    def _turn_away(self, stranger: web.RequestHandler) -> None:
        self._let_in(stranger)
        if stranger.transport is not None:
            stranger.transport.abort()

    def _is_meant(self, request: web.Request) -> bool:
        """Whether it names this machine and the token; a page of another name that leads here does not."""
        given = f"{request.path}/".split("/")[1].encode("utf-8", "replace")
        return THIS_MACHINE.fullmatch(request.host) is not None and compare_digest(given, self.token.encode())

    async def _say_policy(self, request: web.Request, response: web.StreamResponse) -> None:
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

        said = {name: PAGE[name][self.lang] for name in ("closed", "again", "noscript")}
        said |= {"lang": self.lang, "websocket": f"ws://{request.host}/{self.token}/ws"}
        page = (FILES / "index.html").read_text(encoding="utf-8")
        filled = page.format(**{name: escape(text) for name, text in said.items()})
        return web.Response(text=filled, content_type="text/html")

    async def _visit(self, request: web.Request) -> web.StreamResponse:
        """One visitor: an app that lives as long as the connection, and that no other connection can reach."""
        from aiohttp import web

        if request.headers.get("Origin") != f"http://{request.host}":
            return web.Response(status=403)
        page = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await page.prepare(request)
        if self._coming >= MOST_VISITORS:
            await page.send_bytes(TOO_MANY[self.lang].encode())
            await page.close()
            return page
        self._coming += 1
        try:
            await self._with_app(page, _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24))
        finally:
            self._coming -= 1
        return page

    async def _with_app(self, page: web.WebSocketResponse, columns: int, rows: int) -> None:
        app = self._apps[page] = await AppProcess.start(self.command, columns, rows)
        drawing = asyncio.create_task(_draw(app, page))
        try:
            async for message in page:
                await _hear(app, page, message.data)
        finally:
            await asyncio.shield(self._end(page))
            await drawing

    async def _end(self, page: web.WebSocketResponse) -> None:
        if page in self._apps:
            await self._apps[page].stop()
            self._apps.pop(page, None)

    async def _end_all(self, application: web.Application) -> None:
        pages = list(self._apps)
        await asyncio.gather(*(self._end(page) for page in pages))
        await asyncio.gather(*(page.close() for page in pages))


def _file(name: str, kind: str) -> Handler:
    """What gives out a file of the page."""
    from aiohttp import web

    async def give(request: web.Request) -> web.StreamResponse:
        return web.Response(text=(FILES / name).read_text(encoding="utf-8"), content_type=kind)

    return give


async def _draw(app: AppProcess, page: web.WebSocketResponse) -> None:
    """What the app draws goes to the page; where it did not end well, its last words too."""
    with suppress(ConnectionError):
        async for drawn in app.drawn():
            await page.send_bytes(drawn)
        await page.send_bytes(EMPTY)
        if said := await app.stop():
            await page.send_bytes(printable(said).replace("\n", "\r\n").encode())
        await page.close()


async def _hear(app: AppProcess, page: web.WebSocketResponse, said: Any) -> None:
    """Keys, the mouse and the size of the page; anything else is left unheard."""
    with suppress(ValueError, TypeError, KeyError, IndexError, RecursionError, ConnectionError):
        message = json.loads(said)
        match message[0]:
            case "stdin":
                await app.typed(ESCAPE if message[1] == "\x1b" else str(message[1]))
            case "resize":
                size = {name: _cells(message[1][name], 0) for name in ("width", "height")}
                if all(size.values()):
                    await app.told({"type": "resize", **size})
            case "ping":
                await page.send_json(["pong", str(message[1])])
            case "blur" | "focus" as kind:
                await app.told({"type": kind})


def policy(host: str) -> str:
    """What the page may load: files of this server, and its connection to it. The terminal writes styles of its own."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"img-src 'self' data:; connect-src ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def terminal_files() -> Path:
    """Where textual-serve keeps the terminal that runs in a page, its style and its font. Nothing of it is run here."""
    found = find_spec("textual_serve")
    if found is None or not found.submodule_search_locations:
        raise EnvironmentFailure("`attn serve` needs textual-serve; install attncli again: pip install attncli")
    return Path(found.submodule_search_locations[0]) / "static"


def serve(listening: socket, command: Sequence[str], token: str, lang: Lang, on_ready: Callable[[str], None]) -> None:
    """Serves on the socket `listening` until it is interrupted or told to end; then all apps have ended.

    `on_ready` is told the URL.
    """
    from aiohttp import web

    async def session() -> None:
        browser_server = BrowserServer(command, token, lang)
        log = logging.getLogger(__name__)
        log.addFilter(_is_no_bad_request)
        runner = web.AppRunner(browser_server.application(), access_log=None, logger=log, shutdown_timeout=1.0)
        await runner.setup()
        server = runner.server
        assert server is not None
        loop, told_to_end = asyncio.get_running_loop(), asyncio.Event()
        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGTERM, told_to_end.set)
        try:
            accepting = loop.create_server(
                lambda: browser_server.meet(server), sock=listening, backlog=ACCEPTED_AT_ONCE
            )
            with closing(await accepting):
                listening.listen(MOST_WAITING)
                on_ready(f"http://{LOOPBACK}:{listening.getsockname()[1]}/{token}/")
                await told_to_end.wait()
        finally:
            await runner.cleanup()

    asyncio.run(session())


def _is_no_bad_request(record: logging.LogRecord) -> bool:
    """Whether an error is to be told: anybody can send what is no request, as often as they like."""
    from aiohttp.http_exceptions import HttpProcessingError

    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _cells(given: Any, otherwise: int) -> int:
    """A number of columns or rows that a page may have."""
    try:
        return max(1, min(int(given), MOST_CELLS))
    except (TypeError, ValueError, OverflowError):
        return otherwise


# An app of its own for one visitor of the browser door: a process that draws into a pipe, by Textual's web driver.
#
# Both ways go frames: a letter (D data, M meta as JSON), the length in four bytes, the payload.

DATA, META = b"D", b"M"
READY = b"__GANGLION__\n"
LENGTH_BYTES = 4
# A copy of the day or a judge that is still starting takes seconds.
SECONDS_TO_LEAVE = 15.0
MOST_SAID = 2000
MOST_LINES_BEFORE = 10


class AppProcess:
    """One running app. Whoever started it stops it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._said = b""
        self._listening = asyncio.create_task(self._listen())

    @staticmethod
    async def start(command: Sequence[str], columns: int, rows: int) -> AppProcess:
        """Starts `command`, which opens the app, for a page of this size."""
        from attncli.tui.app import WEB_DRIVER

        environment = {
            **os.environ,
            "TEXTUAL_DRIVER": WEB_DRIVER,
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(columns),
            "ROWS": str(rows),
        }
        # A session of its own: Ctrl-C ends the server, and the server its apps.
        how: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}
        return AppProcess(
            await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, **how)
        )

    async def drawn(self) -> AsyncIterator[bytes]:
        """What the app draws, until it ends."""
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

    async def typed(self, text: str) -> None:
        """Keys and the mouse, as a terminal sends them."""
        await self._send(DATA, text.encode("utf-8", "replace"))

    async def told(self, document: Mapping[str, Any]) -> None:
        """Another size, focus, or that it has to end."""
        await self._send(META, json.dumps(document).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(kind + len(payload).to_bytes(LENGTH_BYTES, "big") + payload)
            await stream.drain()
        except (ConnectionError, RuntimeError):
            return  # it has ended; that is seen where it is read

    async def stop(self) -> str:
        """Ends it, if need be by force; what it said last, where it did not end well."""
        await self.told({"type": "quit"})
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._listening
        await self._close_pipes()
        return self._said.decode("utf-8", "replace") if self._process.returncode else ""

    async def _close_pipes(self) -> None:
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        into.close()
        with suppress(RuntimeError):  # `drawn` reads to the end itself
            await out.read()

    async def _listen(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while chunk := await stream.read(MOST_SAID):
            self._said = (self._said + chunk)[-MOST_SAID:]
