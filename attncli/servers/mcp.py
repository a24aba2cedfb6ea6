"""`attn mcp`: cards, hints and grading as tools for an assistant, over the Model Context Protocol on stdin and stdout.

Standard input is read without a thread, so that Ctrl-C ends the program at once.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from attncli import __version__
from attncli.domain.log_row import Rating
from attncli.domain.text import escaped, printable
from attncli.domain.vocabulary import RUNGS
from attncli.errors import AttnError, NotFound, UsageError
from attncli.i18n import Lang, _
from attncli.practice import assistant
from attncli.practice.assistant import AssistantSession
from attncli.practice.grade import WarmJudge
from attncli.practice.workspace import Workspace
from attncli.words.assistant_texts import ARGUMENTS, DESCRIPTIONS, TITLES
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server

NAME = "attn"
LONGEST_ERROR = 300
LONGEST_MESSAGE = 160
CHUNK_BYTES = 65536

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string", "maxLength": 10_000}
_NAME: Schema = {"type": "string", "maxLength": 200}
_PATH: Schema = {"type": "string", "maxLength": 4000}
_SOURCE: Schema = {"type": "string", "maxLength": 128 * 1024}
_YES: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 100}
_TEXTS: Schema = {"type": "array", "items": {"type": "string", "maxLength": 2000}, "maxItems": 100}
_RATING: Schema = {"type": "string", "enum": [rating.word for rating in Rating]}
_RUNG: Schema = {"type": "string", "enum": list(RUNGS)}


def serve(workspace: Workspace, rng: Random) -> None:
    """Serve one assistant on stdin and stdout until it closes them; nothing else is printed there."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def session() -> None:
        server = ToolServer(workspace, grader, rng).server()
        lines: Any = None if sys.platform == "win32" else lines_of(sys.stdin.fileno())  # None: the SDK uses a thread
        async with stdio_server(lines) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    grader = WarmJudge()
    try:
        anyio.run(session)
    finally:
        grader.close()


class ToolServer:
    """One session with one assistant; calls run one after the other, and gradings in a thread."""

    def __init__(self, workspace: Workspace, grader: WarmJudge, rng: Random) -> None:
        from anyio import Lock

        self.workspace = workspace
        self.grader = grader
        self.tutor = AssistantSession(workspace, rng)
        self._turn = Lock()

    def server(self) -> Server[Any]:
        """Return the server of the SDK with the tools."""
        from mcp.server.lowlevel import Server

        return Server(
            NAME,
            version=__version__,
            instructions=_(
                "You quiz a learner who prepares for a Transformer and LLM interview. One card at a time: next_card "
                "gives a "
                "question without its answer. Put it to the learner in full, wait for what they say, and hand that "
                "in unchanged "
                "with attempt; do not answer for them. Only attempt gives the answer. Tell them what was right and "
                "what was "
                "missing, agree on a rating, record it with rate, then go on. Coding: challenges lists them, start "
                "writes a "
                "starter file, hint gives one hint at a time, grade judges their file in a sandbox. There is no way "
                "to a "
                "reference; do not write the solution for them unless they ask."
            )[self.workspace.lang],
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:
        from mcp import types

        return types.ListToolsResult(tools=[self._tool_listing(each) for each in TOOLS.values()])

    def _tool_listing(self, tool: Tool) -> types.Tool:
        from mcp import types

        lang = self.workspace.lang
        return types.Tool(
            name=tool.name,
            title=tool.title(lang),
            description=tool.description(lang),
            input_schema=tool.schema(lang),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.only_reads, destructive_hint=False, open_world_hint=False
            ),
        )

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        from mcp import types

        try:
            async with self._turn:
                document = json_safe(await self._answer(params.name, params.arguments or {}))
        except AttnError as error:
            message = one_line(told_in(self.workspace.lang, error.message))
            return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)
        text = types.TextContent(type="text", text=json_text(document))
        return types.CallToolResult(content=[text], structured_content=document)

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        requested = tool(name)
        checked = requested.checked(arguments)
        return requested.run(self.tutor, **checked) if requested.run else await self._graded(**checked)

    async def _graded(self, challenge: str, **options: Any) -> dict[str, Any]:
        from anyio import get_cancelled_exc_class, to_thread

        request = assistant.submission(self.workspace, challenge, **options)
        try:
            report = await to_thread.run_sync(self.grader.grade, request, abandon_on_cancel=True)
        except get_cancelled_exc_class():
            self.grader.cancel()
            raise
        return assistant.settled(self.workspace, request, report)


