"""Build the product out of its rooms."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nuncius.agent.ports import Asker, Listener
from nuncius.agent.tool import ToolOutput
from nuncius.core.errors import SettingsError, UsageError
from nuncius.core.events import PermissionMode
from nuncius.core.messages import ToolDefinition
from nuncius.core.settings import Settings
from nuncius.library.library import Library
from nuncius.llm.model import ChatModel
from nuncius.store import open_store
from nuncius.store.protocols import JournalStore, Session, Store

if TYPE_CHECKING:
    from nuncius.agent.registry import ToolRegistry
    from nuncius.agent.runtime import Runtime, TurnResult
    from nuncius.walls.paths import PathGuard

MAX_QUESTION_CHARS = 32_000


class App:
    """One home, opened: the library, the sessions and the agent.

    Make it with `open_app`; it belongs to the event loop that opened it.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.library = Library(store, settings)
        self._registry: ToolRegistry | None = None
        self._broken: dict[str, str] = {}
        self._guard: PathGuard | None = None
        self._runtimes: dict[str, Runtime] = {}

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
        """Return the session with this id, or the latest one, or a new one.

        Raises:
            NotFoundError: There is no such session; close ids are named.
        """
        if session_id:
            return await self.journal.session(session_id)
        if latest:
            found = await self.journal.sessions(limit=1)
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
        cancel: asyncio.Event | None = None,
    ) -> "TurnResult":
        """Run one turn of a session: the user's message in, a checked answer out.

        Args:
            asker: Who can answer permission questions; None: an ask is a deny.
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
        runtime = self._runtime(model, listeners, asker)
        return await runtime.run_turn(
            session_id,
            question,
            mode=mode or session.mode,
            max_steps=max_steps,
            enable_thinking=session.enable_thinking if enable_thinking is None else enable_thinking,
            cancel=cancel,
        )

    async def call_tool(
        self,
        name: str,
        arguments: str,
        *,
        session_id: str = "",
        mode: PermissionMode | None = None,
        asker: Asker | None = None,
    ) -> ToolOutput:
        """Run one call through the whole executor, as a model's call would go."""
        session = await self.session(session_id=session_id)
        return await self._runtime("", (), asker).run_call(
            session.id, name, arguments, mode=mode or session.mode
        )

    def tools(self) -> Sequence[ToolDefinition]:
        """Return the definitions as the model sees them."""
        return self.registry().definitions()

    def broken_plugins(self) -> Mapping[str, str]:
        """Return the plug-ins that could not be loaded, with the reason."""
        self.registry()
        return self._broken

    def registry(self) -> "ToolRegistry":
        """Return the tools, read from the tools folder and from plug-ins when first asked for."""
        if self._registry is None:
            from nuncius.agent.registry import ToolRegistry
            from nuncius.app.discovery import discover

            found, self._broken = discover([self.library, self.guard()])
            self._registry = ToolRegistry.standard(found)
        return self._registry

    def guard(self) -> "PathGuard":
        """Return the path guard over the library's, the skills' and the project's directory."""
        if self._guard is None:
            from nuncius.walls.paths import PathGuard, Roots

            self._guard = PathGuard(
                Roots.of(
                    library=self.settings.library_dir,
                    skills=[self.settings.skills_dir],
                    project=self.settings.project_dir,
                    home=self.settings.home,
                )
            )
        return self._guard

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
        return self._remote_model(name.removeprefix("openai/") or self.settings.llm_model)

    def _remote_model(self, name: str) -> ChatModel:
        if not name:
            raise SettingsError("No model is named.", hint="Set LLM_MODEL, such as gpt-5-mini.")
        from nuncius.llm.openai import OpenAIModel
        from nuncius.walls.network import Network

        base = self.settings.llm_base_url or "https://api.openai.com/v1"
        settings = self.settings
        network = Network(
            offline=settings.offline,
            trusted_hosts=[base, *settings.trusted_hosts],
            https_proxy=settings.https_proxy,
            no_proxy=settings.no_proxy,
            contact_email=settings.contact_email,
        )
        return OpenAIModel(network, base_url=base, model=name, api_key=self.settings.llm_api_key)

    def _runtime(self, model: str, listeners: Sequence[Listener], asker: Asker | None) -> "Runtime":
        """Return a runtime for `model`; one model keeps its runtime, and so what it has read."""
        from nuncius.agent.permissions import PermissionChecker
        from nuncius.agent.runtime import Runtime
        from nuncius.library.answer import Finisher

        runtime = self._runtimes.get(model)
        if runtime is None:
            chat = self.model(model)
            runtime = self._runtimes[model] = Runtime(
                chat,
                self.registry(),
                self.journal,
                PermissionChecker(
                    self.store.desk,
                    self.settings.permission_mode,
                    roots=[
                        str(self.settings.library_dir),
                        str(self.settings.project_dir),
                    ],
                ),
                Finisher(self.store),
                system_prompt=self.system_prompt(),
                max_output_tokens=self.settings.llm_max_output_tokens,
                thinking_budget=self.settings.thinking_budget,
                degraded=[chat.degraded] if chat.degraded else [],
            )
        runtime.listeners = list(listeners)
        runtime.asker = asker
        return runtime

    def system_prompt(self) -> str:
        """Return what every model is told first; the same bytes for one home and project."""
        text = files("nuncius.prompts").joinpath("system.md").read_text(encoding="utf-8")
        return (
            f"{text}\nFile tools see these directories: the library's own "
            f"({self.settings.library_dir}) and the project ({self.settings.project_dir}).\n"
        )


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncGenerator[App]:
    """Open a home, making it on first use.

    Raises:
        StoreError: The database cannot be used; the message says how to mend it.
        SettingsError: The home lies where a database cannot live.
    """
    for folder in (settings.home, settings.library_dir, settings.skills_dir):
        _make(folder)
    store = await open_store(settings.home, database_path(settings))
    try:
        yield App(settings, store)
    finally:
        await store.close()


def database_path(settings: Settings) -> Path:
    """Return the file of ``sqlite:///path``.

    Raises:
        SettingsError: The URL names another kind of database.
    """
    prefix = "sqlite:///"
    if not settings.database_url.startswith(prefix):
        raise SettingsError(
            f"NUNCIUS_DATABASE_URL is '{settings.database_url.split(':', 1)[0]}:...'.",
            hint="This version keeps its data in SQLite: sqlite:///path/to/nuncius.db",
        )
    return Path(settings.database_url.removeprefix(prefix))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The directory {folder} cannot be made: {error.strerror}.",
            hint="Set NUNCIUS_HOME to a directory that you may write to.",
        ) from error
