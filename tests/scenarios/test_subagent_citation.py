"""A subagent reads the library; the parent's answer cites what only the subagent was shown."""

import json
import re
from pathlib import Path

from library.conftest import papers, settings_in
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.runtime import Runtime
from nuncius.app import open_app
from nuncius.app.build import prompt
from nuncius.library.answer import Finisher
from nuncius.llm.model import ModelRequest
from nuncius.llm.scripted import Reply, ScriptedModel, Step

__all__ = ["papers"]  # a fixture
QUESTION = "What is the radius of HD 12345?"


def read_by_a_subagent(request: ModelRequest) -> Step:
    """Delegate the reading; copy the handle from the report, as a model would."""
    last = request.messages[-1]
    if "You are a subagent" in request.messages[0].content:
        if last.role == "user":
            return Reply(calls=[("rag_search", json.dumps({"query": QUESTION}))])
        return f"Its radius is 1.72 solar radii {handle_of(last.content)}."
    if last.role == "user":
        return Reply(calls=[("subagent", json.dumps({"task": QUESTION, "tools": ["rag_search"]}))])
    (handle,) = set(re.findall(r"\[[a-z0-9]{8}-\d+:\d+\]", last.content))
    return f"Its radius is 1.72 solar radii {handle}."


def handle_of(shown: str) -> str:
    """Return the handle of the sentence that tells the radius."""
    passage = re.search(r"^\[([a-z0-9]{8}-\d+)\] p\.", shown, re.MULTILINE)
    sentence = re.search(r"^(\d+)\| Its radius is 1\.72", shown, re.MULTILINE)
    assert passage, shown
    assert sentence, shown
    return f"[{passage[1]}:{sentence[1]}]"


async def test_the_parent_may_cite_what_its_subagent_was_shown(
    tmp_path: Path, papers: Path
) -> None:
    async with open_app(settings_in(tmp_path)) as app:
        await app.library.add([papers])
        runtime = Runtime(
            ScriptedModel(read_by_a_subagent),
            app.registry(),
            app.journal,
            PermissionChecker(app.store.desk),
            Finisher(app.store),
            system_prompt=app.system_prompt(),
            subagent_prompt=prompt("subagent.md"),
            pending=app.journal,
        )
        session = await app.session()
        result = await runtime.run_turn(session.id, QUESTION)
        assert result.answer, result.error
        (citation,) = result.answer.citations
        assert citation.quote.startswith("Its radius is 1.72 solar radii")
        assert (citation.page, citation.check) == (1, "exact")
        assert (result.answer.unsupported, result.answer.dropped_quotes) == ((), 0)
        assert QUESTION in result.answer.searched.queries
        again = await runtime.run_turn(session.id, "Say it again.")  # read from the rows, too
        assert again.status == "completed"
