"""Routes on the library: papers, their text and files, notes, and what comes in."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse

from nuncius.api.house import Home
from nuncius.api.models import (
    ContentShape,
    NewNote,
    NewPaper,
    NoteChange,
    NoteList,
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
from nuncius.core.errors import NotFoundError
from nuncius.core.papers import Paper, PaperState
from nuncius.store.protocols import Note
from nuncius.walls.paths import read_user_file

router = APIRouter(tags=["papers"])

_FILE_BYTES = 256 * 1024 * 1024
_BYTES = "application/octet-stream"
_KINDS = {
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
    "latex": "text/plain; charset=utf-8",
    "markdown": "text/plain; charset=utf-8",
    "text": "text/plain; charset=utf-8",
}


@router.get("/papers")
async def list_papers(  # noqa: PLR0917  (FastAPI fills them by name)
    home: Home,
    q: Annotated[str, Query(max_length=500, description="Words of title, names or abstract.")] = "",
    year: Annotated[int | None, Query(ge=0, le=9999)] = None,
    author: Annotated[str, Query(max_length=200)] = "",
    state: PaperState | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    cursor: Annotated[str, Query(max_length=64)] = "",
) -> PaperList:
    """List papers, newest first."""
    papers = await home.app.library.papers()
    fitting = [
        paper
        for paper in papers
        if (year is None or paper.year == year)
        and (state is None or paper.state == state)
        and _says(author, (one.name for one in paper.authors))
        and _says(q, _words_of(paper))
    ]
    start = 0
    if cursor:
        places = [place for place, one in enumerate(fitting, 1) if one.paper_id == cursor]
        start = places[0] if places else len(fitting)
    page = fitting[start : start + limit]
    more = len(fitting) > start + limit
    return PaperList(
        papers=[paper_shape(paper) for paper in page],
        total=len(fitting),
        next_cursor=page[-1].paper_id if more else None,
    )


def _words_of(paper: Paper) -> Sequence[str]:
    names = (paper.bibcode, paper.arxiv_id, paper.doi, paper.cite_key, paper.paper_id)
    authors = (author.name for author in paper.authors)
    return [paper.title, *authors, *(name for name in names if name), paper.abstract]


def _says(text: str, places: Iterable[str]) -> bool:
    """Tell whether each word of `text` stands somewhere, whatever its case."""
    whole = "\n".join(places).casefold()
    return all(word in whole for word in text.casefold().split())


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
    return home.tasks.fetch(body.id.strip())


@router.get(
    "/papers/export",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def export_papers(
    home: Home,
    format: Annotated[  # noqa: A002  (the word in the address)
        Literal["bibtex", "ris", "csl-json"], Query(description="As ADS writes BibTeX, or others.")
    ] = "bibtex",
    ids: Annotated[str, Query(max_length=20_000, description="With commas; empty: all.")] = "",
) -> Response:
    """Return papers as a bibliography."""
    names = [name for name in ids.split(",") if name.strip()]
    return PlainTextResponse(await home.app.library.export(names, style=format))


@router.get("/tasks")
async def list_tasks(home: Home) -> TaskList:
    """List the work of this server since its start."""
    return TaskList(tasks=home.tasks.all())


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
    if file is None:
        raise NotFoundError(
            f"No file of the paper {paper.paper_id} is there any more.",
            hint="Add it again; its text is still in the library.",
        )
    content, _ = await asyncio.to_thread(read_user_file, Path(file.path), _FILE_BYTES)
    name = quote(Path(file.path).name, safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    kind = _KINDS.get(file.kind, _BYTES)
    return Response(content, headers=headers, media_type=kind)


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
async def show_paper(paper_id: str, home: Home) -> PaperShape:
    """Tell what the library knows of a paper: by id, bibcode, arXiv id, DOI or cite key."""
    return paper_shape(await home.app.library.paper(paper_id))


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
