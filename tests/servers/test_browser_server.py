"""Check access to the browser server: the token, the host, the origin, and the state that a visitor leaves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from shutil import copytree
from subprocess import PIPE
from typing import Any

import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError, web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from attncli.__main__ import main
from attncli.servers.browser import EMPTY, MOST_STRANGERS, BrowserServer, policy
from attncli.tui.app import WEB_DRIVER

TOKEN = "a-token"
ATTN = [sys.executable, "-m", "attncli"]
# Draws what it is told, as Textual's web driver would; `quit` ends it.
ECHO = """
import sys
out, into = sys.stdout.buffer, sys.stdin.buffer
def draw(kind, text):
    out.write(kind + len(text).to_bytes(4, "big") + text)
    out.flush()
out.write(b"__GANGLION__\\n")
draw(b"D", b"I am " + str(__import__("os").getpid()).encode())
while head := into.read(5):
    said = into.read(int.from_bytes(head[1:], "big"))
    if b"fail" in said:
        sys.exit("attn: a line that says why \\x1b[31m")
    if b'"quit"' in said:
        draw(b"M", b'{"type": "exit"}')
        break
    draw(b"D", head[:1] + said)
"""
COMMAND = [sys.executable, "-c", ECHO]
# Draws its pid and hears nothing.
DEAF = """
import os, time
pid = str(os.getpid())
print("__GANGLION__\\nD\\0\\0\\0" + chr(len(pid)) + pid, end="", flush=True)
time.sleep(1000)
"""
STUBBORN = [sys.executable, "-c", DEAF]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="apps in a browser were tried on Linux alone")


@asynccontextmanager
async def client_of(server: BrowserServer | None = None) -> AsyncIterator[TestClient[Any, Any]]:
    server = server or BrowserServer(COMMAND, TOKEN, "en")
    async with TestClient(TestServer(await server.application(), host="127.0.0.1")) as client:
        yield client


def origin(client: TestClient[Any, Any]) -> dict[str, str]:
    return {"Origin": f"http://127.0.0.1:{client.port}"}


async def gone(pid: int) -> bool:
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            return True
        await asyncio.sleep(0.05)
    return False


async def test_without_the_token_there_is_nothing() -> None:
    paths = ["", "/", "/ws", "/static/js/textual.js", "/a-toke/", "/a-tokenn/", "/A-TOKEN/", "/a-token%00/"]
    async with client_of() as client, ClientSession() as session:
        for path in (*paths, "//a-token/", "/x/a-token/"):
            for method in ("GET", "POST", "OPTIONS", "HEAD"):
                url = URL(f"http://127.0.0.1:{client.port}{path}", encoded=True)
                async with session.request(method, url) as answer:
                    assert (answer.status, await answer.read()) == (403, b""), path
                    assert "aiohttp" not in answer.headers["Server"]


async def test_a_name_that_was_made_to_lead_here_gets_nothing() -> None:
    hosts = "localhost localhost:8767 LOCALHOST 127.1 2130706433 127.0.0.1@evil.example evil.example 127.0.0.1:1;x"
    hosts += " evil.example:8767 127.0.0.1.evil.example a@localhost [::1] 0.0.0.0"
    async with client_of() as client:
        for host in (*hosts.split(), ""):
            for path in ("/", "/ws", "/page/page.js"):
                answer = await client.get(f"/{TOKEN}{path}", headers={"Host": host, "Origin": f"http://{host}"})
                assert (answer.status, await answer.read()) == (403, b""), host


async def test_only_the_page_itself_may_connect() -> None:
    async with client_of() as client:
        for said in (None, "null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1:1", "same:"):
            with pytest.raises(WSServerHandshakeError) as refused:
                await client.ws_connect(f"/{TOKEN}/ws", headers={} if said is None else {"Origin": said})
            assert refused.value.status == 403, said


async def test_the_page_names_only_files_of_this_server_and_its_policy_allows_no_other() -> None:
    async with client_of() as client:
        answer = await client.get(f"/{TOKEN}/")
        page = await answer.text()
        assert answer.headers["Content-Security-Policy"] == policy(f"127.0.0.1:{client.port}")
        assert "default-src 'none'" in policy("h") and "'unsafe-eval'" not in policy("h") and "*" not in policy("h")
        assert page.count("://") == 1 and f"ws://127.0.0.1:{client.port}/{TOKEN}/ws" in page
        assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["Cache-Control"] == "no-store"
        for file in ("page/page.css", "page/page.js", "static/js/textual.js", "static/css/xterm.css"):
            given = await client.get(f"/{TOKEN}/{file}")
            text = await given.text()
            bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S) if file.endswith("css") else text
            assert given.status == 200 and "://" not in bare
        for file in ("static/../server.py", "static/%2e%2e/server.py", "download/1", "nothing"):
            url = URL(f"http://127.0.0.1:{client.port}/{TOKEN}/{file}", encoded=True)
            async with ClientSession() as session, session.get(url) as missing:
                assert missing.status in (403, 404) and b"import" not in await missing.read()


async def test_each_visitor_has_a_process_that_ends_with_the_visit() -> None:
    async with client_of() as client:
        pages = [await client.ws_connect(f"/{TOKEN}/ws?width=90&height=30", headers=origin(client)) for _ in range(2)]
        pids = [int((await page.receive_bytes()).split()[-1]) for page in pages]
        assert pids[0] != pids[1]
        await pages[0].send_str(json.dumps(["stdin", "for the first é"]))
        assert await pages[0].receive_bytes() == "Dfor the first é".encode()
        await pages[1].send_str(json.dumps(["ping", "7"]))
        assert await pages[1].receive_json() == ["pong", "7"], "nothing of the first visitor's came here"
        await pages[0].close()
        assert await gone(pids[0]) and Path(f"/proc/{pids[1]}").exists()
        await pages[1].send_str(json.dumps(["resize", {"width": 100, "height": 1e9}]))
        assert json.loads((await pages[1].receive_bytes())[1:]) == {"type": "resize", "width": 100, "height": 1000}
    assert await gone(pids[1]), "the server's end is the end of its apps"


async def test_what_no_page_says_is_left_unheard() -> None:
    odd = ["", "{}", "[]", "7", "[[]]", '["stdin"]', '["resize", 3]', "\0", "[" * 50_000]
    odd += ['["resize", {"width": "x", "height": null}]', '["resize", {"width": 1e999, "height": 1}]']
    async with client_of() as client:
        page = await client.ws_connect(f"/{TOKEN}/ws?width=x&height=-4", headers=origin(client))
        await page.receive_bytes()
        for said in odd:
            await page.send_str(said)
            await page.send_bytes(b"\xff\xfe")
            await page.send_str('["ping", "1"]')
            assert await page.receive_json() == ["pong", "1"], said


async def test_an_app_that_fails_says_why_in_its_page() -> None:
    async with client_of() as client:
        page = await client.ws_connect(f"/{TOKEN}/ws", headers=origin(client))
        await page.receive_bytes()
        await page.send_str('["stdin", "fail"]')
        assert await page.receive_bytes() == EMPTY
        assert b"attn: a line that says why" in (said := await page.receive_bytes()) and b"[31m" not in said
        assert (await page.receive()).type is WSMsgType.CLOSE


async def test_an_app_that_does_not_leave_is_made_to_and_too_many_visitors_are_told(monkeypatch) -> None:
    monkeypatch.setattr("attncli.servers.browser.SECONDS_TO_LEAVE", 0.1)
    async with client_of(BrowserServer(STUBBORN, TOKEN, "en")) as client:
        page = await client.ws_connect(f"/{TOKEN}/ws", headers=origin(client))
        pid = int(await page.receive_bytes())
        await page.close()
        assert await gone(pid)
        monkeypatch.setattr("attncli.servers.browser.MOST_VISITORS", 0)
        page = await client.ws_connect(f"/{TOKEN}/ws", headers=origin(client))
        assert b"Too many" in await page.receive_bytes()


@pytest.fixture
def home(tmp_path: Path, indexed_home: Path) -> Path:
    """Return a folder that is set up."""
    copytree(indexed_home, tmp_path / "home")
    (tmp_path / "home" / "config.toml").write_text('lang = "en"\n', encoding="utf-8")
    return tmp_path / "home"


@pytest.fixture
def served(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `attn serve`; yield the process and its URL."""
    command, environment = [*ATTN, "--home", str(home), "serve", "--port", "0"], {**os.environ, "TERM": "dumb"}
    process = subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True, env=environment)
    assert process.stdout is not None and process.stderr is not None
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()


