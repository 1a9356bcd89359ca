"""Tell whether a text that is about to leave this machine repeats the user's own words."""

from nuncius.core.text import index_terms
from nuncius.store.protocols import Store

RUN = 6
"""So many words in a row are nobody's chance."""
_MOST_RUNS = 60


async def repeats(store: Store, text: str) -> str:
    """Return what of the user's a text repeats word for word, for people; empty: nothing.

    Looked at are the user's notes and the text of confidential papers.
    """
    words = index_terms(text).split()
    runs = [words[at : at + RUN] for at in range(len(words) - RUN + 1)][:_MOST_RUNS]
    if not runs:
        return ""
    phrases = [" ".join(run) for run in runs]
    for note in await store.desk.notes():
        kept = f" {index_terms(note.note)} "
        if any(f" {phrase} " in kept for phrase in phrases):
            return f"your note {note.id}"
    held = list(await store.papers.confidential())
    if held:
        hits = await store.passages.search([[p] for p in phrases], limit=1, paper_ids=held)
        if hits:
            return f"the confidential paper {hits[0].passage.paper_id}"
    return ""
