"""Build the product out of its rooms."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.agent.ports import Asker, Listener, Patience, for_ever
from nuncius.agent.tool import ToolOutput
from nuncius.app.folders import database_path, make_folder
from nuncius.app.hooks import command_hooks
from nuncius.core.errors import NunciusError, SettingsError, UsageError
from nuncius.core.events import PermissionMode
from nuncius.core.messages import ToolDefinition, Usage
from nuncius.core.settings import Settings
from nuncius.library.library import Library
from nuncius.llm.model import ChatModel
from nuncius.store import open_store
from nuncius.store.outputs import KeptOutputs
from nuncius.store.protocols import JournalStore, Session, Store

if TYPE_CHECKING:
    from nuncius.agent.hooks import Hook
    from nuncius.agent.registry import ToolRegistry
    from nuncius.agent.runtime import Runtime, TurnResult
    from nuncius.library.digest import Digests
    from nuncius.library.downloads import Downloads
    from nuncius.library.graph import Graphs
    from nuncius.library.lookup import Lookup
    from nuncius.library.search import Search
    from nuncius.library.targets import Targets
    from nuncius.sources.services import Services
    from nuncius.store.metrics import Metrics
    from nuncius.walls.paths import PathGuard

log = logging.getLogger(__name__)
MAX_QUESTION_CHARS = 32_000


class App:
    """One home, opened: the library, the sessions and the agent.

    Make it with `open_app`; it belongs to the event loop that opened it.

    Args:
        hooks: Hooks in Python; they run before those of `config.toml`.
    """

    def __init__(self, settings: Settings, store: Store, hooks: "Sequence[Hook]" = ()) -> None:
        self.settings = settings
        self.store = store
        self.outputs = KeptOutputs(settings.library_dir)
        self._hooks = (*hooks, *command_hooks(settings, os.environ))
        self.library = Library(store, settings)
        self._registries: dict[bool, ToolRegistry] = {}
        self._broken: dict[str, str] = {}
        self._guards: dict[bool, PathGuard] = {}
        self._confidential: frozenset[Path] = frozenset()
        self._services: Services | None = None
        self._runtimes: dict[tuple[str, bool | None], Runtime] = {}

    @property
    def services(self) -> "Services":
        """Return the remote services of the literature and the sky."""
        if self._services is None:
            from nuncius.sources.services import Services, trusted
            from nuncius.walls.network import Network

            settings = self.settings
            network = Network(
                offline=settings.offline,
                trusted_hosts=[*trusted(settings), *settings.trusted_hosts],
                https_proxy=settings.https_proxy,
                no_proxy=settings.no_proxy,
                contact_email=settings.contact_email,
            )
            self._services = Services(settings, network, settings.home / "cache")
        return self._services

    def search(self) -> "Search":
        """Return what searches ADS and arXiv."""
        from nuncius.library.search import Search

        return Search(self.store, self.services, aliases=self._aliases)

    async def _aliases(self, name: str) -> Sequence[str]:
        """Return an object's other names; none where nobody can tell them now."""
        try:
            return (await self.targets.resolve(name)).aliases
        except NunciusError as error:
            log.info("the other names of %r are not known: %s", name, error)
            return ()

    def downloads(self, library: Library | None = None) -> "Downloads":
        """Return what fetches papers into the library."""
        from nuncius.library.downloads import Downloads

        return Downloads(
            self.store, self.services, library or self.library, self.settings.library_dir
        )

    def digests(self) -> "Digests":
        """Return what tells arXiv's announcements."""
        from nuncius.library.digest import Digests

        return Digests(self.store, self.services)

    def graphs(self) -> "Graphs":
        """Return what looks at the papers around a paper."""
        from nuncius.library.graph import Graphs

        return Graphs(self.store, self.services)

    @property
    def targets(self) -> "Targets":
        """Return what resolves names of objects on the sky."""
        from nuncius.library.targets import Targets

        return Targets(self.services)

    def lookup(self) -> "Lookup":
        """Return what looks papers up by their names."""
        from nuncius.library.lookup import Lookup

        return Lookup(self.services)

    async def aclose(self) -> None:
        """Close the connections to services."""
        if self._services is not None:
            await self._services.aclose()

    @property
    def journal(self) -> JournalStore:
        """Return sessions, messages and events."""
        return self.store.journal

    async def session(
        self,
        *,
        session_id: str = "",
        latest: bool = False,
        mode: PermissionMode | None = None,
        model: str = "",
        enable_thinking: bool | None = None,
    ) -> Session:
        """Return the session with this id, or the latest conversation, or a new one.

        Raises:
            NotFoundError: There is no such session; close ids are named.
        """
        if session_id:
            return await self.journal.session(session_id)
        if latest:
            found = await self.journal.sessions(limit=1, spoken=True)
            if found:
                return found[0]
        return await self.journal.create_session(
            mode=mode or self.settings.permission_mode,
            model=self.model(model).name,
            enable_thinking=(
                self.settings.enable_thinking if enable_thinking is None else enable_thinking
            ),
        )

    async def ask(
        self,
        question: str,
        *,
        session_id: str,
        model: str = "",
        mode: PermissionMode | None = None,
        max_steps: int = 50,
        enable_thinking: bool | None = None,
        listeners: Sequence[Listener] = (),
        asker: Asker | None = None,
        patience: Patience = for_ever,
        cancel: asyncio.Event | None = None,
    ) -> "TurnResult":
        """Run one turn of a session: the user's message in, a checked answer out.

        Args:
            model: Empty: the session's own.
            asker: Who can answer permission questions; None: an ask is a deny.
            patience: How long a question of the agent's waits for its answer; None: for ever.
            cancel: Set it to end the turn; the turn still ends in `turn_finished`.

        Raises:
            UsageError: The question is empty or too long.
            SessionBusyError: A turn of this session is running.
        """
        if len(question) > MAX_QUESTION_CHARS:
            raise UsageError(
                f"The question has {len(question):,} characters; {MAX_QUESTION_CHARS:,} are the most.",
                hint="Put long text in a file, add it with `nuncius add FILE`, and ask about it.",
            )
        session = await self.journal.session(session_id)
        await self._know_confidential()
        runtime = self._runtime(model or self.kept_model(session), listeners, asker)
        runtime.patience = patience
        return await runtime.run_turn(
            session_id,
            question,
            mode=mode or session.mode,
            max_steps=max_steps,
            enable_thinking=session.enable_thinking if enable_thinking is None else enable_thinking,
            cancel=cancel,
        )

    def kept_model(self, session: Session) -> str:
        """Return the session's own model; empty where the one in force is to be taken.

        That is so where they are the same, and where the session's is on a server that is not the
        one in force.
        """
        host, _, name = session.model.partition("/")
        in_force = self.model().name
        if session.model in {"", "builtin", in_force}:
            return "" if session.model in {"", in_force} else session.model
        return name if host == in_force.partition("/")[0] else ""

    async def call_tool(
        self,
        name: str,
        arguments: str,
        *,
        session_id: str = "",
        mode: PermissionMode | None = None,
        listeners: Sequence[Listener] = (),
        asker: Asker | None = None,
        cancel: asyncio.Event | None = None,
        leaves: bool = False,
    ) -> ToolOutput:
        """Run one call through the whole executor, as a model's call would go.

        Several calls of a session may run at once.

        Args:
            cancel: Set it to end the call; it still ends in a result.
            leaves: Whether the result leaves this machine: confidential papers are kept back.

        Raises:
            SessionBusyError: A turn of this session is running.
        """
        session = await self.session(session_id=session_id)
        await self._know_confidential()
        runtime = self._runtime("", listeners, asker, leaves=leaves)
        return await runtime.run_call(
            session.id, name, arguments, mode=mode or session.mode, cancel=cancel
        )

    async def metrics(self, session_id: str = "") -> "Metrics":
        """Return what a session used, in numbers; all sessions where none is named.

        Raises:
            NotFoundError: There is no such session.
        """
        if session_id:
            await self.journal.session(session_id)
        return await self.store.journal.metrics(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Delete a session and the outputs that were kept of it.

        Raises:
            NotFoundError: There is no such session.
            SessionBusyError: A turn of it is running; nothing is gone.
        """
        # First: were we cut off after the rows, nobody would know whose these are.
        await self.journal.delete_session(session_id, first=lambda: self.outputs.forget(session_id))

    def tools(self) -> Sequence[ToolDefinition]:
        """Return the definitions as the model sees them."""
        return self.registry().definitions()

    def broken_plugins(self) -> Mapping[str, str]:
        """Return the plug-ins that could not be loaded, with the reason."""
        self.registry()
        return self._broken

    def registry(self, *, leaves: bool = False) -> "ToolRegistry":
        """Return the tools, read from the tools folder and from plug-ins when first asked for.

        Args:
            leaves: Whether what they give leaves this machine: confidential papers are kept back.
        """
        if leaves not in self._registries:
            from nuncius.agent.registry import ToolRegistry
            from nuncius.app.discovery import discover
            from nuncius.tools.shell import ShellSettings

            shell = ShellSettings(self.settings.sandbox)
            library = Library(self.store, self.settings, leaves=True) if leaves else self.library
            found, self._broken = discover(
                [
                    library,
                    self.guard(leaves=leaves),
                    shell,
                    self.search(),
                    self.lookup(),
                    self.targets,
                    self.downloads(library),
                ]
            )
            self._registries[leaves] = ToolRegistry.standard(found)
        return self._registries[leaves]

    def guard(self, *, leaves: bool = False) -> "PathGuard":
        """Return the path guard over the library's, the skills' and the project's directory."""
        if leaves not in self._guards:
            from nuncius.walls.paths import PathGuard, Roots

            roots = Roots.of(
                library=self.settings.library_dir,
                skills=[self.settings.skills_dir],
                project=self.settings.project_dir,
                home=self.settings.home,
            )
            self._guards[leaves] = PathGuard(roots, leaves=leaves)
            self._guards[leaves].confidential = self._confidential
        return self._guards[leaves]

    async def _know_confidential(self) -> None:
        """Tell the guards which files belong to confidential papers, as the library knows it now."""
        held = await self.store.papers.confidential()
        paths = [path for files in held.values() for path in files]
        self._confidential = await asyncio.to_thread(
            lambda: frozenset(Path(path).resolve() for path in paths)
        )
        for guard in self._guards.values():
            guard.confidential = self._confidential

    def _folders(self) -> Sequence[Path]:
        """Return the directories that relative paths in rules are meant from."""
        settings = self.settings
        return (settings.project_dir, settings.library_dir, settings.skills_dir)

    def model(self, name: str = "") -> ChatModel:
        """Return the model in force, or the named one; ``builtin`` needs no key.

        Raises:
            SettingsError: A model is named and no server for it is set.
        """
        if name == "builtin" or (not name and self.settings.provider == "builtin"):
            from nuncius.llm.builtin import BuiltinModel

            return BuiltinModel()
        if self.settings.provider == "builtin":
            raise SettingsError(
                f"The model '{name}' needs a server, and none is set.",
                hint="Set LLM_API_KEY or LLM_BASE_URL, or use --model builtin.",
            )
        if not self.settings.llm_base_url:  # other servers have such names of their own
            name = name.removeprefix(f"{self.settings.provider}/")
        return self._remote_model(name or self.settings.llm_model)

    def model_with_fallback(self, name: str = "") -> ChatModel:
        """Return `model`, with FALLBACK_MODEL behind it where that is another one."""
        first = self.model(name)
        if not self.settings.fallback_model or first.name == "builtin":
            return first
        from nuncius.agent.fallback import WithFallback

        second = self.model(self.settings.fallback_model)
        return first if second.name == first.name else WithFallback(first, second)

    def _remote_model(self, name: str) -> ChatModel:
        if not name:
            raise SettingsError("No model is named.", hint="Set LLM_MODEL, such as gpt-5-mini.")
        from nuncius.walls.network import Network

        settings, base = self.settings, self.settings.llm_url
        network = Network(
            offline=settings.offline,
            trusted_hosts=[base, *settings.trusted_hosts],
            https_proxy=settings.https_proxy,
            no_proxy=settings.no_proxy,
            contact_email=settings.contact_email,
        )
        if settings.provider == "anthropic":
            from nuncius.llm.anthropic import AnthropicModel as Remote
        else:
            from nuncius.llm.openai import OpenAIModel as Remote
        model = Remote(network, base_url=base, model=name, api_key=settings.llm_api_key)
        if settings.llm_tool_mode == "native":
            return model
        from nuncius.llm.tool_modes import ToolsInText

        return ToolsInText(model, settings.llm_tool_mode)

    def _runtime(
        self,
        model: str,
        listeners: Sequence[Listener],
        asker: Asker | None,
        *,
        leaves: bool | None = None,
    ) -> "Runtime":
        """Return a runtime for `model`; one model keeps its runtime, and so what it has read.

        Args:
            leaves: Whether what tools give leaves this machine; None: it does if the model is
                elsewhere.
        """
        from nuncius.agent.context import Budget
        from nuncius.agent.permissions import PermissionChecker
        from nuncius.agent.runtime import Runtime
        from nuncius.app.prices import prices_of
        from nuncius.library.answer import Finisher

        runtime = self._runtimes.get((model, leaves))
        if runtime is None:
            chat = self.model_with_fallback(model)
            runtime = self._runtimes[model, leaves] = Runtime(
                chat,
                self.registry(leaves=not chat.local if leaves is None else leaves),
                self.journal,
                PermissionChecker(
                    self.store.desk,
                    self.settings.permission_mode,
                    roots=[str(folder.resolve()) for folder in self._folders()],
                    pending=self.journal,
                ),
                Finisher(self.store),
                system_prompt=self.system_prompt(),
                max_output_tokens=self.settings.llm_max_output_tokens,
                thinking_budget=self.settings.thinking_budget,
                degraded=[chat.degraded] if chat.degraded else [],
                hooks=self._hooks,
                keeper=self.outputs,
                pending=self.journal,
                subagent_prompt=prompt("subagent.md"),
                # the built-in model reads the last question and its results, however long they are
                context_tokens=(
                    None if chat.name == "builtin" else self.settings.llm_context_tokens
                ),
                budget=Budget(self.settings.max_tokens, self.settings.max_cost_usd),
                spent=self._spent,
                prices=prices_of(chat, self.settings),
                standing=self._standing,
            )
        runtime.listeners = list(listeners)
        runtime.asker = asker
        return runtime

    async def _spent(self, session_id: str) -> Usage:
        return (await self.journal.session(session_id)).usage

    async def _standing(self, session_id: str) -> Sequence[str]:
        """Return what holds whatever was compressed: the todo list."""
        lines = [
            f"- {todo.get('id')} ({todo.get('status')}): {todo.get('content')}"
            for todo in await self.journal.todos(session_id)
        ]
        return ["\n".join(["The todo list now:", *lines])] if lines else []

    def system_prompt(self) -> str:
        """Return what every model is told first; the same bytes for one home and project."""
        return (
            f"{prompt('system.md')}\nFile tools see these directories: the library's own "
            f"({self.settings.library_dir}) and the project ({self.settings.project_dir}).\n"
        )


def prompt(name: str) -> str:
    """Return the text of one file of `nuncius.prompts`."""
    return files("nuncius.prompts").joinpath(name).read_text(encoding="utf-8")


@asynccontextmanager
async def open_app(settings: Settings, *, hooks: "Sequence[Hook]" = ()) -> AsyncGenerator[App]:
    """Open a home, making it on first use.

    Args:
        hooks: Hooks in Python, beside those of `config.toml`.

    Raises:
        StoreError: The database cannot be used; the message says how to mend it.
        SettingsError: The home lies where a database cannot live.
    """
    for folder in (settings.home, settings.library_dir, settings.skills_dir):
        make_folder(folder)
    store = await open_store(settings.home, database_path(settings))
    app = App(settings, store, hooks)
    try:
        yield app
    finally:
        await app.aclose()
        await store.close()
