"""Papers, their names, texts and files."""

import asyncio
import os

import pytest

from nuncius.core.documents import PassageDraft
from nuncius.core.errors import NotFoundError, StoreError
from nuncius.core.text import query_terms
from nuncius.store.protocols import PaperContent
from nuncius.store.sqlite import SqliteStore
from nuncius.store.texts import BATCH
from store.samples import a_file, a_paper, a_text

_LONG = [
    f"Passage {i} speaks of star number{i} and of the common cluster." for i in range(BATCH * 2 + 5)
]


async def _found(store: SqliteStore, question: str) -> list[str]:
    hits = await store.passages.search(query_terms(question), limit=1000)
    return [hit.passage.passage_id for hit in hits]


async def test_a_new_paper_gets_an_id_a_key_and_a_time_and_is_searchable(
    store: SqliteStore,
) -> None:
    before = await store.generation()
    paper = await store.papers.put(
        a_paper(),
        a_text("The rotation period is 7 days.", layer=["page one", "page two"]),
        [a_file()],
    )
    assert (len(paper.paper_id), paper.cite_key, paper.state) == (8, "Bouma2022", "indexed")
    assert paper.added_at.endswith("Z")
    assert [file.path for file in paper.files] == ["/papers/a.pdf"]
    assert await _found(store, "rotation period") == [f"{paper.paper_id}-1"]
    assert await store.papers.markdown(paper.paper_id) == "The rotation period is 7 days."
    assert await store.papers.content_facts(paper.paper_id) == ("test/1", "good")
    assert await store.papers.layer(paper.paper_id, 2) == "page two"
    assert await store.papers.layer(paper.paper_id, 3) == ""
    assert await store.generation() > before


async def test_a_paper_without_text_is_known(store: SqliteStore) -> None:
    paper = await store.papers.put(a_paper(), None, [])
    assert paper.state == "known"
    assert await store.papers.markdown(paper.paper_id) == ""
    assert await store.papers.content_facts(paper.paper_id) == ("", "")


async def test_it_is_found_by_all_its_names_and_not_by_others(store: SqliteStore) -> None:
    wanted = a_paper(bibcode="2022AJ....164..123B", arxiv_id="2206.12345", doi="10.3847/ABC-1")
    paper = await store.papers.put(wanted, None, [])
    for name in (
        paper.paper_id,
        "bouma2022",
        "2022AJ....164..123B",
        "arXiv:2206.12345v3",
        "https://doi.org/10.3847/abc-1",
    ):
        assert (await store.papers.find(name)).paper_id == paper.paper_id
    with pytest.raises(NotFoundError, match=r"No paper .*'Bouma2023'.*Did you mean Bouma2022"):
        await store.papers.find("Bouma2023")
    for name in ("", "x" * 5000, "nul\x00", "\ud800", "' OR 1=1 --", "%"):
        with pytest.raises(NotFoundError):
            await store.papers.find(name)


async def test_an_exact_id_comes_before_a_key_that_looks_like_it(store: SqliteStore) -> None:
    first = await store.papers.put(a_paper(), None, [])
    second = await store.papers.put(a_paper("Other", cite_key=first.paper_id), None, [])
    assert (await store.papers.find(first.paper_id)).paper_id == first.paper_id
    assert (await store.papers.find(second.paper_id)).paper_id == second.paper_id


async def test_of_two_papers_with_one_doi_the_older_has_it_until_it_goes(
    store: SqliteStore,
) -> None:
    old = await store.papers.put(a_paper("Old", doi="10.1000/x"), None, [])
    new = await store.papers.put(a_paper("New", doi="10.1000/X"), None, [])
    assert (await store.papers.find("10.1000/x")).paper_id == old.paper_id
    await store.papers.remove(old.paper_id)
    assert (await store.papers.find("10.1000/x")).paper_id == new.paper_id


async def test_cite_keys_are_unique_and_stay(store: SqliteStore) -> None:
    papers = [await store.papers.put(a_paper(f"Paper {i}"), None, []) for i in range(4)]
    keys = [paper.cite_key for paper in papers]
    assert keys == ["Bouma2022", "Bouma2022a", "Bouma2022b", "Bouma2022c"]
    renamed = papers[1].model_copy(update={"year": 2023, "cite_key": "Else"})
    assert (await store.papers.put(renamed, None, [])).cite_key == "Bouma2022a"
    own = await store.papers.put(a_paper("Own", cite_key="my:key"), None, [])
    assert own.cite_key == "my:key"
    taken = await store.papers.put(a_paper("Taken", cite_key="BOUMA2022"), None, [])
    assert taken.cite_key == "Bouma2022d"


