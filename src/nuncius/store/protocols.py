"""The store as other floors see it: async, without SQL and without a driver's types.

SQLite stands behind it today; PostgreSQL will stand beside. `nuncius.store.open_store` makes one.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from nuncius.core.documents import Hit, PageText, Passage, PassageDraft
from nuncius.core.events import Event, PermissionMode
from nuncius.core.messages import StoredMessage, Usage
from nuncius.core.papers import Paper, PaperFile
from nuncius.store.paper_lists import PaperLists
from nuncius.store.told import WorkStore

if TYPE_CHECKING:
    from nuncius.store.audit import AuditRow
    from nuncius.store.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. `status`: idle, running, or how the last turn ended."""

    id: str
    title: str
    created_at: str
    status: str
    mode: PermissionMode
    model: str
    enable_thinking: bool
    summary: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some sessions, newest first, and where the next page begins; empty: there are no more."""

    sessions: Sequence[Session]
    cursor: str


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A question to the user or a permission request, as it stands.

    Attributes:
        state: ``open``; of a question `answered`, `declined`, `timed_out` or `no_user` (the last
            two still take an answer); of a permission request `allow`, `deny` or `expired` (the
            call that asked is gone).
        expires_at: When the agent stops waiting for the answer, ISO 8601, UTC; empty: never.
    """

    id: str
    session_id: str
    turn_id: str
    agent: str
    kind: Literal["question", "permission"]
    state: str
    created_at: str
    tool_call_id: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    args_sha256: str = ""
    reason: str = ""
    rule: str = ""
    scope: str = ""
    question: str = ""
    options: tuple[str, ...] = ()
    expires_at: str = ""
    answer: str = ""


