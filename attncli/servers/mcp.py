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
from attncli.i18n import Lang, Localised, _
from attncli.practice import assistant
from attncli.practice.assistant import AssistantSession
from attncli.practice.grade import Judge
from attncli.practice.workspace import Workspace

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

    grader = Judge()
    try:
        anyio.run(session)
    finally:
        grader.close()


class ToolServer:
    """One session with one assistant; calls run one after the other, and gradings in a thread."""

    def __init__(self, workspace: Workspace, grader: Judge, rng: Random) -> None:
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
                "You quiz a learner who prepares for a Transformer and LLM interview, one card at a time. next_card "
                "returns a question without its answer. Ask it in full, wait for the reply, and submit that unchanged "
                "with attempt; never answer for the learner. Only attempt returns the answer. Say what was right and "
                "what was missing, agree on a rating, record it with rate, and go on. Coding: challenges lists them, "
                "start writes a starter file, hint returns one hint at a time, grade judges the file in a sandbox. "
                "References are not available; do not write the solution unless the learner asks."
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
            title=tool.title[lang],
            description=tool.description[lang],
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
            message = error.line(self.workspace.lang)
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
class Argument:
    """An argument of a tool: its JSON schema and a description."""

    schema: Schema
    description: Localised
    required: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and its arguments by name; `run` is None for grading."""

    name: str
    title: Localised
    description: Localised
    run: Callable[..., dict[str, Any]] | None
    takes: Mapping[str, Argument] = field(default_factory=dict)
    only_reads: bool = False

    def schema(self, lang: Lang) -> dict[str, Any]:
        """Return the JSON schema of the arguments, with descriptions in `lang`."""
        return {
            "type": "object",
            "properties": {
                name: {**argument.schema, "description": argument.description[lang]}
                for name, argument in self.takes.items()
            },
            "required": [name for name, argument in self.takes.items() if argument.required],
            "additionalProperties": False,
        }

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments if they fit the schema. Raises UsageError that names the first unfit one."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        error = best_match(Draft202012Validator(self.schema("en")).iter_errors(dict(arguments)))
        if error is not None:
            where = "".join(f"{part}: " for part in error.absolute_path)
            message = error.message if len(error.message) < LONGEST_MESSAGE else f"breaks {error.validator}"
            fault = f"{where}{one_line(message)}"
            raise UsageError(_("{tool}: {fault}; see its input schema", tool=self.name, fault=fault))
        return {name: _whole(value) for name, value in arguments.items()}


_ASKING = (
    Tool(
        "due",
        _("Show what is due"),
        _("Counts what is due now: new, learning and review cards by topic, and challenges."),
        AssistantSession.due,
        only_reads=True,
    ),
    Tool(
        "next_card",
        _("Ask a card"),
        _(
            "Returns the question of the next card, never its answer. Without arguments it follows the schedule. It "
            "returns the same card until that is attempted and rated."
        ),
        AssistantSession.next_card,
        {
            "topic": Argument(_NAME, _("Only cards of this topic (id).")),
            "card": Argument(_NAME, _("This card (id), due or not.")),
            "weak": Argument(_YES, _("The weakest cards, due or not.")),
        },
        only_reads=True,
    ),
    Tool(
        "attempt",
        _("Submit the learner's answer"),
        _(
            "Submits the learner's answer to the current card and returns the right answer, the points to look for, "
            "and the marking if the card has one right answer. `how` of next_card names the argument to use."
        ),
        AssistantSession.attempt,
        {
            "card": Argument(_NAME, _("The id of the current card."), required=True),
            "text": Argument(_TEXT, _("The learner's answer, or the number with its unit.")),
            "numbers": Argument(
                _NUMBERS, _("The chosen options, all items in the learner's order, or the line with the bug.")
            ),
            "blanks": Argument(_TEXTS, _("The learner's text for each blank, in order.")),
            "gave_up": Argument(_YES, _("True only if the learner does not know; then omit the other arguments.")),
        },
    ),
    Tool(
        "rate",
        _("Record the rating"),
        _(
            "Records how well the learner recalled the attempted card; saved when this returns. Good: all points, or "
            "marked right. Hard: at least half of the points. Again: fewer, or marked wrong. Easy: no effort."
        ),
        lambda tutor, card, rating, points=None: tutor.rate(card, Rating.of(rating), points),
        {
            "card": Argument(_NAME, _("The id of the attempted card."), required=True),
            "rating": Argument(_RATING, _("How well it was recalled."), required=True),
            "points": Argument(
                _NUMBERS, _("Numbers of the points that the learner made; only for cards without automatic marking.")
            ),
        },
    ),
    Tool(
        "stats",
        _("Show the learner's progress"),
        _("Retention, streak, forecast, and for each topic the readiness and the weak cards."),
        AssistantSession.stats,
        only_reads=True,
    ),
)
_CODING = (
    Tool(
        "challenges",
        _("List the coding challenges"),
        _("Lists every coding challenge with the learner's status and its next due date."),
        lambda tutor, track=None: {"challenges": tutor.challenges(track)},
        {"track": Argument(_NAME, _("Only this track (id)."))},
        only_reads=True,
    ),
    Tool(
        "start",
        _("Write a starter file"),
        _("Writes the starter of a challenge to the learner's solutions folder and returns it with the statement."),
        lambda tutor, challenge, bug=False, fresh=False: assistant.started(tutor.workspace, challenge, bug, fresh),
        {
            "challenge": Argument(_NAME, _("The id of the challenge."), required=True),
            "bug": Argument(
                _YES, _("Write a wrong solution to debug instead of a starter. Grade it before asking for another.")
            ),
            "fresh": Argument(_YES, _("Start again; an existing file is kept as a numbered copy.")),
        },
    ),
    Tool(
        "hint",
        _("Show the next hint"),
        _("Returns the next hint of a challenge. It is recorded as help: use it only if the learner asks."),
        lambda tutor, challenge: assistant.hinted(tutor.workspace, challenge),
        {"challenge": Argument(_NAME, _("The id of the challenge."), required=True)},
    ),
    Tool(
        "grade",
        _("Grade a solution"),
        _(
            "Grades the learner's code in a sandbox and records the attempt. Returns the verdict, the checks, the "
            "smallest counterexample and the likely mistake. Without file and source it grades their file in the "
            "solutions folder."
        ),
        None,
        {
            "challenge": Argument(_NAME, _("The id of the challenge."), required=True),
            "file": Argument(_PATH, _("The file to grade; a relative path starts at the solutions folder.")),
            "source": Argument(_SOURCE, _("The code itself, instead of a file.")),
            "rung": Argument(_RUNG, _("The rung to reach: solved (whiteboard) or hardened (production).")),
        },
    ),
)
TOOLS = {tool.name: tool for tool in (*_ASKING, *_CODING)}


def tool(name: str) -> Tool:
    """Return the tool of this name. Raises NotFound that lists all tools."""
    if name not in TOOLS:
        raise NotFound(_("unknown tool {name}; use one of {names}", name=one_line(name), names=", ".join(TOOLS)))
    return TOOLS[name]


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
    """Return `value` without values that JSON lacks: lone surrogates, infinities and NaN."""
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
