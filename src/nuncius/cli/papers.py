"""Commands on papers: `add`, `rag`, `paper`, `library`, `notes`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nuncius.cli import screen
from nuncius.cli.options import MOST, Json, PaperName
from nuncius.cli.start import with_app

if TYPE_CHECKING:
    from nuncius.core.papers import Paper
    from nuncius.library.records import AddReport, Failure, FoundPassage, Retrieval, Status
    from nuncius.store.protocols import Note

paper = typer.Typer(help="One paper: show, content, cite, tag, remove.", no_args_is_help=True)
library = typer.Typer(help="All papers: list, status, export.", no_args_is_help=True)
notes = typer.Typer(help="Notes on papers.", no_args_is_help=True)

ReferenceStyle = Annotated[
    Literal["bibtex", "ris", "csl-json"], typer.Option("--format", help="The format.")
]
JournalOption = Annotated[
    Literal["macro", "name", "abbreviation", "stem"],
    typer.Option("--journals", help="Journals of BibTeX: AAS macros, names, ISO 4, or as ApJ."),
]
# As in `core.papers`, and spelled out here so that help needs no pydantic.
PaperState = Literal["known", "downloaded", "parsed", "indexed", "failed"]
_SIDE_BY_SIDE = 4  # parsers at once unless told otherwise: each holds a whole file in memory


def add(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="WHAT...",
            help="PDF, HTML, TeX or Markdown, a folder, an arXiv id, a DOI or a bibcode.",
        ),
    ],
    jobs: Annotated[
        int,
        typer.Option("-j", "--jobs", min=1, max=MOST, metavar="N", help="Files read side by side."),
    ] = min(_SIDE_BY_SIDE, os.cpu_count() or 1),
    confidential: Annotated[
        bool, typer.Option("--confidential", help="Never show the text to a remote model.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Fetch named papers again: the latest version.")
    ] = False,
    json: Json = False,
) -> None:
    """Read files and folders into the library, or fetch papers by their names.

    Files stay where they are. What cannot be read or fetched never stops the others.
    """
    from nuncius.cli.adding import add_all
    from nuncius.cli.progress import Progress
    from nuncius.cli.shapes import failure_shape, paper_shape
    from nuncius.core.errors import UsageError

    if not all(word.strip() for word in what):
        raise UsageError("An empty name was given.", hint="Name files, folders or papers.")
    with Progress("Reading") as progress:
        report = with_app(
            lambda app: add_all(
                app, what, jobs=jobs, confidential=confidential, force=force, progress=progress
            )
        )
    if json:
        screen.emit(
            {
                "added": [paper_shape(paper) for paper in report.added],
                "updated": [paper_shape(paper) for paper in report.updated],
                "unchanged": [paper_shape(paper) for paper in report.unchanged],
                "failed": [failure_shape(failure) for failure in report.failed],
                "duplicates": [
                    {"file": file, "paper_id": paper_id} for file, paper_id in report.duplicates
                ],
                "vanished": list(report.vanished),
            }
        )
    else:
        show_report(report)
    if report.failed:
        raise typer.Exit(1)


def show_report(report: "AddReport") -> None:
    """Print what one `add` did, failures last and on stderr."""
    for verb, papers in (
        ("added", report.added),
        ("updated", report.updated),
        ("unchanged", report.unchanged),
    ):
        for one in papers:
            screen.out(f"{verb:<10} {paper_line(one)}")
    for file, paper_id in report.duplicates:
        screen.out(f"{'duplicate':<10} {paper_id}  {file}")
    for path in report.vanished:
        screen.out(f"{'vanished':<10} {path}")
    for failure in report.failed:
        show_failure(failure)


def show_failure(failure: "Failure") -> None:
    """Tell what could not be read and what to do about it."""
    screen.say(f"{screen.paint('failed', 'red')}     {failure.what}: {failure.reason}")
    if failure.hint:
        screen.say(f"           {failure.hint}")


def paper_line(paper: "Paper") -> str:
    """Return a paper in one line."""
    pages = f" ({paper.pages} pages)" if paper.pages else ""
    marks = "".join(f" [{word}]" for word in (paper.label, *paper.tags) if word)
    reference = paper.short_reference
    title = "" if reference.startswith(paper.title[:50]) else f"  {paper.title}"
    return f"{paper.paper_id}  {reference}{title}{pages}{marks}"


def rag(
    query: Annotated[str, typer.Argument(help="What the passages should speak of.")],
    k: Annotated[int, typer.Option("-k", min=1, max=200, metavar="N", help="How many.")] = 8,
    papers: Annotated[
        list[str] | None, typer.Option("--paper", metavar="ID", help="Search this paper only.")
    ] = None,
    json: Json = False,
) -> None:
    """Find passages on a subject."""
    from nuncius.cli.shapes import passage_shape
    from nuncius.core.errors import UsageError
    from nuncius.core.text import clean

    words = clean(query).strip()
    if not words:
        raise UsageError("The query is empty.", hint='Try `nuncius rag "Hubble constant"`.')
    retrieval = with_app(lambda app: app.library.rag(words, k=k, papers=papers or ()))
    if json:
        screen.emit(
            {
                "query": retrieval.query,
                "passages": [passage_shape(found) for found in retrieval.found],
                "degraded": list(retrieval.degraded),
            }
        )
        return
    for found in retrieval.found:
        _show_passage(found)
    if not retrieval.found:
        screen.out(_nothing_found(retrieval))
    for line in retrieval.degraded:
        screen.say(f"note: {line}")


def _show_passage(found: "FoundPassage") -> None:
    passage = found.passage
    place = ", ".join(
        part for part in (f"p. {passage.page}" if passage.page else "", passage.section) if part
    )
    head = f"{found.paper.short_reference}{': ' + place if place else ''}"
    screen.out(f"{screen.paint(passage.passage_id, 'cyan')}  {screen.paint(head, 'bold')}")
    screen.out(screen.wrap(passage.text, indent="    "))
    screen.out()


def _nothing_found(retrieval: "Retrieval") -> str:
    if not retrieval.passages_in_library:
        return "The library is empty. `nuncius add FOLDER` fills it."
    unsaid = [
        term.spellings[0]
        for term in retrieval.terms
        if term.spellings and not term.count and not term.related_count
    ]
    never = f" It never says: {', '.join(unsaid)}." if unsaid else ""
    return (
        f"Nothing in {retrieval.papers_in_library} papers"
        f" ({retrieval.passages_in_library} passages) speaks of it.{never}"
    )


@paper.command()
def show(name: PaperName, json: Json = False) -> None:
    """Tell what the library knows of a paper."""
    from nuncius.cli.shapes import paper_shape

    found = with_app(lambda app: app.library.paper(name))
    if json:
        screen.emit(paper_shape(found))
        return
    screen.out(screen.paint(found.title, "bold"))
    facts = {
        "authors": "; ".join(author.name for author in found.authors),
        "year": found.year,
        "journal": found.journal,
        "id": found.paper_id,
        "cite key": found.cite_key,
        "bibcode": found.bibcode,
        "arXiv": found.arxiv_id,
        "DOI": found.doi,
        "pages": found.pages,
        "language": found.language,
        "state": found.state,
        "label": found.label,
        "tags": ", ".join(found.tags),
        "notes": found.notes,
        "confidential": "yes" if found.confidential else "",
        "added": found.added_at,
    }
    for word, value in facts.items():
        if value:
            screen.out(f"{word:<13}{value}")
    for file in found.files:
        screen.out(f"{'file':<13}{file.path}{'' if file.present else ' (gone)'}")
    if found.abstract:
        screen.out()
        screen.out(screen.wrap(found.abstract))


@paper.command()
def content(
    name: PaperName,
    *,
    section: Annotated[str, typer.Option("--section", help="A section's title or number.")] = "",
    page: Annotated[int | None, typer.Option("--page", min=1, max=MOST, help="One page.")] = None,
    offset: Annotated[int, typer.Option("--offset", min=0, max=MOST, help="First character.")] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, max=MOST, help="Characters.")
    ] = None,
    json: Json = False,
) -> None:
    """Print a paper's text as Markdown, whole or in part."""
    text = with_app(
        lambda app: app.library.content(
            name, section=section, page=page, offset=offset, limit=limit
        )
    )
    if not json:
        screen.out(text.content)
        if text.verdict != "good":
            screen.warn(text.verdict)
        return
    screen.emit(
        {
            "paper_id": text.paper.paper_id,
            "content": text.content,
            "engine": text.engine,
            "verdict": text.verdict,
            "sections": [
                {"path": place.path, "title": place.title, "page": place.page}
                for place in text.sections
            ],
            "offset": text.offset,
            "total_chars": text.total_chars,
        }
    )


