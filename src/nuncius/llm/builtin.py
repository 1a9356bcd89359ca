"""The model that needs no key: it searches, reads around, and answers in quotes alone.

It drives the same loop by the same tools as a language model does, sees only what they show, and
never writes a fact in words of its own. Where no sentence answers, it says so.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from typing_extensions import override

from nuncius.core.messages import Message, ToolCall, Usage
from nuncius.core.stem import stems
from nuncius.core.text import language_of
from nuncius.llm.judging import Judge, Judged
from nuncius.llm.model import (
    ChatModel,
    Completion,
    FinishReason,
    ModelChunk,
    ModelRequest,
    TextChunk,
)
from nuncius.llm.question import read_question
from nuncius.llm.reading import Desk, ShownPaper

QUOTES = 5
PASSAGES = 10
PLACES_READ = 1
AROUND = 1
"""Passages that are read before and after the best one."""
BEHIND = 1.5
"""How far behind the best evidence the best sentence of another passage may be."""
UNSOUND = 0.5
"""What it costs a sentence that it lacks a number, unit or cause that the question wants."""
CLOSE = 0.3
"""How far behind the best a second sentence of the same passage may be."""
MAX_QUERY = 4000
MAX_TOLD = 300
"""Characters of a failed search's message that the answer repeats."""
_FOLLOWS_UP = re.compile(
    r"\b(?:it|its|they|their|them|he|she|his|her)\b|^(?:and|what about|how about)\b"
    r"|\b(?:this|that|these|those) (?:one|paper|stud\w+|work|code|model|method|planet|star|cluster|galax\w+|object"
    r"|sample|result|value|event)s?\b|[它她他]|这[个颗篇些]|那[个颗篇些]?|该|呢[？?]?$",
    re.IGNORECASE,
)
"""A question that leans on the one before."""


class BuiltinModel(ChatModel):
    """A deterministic `ChatModel`: quotes only, no language model."""

    @property
    @override
    def name(self) -> str:
        """Return ``builtin``."""
        return "builtin"

    @property
    @override
    def degraded(self) -> str:
        """Return the label that every answer of this model carries."""
        return "quotes only, no language model"

    @property
    @override
    def local(self) -> bool:
        """Return True: no text leaves the machine."""
        return True

    @override
    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Make the next move of the turn: search, read, or answer."""
        question, previous, results = _this_turn(request.messages)
        tools = {tool.name for tool in request.tools}
        text, calls = _move(question, previous, results, tools)
        if text:
            yield TextChunk(text)
        finish: FinishReason = "tool_calls" if calls else "stop"
        usage = Usage(input_tokens=_tokens(request), output_tokens=len(text) // 4 + 20 * len(calls))
        yield Completion(Message("assistant", text, tuple(calls)), finish, usage)


def _this_turn(messages: Sequence[Message]) -> tuple[str, str, list[Message]]:
    """Return the question, the user message before where it leans on it, and the tool results since."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    if not users:
        return "", "", []
    question = messages[users[-1]].content
    previous = messages[users[-2]].content if len(users) > 1 else ""
    if not _FOLLOWS_UP.search(question.strip()):
        previous = ""
    return question, previous, [m for m in messages[users[-1] :] if m.role == "tool"]


def _tokens(request: ModelRequest) -> int:
    """Estimate what a language model would be charged for this request: four characters a token."""
    text = sum(
        len(m.content) + sum(len(call.arguments) for call in m.tool_calls) for m in request.messages
    )
    tools = sum(
        len(t.description) + len(json.dumps(dict(t.parameters), separators=(",", ":")))
        for t in request.tools
    )
    return (text + tools) // 4


def _move(
    question: str, previous: str, results: Sequence[Message], tools: set[str]
) -> tuple[str, list[ToolCall]]:
    words = _Words.of(question)
    if not question.strip():
        return words.empty, []
    if not results:
        if "rag_search" not in tools:
            return words.no_search, []
        query = f"{previous}\n{question}" if previous else question
        return "", [_call(0, "rag_search", query=query[-MAX_QUERY:], k=PASSAGES)]
    searches = [m for m in results if m.name == "rag_search"]
    if all(m.is_error for m in searches):
        told = " ".join(searches[-1].content.split()) if searches else ""
        return words.failed.format(told[:MAX_TOLD]), []
    desk = Desk()
    for result in results:
        if not result.is_error:
            desk.read(result.content)
    asked = read_question(question)
    if previous:
        names = (*read_question(previous).names, *asked.names)
        asked = replace(asked, names=names, own=frozenset(stems(question)))
    judge = Judge(asked, desk)
    judged = judge.judge()
    if len(results) == len(searches) and "get_paper_content" in tools:
        calls = list(_read_around(judged))
        if calls:
            return "", calls
    return _answer(words, judge, judged, desk), []


def _call(index: int, name: str, **arguments: object) -> ToolCall:
    return ToolCall(f"{name}-{index}", name, json.dumps(arguments, ensure_ascii=False))


def _read_around(judged: Sequence[Judged]) -> Iterator[ToolCall]:
    """Read the passages around the best sentences."""
    read: list[tuple[str, int]] = []
    for found in judged:
        paper, at = found.passage.paper_id, found.passage.ordinal
        if any(paper == other and abs(at - place) <= AROUND for other, place in read):
            continue
        read.append((paper, at))
        # a paper's first passage holds names and addresses: not read unless it was found
        first = max(min(at, 2), at - AROUND)
        yield _call(
            len(read),
            "get_paper_content",
            paper_id=paper,
            offset=first,
            limit=at + AROUND - first + 1,
        )
        if len(read) >= PLACES_READ:
            return


# --- the answer ----------------------------------------------------------------------------------


