"""The tools on stdin and stdout, in the Model Context Protocol, as the official SDK speaks it."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from attncli import __version__
from attncli.doors.stdin_lines import interruptible_lines
from attncli.errors import AttnError
from attncli.practice import assistant_coding
from attncli.practice.assistant import AssistantSitting
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.workspace import Workspace
from attncli.servers.mcp import TOOLS, Tool, json_safe, json_text, one_line, tool
from attncli.words.assistant_texts import INSTRUCTIONS
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server

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

        request = assistant_coding.submission(self.workspace, challenge, **how)
        try:
            report = await to_thread.run_sync(self.grader.grade, request, abandon_on_cancel=True)
        except get_cancelled_exc_class():
            self.grader.cancel()
            raise
        return assistant_coding.settled(self.workspace, request, report)


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
