"""The server: which tools it offers, and the way of one call through the whole executor."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from nuncius import __version__
from nuncius.agent.arguments import canonical, shorten
from nuncius.agent.outputs import from_error, stopped
from nuncius.agent.tool import ToolOutput
from nuncius.app.build import App, prompt
from nuncius.core.errors import NunciusError
from nuncius.core.events import Event, ToolProgress
from nuncius.core.messages import ToolDefinition
from nuncius.library.answer import Finisher
from nuncius.mcp.check import NAME as CHECK
from nuncius.mcp.check import CheckAnswer
from nuncius.mcp.stdio import Incoming, Outgoing, pipes

log = logging.getLogger(__name__)

PARALLEL = 16
"""Calls that run at the same time; more wait their turn."""
_CLOSE_S = 0.7
"""How long calls may close their books after the client is gone."""
_EVIDENCE = ("evidence", "query", "near_misses", "degraded")
Context = ServerRequestContext[Any, Any]


async def serve(app: App, stop: asyncio.Event) -> None:
    """Serve this process's client until it closes stdin, or until `stop` is set."""
    async with pipes() as (incoming, outgoing):
        await serve_streams(app, incoming, outgoing, stop)


async def serve_streams(
    app: App, incoming: Incoming, outgoing: Outgoing, stop: asyncio.Event
) -> None:
    """Serve one client over two streams."""
    connection = Connection(app)
    server = connection.server()
    serving = asyncio.create_task(
        server.run(incoming, outgoing, server.create_initialization_options())
    )
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        serving.cancel()
        await asyncio.wait((serving, stopping), timeout=_CLOSE_S)
        await connection.close()
    if serving.done() and not serving.cancelled():
        serving.result()


class Connection:
    """One client: its session, what it was shown, its calls.

    Args:
        app: A home that is open for this client alone: `check_answer` is added to its tools.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._evidence: list[Mapping[str, object]] = []
        self._session: asyncio.Task[str] | None = None
        self._slots = asyncio.Semaphore(PARALLEL)
        self._calls: dict[asyncio.Task[ToolOutput], asyncio.Event] = {}
        registry = app.registry(leaves=True)
        registry.add(CheckAnswer(Finisher(app.store), self._evidence))
        offered = {t.name for t in registry if t.read_only and not t.conversational}
        self._tools = {
            one.name: _offer(one) for one in registry.definitions() if one.name in offered
        }

    def server(self) -> "Server[Any]":
        """Return the SDK's server with our tools."""
        return Server(
            "nuncius",
            version=__version__,
            title="nuncius: the user's astronomy papers",
            instructions=prompt("mcp.md"),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def close(self) -> None:
        """End the calls that still run, and let them close their books."""
        for cancel in self._calls.values():
            cancel.set()
        if self._calls:
            _, left = await asyncio.wait(tuple(self._calls), timeout=_CLOSE_S)
            for task in left:
                task.cancel()

    # --- requests ---

    async def _list_tools(
        self, _ctx: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(self._tools.values()))

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in self._tools:
            name = shorten(params.name, 64)
            raise MCPError(
                INVALID_PARAMS, f"There is no tool {name!r} here. Tools: {', '.join(self._tools)}."
            )
        # The call has a task of its own: the SDK would cancel its inner waits one by one, and the
        # journal could not be told how it ended.
        cancel = asyncio.Event()
        progress = _Progress(ctx.session)
        call = asyncio.create_task(self._run(ctx, params, progress, cancel))
        self._calls[call] = cancel
        call.add_done_callback(self._ended)
        telling = asyncio.create_task(progress.tell())
        try:
            return _result(await asyncio.shield(call))
        except asyncio.CancelledError:
            cancel.set()
            raise
        finally:
            telling.cancel()

    def _ended(self, call: "asyncio.Task[ToolOutput]") -> None:
        del self._calls[call]
        if not call.cancelled() and call.exception():
            log.error("a call broke", exc_info=call.exception())

    # --- one call ---

    async def _run(
        self,
        ctx: Context,
        params: CallToolRequestParams,
        progress: "_Progress",
        cancel: asyncio.Event,
    ) -> ToolOutput:
        async with self._slots:
            if cancel.is_set():
                return stopped("cancelled", started=False, read_only=True)
            try:
                output = await self._app.call_tool(
                    params.name,
                    canonical(params.arguments or {}),
                    session_id=await self._session_of(ctx),
                    listeners=[progress],
                    cancel=cancel,
                    leaves=True,
                )
            except NunciusError as error:  # the journal, the settings: the client may try again
                return from_error(params.name, error)
            self._remember(params.name, output)
            return output

    async def _session_of(self, ctx: Context) -> str:
        """Return the connection's session, made at its first call."""
        if self._session is None or (self._session.done() and self._session.exception()):
            client = ctx.session.client_params
            name = client.client_info.name if client else ""
            self._session = asyncio.create_task(self._new_session(name))
        return await asyncio.shield(self._session)

    async def _new_session(self, client: str) -> str:
        name = shorten("".join(c for c in client if c.isprintable()), 80).strip()
        session = await self._app.journal.create_session(
            title=f"mcp: {name or 'unnamed client'}",
            mode="plan",  # reads only, whatever is set for our own agent
            model=self._app.model().name,
        )
        return session.id

    def _remember(self, name: str, output: ToolOutput) -> None:
        """Keep what was shown: it may be cited."""
        if output.is_error or name == CHECK:
            return
        shown = {key: output.metadata[key] for key in _EVIDENCE if key in output.metadata}
        if shown:
            self._evidence.append(shown)


class _Progress:
    """Tells the client how far a call is, in numbers that only grow."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._reports: asyncio.Queue[ToolProgress] = asyncio.Queue()

    def __call__(self, event: Event) -> None:
        """Take an event of the call."""
        if isinstance(event, ToolProgress):
            self._reports.put_nowait(event)

    async def tell(self) -> None:
        """Send what comes until cancelled."""
        done = 0.0
        while True:
            report = await self._reports.get()
            done = max(report.fraction or 0.0, done + 1e-6)
            total = None if report.fraction is None else 1.0
            await self._session.report_progress(done, total, report.progress)


def _offer(one: ToolDefinition) -> Tool:
    return Tool(
        name=one.name,
        description=one.description,
        input_schema=dict(one.parameters),
        annotations=ToolAnnotations(
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _result(output: ToolOutput) -> CallToolResult:
    """Return an output as the protocol has it.

    The text is in the structured content, too: some clients give their model nothing else.
    """
    facts = {key: value for key, value in output.metadata.items() if key != "evidence"}
    if output.error_kind:
        facts["error_kind"] = output.error_kind
    return CallToolResult(
        content=[TextContent(type="text", text=output.content)],
        structured_content={**facts, "text": output.content},
        is_error=output.is_error,
    )
