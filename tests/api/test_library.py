"""Sessions, papers, files, tools and services over HTTP: thin, exact, and one shape of error."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from api.served import WAIT_S, Place, write_call
from library.conftest import NOTE, papers
from nuncius.api.errors import ConflictError
from nuncius.api.tasks import Tasks
from nuncius.core.events import SubagentStarted
from nuncius.core.messages import Message, StoredMessage

__all__ = ["papers"]

BYTES = {"Content-Type": "application/octet-stream"}


async def filled(place: Place, folder: Path) -> dict[str, str]:
    """Add a paper with pages and one without; return their ids by kind."""
    report = await place.app.library.add([folder])
    assert not report.failed, report.failed
    return {Path(paper.files[0].path).suffix: paper.paper_id for paper in report.added}


async def done(place: Place, task_id: str) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_S):
        while True:
            tasks = {one["id"]: one for one in (await place.get("/tasks"))["tasks"]}
            if tasks[task_id]["state"] in {"done", "failed"}:
                return tasks[task_id]
            await asyncio.sleep(0.01)


# --- sessions -------------------------------------------------------------------------------------


async def test_sessions_are_made_listed_renamed_and_deleted(place: Place) -> None:
    made = await place.post("/sessions", {"title": " First "}, 201)
    assert set(made) == {
        "id", "title", "created_at", "status", "mode", "model", "enable_thinking", "summary", "usage",
    }  # fmt: skip
    assert (made["title"], made["status"], made["model"]) == ("First", "idle", "builtin")
    renamed = await place.client.patch(f"/api/sessions/{made['id']}", json={"title": "Second"})
    assert renamed.json() == made | {"title": "Second"}
    assert (await place.get("/sessions?q=second"))["sessions"] == [renamed.json()]
    assert (await place.get("/sessions?q=first"))["sessions"] == []
    assert (await place.client.delete(f"/api/sessions/{made['id']}")).status_code == 204
    for status in [
        (await place.client.get(f"/api/sessions/{made['id']}")).status_code,
        (await place.client.get(f"/api/sessions/{made['id']}/messages")).status_code,
        (await place.client.patch(f"/api/sessions/{made['id']}", json={"title": "x"})).status_code,
        (await place.client.delete(f"/api/sessions/{made['id']}")).status_code,
    ]:
        assert status == 404


async def test_a_session_needs_no_body(place: Place) -> None:
    answer = await place.client.post("/api/sessions")
    assert (answer.status_code, answer.json()["title"]) == (201, "")


async def test_a_list_goes_on_where_it_ended(place: Place) -> None:
    ids = [await place.session() for _ in range(5)][::-1]
    seen: list[str] = []
    cursor = ""
    for _ in range(3):
        page = await place.get(f"/sessions?limit=2&cursor={cursor}")
        seen += [one["id"] for one in page["sessions"]]
        cursor = page["next_cursor"]
    assert seen == ids
    assert cursor is None
    assert (await place.get("/sessions?cursor=gone")) == {"sessions": [], "next_cursor": None}


async def test_a_session_is_exported_as_a_page_of_text(place: Place) -> None:
    place.says(["It shines."])
    session_id = await place.session()
    await place.turn(session_id, "What of M 31?")
    answer = await place.client.get(f"/api/sessions/{session_id}/export")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    assert "## You\n\nWhat of M 31?\n\n## nuncius\n\nIt shines." in answer.text
    await place.get("/sessions/nosuch/export", 404)


async def test_subagents_messages_stand_under_their_names(place: Place) -> None:
    session_id = await place.session()
    started = SubagentStarted(session_id=session_id, name="reader-1", task="Read.")
    messages = [
        StoredMessage(session_id, "", Message("user", "Go.")),
        StoredMessage(session_id, "", Message("user", "Read."), agent="reader-1"),
        StoredMessage(session_id, "", Message("assistant", "Done.")),
    ]
    await place.app.journal.commit([started], messages)
    told = (await place.get(f"/sessions/{session_id}/messages"))["messages"]
    assert [(one["agent_name"], one["content"]) for one in told] == [
        ("main", "Go."), ("main", "Done."), ("reader-1", "Read."),
    ]  # fmt: skip


# --- papers ---------------------------------------------------------------------------------------


async def test_papers_are_listed_filtered_and_paged(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    whole = await place.get("/papers")
    assert (whole["total"], len(whole["papers"]), whole["next_cursor"]) == (2, 2, None)
    for query, suffix in {
        "q=PULSAR": ".md",
        "q=quiet stern": ".pdf",
        "author=rey": ".md",
        "year=2021": ".md",
        "year=2020-2021": ".md",
        "state=indexed&q=star": ".pdf",
    }.items():
        found = await place.get(f"/papers?{query}")
        assert [paper["paper_id"] for paper in found["papers"]] == [ids[suffix]], query
    assert (await place.get("/papers?state=failed"))["total"] == 0
    first = await place.get("/papers?limit=1")
    second = await place.get(f"/papers?limit=1&cursor={first['next_cursor']}")
    assert {first["papers"][0]["paper_id"], second["papers"][0]["paper_id"]} == set(ids.values())
    assert second["next_cursor"] is None
    await place.get("/papers?state=lost", 422)
    await place.get("/papers?limit=0", 422)


async def test_a_papers_text_is_markdown_and_its_file_an_attachment(
    place: Place, papers: Path
) -> None:
    ids = await filled(place, papers)
    content = await place.get(f"/papers/{ids['.md']}/content")
    assert "5.75 ms" in content["content"]
    assert content["verdict"] == "good"
    part = await place.get(f"/papers/{ids['.md']}/content?section=Timing")
    assert len(part["content"]) < len(content["content"])
    await place.get(f"/papers/{ids['.md']}/content?section=Nothing", 404)
    answer = await place.client.get(f"/api/papers/{ids['.pdf']}/file")
    assert answer.content == (papers / "star.pdf").read_bytes()
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''star.pdf"
    assert "sandbox" in answer.headers["content-security-policy"]
    (papers / "star.pdf").unlink()
    assert (await place.get(f"/papers/{ids['.pdf']}/file", 404))["error"]["hint"]


async def test_nothing_is_no_paper_to_fetch(place: Place) -> None:
    for nothing in ("", "  ", "\t\n"):
        await place.post("/papers", {"id": nothing}, 422)
    assert (await place.get("/tasks"))["tasks"] == []


async def test_what_stands_in_a_files_place_is_not_sent(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    (place.folder / "secret").write_text("a secret of somebody")
    (papers / "star.pdf").unlink()
    (papers / "star.pdf").symlink_to(place.folder / "secret")
    told = await place.get(f"/papers/{ids['.pdf']}/file", 404)
    assert "Add it again" in told["error"]["hint"]
    (papers / "star.pdf").unlink()
    (papers / "star.pdf").write_text("another text now")
    await place.get(f"/papers/{ids['.pdf']}/file", 404)


async def test_a_paper_is_found_by_any_of_its_names_and_removed(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    paper = await place.app.library.paper(ids[".md"])
    named = paper.model_copy(update={"doi": "10.1000/a.b/c", "arxiv_id": "astro-ph/0601001"})
    await place.app.store.papers.put(named, None, ())
    for name in (
        ids[".md"],
        paper.cite_key,
        "10.1000/a.b/c",
        "10.1000%2Fa.b%2Fc",
        "astro-ph/0601001",
    ):
        assert (await place.get(f"/papers/{name}"))["paper_id"] == ids[".md"], name
        assert (await place.get(f"/papers/{name}/notes")) == {"notes": []}
    assert (await place.client.delete("/api/papers/10.1000/a.b/c")).status_code == 204
    assert (await place.client.delete(f"/api/papers/{ids['.md']}")).status_code == 404
    assert (papers / "pulsar.md").exists()  # the user's file stays
    await place.get("/papers/no%00such", 404)


async def test_a_papers_own_page_and_name_are_never_ours(place: Place) -> None:
    """A file of HTML with scripts, under a name that would end a header or a tag."""
    name = '"><img src=x onerror=alert(1)>; filename=evil.exe.html'
    html = (
        "<!doctype html><html><head><title>A star</title></head><body><h1>A star</h1>"
        + "<p>The radius of the star is 1.72 solar radii.</p><script>alert(1)</script>" * 30
    )
    (place.folder / name).write_text(html)
    report = await place.app.library.add([place.folder / name])
    paper_id = report.added[0].paper_id
    answer = await place.client.get(f"/api/papers/{paper_id}/file")
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment; filename*=UTF-8''")
    assert not set(disposition.partition("''")[2]) & set('"<>;= ')
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    content = await place.client.get(f"/api/papers/{paper_id}/content")
    assert content.headers["content-type"] == "application/json"
    assert "<script" not in content.json()["content"]


async def test_a_note_stands_on_a_quote_of_the_paper(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    url = f"/papers/{ids['.md']}/notes"
    note = await place.post(url, {"quote": "a spin period of 5.75 ms", "note": "Fast."}, 201)
    assert (await place.get(url))["notes"] == [note]
    refused = await place.post(url, {"quote": "a spin period of 9 ms"}, 404)
    assert "does not stand" in refused["error"]["message"]
    await place.post(url, {"quote": ""}, 422)
    await place.post(url, {"quote": "x", "colour": "red"}, 422)


async def test_the_library_is_searched(place: Place, papers: Path) -> None:
    ids = await filled(place, papers)
    found = await place.post("/rag", {"query": "spin period", "k": 3})
    assert found["passages"][0]["paper_id"] == ids[".md"]
    own = await place.post("/rag", {"query": "spin period", "paper_ids": [ids[".pdf"]]})
    assert all(one["paper_id"] == ids[".pdf"] for one in own["passages"])
    await place.post("/rag", {"query": "x", "paper_ids": ["nosuch"]}, 404)
    await place.post("/rag", {"query": "x", "k": 0}, 422)


# --- uploads --------------------------------------------------------------------------------------


async def test_an_uploaded_file_becomes_a_paper(place: Place) -> None:
    answer = await place.client.put(
        "/api/papers/files?name=Pulsar ü.md&confidential=true", content=NOTE.encode(), headers=BYTES
    )
    assert answer.status_code == 202, answer.text
    task = await done(place, answer.json()["id"])
    assert (task["state"], task["fraction"], task["what"]) == ("done", 1.0, "Pulsar ü.md")
    paper = task["papers"][0]
    assert paper["confidential"]
    file = await place.client.get(f"/api/papers/{paper['paper_id']}/file")
    assert file.text == NOTE
    assert Path(paper["files"][0]["path"]).is_relative_to(place.app.settings.library_dir)
    again = await place.client.put(
        "/api/papers/files?name=other.md", content=NOTE.encode(), headers=BYTES
    )
    same = await done(place, again.json()["id"])
    assert [one["paper_id"] for one in same["papers"]] == [paper["paper_id"]]
    assert (await place.get("/papers"))["total"] == 1


async def test_a_file_that_is_no_paper_says_why(place: Place) -> None:
    answer = await place.client.put(
        "/api/papers/files?name=a.pdf", content=b"%PDF-1.4\nbroken", headers=BYTES
    )
    task = await done(place, answer.json()["id"])
    assert task["state"] == "failed"
    assert task["failures"][0]["reason"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../x.md",
        "a/b.md",
        "a\\b.md",
        ".env",
        "~x.md",
        "a%00.md",
        "a%0A.md",
        "x" * 200,
        "a%E2%80%AE.md",
    ],
)
async def test_a_name_that_is_no_files_name_is_refused(place: Place, name: str) -> None:
    answer = await place.client.put(f"/api/papers/files?name={name}", content=b"# A", headers=BYTES)
    assert answer.status_code == 422, answer.text
    assert not list(place.app.settings.library_dir.rglob("*.md"))


async def test_a_client_that_leaves_in_the_middle_of_a_file_leaves_nothing(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        _, writer = await asyncio.open_connection("127.0.0.1", place.port)
        writer.write(
            f"PUT /api/papers/files?name=a.md HTTP/1.1\r\nHost: 127.0.0.1:{place.port}\r\n"
            f"Authorization: Bearer {place.token}\r\nContent-Length: 1000000\r\n"
            "Content-Type: application/octet-stream\r\n\r\n# A".encode()
        )
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.transport.abort()
    assert await place.get("/tasks") == {"tasks": []}
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]


async def test_an_empty_file_is_refused(place: Place) -> None:
    answer = await place.client.put("/api/papers/files?name=a.md", headers=BYTES)
    assert answer.status_code == 422
    assert answer.json()["error"]["hint"] == "Choose one that holds something."


async def test_work_that_has_ended_is_let_go_of_and_what_came_of_it_stays(place: Place) -> None:
    answer = await place.client.put("/api/papers/files?name=a.md", content=b"# A", headers=BYTES)
    task_id = answer.json()["id"]
    await done(place, task_id)
    assert (await place.client.delete(f"/api/tasks/{task_id}")).status_code == 204
    assert await place.get("/tasks") == {"tasks": []}
    assert (await place.get("/papers"))["total"] == 1
    assert (await place.client.delete(f"/api/tasks/{task_id}")).status_code == 404


async def test_work_that_still_waits_is_not_let_go_of(place: Place) -> None:
    tasks = Tasks(place.app)
    task = await tasks.add("a.md", b"# A", confidential=False)
    with pytest.raises(ConflictError, match=r"a\.md is still being added"):
        tasks.forget(task.id)
    await tasks.stop()


async def test_a_rule_of_no_tool_is_refused_in_words_for_people(place: Place) -> None:
    body = {"pattern": "nosuch(ls)", "decision": "allow"}
    answer = await place.client.put("/api/permissions", json=body)
    assert answer.status_code == 404
    assert "such as run_bash" in answer.json()["error"]["hint"]


# --- tools and services ---------------------------------------------------------------------------


async def test_tools_are_the_models_own(place: Place) -> None:
    told = (await place.get("/tools"))["tools"]
    assert [tool["name"] for tool in told] == [one.name for one in place.app.tools()]
    assert all(tool["parameters"]["type"] == "object" for tool in told)


async def test_a_call_goes_through_the_whole_executor(place: Place) -> None:
    (place.folder / "a.txt").write_text("hello")
    session_id = await place.session()
    body = {"arguments": {"path": "a.txt"}, "session_id": session_id}
    reply = await place.post("/tools/read_file", body)
    assert set(reply) == {"content", "is_error", "error_kind", "metadata"}
    assert "hello" in reply["content"]
    kinds = [event.type for event in await place.app.journal.events(session_id)]
    assert kinds[-1] == "turn_finished"
    outside = await place.post("/tools/read_file", {"arguments": {"path": "/etc/passwd"}})
    assert outside["is_error"]
    wrong = await place.post("/tools/read_file", {"arguments": {"file": 1}})
    assert wrong["error_kind"] == "invalid_arguments"
    await place.post("/tools/nosuch", {"arguments": {}}, 404)
    await place.post("/tools/read_file", {"arguments": {}, "session_id": "nosuch"}, 404)


async def test_a_call_that_asks_waits_for_the_decision(place: Place) -> None:
    arguments = {"path": "b.txt", "content": "x"}
    calling = asyncio.create_task(place.post("/tools/file_write", {"arguments": arguments}))
    request = await place.waiting("permission")
    body = {"decision": "allow", "args_sha256": request["args_sha256"]}
    await place.post(f"/permissions/requests/{request['id']}", body)
    assert not (await calling)["is_error"]
    assert (place.folder / "b.txt").read_text() == "x"


async def test_references_are_listed_with_the_papers_that_are_here(place: Place) -> None:
    cited = place.folder / "cited.md"
    cited.write_text(
        "---\ntitle: Spots\ndoi: 10.3847/1538-4357/ab12\n---\n\n# Spots\n\nSpots turn.\n"
    )
    citing = place.folder / "citing.md"
    citing.write_text(
        "# Later spots\n\nAlder (2019) saw them turn.\n\n## References\n\n"
        "- Alder, B. 2019, ApJ, 870, 12, doi: 10.3847/1538-4357/ab12\n- Birch, C. 2020, in prep.\n"
    )
    report = await place.app.library.add([cited, citing])
    held, paper = (one.paper_id for one in report.added)
    found = (await place.get(f"/papers/{paper}/references"))["references"]
    assert [(one["first_author"], one["year"], one["paper_id"]) for one in found] == [
        ("Alder", "2019", held),
        ("Birch", "2020", None),
    ]
    assert found[0]["bibcode"] == "2019ApJ...870...12A"
    assert found[0]["made"]
    assert await place.get(f"/papers/{held}/references") == {"references": []}
    await place.get("/papers/nosuch/references", 404)


async def test_a_position_is_resolved(place: Place) -> None:
    target = await place.get("/targets?name=00:42:44.33%20%2B41:16:07.5")
    assert target["ra_deg"] == pytest.approx(10.68471, abs=1e-4)
    assert target["dec_deg"] == pytest.approx(41.26875, abs=1e-4)
    await place.get("/targets", 422)


async def test_a_service_that_is_out_of_reach_is_told_as_that(place: Place) -> None:
    dead = {"offline": False, "arxiv_url": "http://127.0.0.1:9", "ads_token": None}
    cast("Any", place.app).settings = place.app.settings.model_copy(update=dead)
    told = await place.post("/search", {"query": "neutron stars"}, 502)
    assert told["error"]["code"] == "upstream", told
    await place.post("/search", {"query": "x", "sources": ["google"]}, 422)
    await place.post("/search", {"query": "x", "rows": 0}, 422)


async def test_what_offline_refuses_is_told_as_that(place: Place) -> None:
    cast("Any", place.app).settings = place.app.settings.model_copy(update={"offline": True})
    told = await place.post("/search", {"query": "neutron stars"}, 403)
    assert told["error"]["code"] == "access_denied"
    assert "NUNCIUS_OFFLINE" in told["error"]["message"] + told["error"]["hint"]


async def test_errors_have_one_shape_and_no_traceback(place: Place) -> None:
    place.says([write_call("a.txt")])
    for method, path, body, status in (
        ("GET", "/api/nothing", None, 404),
        ("POST", "/api/health", {}, 405),
        ("GET", "/api/sessions/x/turns", None, 405),
        ("POST", "/api/sessions", {"titel": "x"}, 422),
        ("POST", "/api/sessions", [1], 422),
        ("GET", "/api/sessions?limit=x", None, 422),
    ):
        answer = await place.client.request(method, path, json=body)
        assert answer.status_code == status, (path, answer.text)
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["message"]
    broken = await place.client.post(
        "/api/sessions", content=b"{", headers={"Content-Type": "application/json"}
    )
    assert broken.json()["error"]["code"] == "invalid_request"


async def test_what_breaks_in_us_is_a_500_that_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(place.app, "tools", broken)
    answer = await place.client.get("/api/tools")
    assert answer.status_code == 500
    assert "secret detail" not in answer.text
    assert answer.json()["error"]["code"] == "internal_server_error"
    assert "secret detail" in caplog.text  # in the log it is


async def test_a_notes_words_are_changed_and_a_note_is_deleted(place: Place, papers: Path) -> None:
    paper_id = (await filled(place, papers))[".md"]
    text = (await place.get(f"/papers/{paper_id}/content"))["content"]
    quote = next(line for line in text.splitlines() if line.endswith("."))
    note = await place.post(f"/papers/{paper_id}/notes", {"quote": quote, "note": "Why?"}, 201)
    where = f"/api/papers/{paper_id}/notes/{note['id']}"
    changed = await place.client.patch(where, json={"note": "因为。"})
    assert changed.json() == note | {"note": "因为。"}
    for wrong in (
        f"/api/papers/{paper_id}/notes/{2**70}",
        f"/api/papers/nobody/notes/{note['id']}",
    ):
        assert (await place.client.delete(wrong)).status_code == 404
    assert (await place.client.delete(where)).status_code == 204
    assert (await place.client.delete(where)).status_code == 404
    assert (await place.get(f"/papers/{paper_id}/notes"))["notes"] == []


async def test_papers_are_exported_all_or_some(place: Place, papers: Path) -> None:
    paper_id = (await filled(place, papers))[".md"]
    whole = await place.client.get("/api/papers/export")
    some = await place.client.get(f"/api/papers/export?format=ris&ids={paper_id}")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.text.count("@") == 2
    assert some.text.count("TY  - ") == 1
    assert (await place.client.get("/api/papers/export?ids=nobody")).status_code == 404
    fitting = await place.client.get("/api/papers/export?q=pulsar")
    assert fitting.text.count("@") == 1
    assert (await place.client.get("/api/papers/export?year=1900")).text == ""
    assert await place.get("/papers/export?format=csl-json&year=1900") == []


async def test_an_export_names_each_paper_once_and_refuses_what_is_unclear(
    place: Place, papers: Path
) -> None:
    paper_id = (await filled(place, papers))[".md"]
    key = (await place.get(f"/papers/{paper_id}"))["cite_key"]
    twice = await place.client.get(f"/api/papers/export?ids={paper_id},{key},,{paper_id}")
    assert twice.text.count("@") == 1
    for asked in ("ids=,,", "ids=%20", f"ids={paper_id}&year=1900", f"ids={paper_id}&q=dust"):
        told = await place.get(f"/papers/export?{asked}", 422)
        assert told["error"]["hint"], asked


@pytest.mark.parametrize("name", ["2010.12345", "no name of a paper"])
async def test_a_paper_that_cannot_be_fetched_says_why(place: Place, name: str) -> None:
    begun = await place.post("/papers", {"id": name}, 202)
    assert (begun["what"], begun["kind"]) == (name, "add")
    task = await done(place, begun["id"])
    assert (task["state"], task["papers"]) == ("failed", [])
    (failure,) = task["failures"]
    assert failure["what"] == name
    assert failure["reason"]
    assert failure["hint"]


async def test_the_page_is_told_what_a_turn_runs_with(place: Place) -> None:
    assert await place.get("/settings") == {
        "model": "builtin",
        "models": ["builtin"],
        "mode": "ask",
        "enable_thinking": False,
        "context_tokens": None,
    }


async def test_the_doctor_looks_at_the_served_home(place: Place, tmp_path: Path) -> None:
    found = {one["name"]: one for one in (await place.get("/doctor"))["findings"]}
    assert found["home"]["state"] == "ok"
    assert str(tmp_path) in found["home"]["text"]
    assert {"python", "database", "tools", "pdf", "sandbox"} <= set(found)


async def test_thinking_is_switched_and_the_title_stays(place: Place) -> None:
    made = await place.post("/sessions", {"title": "First"}, 201)
    url = f"/api/sessions/{made['id']}"
    changed = await place.client.patch(url, json={"enable_thinking": True})
    assert changed.json() == made | {"enable_thinking": True}
    assert (await place.get(f"/sessions/{made['id']}")) == changed.json()
    assert (await place.client.patch(url, json={})).json() == changed.json()
    nobody = await place.client.patch("/api/sessions/nobody", json={"enable_thinking": True})
    assert nobody.status_code == 404