class JournalStore(Protocol):
    """Sessions, messages and events. Events are never changed once written.

    `commit` also keeps the views that are derived from events, in the same transaction:
    `tool_runs` (from tool_call and tool_result), `agent_tasks` (from todos), `pending_requests`
    (from permission_request, question and what resolves them), the session's status and usage.
    A message whose metadata name ``delivers`` tells the agent of the answers to these questions.
    """

    async def create_session(
        self,
        *,
        title: str = "",
        mode: PermissionMode = "ask",
        model: str = "",
        enable_thinking: bool = False,
    ) -> Session: ...

    async def session(self, session_id: str) -> Session:
        """Return one session. Raises NotFoundError (with close ids) where there is none."""
        ...

    async def sessions(
        self, *, limit: int = 50, text: str = "", spoken: bool = False
    ) -> Sequence[Session]:
        """Return sessions, newest first; `text` matches titles and messages.

        Args:
            spoken: Only those in which somebody asked; single calls make sessions too.
        """
        ...

    async def session_page(
        self, *, limit: int, text: str = "", spoken: bool = False, cursor: str = ""
    ) -> SessionPage:
        """Return sessions as `sessions` does, from the place on that an earlier page named."""
        ...

    async def rename_session(self, session_id: str, title: str) -> None: ...

    async def set_thinking(self, session_id: str, *, enable_thinking: bool) -> None:
        """Say whether the model thinks in the session's next turns."""
        ...

    async def delete_session(
        self, session_id: str, *, first: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Delete messages and events; audit rows keep their digests.

        Args:
            first: Done before anything is gone, while no turn can begin.

        Raises:
            NotFoundError: There is no such session; nothing was done.
            SessionBusyError: A turn of it is running; nothing was done.
        """
        ...

    async def audit(
        self, *, session_id: str = "", tool: str = "", after: int = 0, limit: int = 1000
    ) -> "Sequence[AuditRow]":
        """Return rows of the audit log with id > `after`, oldest first; empty names match all."""
        ...

    async def verify_audit(self) -> Sequence[str]:
        """Return each place where the audit log, or an event in it, was changed."""
        ...

    async def metrics(self, session_id: str = "") -> "Metrics":
        """Return what a session used, in numbers; all sessions where none is named."""
        ...

    async def commit(
        self,
        events: Sequence[Event],
        messages: Sequence[StoredMessage] = (),
        *,
        durable: bool = False,
    ) -> Sequence[Event]:
        """Write all in one transaction; return the events with `seq` and `time` set."""
        ...

    async def messages(self, session_id: str, agent: str = "main") -> Sequence[StoredMessage]: ...

    async def agents(self, session_id: str) -> Sequence[str]:
        """Return who has spoken: the main agent, then subagents in the order they began."""
        ...

    async def events(
        self, session_id: str, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        """Return events with seq > `after`.

        A record that cannot be read is skipped and becomes a `Notice` in its place.
        """
        ...

    async def last_seqs(self, session_ids: Sequence[str]) -> Mapping[str, int]:
        """Return the place of each session's last event; 0 where it has none."""
        ...

    async def open_turns(self, session_id: str) -> Sequence[str]: ...

    async def open_calls(self, session_id: str) -> Sequence[tuple[str, str, str]]: ...

    async def todos(self, session_id: str) -> Sequence[Mapping[str, Any]]:
        """Return the session's todo list as last written."""
        ...

    async def pending(self, session_id: str = "") -> Sequence[PendingRequest]:
        """Return what waits for a person, oldest first: of one session, or of all.

        Permission requests of a process that died are left out: nothing can come of them.
        """
        ...

    async def pending_request(self, request_id: str) -> PendingRequest:
        """Return one question or permission request. Raises NotFoundError (with close ids)."""
        ...

    async def undelivered(self, session_id: str) -> Sequence[PendingRequest]:
        """Return the answered questions that no message tells the agent of yet."""
        ...

    async def answer_question(self, request_id: str, answer: str | None) -> PendingRequest:
        """Answer a question (None: decline it); return it as it was before.

        Raises:
            NotFoundError: There is no such question.
            UsageError: It was answered before, or the answer is empty or too long.
        """
        ...

    async def decide_request(
        self,
        request_id: str,
        decision: Literal["allow", "deny"],
        *,
        scope: Literal["once", "session", "always"] = "once",
        args_sha256: str = "",
    ) -> PendingRequest:
        """Decide a permission request; return it as it is then.

        A late decision is recorded, and the request stays `expired`.

        Args:
            args_sha256: Digest of the arguments that the person saw; empty: not compared.

        Raises:
            NotFoundError: There is no such request.
            UsageError: It was decided before, or asks for other arguments.
        """
        ...

    def lease(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Hold the session for one turn (flock, pid and start time). Raises SessionBusyError."""
        ...

    def lease_is_held(self, session_id: str) -> bool:
        """Tell whether a living process runs a turn of this session."""
        ...


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that `add` has looked at, good or bad. `error_kind` is empty for good ones."""

    path: str
    sha256: str
    size_bytes: int
    mtime_ns: int
    paper_id: str = ""
    kind: str = ""
    error_kind: str = ""
    reason: str = ""
    hint: str = ""
    present: bool = True


@dataclass(frozen=True, slots=True)
class PaperContent:
    """All that is stored of one parsed paper beside its metadata."""

    text_sha256: str
    """Digest of the normalised text (`core.text.fold_for_identity`): equal means the same paper."""
    engine: str
    verdict: str
    markdown: str
    layer: Sequence[PageText]
    passages: Sequence[PassageDraft]


class PaperStore(PaperLists, Protocol):
    """Papers, their names, their text and the files they came from."""

    async def find(self, name: str) -> Paper:
        """Return the paper with this library id, bibcode, arXiv id, DOI or cite key.

        Raises:
            NotFoundError: Names close ones, where there are any.
        """
        ...

    async def get(self, paper_ids: Sequence[str]) -> Mapping[str, Paper]:
        """Return the papers with these ids; unknown ids are left out."""
        ...

    async def papers(self, *, limit: int | None = None, offset: int = 0) -> Sequence[Paper]:
        """Return papers, the newest first."""
        ...

    async def count(self) -> int: ...

    async def by_text(self, text_sha256: str) -> Paper | None:
        """Return the paper that has this normalised text."""
        ...

    async def put(
        self, paper: Paper, content: PaperContent | None, files: Sequence[FileRecord]
    ) -> Paper:
        """Insert or replace a paper, its content and its files in one go.

        A paper with an empty `paper_id` gets a new id, `added_at` and a cite key that is unique;
        an id once given is never given again. Where its text is stored already, it is that paper
        which is replaced. A paper with passages becomes `indexed`. `content` None keeps the
        stored text; `files` adds or replaces records and takes none away; tags are those of a new
        paper, a known one keeps its own. Passages get ``<paper_id>-<ordinal>`` and are
        searchable when this returns. Large papers are indexed in several short transactions; a
        paper whose indexing was interrupted is completed or redone by the next `put`.
        """
        ...

    async def remove(self, paper_id: str) -> None:
        """Delete a paper, its text, passages and file records; never a user's file."""
        ...

    async def markdown(self, paper_id: str) -> str: ...

    async def content_facts(self, paper_id: str) -> tuple[str, str]:
        """Return engine and verdict of the stored text."""
        ...

    async def layer(self, paper_id: str, page: int) -> str:
        """Return the text layer of one page (0 where the format has none), or nothing."""
        ...

    async def files(self) -> Sequence[FileRecord]:
        """Return every file that was looked at, failures included."""
        ...

    async def file(self, path: str) -> FileRecord | None: ...

    async def put_files(self, files: Sequence[FileRecord]) -> None:
        """Insert or replace file records (failures, changed times, vanished files)."""
        ...

    async def files_of(self, paper_id: str) -> Sequence[PaperFile]: ...

    async def confidential(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of the papers that may not leave this machine, with their files' paths."""
        ...


class PassageStore(Protocol):
    """Search in passages."""

    async def get(self, passage_ids: Sequence[str]) -> Mapping[str, Passage]: ...

    async def around(
        self, passage_id: str, *, before: int = 1, after: int = 1
    ) -> Sequence[Passage]:
        """Return the passage with its neighbours in the paper, in order."""
        ...

    async def of_paper(self, paper_id: str) -> Sequence[Passage]:
        """Return all passages of a paper in order."""
        ...

    async def search(
        self,
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        paper_ids: Sequence[str] | None = None,
        without: Sequence[str] = (),
        years: tuple[int | None, int | None] = (None, None),
    ) -> Sequence[Hit]:
        """Rank passages by BM25 over title, section and text (weights 2:1:1).

        Args:
            terms: One entry for each term of the query: its variants, each a string of
                normalised tokens that must stand next to each other. Variants and terms are
                joined by OR. Filters apply before ranking: exactly min(limit, matches) come back.

        Raises:
            StoreError: The search failed; never an empty list instead.
        """
        ...

    async def frequencies(self, variants: Sequence[str]) -> Mapping[str, int]:
        """Return in how many passages each normalised phrase occurs."""
        ...

    async def count(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Note:
    """A person's or the agent's note on a quote."""

    id: int
    paper_id: str
    quote: str
    note: str
    page: int | None
    color: str
    created_at: str
    agent: str = "main"


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A permission rule as stored."""

    id: int
    pattern: str
    decision: Literal["deny", "allow", "ask"]
    session_id: str
    source: str
    created_at: str


class Desk(Protocol):
    """Notes and permission rules."""

    async def add_note(
        self, paper_id: str, *, quote: str, note: str, page: int | None, color: str, agent: str
    ) -> Note: ...

    async def notes(self, paper_id: str | None = None) -> Sequence[Note]: ...

    async def change_note(self, note_id: int, *, note: str) -> Note:
        """Put other words on a quote.

        Raises:
            NotFoundError: There is no such note.
        """
        ...

    async def remove_note(self, note_id: int) -> None:
        """Delete a note.

        Raises:
            NotFoundError: There is no such note.
        """
        ...

    async def rules(self, session_id: str) -> Sequence[StoredRule]:
        """Return the rules for all sessions and for this one, oldest first."""
        ...

    async def add_rule(
        self,
        pattern: str,
        decision: Literal["deny", "allow", "ask"],
        *,
        session_id: str = "",
        source: str = "user",
    ) -> int: ...

    async def revoke_rule(self, rule_id: int) -> None: ...


class Store(Protocol):
    """One open database and its rooms."""

    @property
    def journal(self) -> JournalStore: ...
    @property
    def papers(self) -> PaperStore: ...
    @property
    def passages(self) -> PassageStore: ...
    @property
    def desk(self) -> Desk: ...
    @property
    def works(self) -> WorkStore: ...

    async def generation(self) -> int:
        """Return the index generation: it grows with every change of papers or passages."""
        ...

    async def backup(self, target: Path) -> None:
        """Write a consistent copy while others may be writing; never over an existing file."""
        ...

    async def check(self) -> Sequence[str]:
        """Return what is wrong (integrity, search index, rows without papers); empty for sound."""
        ...

    async def close(self) -> None: ...
