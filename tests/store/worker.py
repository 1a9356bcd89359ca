"""What other processes do to a home in the store's tests; each line it prints is a promise."""

import asyncio
import sys
from pathlib import Path

from nuncius.store import open_store
from nuncius.store.sqlite import SqliteStore
from store.samples import a_paper, a_text, call, said

LARGE = 300  # passages: several transactions


def say(text: object) -> None:
    print(text, flush=True)


async def commit(store: SqliteStore, session_id: str, name: str, count: str) -> None:
    """Commit events and messages; print each after it was acknowledged."""
    for i in range(int(count)):
        label = f"{name}-{i}"
        message = said(session_id, label)
        await store.journal.commit([call(session_id, label)], [message], durable=i % 10 == 0)
        say(label)


async def put(store: SqliteStore, name: str, count: str) -> None:
    """Put papers, small and large; print each after it was acknowledged."""
    for i in range(int(count)):
        words = [f"{name} paper{i} passage{k}" for k in range(LARGE if i % 3 == 2 else 3)]
        paper = await store.papers.put(a_paper(f"{name} {i}"), a_text(*words), [])
        say(f"{paper.paper_id} {len(words)}")


async def replace(store: SqliteStore, paper_id: str) -> None:
    """Replace a paper's large text again and again; print the version after each."""
    paper = await store.papers.find(paper_id)
    for version in range(1, 1000):
        words = [f"version{version} passage{k}" for k in range(LARGE)]
        await store.papers.put(paper, a_text(*words, digest=f"v{version}"), [])
        say(version)


async def delete(store: SqliteStore, *session_ids: str) -> None:
    """Delete sessions; print each after it was acknowledged."""
    for session_id in session_ids:
        await store.journal.delete_session(session_id)
        say(session_id)


async def hold(store: SqliteStore, session_id: str) -> None:
    """Hold a session's lease until killed."""
    async with store.journal.lease(session_id):
        say("held")
        await asyncio.sleep(60)


async def main() -> None:
    home, act, *arguments = sys.argv[1:]
    store = await open_store(Path(home), Path(home) / "nuncius.db")
    say("open")
    await globals()[act](store, *arguments)
    await store.close()


asyncio.run(main())
