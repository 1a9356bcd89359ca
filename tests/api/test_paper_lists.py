"""Lists of papers and tags over HTTP."""

from pathlib import Path
from urllib.parse import quote

from api.served import Place
from api.test_library import filled
from library.conftest import papers
from nuncius.core.papers import Paper

__all__ = ["papers"]


async def test_a_page_begins_where_the_last_ended_whatever_comes_and_goes(
    place: Place, papers: Path
) -> None:
    await filled(place, papers)
    for number in range(5):
        paper = Paper(paper_id="", title=f"Older {number}")
        await place.app.store.papers.put(paper, None, ())
    whole = [one["paper_id"] for one in (await place.get("/papers"))["papers"]]
    first = await place.get("/papers?limit=3")
    await place.app.store.papers.put(Paper(paper_id="", title="Newest"), None, ())
    await place.app.library.remove(whole[2])
    second = await place.get(f"/papers?limit=9&cursor={first['next_cursor']}")
    assert [one["paper_id"] for one in second["papers"]] == whole[3:]
    assert (second["total"], second["next_cursor"]) == (7, None)
    by_title = await place.get("/papers?sort=title&limit=4")
    rest = await place.get(f"/papers?sort=title&limit=9&cursor={by_title['next_cursor']}")
    titles = [one["title"].casefold() for one in by_title["papers"] + rest["papers"]]
    assert titles == sorted(titles)
    assert len(titles) == 7
    assert (await place.get("/papers?cursor=gone"))["papers"] == []
    for wrong in ("sort=mood", "year=19", "year=-", "year=2019-20", "state=lost"):
        await place.get(f"/papers?{wrong}", 422)


async def test_papers_that_nobody_signed_are_paged_and_a_journals_chip_finds_its_papers(
    place: Place,
) -> None:
    for number in range(5):
        paper = Paper(paper_id="", title=f"{number}", bibcode=f"2019AAS...2331470{number}L")
        await place.app.store.papers.put(paper, None, ())
    for sort, titles in (("author", list("01234")), ("-author", list("43210"))):
        seen: list[str] = []
        cursor = ""
        while len(seen) < 5:
            page = await place.get(f"/papers?limit=2&sort={sort}&cursor={quote(cursor)}")
            seen += [one["title"] for one in page["papers"]]
            cursor = page["next_cursor"] or ""
        assert (seen, cursor) == (titles, "")
    (chip,) = (await place.get("/papers/facets?of=journal"))["values"]
    assert (await place.get(f"/papers?journal={chip['value']}"))["total"] == chip["count"] == 5


async def test_tags_are_hung_found_counted_and_taken_off(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    hostile = "<img src=x onerror=alert(1)>"
    url = f"/api/papers/{ids['.md']}"
    tagged = await place.client.patch(url, json={"tags": [" To  read", "to READ", hostile]})
    assert tagged.json()["tags"] == ["To read", hostile]
    assert tagged.headers["content-type"] == "application/json"
    assert (await place.get(f"/papers/{ids['.md']}"))["tags"] == ["To read", hostile]
    await place.client.patch(f"/api/papers/{ids['.pdf']}", json={"tags": ["to read"]})
    found = await place.get("/papers?tag=TO+READ")
    assert (found["total"], found["papers"][0]["tags"]) == (2, ["to read"])
    assert (await place.get(f"/papers?tag={quote(hostile)}"))["total"] == 1
    facets = (await place.get("/papers/facets?of=tag"))["values"]
    assert [one["count"] for one in facets] == [2, 1]
    narrowed = await place.get(f"/papers/facets?of=year&tag={quote(hostile)}")
    assert narrowed == {"values": [{"value": "2021", "count": 1}]}
    exported = (await place.client.get(f"/api/papers/export?ids={ids['.md']}")).text
    assert "keywords = {To read, " in exported
    assert (await place.client.patch(url, json={})).json()["tags"] == ["To read", hostile]
    bodies: list[dict[str, list[str]]] = [
        {"tags": ["x" * 65]},
        {"tags": [str(number) for number in range(51)]},
        {"tag": []},
    ]
    for wrong in bodies:
        answer = await place.client.patch(url, json=wrong)
        assert answer.status_code == 422
        assert answer.json()["error"]["message"]
    assert (await place.client.patch(url, json={"tags": []})).json()["tags"] == []
    assert (await place.client.patch("/api/papers/nobody", json={"tags": []})).status_code == 404
    await place.get("/papers/facets", 422)
    await place.get("/papers/facets?of=mood", 422)


async def test_a_paper_tells_its_journal_its_notes_and_how_it_was_read(
    place: Place, papers: Path
) -> None:
    ids = await filled(place, papers)
    paper = await place.app.library.paper(ids[".md"])
    named = paper.model_copy(update={"bibcode": "2021MNRAS.500..100R"})
    await place.app.store.papers.put(named, None, ())
    await place.post(f"/papers/{ids['.md']}/notes", {"quote": "a spin period of 5.75 ms"}, 201)
    told = await place.get(f"/papers/{ids['.md']}")
    assert (told["journal"], told["notes"]) == ("MNRAS", 1)
    assert (told["engine"], told["verdict"]) == ("markdown/1", "good")
    for journal in ("mnras", "Monthly Notices of the Royal Astronomical Society", r"\mnras"):
        found = await place.get(f"/papers?journal={quote(journal)}")
        assert [one["paper_id"] for one in found["papers"]] == [ids[".md"]], journal
    assert (await place.get("/papers?journal=ApJ"))["total"] == 0
