"""Routes on the library: papers, their text and files, notes, and what comes in."""

import asyncio
import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import PlainTextResponse

from nuncius.api.errors import ErrorReply
from nuncius.api.house import Home
from nuncius.api.paper_models import (
    ContentShape,
    FacetList,
    FacetShape,
    NewNote,
    NewPaper,
    NoteChange,
    NoteList,
    PaperChange,
    PaperDetail,
    PaperList,
    PaperShape,
    RagBody,
    RagReply,
    ReferenceList,
    SectionShape,
    paper_shape,
    passage_shape,
    reference_shape,
)
from nuncius.api.tasks import Task, TaskList
from nuncius.core.errors import NotFoundError, UsageError
from nuncius.core.listing import FacetKind, PaperFilter, PaperOrder, read_years
from nuncius.core.papers import PaperState
from nuncius.store.protocols import Note
from nuncius.walls.paths import read_user_file

router = APIRouter(tags=["papers"])

_STILL_BUSY: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorReply, "description": "It waits or runs."}
}
_FILE_BYTES = 256 * 1024 * 1024
_BYTES = "application/octet-stream"
_KINDS = {
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "latex": "text/plain; charset=utf-8",
    "markdown": "text/plain; charset=utf-8",
    "text": "text/plain; charset=utf-8",
}


def _wanted(  # noqa: PLR0917  (FastAPI fills them by name)
    q: Annotated[str, Query(max_length=500, description="Words of title, names or abstract.")] = "",
    year: Annotated[
        str,
        Query(
            pattern="^([0-9]{4}|[0-9]{4}-([0-9]{4})?|-[0-9]{4})?$",
            description="One year, or `2019-2024`, `2019-`, `-2024`.",
        ),
    ] = "",
    author: Annotated[str, Query(max_length=200, description="Words of authors' names.")] = "",
    journal: Annotated[str, Query(max_length=200, description="Its word, name or macro.")] = "",
    tag: Annotated[str, Query(max_length=200)] = "",
    state: PaperState | None = None,
) -> PaperFilter:
    return PaperFilter(
        text=q, years=read_years(year), author=author, journal=journal, tag=tag, state=state
    )


Wanted = Annotated[PaperFilter, Depends(_wanted)]


@router.get("/papers")
async def list_papers(
    home: Home,
    wanted: Wanted,
    sort: Annotated[PaperOrder, Query(description="With `-`: the greatest first.")] = "-added",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str, Query(max_length=400, description="`next_cursor` of before.")] = "",
) -> PaperList:
    """List the papers that fit, page by page."""
    page = await home.app.library.page(wanted, order=sort, limit=limit, cursor=cursor)
    return PaperList(
        papers=[paper_shape(paper) for paper in page.papers],
        total=page.total,
        next_cursor=page.cursor or None,
    )


@router.get("/papers/facets")
async def list_facets(
    home: Home, wanted: Wanted, of: Annotated[FacetKind, Query(description="What to count.")]
) -> FacetList:
    """Count by what the papers that fit can be filtered; a filter of the same kind is left out."""
    values = await home.app.library.facet(of, wanted)
    return FacetList(values=[FacetShape(value=one.value, count=one.count) for one in values])


