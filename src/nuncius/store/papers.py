"""Papers, their names, their texts and the files they came from."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from typing_extensions import override

from nuncius.core.errors import NotFoundError, StoreError
from nuncius.core.listing import (
    ALL_PAPERS,
    FacetKind,
    FacetValue,
    PaperFilter,
    PaperOrder,
    PaperPage,
)
from nuncius.core.papers import Author, Paper, PaperFile
from nuncius.core.text import clean
from nuncius.store import files, lists, tagging, texts, words
from nuncius.store.clock import now
from nuncius.store.connection import Connection, Row
from nuncius.store.database import Database, Work
from nuncius.store.files import upsert as upsert_files
from nuncius.store.lease import HeldError, Lease, is_held, take
from nuncius.store.names import (
    candidates,
    cite_key_stem,
    cite_keys,
    close_names,
    names_of,
    new_paper_id,
)
from nuncius.store.paper_rows import BY_ID, READ, read_papers
from nuncius.store.protocols import FileRecord, PaperContent, PaperStore
from nuncius.store.records import dump_json, well_formed

_BY_IDS = READ + " JOIN json_each(?) AS wanted ON wanted.value = paper_id ORDER BY number DESC"
_ALL = READ + " ORDER BY number DESC LIMIT ? OFFSET ?"
_BY_TEXT = READ + " JOIN paper_texts USING (text_id) WHERE text_sha256 = ? ORDER BY number LIMIT 1"
_BY_NAME = """
    SELECT paper_ids.paper_id FROM paper_ids JOIN papers USING (paper_id)
    WHERE kind = ? AND name = ? ORDER BY papers.number LIMIT 1
"""
_BY_ALIAS = "SELECT paper_id FROM paper_aliases WHERE kind = ? AND name = ? LIMIT 1"
_CONFIDENTIAL = "SELECT paper_id FROM papers WHERE confidential"
_COUNT = "SELECT count(*) FROM papers"
_KNOWN_NAMES = """
    SELECT cite_key FROM papers UNION ALL SELECT bibcode FROM papers WHERE bibcode IS NOT NULL
    UNION ALL SELECT arxiv_id FROM papers WHERE arxiv_id IS NOT NULL
    UNION ALL SELECT doi FROM papers WHERE doi IS NOT NULL UNION ALL SELECT paper_id FROM papers
"""
_ID_IS_TAKEN = """
    SELECT EXISTS (SELECT 1 FROM papers WHERE paper_id = ?1)
        OR EXISTS (SELECT 1 FROM retired_papers WHERE paper_id = ?1)
"""
_IS_RETIRED = "SELECT EXISTS (SELECT 1 FROM retired_papers WHERE paper_id = ?)"
_KEY_IS_TAKEN = """
    SELECT EXISTS (SELECT 1 FROM paper_ids WHERE kind = 'cite_key' AND name = ?1)
        OR EXISTS (SELECT 1 FROM retired_papers WHERE cite_key = ?1 COLLATE NOCASE)
"""
_OLD_KEY = """
    SELECT cite_key FROM retired_papers
    WHERE text_sha256 = ?1 AND text_sha256 != '' AND cite_key NOT IN (SELECT cite_key FROM papers)
    ORDER BY removed_at LIMIT 1
