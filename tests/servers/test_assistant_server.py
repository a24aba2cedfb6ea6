"""Call the tools through the protocol with the SDK's client, in this process and against the real program."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from shutil import copytree
from subprocess import PIPE
from typing import Any

import pytest
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from attncli.__main__ import main
from attncli.commands import setup as mcp_command
from attncli.domain.log_row import Rating, RowKind
from attncli.i18n import LANGS
from attncli.paths import Home
from attncli.practice.assistant import AssistantSession
from attncli.practice.workspace import Workspace
from attncli.servers.mcp import TOOLS, ToolServer
from random_assistant import RandomAssistant, assert_no_leak

from .conftest import InstantGrader, OpenSecrets

Captured, Patch = pytest.CaptureFixture[str], pytest.MonkeyPatch
RANDOM_CALLS = 200
ATTN = [sys.executable, "-m", "attncli"]
SOLVED = "def rms_norm(x, weight, eps=1e-6):\n    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight\n"


def text_of(result: CallToolResult) -> str:
    (said,) = result.content
    assert said.type == "text"
    return said.text


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.full), "auto"])
async def test_random_calls_through_the_protocol_leak_nothing(open_secrets: OpenSecrets, mode: str) -> None:
    workspace = open_secrets("assistant")
    served = ToolServer(workspace, InstantGrader(), Random(3))
    assistant, put, refused = RandomAssistant(Random(3), "double", ["double.py"]), "", 0
    async with Client(served.server(), mode=mode) as client:
        for _ in range(RANDOM_CALLS):
            name, arguments = assistant.call()
            result = await client.call_tool(name, arguments)
            said = text_of(result)
            if result.is_error:
                assert "\n" not in said and result.structured_content is None
                assert_no_leak(name, said, put, False)
                refused += 1
                continue
            document = json.loads(said)
            assert document == result.structured_content
            assert_no_leak(name, document, put, name == "attempt")
            assistant.heard(name, document)
            put = assistant.card
    assert 30 < refused < RANDOM_CALLS - 50 and workspace.store.log.of_kind(RowKind.REVIEW)


async def test_every_tool_and_argument_is_described_in_the_learners_language(open_secrets: OpenSecrets) -> None:
    workspace = open_secrets("assistant")
    for lang in LANGS:
        workspace.lang = lang
        async with Client(ToolServer(workspace, InstantGrader(), Random(0)).server()) as client:
            listed = (await client.list_tools()).tools
            assert client.instructions and ("学习者" in client.instructions) == (lang == "zh")
            nothing = await client.call_tool("next_card", {"weak": True})
        assert [tool.name for tool in listed] == list(TOOLS)
        for tool in listed:
            told = [tool.title or "", tool.description or ""]
            told += [argument["description"] for argument in tool.input_schema["properties"].values()]
            assert all((max(text) > "\u4e00") == (lang == "zh") for text in told), tool.name
            assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
        said = "没有符合 --weak 的卡片" if lang == "zh" else "no card matches"
        assert nothing.is_error and said in text_of(nothing)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("answer", {}, "unknown tool answer; use one of due, next_card,"),
    ("attempt", {}, "attempt: 'card' is a required property"),
    ("attempt", {"card": 3}, "attempt: card: 3 is not of type 'string'"),
    ("attempt", {"card": "att-01"}, "no card has been asked yet; call next_card first"),
    ("rate", {"card": "att-01", "rating": "fine"}, "rate: rating: 'fine' is not one of"),
    ("rate", {"card": "att-01", "rating": "good"}, "no card has been asked yet"),
    ("next_card", {"topic": "kvv"}, "unknown topic kvv; did you mean kv?"),
    ("next_card", {"card": "att-99"}, "unknown card att-99"),
    ("next_card", {"card": "att-01", "weak": True}, "not both"),
    ("start", {"challenge": "dubble"}, "unknown challenge dubble; did you mean double?"),
    ("grade", {"challenge": "double"}, "there is no file"),
    ("grade", {"challenge": "double", "file": "a.py", "source": ""}, "give a file or source, not both"),
    ("grade", {"challenge": "double", "file": "notes.txt"}, "is not a Python file"),
    ("grade", {"challenge": "double", "source": "é" * 2**17}, "is larger than 128 KiB"),
    ("hint", {"challenge": "double", "all": True}, "Additional properties are not allowed"),
    ("challenges", {"track": "x" * 500}, "challenges: track: breaks maxLength; see its input"),
]


async def test_what_cannot_be_done_is_one_line(open_secrets: OpenSecrets) -> None:
    workspace = open_secrets("assistant")
    async with Client(ToolServer(workspace, InstantGrader(), Random(0)).server()) as client:
        for name, arguments, said in REFUSED:
            result = await client.call_tool(name, arguments)
            line = text_of(result)
            assert result.is_error and said in line and "\n" not in line and len(line) < 400, line
    assert not workspace.store.log.length()


async def test_another_bug_is_handed_out_when_the_one_before_was_attempted(open_secrets: OpenSecrets) -> None:
    """A majority vote over the lines of many wrong solutions would give the reference."""
    workspace = open_secrets("assistant")
    async with Client(ToolServer(workspace, InstantGrader(), Random(0)).server()) as client:

        async def start(**how: Any) -> Any:
            return await client.call_tool("start", {"challenge": "double", "fresh": True, **how})

        assert not (await start(bug=True)).is_error
        for how in ({"bug": True}, {}, {"bug": True}):
            result = await start(**how)
            assert result.is_error is bool(how)
        assert "is not graded yet; grade it" in text_of(result)
        assert not (await client.call_tool("grade", {"challenge": "double", "source": "x = 1"})).is_error
        assert not (await start(bug=True)).is_error
        assert (await start(bug=True)).is_error
    bugs = [row.bug for row in workspace.store.log.everything() if row.bug]
    assert len(bugs) == 2


@pytest.fixture
def home(tmp_path: Path, indexed_home: Path) -> Path:
    return copytree(indexed_home, tmp_path / "home")


@pytest.mark.slow
async def test_a_real_client_drives_a_review_and_a_grading(home: Path, tmp_path: Path) -> None:
    words = ["-m", "attncli", "--home", str(home), "mcp"]
    said = (tmp_path / "stderr").open("w+", encoding="utf-8")
    async with (
        stdio_client(StdioServerParameters(command=sys.executable, args=words), errlog=said) as (read, write),
        ClientSession(read, write) as session,
    ):
        opened = await session.initialize()
        assert opened.server_info.name == "attn"

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await session.call_tool(name, arguments)
            assert isinstance(result, CallToolResult) and not result.is_error, result
            assert result.structured_content is not None
            return result.structured_content

        due = await call("due")
        put = await call("next_card", topic="att")
        assert put["kind"] == "qa" and "answer" not in put
        told = await call("attempt", card=put["card"], text="The variance grows with d.")
        assert told["answer"] and told["points"]
        assert (await call("rate", card=put["card"], rating="good", points=[1]))["interval_days"] > 0
        assert (await call("due"))["due"] == due["due"] - 1
        started = await call("start", challenge="rms-norm")
        assert "NotImplementedError" in started["text"]
        rejected = await call("grade", challenge="rms-norm")
        assert rejected["verdict"] == "rejected" and rejected["checks"][0]["name"] == "loads"
        Path(started["file"]).write_text(SOLVED, encoding="utf-8")
        accepted = await call("grade", challenge="rms-norm", rung="solved")
        assert accepted["verdict"] == "accepted" and accepted["sandbox"]
    said.seek(0)
    assert said.read() == ""
    with Workspace.open(Home(home), lambda: datetime.now(UTC)) as workspace:
        kinds = [row.kind.value for row in workspace.store.log.everything()]
    assert kinds == ["review", "start", "attempt", "attempt"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
@pytest.mark.parametrize("asks", [pytest.param(0, marks=pytest.mark.full), 1])
def test_ctrl_c_ends_it_at_once_though_it_waits_for_input(home: Path, asks: int) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    slow = {"name": "grade", "arguments": {"challenge": "rms-norm", "source": "while True: pass"}}
    process = subprocess.Popen([*ATTN, "--home", str(home), "mcp"], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None

    def say(method: str, **more: Any) -> None:
        print(json.dumps({"jsonrpc": "2.0", "method": method, **more}), file=process.stdin, flush=True)

    say("initialize", id=1, params=hello)
    assert json.loads(process.stdout.readline())["id"] == 1
    if asks:
        say("notifications/initialized")
        say("tools/call", id=2, params=slow)
        time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert process.stderr.read() == "attn: interrupted; everything recorded so far is kept\n"


@pytest.mark.slow
def test_lines_that_are_no_protocol_are_survived(home: Path) -> None:
    typed = b'nonsense\n{"a": 1}\n\xff\n[]\n'
    done = subprocess.run([*ATTN, "--home", str(home), "mcp"], input=typed, capture_output=True, timeout=60)
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())


def test_without_the_sdk_or_stdin_it_is_one_line(tmp_path: Path, monkeypatch: Patch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["--home", str(tmp_path / "home"), "mcp"]) == 2
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr(mcp_command, "find_spec", lambda name: None)
    assert main(["--home", str(tmp_path / "other"), "mcp"]) == 3
    needed = "attn: `attn mcp` needs the MCP SDK; install it with: pip install 'attncli[mcp]'\n"
    assert capsys.readouterr().err == needed
    assert not (tmp_path / "other").exists()


def test_what_is_recorded_is_on_disk_before_it_is_told(open_secrets: OpenSecrets) -> None:
    tutor = AssistantSession(open_secrets("assistant"), Random(0))
    card = tutor.next_card()["card"]
    tutor.attempt(card, gave_up=True)
    tutor.rate(card, Rating.AGAIN)
    assert open_secrets("assistant").store.log.length() == 1