RARER = [pytest.param(how, code, marks=pytest.mark.full) for how, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -9))]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), *RARER])
async def test_the_apps_end_with_the_program_however_it_ends(served: Any, how: signal.Signals, code: int) -> None:
    process, url = served
    port = URL(url).port
    assert URL(url).host == "127.0.0.1" and len(URL(url).path) > 30
    async with ClientSession() as session:
        page = await session.ws_connect(f"{url}ws", headers={"Origin": f"http://127.0.0.1:{port}"})
        drawn = b""
        while b"Review" not in drawn:
            drawn += (await page.receive(60)).data
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
        (app,) = map(int, children.stdout.split())
        process.send_signal(how)
        assert await asyncio.to_thread(process.wait, 30) == code
        assert await gone(app)
    if how is not signal.SIGKILL:
        assert process.stdout.read() == ""
        assert process.stderr.read() == ("attn: interrupted; everything recorded so far is kept\n" if code else "")


@pytest.mark.slow
def test_strangers_that_do_not_finish_their_requests_keep_nobody_out(served: Any) -> None:
    process, url = served
    port = URL(url).port
    listening = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()
    places = [line.split()[1] for line in listening if line.split()[1].endswith(f":{port:04X}")]
    assert places == [f"0100007F:{port:04X}"], "only this machine is listened to"
    with ExitStack() as opened:

        def say(said: bytes) -> socket.socket:
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", port), 5))
            connection.settimeout(30)
            connection.sendall(said)
            return connection

        mine = f"GET {URL(url).path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        strangers = [say(b"GET / HTTP/1.1\r\nHost: x\r\nX: ") for _ in range(4 * MOST_STRANGERS)]
        assert say(mine).recv(12) == b"HTTP/1.1 200"
        for said in (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\0" * 100, b"GET / HTTP/9\r\n\r\n"):
            assert b" 400 " in say(said).recv(40)
        for stranger in strangers:
            with suppress(ConnectionResetError):
                assert stranger.recv(1) == b""
        assert say(mine).recv(12) == b"HTTP/1.1 200"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert process.stderr.read() == ""


async def test_a_visitor_who_named_the_token_stays() -> None:
    server = BrowserServer(COMMAND, TOKEN, "en")
    runner = web.AppRunner(await server.application())
    await runner.setup()
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: server.connection_handler(runner.server), "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    here = f"http://127.0.0.1:{port}"
    async with ClientSession() as session:
        page = await session.ws_connect(f"{here}/{TOKEN}/ws", headers={"Origin": here})
        await page.receive_bytes()
        assert server._strangers == {}
        readers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_STRANGERS + 1)]
        while len(server._strangers) < MOST_STRANGERS:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert len(server._strangers) == MOST_STRANGERS
        await page.send_str('["ping", "1"]')
        assert await page.receive_json() == ["pong", "1"]
        for _, writer in readers:
            writer.close()
        await page.close()
    listening.close()
    await runner.cleanup()


def test_a_port_that_is_taken_is_one_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--home", str(home), "serve", "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"attn: cannot listen on port {port} of 127.0.0.1 (")
    assert "use --port 0 for a free one" in said.err and said.err.count("\n") == 1


def test_an_app_whose_page_is_gone_does_not_stay(home: Path) -> None:
    environment = {**os.environ, "TEXTUAL_DRIVER": WEB_DRIVER}
    app = subprocess.Popen([*ATTN, "--home", str(home)], stdin=PIPE, stdout=PIPE, env=environment)
    assert app.stdout is not None and app.stdin is not None
    assert app.stdout.readline() == b"__GANGLION__\n"
    time.sleep(1)
    app.stdin.close()
    drawn = app.stdout.read()
    assert drawn and app.wait(30) == 129
    app.stdout.close()
