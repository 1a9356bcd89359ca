"""A session as Markdown: what people keep of it."""

from typing import Any

from inline_snapshot import snapshot

from nuncius.app.session_text import as_markdown
from nuncius.core.events import (
    AnswerEvent,
    Event,
    Notice,
    QuestionResolved,
    TextDelta,
    ToolCallEvent,
    ToolResultEvent,
    TurnFinished,
    TurnStarted,
)
from nuncius.core.evidence import Citation, Unsupported
from nuncius.core.messages import Usage
from nuncius.store.protocols import Session

SESSION = Session(
    id="abc", title="Spots\n# and more", created_at="2026-12-01T10:00:00Z", status="failed",
    mode="ask", model="builtin", enable_thinking=False, summary="", usage=Usage(),
)  # fmt: skip
CITATION = Citation(
    key="1", paper_id="abcdefgh", bibcode="2019ApJ...870...12A", title="Spots", year=2019,
    authors=("Alder, B.", "Birch, C.", "Cedar, D.", "Elm, E."), page=3,
    quote="Spots turn\n\n# in 3 d.", check="exact", text_sha256="0",
)  # fmt: skip


def events() -> list[Event]:
    whose: dict[str, Any] = {"session_id": "abc", "turn_id": "t1"}
    return [
        TurnStarted(**whose, message="How fast do spots turn?", model="m", mode="ask", enable_thinking=False),
        ToolCallEvent(**whose, id="c1", tool_call_id="c1", name="rag_search", arguments={"query": "spots `x`"}),
        TextDelta(**whose, text="Sp"),
        ToolResultEvent(**whose, id="c1", tool_call_id="c1", name="rag_search", output="long", duration_ms=1234),
        ToolResultEvent(
            **whose, agent="reader", id="c2", tool_call_id="c2", name="read_file", output="", is_error=True,
            error_kind="not_found",
        ),
        QuestionResolved(**whose, id="q", outcome="answered", answer="The fast ones."),
        AnswerEvent(
            **whose, text="In 3 d [1].", citations=(CITATION,), answered=True,
            unsupported=(Unsupported(sentence="They shine.", reason="no citation"),),
        ),
        TurnFinished(**whose, status="completed"),
        TurnStarted(**whose, message="And?", model="m", mode="ask", enable_thinking=False),
        Notice(**whose, level="warning", text="The model is slow."),
        TurnFinished(**whose, status="failed", error="it said nothing"),
    ]  # fmt: skip


def test_a_session_reads_as_a_page() -> None:
    assert as_markdown(SESSION, events()) == snapshot("""\
# Spots # and more

2026-12-01T10:00:00Z · failed

## You

How fast do spots turn?

- rag_search `{"query": "spots ˋxˋ"}` (1.2 s)
- reader: read_file (0.0 s, failed: not_found)

You answered: The fast ones.

## nuncius

In 3 d [1].

> [1] “Spots turn # in 3 d.”
>
> Alder, B., Birch, C., Cedar, D. et al. (2019): Spots, p. 3. 2019ApJ...870...12A · exact

No quote carries:

- They shine. (no citation)

## You

And?

*The model is slow.*

*The turn ended: failed, it said nothing.*
""")


def test_no_name_makes_a_line_of_its_own() -> None:
    whose: dict[str, Any] = {"session_id": "abc", "turn_id": "t1"}
    forged = "x\n\n## nuncius\n\r\u2028## You"
    for name in ("bibcode", "doi", "arxiv_id", "paper_id"):
        changed: dict[str, Any] = {"bibcode": "", "doi": "", "arxiv_id": "", name: forged}
        rest = {"key": forged, "title": forged, "quote": forged, "authors": (forged,)}
        citation = CITATION.model_copy(update=changed | rest)
        told = as_markdown(SESSION, [
            ToolCallEvent(**whose, id="c", tool_call_id="c", name=forged, arguments={forged: forged}),
            ToolResultEvent(
                **whose, agent=forged, id="c", tool_call_id="c", name=forged, output="", is_error=True,
                error_kind="not_found",
            ),
            AnswerEvent(**whose, text="So.", citations=(citation,), answered=True),
        ])  # fmt: skip
        headings = [line for line in told.splitlines() if line.startswith(("## ", "> ##"))]
        assert headings == ["## nuncius"]


def test_a_session_without_events_is_its_title() -> None:
    assert as_markdown(SESSION, []) == "# Spots # and more\n\n2026-12-01T10:00:00Z · failed\n"


def test_a_quote_that_stands_in_the_answer_is_not_said_twice() -> None:
    text = "> Spots turn # in 3 d. [1]"
    answer = AnswerEvent(session_id="abc", text=text, citations=(CITATION,), answered=True)
    shown = as_markdown(SESSION, [answer])
    assert shown.count("Spots turn # in 3 d.") == 1
    assert "\n[1] Alder, B., Birch, C., Cedar, D. et al. (2019): Spots, p. 3." in shown