@router.put(
    "/papers/files",
    status_code=202,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def add_file(
    request: Request,
    home: Home,
    name: Annotated[str, Query(min_length=1, max_length=300, description="The file's name.")],
    confidential: Annotated[
        bool, Query(description="Never show the text to a remote model.")
    ] = False,
) -> Task:
    """Keep a file in the library's directory and read it in the background."""
    return await home.tasks.add(name, await request.body(), confidential=confidential)


@router.post("/papers", status_code=202)
async def add_paper(body: NewPaper, home: Home) -> Task:
    """Fetch a paper by its bibcode, arXiv id, DOI or the address of its page, in the background."""
    return home.tasks.fetch(body.id)


@router.get(
    "/papers/export",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def export_papers(
    home: Home,
    wanted: Wanted,
    format: Annotated[  # noqa: A002  (the word in the address)
        Literal["bibtex", "ris", "csl-json"], Query(description="As ADS writes BibTeX, or others.")
    ] = "bibtex",
    ids: Annotated[
        str, Query(max_length=20_000, description="Ids, or other names, with commas.")
    ] = "",
) -> Response:
    """Return papers as a bibliography: those that are named, or else that fit, or all.

    Names and filters together are refused, and so are `ids` that name nothing.
    """
    names = [name for name in ids.split(",") if name.strip()]
    if ids and not names:
        raise UsageError("ids names no paper.", hint="Write ids with commas, or leave ids out.")
    return PlainTextResponse(await home.app.library.export(names, wanted=wanted, style=format))


@router.get("/tasks")
async def list_tasks(home: Home) -> TaskList:
    """List the work of this server since its start."""
    return TaskList(tasks=home.tasks.all())


@router.delete("/tasks/{task_id}", status_code=204, responses=_STILL_BUSY)
async def forget_task(task_id: str, home: Home) -> Response:
    """Let go of work that has ended: it is listed no more; what came of it stays."""
    home.tasks.forget(task_id)
    return Response(status_code=204)


@router.get("/papers/{paper_id:path}/content")
async def read_content(
    paper_id: str,
    home: Home,
    section: Annotated[str, Query(max_length=500)] = "",
    page: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> ContentShape:
    """Return a paper's text as Markdown, whole or a section or a page."""
    text = await home.app.library.content(paper_id, section=section, page=page)
    return ContentShape(
        paper_id=text.paper.paper_id,
        content=text.content,
        engine=text.engine,
        verdict=text.verdict,
        sections=[SectionShape(path=s.path, title=s.title, page=s.page) for s in text.sections],
        offset=text.offset,
        total_chars=text.total_chars,
    )


@router.get("/papers/{paper_id:path}/references")
async def list_references(paper_id: str, home: Home) -> ReferenceList:
    """List the works that a paper cites, as its own list of references names them."""
    found = await home.app.library.references(paper_id)
    return ReferenceList(references=[reference_shape(work, held) for work, held in found])


@router.get(
    "/papers/{paper_id:path}/file",
    response_class=Response,
    responses={
        200: {"content": {kind.partition(";")[0]: {} for kind in (*_KINDS.values(), _BYTES)}}
    },
)
async def read_file(paper_id: str, home: Home) -> Response:
    """Return the file that a paper's text is from, as an attachment that is no page of ours."""
    paper = await home.app.library.paper(paper_id)
    file = next((file for file in paper.files if file.present), None)
    content = await _unchanged(home, file.path) if file else None
    if file is None or content is None:
        raise NotFoundError(
            f"The file that the text of the paper {paper.paper_id} is from is not there any more.",
            hint="Add it again; its text is still in the library.",
        )
    name = quote(Path(file.path).name, safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    kind = _KINDS.get(file.kind, _BYTES)
    return Response(content, headers=headers, media_type=kind)


async def _unchanged(home: Home, path: str) -> bytes | None:
    """Return a file's bytes; None where it is gone, or others stand in its place."""
    kept = await home.app.store.papers.file(path)
    try:
        content, _ = await asyncio.to_thread(read_user_file, Path(path), _FILE_BYTES)
    except NotFoundError:
        return None
    same = kept is not None and hashlib.sha256(content).hexdigest() == kept.sha256
    return content if same else None


@router.get("/papers/{paper_id:path}/notes")
async def list_notes(paper_id: str, home: Home) -> NoteList:
    """List the notes on a paper, oldest first."""
    return NoteList(notes=await home.app.library.notes(paper_id))


@router.post("/papers/{paper_id:path}/notes", status_code=201)
async def add_note(paper_id: str, body: NewNote, home: Home) -> Note:
    """Keep a note on a quote, which must stand in the paper."""
    return await home.app.library.note(
        paper_id, quote=body.quote, note=body.note, page=body.page, color=body.color
    )


@router.patch("/papers/{paper_id:path}/notes/{note_id}")
async def change_note(paper_id: str, note_id: int, body: NoteChange, home: Home) -> Note:
    """Put other words on a quote."""
    await _note_of(home, paper_id, note_id)
    return await home.app.store.desk.change_note(note_id, note=body.note)


@router.delete("/papers/{paper_id:path}/notes/{note_id}", status_code=204)
async def remove_note(paper_id: str, note_id: int, home: Home) -> Response:
    """Delete a note."""
    await _note_of(home, paper_id, note_id)
    await home.app.store.desk.remove_note(note_id)
    return Response(status_code=204)


async def _note_of(home: Home, paper_id: str, note_id: int) -> None:
    """Raise NotFoundError where a paper has no such note."""
    if note_id not in {note.id for note in await home.app.library.notes(paper_id)}:
        raise NotFoundError(
            f"The paper {paper_id} has no note {note_id}.", hint="It may have been deleted."
        )


@router.get("/papers/{paper_id:path}")
async def show_paper(paper_id: str, home: Home) -> PaperDetail:
    """Tell what the library knows of a paper: by id, bibcode, arXiv id, DOI or cite key."""
    paper = await home.app.library.paper(paper_id)
    engine, verdict = await home.app.store.papers.content_facts(paper.paper_id)
    return PaperDetail(**paper_shape(paper).model_dump(), engine=engine, verdict=verdict)


@router.patch("/papers/{paper_id:path}")
async def change_paper(paper_id: str, body: PaperChange, home: Home) -> PaperShape:
    """Hang tags on a paper, in place of those before."""
    if body.tags is None:
        return paper_shape(await home.app.library.paper(paper_id))
    return paper_shape(await home.app.library.set_tags(paper_id, body.tags))


@router.delete("/papers/{paper_id:path}", status_code=204)
async def remove_paper(paper_id: str, home: Home) -> Response:
    """Take a paper out of the library; the file stays."""
    await home.app.library.remove(paper_id)
    return Response(status_code=204)


@router.post("/rag")
async def search_library(body: RagBody, home: Home) -> RagReply:
    """Find the passages that speak most of a query."""
    found = await home.app.library.rag(body.query, k=body.k, papers=body.paper_ids)
    return RagReply(
        query=found.query,
        passages=[passage_shape(one) for one in found.found],
        degraded=list(found.degraded),
    )
