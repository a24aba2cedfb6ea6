"""The tools that an assistant is given: what each takes, and what it does with a sitting."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from attncli import __version__
from attncli.domain.challenge import RUNGS
from attncli.domain.log_row import Rating
from attncli.domain.text import Lang, escaped, printable
from attncli.errors import AttnError, NotFound, UsageError
from attncli.practice import assistant
from attncli.practice.assistant import AssistantSitting
from attncli.practice.grade import WarmJudge
from attncli.practice.workspace import Workspace
from attncli.words.assistant_texts import ARGUMENTS, DESCRIPTIONS, INSTRUCTIONS, TITLES
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server


# The tools on stdin and stdout, in the Model Context Protocol, as the official SDK speaks it.

NAME = "attn"


class ToolServer:
    """One sitting with one assistant. Calls are served one after the other; only a grading runs beside the loop."""

    def __init__(self, workspace: Workspace, grader: WarmJudge, rng: Random) -> None:
        from anyio import Lock

        self.workspace = workspace
        self.grader = grader
        self.tutor = AssistantSitting(workspace, rng)
        self._turn = Lock()

    def server(self) -> Server[Any]:
        """The SDK's server with the tools in it."""
        from mcp.server.lowlevel import Server

        return Server(
            NAME,
            version=__version__,
            instructions=INSTRUCTIONS[self.workspace.lang],
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:
        from mcp import types

        return types.ListToolsResult(tools=[self._listed(each) for each in TOOLS.values()])

    def _listed(self, listed: Tool) -> types.Tool:
        from mcp import types

        lang = self.workspace.lang
        return types.Tool(
            name=listed.name,
            title=listed.title(lang),
            description=listed.description(lang),
            input_schema=listed.schema(lang),
            annotations=types.ToolAnnotations(
                read_only_hint=listed.only_reads, destructive_hint=False, open_world_hint=False
            ),
        )

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        from mcp import types

        try:
            async with self._turn:
                document = json_safe(await self._answer(params.name, params.arguments or {}))
        except AttnError as error:
            told = told_in(self.workspace.lang, error.message)
            said = types.TextContent(type="text", text=one_line(told))
            return types.CallToolResult(content=[said], is_error=True)
        text = types.TextContent(type="text", text=json_text(document))
        return types.CallToolResult(content=[text], structured_content=document)

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        called = tool(name)
        checked = called.checked(arguments)
        return called.run(self.tutor, **checked) if called.run else await self._graded(**checked)

    async def _graded(self, challenge: str, **how: Any) -> dict[str, Any]:
        from anyio import get_cancelled_exc_class, to_thread

        request = assistant.submission(self.workspace, challenge, **how)
        try:
            report = await to_thread.run_sync(self.grader.grade, request, abandon_on_cancel=True)
        except get_cancelled_exc_class():
            self.grader.cancel()
            raise
        return assistant.settled(self.workspace, request, report)


def serve(workspace: Workspace, rng: Random) -> None:
    """Serves one assistant on stdin and stdout until it closes them; nothing else is printed there."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def session() -> None:
        server = ToolServer(workspace, grader, rng).server()
        async with stdio_server(interruptible_lines()) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    grader = WarmJudge()
    try:
        anyio.run(session)
    finally:
        grader.close()


Schema = Mapping[str, Any]
LONGEST_SAID = 300
LONGEST_FAULT = 160

_TEXT: Schema = {"type": "string", "maxLength": 10_000}
_NAME: Schema = {"type": "string", "maxLength": 200}
_PATH: Schema = {"type": "string", "maxLength": 4000}
_SOURCE: Schema = {"type": "string", "maxLength": 128 * 1024}
_YES: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 100}
_TEXTS: Schema = {"type": "array", "items": {"type": "string", "maxLength": 2000}, "maxItems": 100}
_RATING: Schema = {"type": "string", "enum": [rating.word for rating in Rating]}
_RUNG: Schema = {"type": "string", "enum": list(RUNGS)}


@dataclass(frozen=True, slots=True)
class Tool:
    """`takes` says what each argument is, `needs` which must be there; `run` is None for grading, which takes long."""

    name: str
    run: Callable[..., dict[str, Any]] | None
    takes: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    only_reads: bool = False

    def schema(self, lang: Lang) -> dict[str, Any]:
        """The JSON schema of its arguments, with their descriptions."""
        told = {name: {**schema, "description": self._about(name)[lang]} for name, schema in self.takes.items()}
        return {"type": "object", "properties": told, "required": list(self.needs), "additionalProperties": False}

    def title(self, lang: Lang) -> str:
        return TITLES[f"title.{_key(self.name)}"][lang]

    def description(self, lang: Lang) -> str:
        return DESCRIPTIONS[f"about.{_key(self.name)}"][lang]

    def _about(self, argument: str) -> Any:
        return ARGUMENTS[f"argument.{_key(self.name)}.{_key(argument)}"]

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, if they fit the schema. Raises UsageError that names the first that does not."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        fault = best_match(Draft202012Validator(self.schema("en")).iter_errors(dict(arguments)))
        if fault is not None:
            where = "".join(f"{part}: " for part in fault.absolute_path)
            said = fault.message if len(fault.message) < LONGEST_FAULT else f"breaks {fault.validator}"
            raise UsageError(f"{self.name}: {where}{one_line(said)}; its input schema says what it takes")
        return {name: _whole(value) for name, value in arguments.items()}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("due", AssistantSitting.due, only_reads=True),
        Tool("next_card", AssistantSitting.next_card, {"topic": _NAME, "card": _NAME, "weak": _YES}, only_reads=True),
        Tool(
            "attempt",
            AssistantSitting.attempt,
            {"card": _NAME, "text": _TEXT, "numbers": _NUMBERS, "blanks": _TEXTS, "gave_up": _YES},
            ("card",),
        ),
        Tool(
            "rate",
            lambda tutor, card, rating, points=None: tutor.rate(card, Rating.of(rating), points),
            {"card": _NAME, "rating": _RATING, "points": _NUMBERS},
            ("card", "rating"),
        ),
        Tool(
            "challenges",
            lambda tutor, track=None: assistant.listed(tutor.workspace, track),
            {"track": _NAME},
            only_reads=True,
        ),
        Tool(
            "start",
            lambda tutor, challenge, bug=False, fresh=False: assistant.started(tutor.workspace, challenge, bug, fresh),
            {"challenge": _NAME, "bug": _YES, "fresh": _YES},
            ("challenge",),
        ),
        Tool(
            "hint",
            lambda tutor, challenge: assistant.hinted(tutor.workspace, challenge),
            {"challenge": _NAME},
            ("challenge",),
        ),
        Tool("grade", None, {"challenge": _NAME, "file": _PATH, "source": _SOURCE, "rung": _RUNG}, ("challenge",)),
        Tool("stats", AssistantSitting.stats, only_reads=True),
    )
}


def tool(name: str) -> Tool:
    """The tool of this name. Raises NotFound with all there are."""
    if name not in TOOLS:
        raise NotFound(f"there is no tool {one_line(name)}; there are {', '.join(TOOLS)}")
    return TOOLS[name]


def one_line(text: str) -> str:
    """An error as it may be told: one line, not too long, with nothing hidden in it."""
    line = " ".join(printable(text).split())
    return line if len(line) <= LONGEST_SAID else f"{line[:LONGEST_SAID]} …"


def json_safe(value: Any) -> Any:
    """A document that any JSON reader takes: no lone surrogates, no numbers that JSON lacks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(child) for key, child in value.items()}
    return [json_safe(child) for child in value] if isinstance(value, (list, tuple)) else value


def json_text(document: Any) -> str:
    """The document as the text of a result."""
    return escaped(json.dumps(document, ensure_ascii=False))


def _key(name: str) -> str:
    """How the words name a tool or an argument."""
    return name.replace("_", "-")


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 1.0 is a whole one."""
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Standard input line by line, without a thread that would wait in it: Ctrl-C ends the program at once.

CHUNK_BYTES = 65536


def interruptible_lines() -> Any:
    """What the SDK takes for standard input; None where it has to wait in a thread of its own (Windows)."""
    return None if sys.platform == "win32" else lines_of(sys.stdin.fileno())


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """The lines that a pipe, a terminal or a file gives, up to its end."""
    begun = b""
    while chunk := await _chunk(descriptor):
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
    if begun:
        yield begun.decode("utf-8", "replace")


async def _chunk(descriptor: int) -> bytes:
    from anyio import wait_readable

    try:
        await wait_readable(descriptor)
    except PermissionError:
        return os.read(descriptor, CHUNK_BYTES)  # a plain file is not waited for: it never blocks
    return os.read(descriptor, CHUNK_BYTES)