@paper.command()
def cite(
    name: PaperName,
    style: ReferenceStyle = "bibtex",
    journals: JournalOption = "macro",
    json: Json = False,
) -> None:
    """Print a paper's entry for a bibliography."""
    entry = with_app(lambda app: app.library.cite(name, style=style, journals=journals))
    if json:
        screen.emit({"format": style, "entry": entry})
    else:
        screen.out(entry.rstrip("\n"))


@paper.command()
def remove(name: PaperName, json: Json = False) -> None:
    """Take a paper out of the library; your file stays."""
    from nuncius.cli.shapes import paper_shape

    gone = with_app(lambda app: app.library.remove(name))
    if json:
        screen.emit({"removed": paper_shape(gone)})
    else:
        screen.out(f"removed    {paper_line(gone)}")


@paper.command()
def tag(
    name: PaperName,
    *,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="TAG", help="Hang this tag on it.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="TAG", help="Take this tag off.")
    ] = None,
    json: Json = False,
) -> None:
    """Hang tags on a paper, take them off, or show them; case does not count."""
    from nuncius.cli.shapes import paper_shape

    tagged = with_app(lambda app: app.library.tag(name, add=add or (), remove=remove or ()))
    if json:
        screen.emit(paper_shape(tagged))
    else:
        screen.out(", ".join(tagged.tags) or "(no tags)")


