"""Notes and permission rules."""

import pytest

from nuncius.core.errors import NotFoundError
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper


async def test_notes_are_kept_in_order_by_paper(store: SqliteStore) -> None:
    one = await store.papers.put(a_paper("One"), None, [])
    two = await store.papers.put(a_paper("Two"), None, [])
    notes = [
        await store.desk.add_note(
            paper.paper_id, quote=f"q{i}", note="n\x00", page=i or None, color="red", agent="main"
        )
        for i, paper in enumerate([one, two, one])
    ]
    assert await store.desk.notes() == notes
    assert await store.desk.notes(one.paper_id) == [notes[0], notes[2]]
    assert notes[0].note == "n"
    assert notes[0].page is None


async def test_a_note_needs_its_paper(store: SqliteStore) -> None:
    with pytest.raises(NotFoundError, match="no paper nothing1"):
        await store.desk.add_note("nothing1", quote="q", note="", page=1, color="red", agent="main")
    assert await store.desk.notes() == []


async def test_rules_hold_for_all_sessions_or_for_one(store: SqliteStore) -> None:
    everywhere = await store.desk.add_rule("run_bash(git log *)", "allow")
    here = await store.desk.add_rule("*", "deny", session_id="s1", source="page")
    assert [rule.id for rule in await store.desk.rules("s1")] == [everywhere, here]
    assert [rule.id for rule in await store.desk.rules("s2")] == [everywhere]
    (_, rule) = await store.desk.rules("s1")
    assert (rule.pattern, rule.decision, rule.session_id, rule.source) == (
        "*",
        "deny",
        "s1",
        "page",
    )


async def test_the_same_rule_twice_is_one(store: SqliteStore) -> None:
    first = await store.desk.add_rule("run_bash", "allow")
    assert await store.desk.add_rule("run_bash", "allow") == first
    assert await store.desk.add_rule("run_bash", "deny") != first
    assert len(await store.desk.rules("")) == 2


async def test_a_revoked_rule_is_gone_and_its_id_is_not_given_again(store: SqliteStore) -> None:
    first = await store.desk.add_rule("run_bash", "allow")
    await store.desk.revoke_rule(first)
    assert await store.desk.rules("") == []
    with pytest.raises(NotFoundError, match=f"no permission rule {first}"):
        await store.desk.revoke_rule(first)
    assert await store.desk.add_rule("run_bash", "allow") > first