async def test_the_same_text_is_the_same_paper(store: SqliteStore) -> None:
    copies = [
        store.papers.put(a_paper(), a_text("one text"), [a_file(f"/{i}.pdf")]) for i in range(5)
    ]
    papers = await asyncio.gather(*copies)
    assert len({paper.paper_id for paper in papers}) == 1
    assert await store.papers.count() == 1
    assert await store.passages.count() == 1
    (paper,) = await store.papers.papers()
    assert len(paper.files) == 5
    found = await store.papers.by_text("digest of one text")
    assert found == paper
    assert await store.papers.by_text("another") is None


@pytest.mark.parametrize("old", [["old words"], _LONG])
@pytest.mark.parametrize("new", [["new words"], [text.replace("star", "planet") for text in _LONG]])
async def test_a_changed_file_keeps_id_key_and_notes_and_loses_its_old_text(
    store: SqliteStore, old: list[str], new: list[str]
) -> None:
    paper = await store.papers.put(a_paper(), a_text(*old), [a_file()])
    await store.desk.add_note(
        paper.paper_id, quote="old", note="!", page=1, color="yellow", agent="user"
    )
    changed = await store.papers.put(
        paper.model_copy(update={"title": "A new title"}), a_text(*new), [a_file(sha256="cd" * 32)]
    )
    assert (changed.paper_id, changed.cite_key, changed.added_at) == (
        paper.paper_id,
        paper.cite_key,
        paper.added_at,
    )
    assert len(await store.desk.notes(paper.paper_id)) == 1
    assert await _found(store, "old star young") == []
    assert sorted(await _found(store, "title")) == sorted(
        f"{paper.paper_id}-{i + 1}" for i in range(len(new))
    )
    stored = await store.passages.of_paper(paper.paper_id)
    assert [passage.text for passage in stored] == new
    assert await store.check() == []


async def test_a_new_title_alone_is_searchable_and_keeps_the_text(store: SqliteStore) -> None:
    paper = await store.papers.put(a_paper("Wrong"), a_text(*_LONG, layer=["the layer"]), [])
    await store.papers.put(paper.model_copy(update={"title": "Gyrochronology"}), None, [])
    assert await _found(store, "wrong") == []
    assert len(await _found(store, "gyrochronology")) == len(_LONG)
    assert await store.papers.layer(paper.paper_id, 1) == "the layer"
    assert await store.papers.content_facts(paper.paper_id) == ("test/1", "good")
    assert await store.check() == []


async def test_text_is_cleaned_and_offsets_follow(store: SqliteStore) -> None:
    markdown = "A\x00B\ud800\r\nrotation\x00 period"
    start = markdown.index("rotation")
    draft = PassageDraft("text", markdown[start:], "Se\x00ction", 1, start, len(markdown))
    content = PaperContent("d", "e", "v", markdown, [], [draft])
    paper = await store.papers.put(a_paper("Ti\x00tle \udc80", "Na\x00me"), content, [])
    assert (paper.title, paper.authors[0].name) == ("Title ", "Name")
    stored = await store.papers.markdown(paper.paper_id)
    assert stored == "AB\nrotation period"
    (passage,) = await store.passages.of_paper(paper.paper_id)
    assert passage.section == "Section"
    assert stored[passage.char_start : passage.char_end] == passage.text == "rotation period"


@pytest.mark.parametrize("texts", [["some words"], _LONG])
async def test_a_removed_paper_is_gone_and_its_names_are_not_given_again(
    store: SqliteStore, texts: list[str]
) -> None:
    paper = await store.papers.put(a_paper(doi="10.1000/x"), a_text(*texts), [a_file()])
    note = await store.desk.add_note(
        paper.paper_id, quote="q", note="mine", page=None, color="red", agent="user"
    )
    await store.papers.remove(paper.paper_id)
    for name in (paper.paper_id, paper.cite_key, "10.1000/x"):
        with pytest.raises(NotFoundError):
            await store.papers.find(name)
    assert await _found(store, "words cluster") == []
    assert await store.passages.of_paper(paper.paper_id) == []
    assert await store.papers.files() == []
    assert await store.desk.notes() == [note]  # a reader's own words stay
    assert await store.check() == []
    with pytest.raises(NotFoundError, match="was removed"):
        await store.papers.put(paper, None, [])
    with pytest.raises(NotFoundError):
        await store.papers.remove(paper.paper_id)
    other = await store.papers.put(a_paper("Another work"), a_text("other"), [])
    assert other.cite_key == "Bouma2022a"
    back = await store.papers.put(a_paper(doi="10.1000/x"), a_text(*texts), [a_file()])
    assert back.paper_id != paper.paper_id
    assert back.cite_key == paper.cite_key