# The tools


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the schemas of its arguments (`takes`) and the required ones (`needs`); `run` is None for grading."""

    name: str
    run: Callable[..., dict[str, Any]] | None
    takes: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    only_reads: bool = False

    def schema(self, lang: Lang) -> dict[str, Any]:
        """Return the JSON schema of the arguments, with descriptions in `lang`."""
        prefix = f"argument.{_text_key(self.name)}"
        properties = {
            name: {**schema, "description": ARGUMENTS[f"{prefix}.{_text_key(name)}"][lang]}
            for name, schema in self.takes.items()
        }
        return {"type": "object", "properties": properties, "required": list(self.needs), "additionalProperties": False}

    def title(self, lang: Lang) -> str:
        return TITLES[f"title.{_text_key(self.name)}"][lang]

    def description(self, lang: Lang) -> str:
        return DESCRIPTIONS[f"about.{_text_key(self.name)}"][lang]

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments if they fit the schema. Raises UsageError that names the first one that does not."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        error = best_match(Draft202012Validator(self.schema("en")).iter_errors(dict(arguments)))
        if error is not None:
            where = "".join(f"{part}: " for part in error.absolute_path)
            message = error.message if len(error.message) < LONGEST_MESSAGE else f"breaks {error.validator}"
            raise UsageError(f"{self.name}: {where}{one_line(message)}; its input schema says what it takes")
        return {name: _whole(value) for name, value in arguments.items()}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("due", AssistantSession.due, only_reads=True),
        Tool("next_card", AssistantSession.next_card, {"topic": _NAME, "card": _NAME, "weak": _YES}, only_reads=True),
        Tool(
            "attempt",
            AssistantSession.attempt,
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
        Tool("stats", AssistantSession.stats, only_reads=True),
    )
}


def tool(name: str) -> Tool:
    """Return the tool of this name. Raises NotFound that lists all tools."""
    if name not in TOOLS:
        raise NotFound(_("there is no tool {name}; there are {names}", name=one_line(name), names=", ".join(TOOLS)))
    return TOOLS[name]


def _text_key(name: str) -> str:
    """Return the name of a tool or an argument as the tables of texts have it."""
    return name.replace("_", "-")


def _whole(value: Any) -> Any:
    """Return whole floats, also inside a list, as int: JSON has one kind of number."""
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Results and errors as text


def one_line(text: str) -> str:
    """Return an error message as one line without hidden characters, cut to LONGEST_ERROR."""
    line = " ".join(printable(text).split())
    return line if len(line) <= LONGEST_ERROR else f"{line[:LONGEST_ERROR]} …"


def json_safe(value: Any) -> Any:
    """Return `value` without what JSON lacks: lone surrogates, infinities and NaN."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(child) for key, child in value.items()}
    return [json_safe(child) for child in value] if isinstance(value, (list, tuple)) else value


def json_text(document: Any) -> str:
    """Return the document as the text of a result."""
    return escaped(json.dumps(document, ensure_ascii=False))


# Standard input


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe, a terminal or a file."""
    rest = b""
    while chunk := await _chunk(descriptor):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


async def _chunk(descriptor: int) -> bytes:
    from anyio import wait_readable

    with suppress(PermissionError):  # a plain file cannot be waited for, and never blocks
        await wait_readable(descriptor)
    return os.read(descriptor, CHUNK_BYTES)
