"""check_answer: quotes put in for handles and checked, for answers that another assistant writes."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field
from typing_extensions import override

from nuncius.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from nuncius.core.evidence import Answer, Citation, find_handles
from nuncius.core.shapes import as_object
from nuncius.library.answer import Finisher

NAME = "check_answer"
_LISTED = 20


class Draft(Arguments):
    """Arguments of `check_answer`."""

    text: str = Field(
        min_length=1,
        max_length=30_000,
        description="The whole answer as you would show it, with handles such as '[k3f2a9c1-12:3]'.",
    )
    question: str = Field(
        default="", max_length=4000, description="The user's question, in their own words."
    )


class CheckAnswer(Tool[Draft]):
    """Check an answer before you show it: puts the quotes in for its handles and verifies them.

    Each handle becomes a mark such as [1]; a handle alone on a line becomes the quote, cut from the
    paper. Each quote is found again in the paper or dropped. Sentences whose numbers stand in no
    cited quote, or that cite nothing, are listed: mend them, or tell the user.
    """

    name = NAME
    args = Draft
    read_only = True
    output_characters = 100_000  # an answer that is cut is none

    def __init__(self, finisher: Finisher, evidence: Sequence[Mapping[str, object]]) -> None:
        self._finisher = finisher
        self._evidence = evidence

    @override
    async def run(self, args: Draft, ctx: ToolContext) -> ToolOutput:
        evidence = tuple(self._evidence)
        answer = await self._finisher.finish(args.text, question=args.question, evidence=evidence)
        shown = {key for metadata in evidence for key in as_object(metadata.get("evidence"))}
        unseen = [
            str(handle)
            for handle, _, _ in find_handles(args.text)
            if handle.passage_id not in shown
        ]
        return ToolOutput(
            "\n".join([answer.text, *_sources(answer), *_doubts(answer, unseen)]),
            metadata=answer.model_dump(mode="json"),
        )


def _sources(answer: Answer) -> Iterator[str]:
    if answer.citations:
        yield "\n--- Sources (show these, too) ---"
    for citation in answer.citations:
        yield f"[{citation.key}] {_place(citation)}; check: {citation.check}"
        yield f"    “{citation.quote}”"


def _place(citation: Citation) -> str:
    who = citation.authors[0] if citation.authors else ""
    if len(citation.authors) > 1:
        who += " et al."
    names = [citation.bibcode, citation.arxiv_id, citation.doi]
    place = [
        citation.title,
        " ".join(part for part in (who, str(citation.year or "")) if part),
        f"p. {citation.page}" if citation.page else citation.section,
        next((name for name in names if name), f"library id {citation.paper_id}"),
    ]
    return ", ".join(part for part in place if part)


def _doubts(answer: Answer, unseen: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the answer; nothing where all is well."""
    if answer.unsupported or answer.dropped_quotes or not answer.answered:
        yield "\n--- For you: mend this or tell the user ---"
    if not answer.answered:
        yield "Nothing is cited. Cite handles that a tool showed you, or say [not found]."
    if lost := answer.dropped_quotes - len(unseen):
        yield f"Left out, because their quotes are not in the papers: {lost} handle(s)."
    if unseen:
        listed = ", ".join([*dict.fromkeys(unseen)][:_LISTED])
        yield (
            "Left out, because no tool has shown them since this server started (read their passages"
            f" again first): {listed}"
        )
    for doubt in answer.unsupported[:_LISTED]:
        yield f"Unsupported ({doubt.reason}): {doubt.sentence}"
    if len(answer.unsupported) > _LISTED:
        yield f"Unsupported: {len(answer.unsupported) - _LISTED} more sentences."