async def test_papers_are_listed_newest_first(store: SqliteStore) -> None:
    ids = [(await store.papers.put(a_paper(f"P{i}"), None, [])).paper_id for i in range(5)]
    assert [paper.paper_id for paper in await store.papers.papers()] == ids[::-1]
    assert [p.paper_id for p in await store.papers.papers(limit=2, offset=1)] == [ids[3], ids[2]]
    got = await store.papers.get([ids[0], "nothing1", ids[2], ids[0]])
    assert set(got) == {ids[0], ids[2]}
    assert await store.papers.count() == 5


async def test_a_put_that_fails_leaves_the_old_paper(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = await store.papers.put(a_paper(), a_text(*_LONG), [])

    def fail(*_: object) -> bool:
        return False

    monkeypatch.setattr("nuncius.store.texts.publish", fail)
    for texts in (["short"], [text.upper() for text in _LONG]):
        with pytest.raises(StoreError, match="was lost while it was stored"):
            await store.papers.put(paper, a_text(*texts), [])
    monkeypatch.undo()
    assert len(await _found(store, "number7")) == 1
    await store.papers.sweep()
    assert await store.check() == []
    assert [p.text for p in await store.passages.of_paper(paper.paper_id)] == _LONG


async def test_a_put_cancelled_half_way_is_swept_by_the_next(store: SqliteStore) -> None:
    for pause in range(1, 12):
        putting = asyncio.ensure_future(store.papers.put(a_paper(), a_text(*_LONG), []))
        for _ in range(pause):
            await asyncio.sleep(0.001)
        putting.cancel()
        await asyncio.gather(putting, return_exceptions=True)
    paper = await store.papers.put(a_paper("Last"), a_text("only this"), [])
    found = await _found(store, "only this")
    assert found == [f"{paper.paper_id}-1"]
    assert await store.check() == []
    whole = len(_LONG) * (await store.papers.count() - 1)
    assert await store.passages.count() == 1 + whole


async def test_file_records_are_kept_failures_included(store: SqliteStore) -> None:
    bad = a_file(
        "/x/bad.pdf", error_kind="encrypted", reason="Needs a password.", hint="Unlock it."
    )
    await store.papers.put_files([bad])
    assert await store.papers.file("/x/bad.pdf") == bad
    paper = await store.papers.put(
        a_paper(), a_text("t"), [a_file("/x/a.pdf"), a_file("/x/a.html")]
    )
    gone = a_file("/x/a.pdf", paper_id=paper.paper_id, present=False)
    await store.papers.put_files([gone])
    files = await store.papers.files_of(paper.paper_id)
    assert [(file.path, file.present) for file in files] == [
        ("/x/a.html", True),
        ("/x/a.pdf", False),
    ]
    assert [record.path for record in await store.papers.files()] == [
        "/x/a.html",
        "/x/a.pdf",
        "/x/bad.pdf",
    ]
    assert await store.papers.file("/nowhere") is None
    await store.papers.remove(paper.paper_id)
    await store.papers.put_files([gone])  # of a paper that another process removed meanwhile
    record = await store.papers.file("/x/a.pdf")
    assert record is not None
    assert record.paper_id == ""


async def test_a_path_that_is_no_utf8_comes_back_byte_for_byte(store: SqliteStore) -> None:
    path = os.fsdecode(b"/papers/caf\xe9 \xff.pdf")
    paper = await store.papers.put(a_paper(), a_text("t"), [a_file(path)])
    record = await store.papers.file(path)
    assert record is not None
    assert os.fsencode(record.path) == b"/papers/caf\xe9 \xff.pdf"
    assert paper.files[0].path == "/papers/caf� �.pdf"