def _answer(words: "_Words", judge: Judge, judged: Sequence[Judged], desk: Desk) -> str:
    unseen = judge.unseen_names()
    chosen = [] if unseen or judge.asks_unseen() else _choose(judged)
    if not chosen:
        return words.not_found(unseen or judge.unseen_words(), desk, judged)
    lines = [words.lead, ""]
    order = list(dict.fromkeys(found.passage.paper_id for found in chosen))
    for paper_id in order:
        paper = desk.paper(paper_id)
        lines.append(_heading(paper))
        own = [found for found in chosen if found.passage.paper_id == paper_id]
        own.sort(key=lambda f: (f.passage.ordinal, f.sentence.number))
        for passage_id, run in _runs(own):
            first, last = run[0], run[-1]
            span = f"{first}" if first == last else f"{first}-{last}"
            lines.extend(["", f"[{passage_id}:{span}]"])
        lines.append("")
    missing = judge.unseen_words()
    if missing:
        lines.append(words.unseen.format(", ".join(missing)))
    return "\n".join(lines).strip()


def _heading(paper: ShownPaper) -> str:
    title, reference = _plain(paper.title), _plain(paper.reference)
    # a paper without authors is referred to by its title, which need not be said twice
    return f"**{title}**" if reference.startswith(title[:40]) else f"**{title}** ({reference})"


def _plain(text: str) -> str:
    return re.sub(r"[\[\]`]", "", text).replace("*", r"\*")  # Sgr A* ends no emphasis


def _choose(judged: Sequence[Judged]) -> list[Judged]:
    """Return the sentences to quote: the best of each passage, then further ones; or none.

    One sentence must answer. The best of the same paper's other passages come along where they are
    not far behind, since what decides among passages is less sure than which paper it is.
    """
    answers = [found for found in judged if found.answers]
    if not answers:
        return []
    best = max(answers, key=lambda found: found.score)
    least = best.score - BEHIND
    chosen: dict[str, Judged] = {}
    for found in sorted(judged, key=_worth, reverse=True):
        twin = any(other.sentence.text == found.sentence.text for other in chosen.values())
        at_home = found.answers or found.passage.paper_id == best.passage.paper_id
        if at_home and _worth(found) >= least and not twin and len(chosen) < QUOTES:
            chosen.setdefault(found.sentence.passage_id, found)
    further = [f for f in answers if f.score >= least + BEHIND - CLOSE and f not in chosen.values()]
    return [*chosen.values(), *further][:QUOTES]


def _worth(found: Judged) -> float:
    return found.score - (0.0 if found.sound else UNSOUND)


def _runs(found: Sequence[Judged]) -> Iterator[tuple[str, list[int]]]:
    """Yield passage and run of neighbouring sentences, so that they are quoted as one."""
    for passage_id, group in groupby(found, key=lambda f: f.sentence.passage_id):
        run: list[int] = []
        for number in sorted(f.sentence.number for f in group):
            if run and number != run[-1] + 1:
                yield passage_id, run
                run = []
            run.append(number)
        yield passage_id, run


class _Words:
    """The model's own words, in the question's language."""

    lead = "Sentences of the library that answer or bear on the question:"
    unseen = "[not found] Nowhere in the library: {}."
    empty = "[not found] There is no question to answer."
    no_search = "[not found] The library cannot be searched here: the tool rag_search is missing."
    failed = "[not found] The search failed, so nothing was looked at. {}"
    nothing = "[not found] No sentence of the library answers this question."
    read = "[not found] Read without finding it: {}."
    holds_none = "[not found] The library holds no papers yet. Add some with: nuncius add FOLDER"
    page, pages, join = "p.", "pp.", "; "

    @classmethod
    def of(cls, question: str) -> "_Words":
        return _Chinese() if language_of(question) == "zh" else cls()

    def not_found(self, unseen: Sequence[str], desk: Desk, judged: Sequence[Judged]) -> str:
        if not desk.papers_in_library:
            return self.holds_none
        lines = [self.nothing]
        if unseen:
            lines.append(self.unseen.format(", ".join(unseen)))
        looked: dict[str, set[int]] = {}
        for found in judged:
            numbers = looked.setdefault(found.passage.paper_id, set())
            if found.passage.page:
                numbers.add(found.passage.page)
        if looked:
            lines.append(
                self.read.format(
                    self.join.join(self._place(desk, *pair) for pair in looked.items())
                )
            )
        return "\n\n".join(lines)

    def _place(self, desk: Desk, paper_id: str, numbers: set[int]) -> str:
        paper = desk.paper(paper_id)
        if not numbers:
            return _plain(paper.reference)
        word = self.page if len(numbers) == 1 else self.pages
        return f"{_plain(paper.reference)}, {word} {', '.join(map(str, sorted(numbers)))}"


class _Chinese(_Words):
    lead = "馆藏中回答或涉及这个问题的原句："
    unseen = "[not found] 馆藏中没有出现：{}。"
    empty = "[not found] 没有可以回答的问题。"
    no_search = "[not found] 这里不能检索馆藏：缺少工具 rag_search。"
    failed = "[not found] 检索失败，什么都没有查看。{}"
    nothing = "[not found] 馆藏中没有句子回答这个问题。"
    read = "[not found] 读过但没有找到答案：{}。"
    holds_none = "[not found] 馆藏里还没有论文。请先添加：nuncius add 文件夹"
    page, pages, join = "第", "第", "；"

    @override
    def _place(self, desk: Desk, paper_id: str, numbers: set[int]) -> str:
        reference = _plain(desk.paper(paper_id).reference)
        if not numbers:
            return reference
        return f"{reference}，第 {'、'.join(map(str, sorted(numbers)))} 页"