"""
_UPSERT = """
    INSERT INTO papers (paper_id, title, authors, year, bibcode, arxiv_id, doi, abstract,
        cite_key, state, pages, language, label, confidential, added_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (paper_id) DO UPDATE SET title = excluded.title, authors = excluded.authors,
        year = excluded.year, bibcode = excluded.bibcode, arxiv_id = excluded.arxiv_id,
        doi = excluded.doi, abstract = excluded.abstract, state = excluded.state,
        pages = excluded.pages, language = excluded.language, label = excluded.label,
        confidential = excluded.confidential
"""
_FORGET_NAMES = "DELETE FROM paper_ids WHERE paper_id = ?"
_ADD_NAME = "INSERT INTO paper_ids (kind, name, paper_id) VALUES (?, ?, ?)"
_TEXT = """
    SELECT coalesce(markdown, '') FROM papers LEFT JOIN paper_texts USING (text_id)
    WHERE paper_id = ?
"""
_FACTS = """
    SELECT coalesce(engine, ''), coalesce(verdict, '')
    FROM papers LEFT JOIN paper_texts USING (text_id) WHERE paper_id = ?
"""
_LAYER = "SELECT text FROM pages JOIN papers USING (text_id) WHERE paper_id = ? AND page = ?"
_RETIRE = """
    INSERT INTO retired_papers (paper_id, cite_key, text_sha256, removed_at)
    SELECT paper_id, cite_key, coalesce(text_sha256, ''), ?
    FROM papers LEFT JOIN paper_texts USING (text_id) WHERE paper_id = ?
"""
_REMOVE = "DELETE FROM papers WHERE paper_id = ?"
_NEXT_GENERATION = "UPDATE index_generation SET generation = generation + 1"


class Papers(PaperStore):
    """The library's papers in SQLite.

    Args:
        database: Where they are kept.
        leases: Folder of the leases under which large texts are written.
    """

    def __init__(self, database: Database, leases: Path) -> None:
        self._database = database
        self._leases = leases

    # --- reading ----------------------------------------------------------------------------------

    @override
    async def find(self, name: str) -> Paper:
        return await self._database.read(lambda connection: _find(connection, name))

    @override
    async def get(self, paper_ids: Sequence[str]) -> Mapping[str, Paper]:
        wanted = dump_json(list(paper_ids))
        found = await self._database.read(
            lambda connection: read_papers(connection, _BY_IDS, wanted)
        )
        return {paper.paper_id: paper for paper in found}

    @override
    async def papers(self, *, limit: int | None = None, offset: int = 0) -> Sequence[Paper]:
        window = (-1 if limit is None else limit, offset)
        return await self._database.read(lambda connection: read_papers(connection, _ALL, *window))

    @override
    async def page(
        self,
        wanted: PaperFilter = ALL_PAPERS,
        *,
        order: PaperOrder = "-added",
        limit: int | None = None,
        cursor: str = "",
    ) -> PaperPage:
        return await self._database.read(
            lambda connection: lists.page(
                connection, wanted, order=order, limit=limit, cursor=cursor
            )
        )

    @override
    async def facet(
        self, kind: FacetKind, wanted: PaperFilter = ALL_PAPERS
    ) -> Sequence[FacetValue]:
        return await self._database.read(lambda connection: lists.facet(connection, kind, wanted))

    @override
    async def count(self) -> int:
        return await self._database.read(lambda connection: connection.number(_COUNT))

    @override
    async def by_text(self, text_sha256: str) -> Paper | None:
        return await self._database.read(
            lambda connection: next(iter(read_papers(connection, _BY_TEXT, text_sha256)), None)
        )

    @override
    async def markdown(self, paper_id: str) -> str:
        return (await self._of_text(_TEXT, paper_id))[0]

    @override
    async def content_facts(self, paper_id: str) -> tuple[str, str]:
        engine, verdict = await self._of_text(_FACTS, paper_id)
        return engine, verdict

    @override
    async def layer(self, paper_id: str, page: int) -> str:
        def read(connection: Connection) -> str:
            return connection.value(_LAYER, (well_formed(paper_id), page)) or ""

        return await self._database.read(read)

    async def _of_text(self, sql: str, paper_id: str) -> Row:
        def read(connection: Connection) -> Row:
            row = connection.row(sql, (well_formed(paper_id),))
            if row is None:
                raise _unknown(connection, paper_id)
            return row

        return await self._database.read(read)

    # --- writing ----------------------------------------------------------------------------------

    @override
    async def put(
        self, paper: Paper, content: PaperContent | None, files: Sequence[FileRecord]
    ) -> Paper:
        paper = _cleaned(paper)
        if content is None:
            content = await self._content_to_index_again(paper)
        if content is None:
            return await self._database.write(
                lambda connection: _store(connection, paper, None, None, files)
            )
        content = texts.cleaned(content)
        known = paper.paper_id or await self.by_text(content.text_sha256)
        passages = await asyncio.to_thread(texts.indexed, paper.title, content.passages)
        if len(passages) <= texts.BATCH:
            stored = await self._put_at_once(paper, content, passages, files)
        else:
            stored = await self._put_in_steps(paper, content, passages, files)
        if known:  # the sweep looks at every text: a new paper leaves none behind
            await self.sweep()
        return stored

    async def _put_at_once(
        self,
        paper: Paper,
        content: PaperContent,
        passages: Sequence[texts.IndexedPassage],
        files: Sequence[FileRecord],
    ) -> Paper:
        def put(connection: Connection) -> Paper:
            text_id = texts.insert_text(connection, content, "")
            texts.insert_passages(connection, text_id, passages, first=1)
            return _store(connection, paper, content, text_id, files)

        return await self._database.write(put)

    async def _put_in_steps(
        self,
        paper: Paper,
        content: PaperContent,
        passages: Sequence[texts.IndexedPassage],
        files: Sequence[FileRecord],
    ) -> Paper:
        token = secrets.token_hex(8)
        lease = await take(texts.writer_lease(self._leases, token))
        try:
            text_id = await self._database.write(
                lambda connection: texts.insert_text(connection, content, token)
            )
            for first, batch in texts.batches(passages):
                await self._database.write(
                    lambda connection, first=first, batch=batch: texts.insert_passages(
                        connection, text_id, batch, first=first
                    )
                )
            return await self._database.write(
                lambda connection: _store(connection, paper, content, text_id, files)
            )
        finally:
            lease.release()

    async def _content_to_index_again(self, paper: Paper) -> PaperContent | None:
        """Return the stored text of a paper whose title, which is searched too, changes."""

        def read(connection: Connection) -> PaperContent | None:
            known = read_papers(connection, BY_ID, paper.paper_id)
            if not known or known[0].title == paper.title:
                return None
            return texts.stored_text(connection, paper.paper_id)

        return await self._database.read(read) if paper.paper_id else None

    @override
    async def set_tags(self, paper_id: str, tags: Sequence[str]) -> Paper:
        return await self._tagged(
            paper_id, lambda connection: tagging.hang(connection, paper_id, tags)
        )

    @override
    async def change_tags(
        self, paper_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> Paper:
        return await self._tagged(
            paper_id,
            lambda connection: tagging.change(connection, paper_id, add=add, remove=remove),
        )

    async def _tagged(self, paper_id: str, work: Work[None]) -> Paper:
        def tag(connection: Connection) -> Paper:
            if not read_papers(connection, BY_ID, well_formed(paper_id)):
                raise _unknown(connection, paper_id)
            work(connection)
            return read_papers(connection, BY_ID, paper_id)[0]

        return await self._database.write(tag, durable=True)

    @override
    async def remove(self, paper_id: str) -> None:
        def remove(connection: Connection) -> None:
            if not read_papers(connection, BY_ID, well_formed(paper_id)):
                raise _unknown(connection, paper_id)
            connection.run(_RETIRE, (now(), paper_id))
            connection.run(_REMOVE, (paper_id,))
            connection.run(_NEXT_GENERATION)

        await self._database.write(remove)
        await self.sweep()

    async def sweep(self) -> None:
        """Delete versions of texts that no paper points to and nobody writes any more."""
        for text_id, writer in await self._database.read(texts.unused_texts):
            if writer and is_held(texts.writer_lease(self._leases, writer)):
                continue
            while await self._database.write(
                lambda connection, text_id=text_id: texts.sweep_some(connection, text_id)
            ):
                pass

    async def write_missing_words(self) -> None:
        """Write what lists go by of papers that came before it was kept."""
        while await self._database.write(words.write_some):
            pass

    def forget_dead_writers(self) -> None:
        """Remove what processes that were killed left in the folder of leases."""
        for path in self._leases.glob("writer-*.lock"):
            if not is_held(path):
                with suppress(HeldError):
                    Lease(path).release()  # taken first, so that no living writer loses its own

    # --- files ------------------------------------------------------------------------------------

    @override
    async def files(self) -> Sequence[FileRecord]:
        return await self._database.read(files.every)

    @override
    async def file(self, path: str) -> FileRecord | None:
        return await self._database.read(lambda connection: files.one(connection, path))

    @override
    async def put_files(self, files: Sequence[FileRecord]) -> None:
        records = list(files)
        await self._database.write(lambda connection: upsert_files(connection, records))

    @override
    async def confidential(self) -> Mapping[str, Sequence[str]]:
        def read(connection: Connection) -> Mapping[str, Sequence[str]]:
            ids = [row[0] for row in connection.rows(_CONFIDENTIAL)]
            held = files.of_papers(connection, ids)
            return {name: [file.path for file in held.get(name, ())] for name in ids}

        return await self._database.read(read)

    @override
    async def files_of(self, paper_id: str) -> Sequence[PaperFile]:
        return await self._database.read(
            lambda connection: files.of_papers(connection, [paper_id]).get(paper_id, ())
        )


def _store(
    connection: Connection,
    paper: Paper,
    content: PaperContent | None,
    text_id: int | None,
    records: Sequence[FileRecord],
) -> Paper:
    """Write everything of a paper but its passages, and let it point to its new text."""
    known = _known(connection, paper, content)
    digest = content.text_sha256 if content else ""
    paper = paper.model_copy(
        update={
            "paper_id": known.paper_id if known else paper.paper_id or _free_id(connection),
            "cite_key": known.cite_key if known else _free_key(connection, paper, digest),
            "added_at": (known.added_at if known else paper.added_at) or now(),
            "state": "indexed" if content and content.passages else paper.state,
        }
    )
    connection.run(_UPSERT, _row(paper))
    if text_id is not None and not texts.publish(connection, text_id, paper.paper_id):
        raise StoreError(
            f"A part of the text of {paper.cite_key} was lost while it was stored.",
            hint="Add the file again.",
        )
    connection.run(_FORGET_NAMES, (paper.paper_id,))
    connection.many(
        _ADD_NAME, [(kind, name, paper.paper_id) for kind, name in sorted(names_of(paper))]
    )
    if known is None:
        tagging.hang(connection, paper.paper_id, paper.tags)
    words.write(connection, [paper.paper_id])
    upsert_files(connection, records, paper.paper_id)
    connection.run(_NEXT_GENERATION)
    return read_papers(connection, BY_ID, paper.paper_id)[0]


def _known(connection: Connection, paper: Paper, content: PaperContent | None) -> Paper | None:
    """Return the paper that is replaced: the one with this id, else the one with this text.

    The text decides for new papers, so that two processes that add one file make one paper.

    Raises:
        NotFoundError: The id was given to a paper that was removed.
    """
    if paper.paper_id:
        if connection.number(_IS_RETIRED, (paper.paper_id,)):
            raise NotFoundError(
                f"The paper {paper.paper_id} was removed from the library.", hint="Add it again."
            )
        return next(iter(read_papers(connection, BY_ID, paper.paper_id)), None)
    if content and content.text_sha256:
        return next(iter(read_papers(connection, _BY_TEXT, content.text_sha256)), None)
    return None


def _free_id(connection: Connection) -> str:
    while True:
        paper_id = new_paper_id()
        if not connection.number(_ID_IS_TAKEN, (paper_id,)):
            return paper_id


def _free_key(connection: Connection, paper: Paper, text_sha256: str) -> str:
    old = connection.value(_OLD_KEY, (text_sha256,))
    if old:
        return old  # the paper comes back: texts that cite it stay right
    wished = [paper.cite_key] if paper.cite_key else []
    for key in chain(wished, cite_keys(cite_key_stem(paper))):
        if not connection.number(_KEY_IS_TAKEN, (key.casefold(),)):
            return key
    raise AssertionError("cite keys never end")


def _find(connection: Connection, name: str) -> Paper:
    name = clean(name).strip()
    for paper in read_papers(connection, BY_ID, name):
        return paper
    for kind, normalised in candidates(name):
        paper_id = connection.value(_BY_NAME, (kind, normalised))
        paper_id = paper_id or connection.value(_BY_ALIAS, (kind, normalised))
        if paper_id:
            return read_papers(connection, BY_ID, paper_id)[0]
    raise _unknown(connection, name)


def _unknown(connection: Connection, name: str) -> NotFoundError:
    near = close_names(name, [str(row[0]) for row in connection.rows(_KNOWN_NAMES)])
    shown = well_formed(name if len(name) <= 100 else name[:97] + "...")
    return NotFoundError(
        f"No paper in the library is called {shown!r}.",
        hint=f"Did you mean {', '.join(near)}?" if near else "`nuncius library list` shows all.",
    )


def _row(paper: Paper) -> tuple[Any, ...]:
    return (
        paper.paper_id, paper.title, dump_json([author.name for author in paper.authors]),
        paper.year, paper.bibcode, paper.arxiv_id, paper.doi, paper.abstract, paper.cite_key,
        paper.state, paper.pages, paper.language, paper.label, paper.confidential, paper.added_at,
    )  # fmt: skip


def _cleaned(paper: Paper) -> Paper:
    return paper.model_copy(
        update={
            "title": clean(paper.title),
            "authors": tuple(Author(name=clean(author.name)) for author in paper.authors),
            "abstract": clean(paper.abstract),
            "label": clean(paper.label),
            **{
                name: clean(value).strip() or None
                for name in ("bibcode", "arxiv_id", "doi")
                if (value := getattr(paper, name)) is not None
            },
        }
    )