@library.command("list")
def list_papers(
    *,
    text: Annotated[
        str, typer.Option("--text", help="Words of title, authors, names or abstract.")
    ] = "",
    year: Annotated[
        str, typer.Option("--year", metavar="2019-2024", help="One year, or from-to.")
    ] = "",
    author: Annotated[
        str, typer.Option("--author", metavar="NAME", help="Words of authors' names.")
    ] = "",
    journal: Annotated[
        str, typer.Option("--journal", help="Such as ApJ, its name, or arXiv.")
    ] = "",
    tag: Annotated[str, typer.Option("--tag", help="Those that have this tag.")] = "",
    state: Annotated[PaperState | None, typer.Option("--state")] = None,
    json: Json = False,
) -> None:
    """List papers, newest first: all, or those that fit every filter."""
    from nuncius.cli.shapes import paper_shape
    from nuncius.core.listing import ALL_PAPERS, PaperFilter, read_years

    wanted = PaperFilter(
        text=text, years=read_years(year), author=author, journal=journal, tag=tag, state=state
    )
    papers = with_app(lambda app: app.library.page(wanted)).papers
    if json:
        screen.emit({"papers": [paper_shape(one) for one in papers]})
        return
    for one in papers:
        screen.out(paper_line(one))
    if not papers:
        screen.say(
            "The library is empty. `nuncius add FOLDER` fills it."
            if wanted == ALL_PAPERS
            else "No paper fits. `nuncius library list` shows all."
        )


@library.command()
def status(json: Json = False) -> None:
    """Count papers, pages and passages; name what could not be read or is gone."""
    from nuncius.cli.shapes import failure_shape

    state = with_app(lambda app: app.library.status())
    if json:
        screen.emit(
            {
                "papers": state.papers,
                "passages": state.passages,
                "pages": state.pages,
                "files": state.files,
                "failures": [failure_shape(failure) for failure in state.failures],
                "vanished": list(state.vanished),
            }
        )
    else:
        _show_status(state)


def _show_status(state: "Status") -> None:
    screen.out(f"{state.papers} papers, {state.pages} pages, {state.passages} passages")
    screen.out(f"{state.files} files read, {len(state.failures)} not readable")
    for failure in state.failures:
        screen.out(f"  {failure.what}: {failure.reason}")
        if failure.hint:
            screen.out(f"    {failure.hint}")
    for path in state.vanished:
        screen.out(f"  gone: {path}")


@library.command()
def export(
    style: ReferenceStyle = "bibtex",
    journals: JournalOption = "macro",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write here instead.")
    ] = None,
    json: Json = False,
) -> None:
    """Print the whole library as BibTeX, RIS or CSL-JSON, sorted by cite key."""
    from nuncius.cli.files import write_text

    text = with_app(lambda app: app.library.export(style=style, journals=journals))
    if output:
        write_text(output, text)
        screen.say(f"Written: {output}")
    if json:
        screen.emit({"format": style, "content": text})
    elif not output:
        screen.out(text.rstrip("\n"))


@notes.command("list")
def list_notes(
    name: Annotated[
        str | None, typer.Option("--paper", metavar="ID", help="Notes on this paper only.")
    ] = None,
    json: Json = False,
) -> None:
    """List notes, with the quotes they stand on."""
    from nuncius.cli.shapes import note_shape

    found = with_app(lambda app: app.library.notes(name))
    if json:
        screen.emit({"notes": [note_shape(note) for note in found]})
        return
    for note in found:
        _show_note(note)
    if not found:
        screen.say("There are no notes yet.")


def _show_note(note: "Note") -> None:
    place = f", p. {note.page}" if note.page else ""
    screen.out(f"{note.id}  {note.paper_id}{place}  {note.created_at}")
    screen.out(screen.wrap(f"“{note.quote}”", indent="    "))
    if note.note:
        screen.out(screen.wrap(note.note, indent="    "))
