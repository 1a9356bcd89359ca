"""Print how well the library finds and quotes: CosmoPaperQA beside plain BM25, and our questions.

Needs the folder of real input beside the checkout (../shared/data); says so where it is missing.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

from nuncius.app import App, open_app
from nuncius.app.config import load_settings
from nuncius.core.stem import stems
from nuncius.core.text import STOP_WORDS

PROJECT = Path(__file__).resolve().parent.parent
DATA = PROJECT.parent / "shared" / "data"
QUESTIONS = PROJECT / "tests" / "library"
CUT = 1400
"""Characters of a piece in the baseline."""
RANKS = (1, 5, 10, 50)
RUN, STEP = 40, 20
"""Length and distance of the runs of letters that are looked for in a passage."""
CHINESE = {
    "普朗克 2018 的分析中怎样检验标准复合历史？": "1807.06209v4",
    "为什么普朗克的论文看重重子声学振荡的测量？": "1807.06209v4",
    "从单个星系推断物质密度用的是什么神经网络？": "2201.02202v1",
}

Gold = Callable[[str], bool]


def letters(text: str) -> str:
    """Return letters and digits only: LaTeX, spaces and hyphens differ between texts."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def by_runs(key: str) -> Gold:
    """Gold by letters: a passage that holds 30 % of the key passage's runs of 40 letters."""
    plain = letters(key)
    runs = [plain[at : at + RUN] for at in range(0, max(1, len(plain) - RUN), STEP)]
    return lambda text: sum(run in letters(text) for run in runs) >= max(1, 0.3 * len(runs))


def by_words(key: str) -> Gold:
    """Gold by words: a passage that holds 70 % of the key passage's different content words."""
    words = {word for word in stems(key) if word not in STOP_WORDS and len(word) > 1}
    return lambda text: len(words & set(stems(text))) >= 0.7 * len(words)


def baseline(folder: Path) -> Callable[[str], list[tuple[str, str]]]:
    """Return a search in plain BM25 (FTS5, porter) over pieces of 1,400 characters."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5(text, paper UNINDEXED, tokenize='porter unicode61')"
    )
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for at in range(0, len(text), CUT):
            connection.execute("INSERT INTO t VALUES (?, ?)", (text[at : at + CUT], path.stem))

    def search(question: str) -> list[tuple[str, str]]:
        words = [w for w in re.findall(r"[A-Za-z0-9]+", question.lower()) if w not in STOP_WORDS]
        query = " OR ".join(f'"{word}"' for word in words)
        rows = connection.execute(
            "SELECT text, paper FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?", (query, RANKS[-1])
        )
        return [(str(text), str(paper)) for text, paper in rows]

    return search


def print_hits(name: str, ranks: Sequence[int]) -> None:
    hits = "  ".join(f"@{n} {sum(rank <= n for rank in ranks) / len(ranks):.2f}" for n in RANKS)
    print(f"  {name:34} {hits}  of {len(ranks)} questions with a key passage")


async def cosmo(app: App, folder: Path) -> None:
    """Print hits on CosmoPaperQA, ours and the baseline's, by two criteria of a hit."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    stem_of = {p.paper_id: Path(p.files[0].path).stem for p in await app.library.papers()}
    plain = baseline(folder)
    found: dict[str, list[list[tuple[str, str]]]] = {
        "nuncius": [],
        "plain BM25, 1,400 characters": [],
    }
    for question in questions:
        retrieval = await app.library.rag(question["question"], k=RANKS[-1])
        found["nuncius"].append(
            [(f.passage.text, stem_of[f.paper.paper_id]) for f in retrieval.found]
        )
        found["plain BM25, 1,400 characters"].append(plain(question["question"]))
    print(f"CosmoPaperQA, {len(questions)} questions")
    for criterion, gold in (
        ("30 % of its runs of letters", by_runs),
        ("70 % of its words", by_words),
    ):
        print(f" a hit holds the key passage: {criterion}")
        for name, results in found.items():
            ranks = [
                next((n for n, (text, _) in enumerate(result, 1) if is_gold(text)), RANKS[-1] + 1)
                for question, result in zip(questions, results, strict=True)
                if question["key passage"]
                for is_gold in [gold(question["key passage"])]
            ]
            print_hits(name, ranks)
    for name, results in found.items():
        right = sum(
            bool(result) and result[0][1] == question["source file"].rsplit("/", 1)[1]
            for question, result in zip(questions, results, strict=True)
        )
        print(f"  {name:34} right paper first {right}/{len(questions)}")
    first = [(await app.library.rag(question, k=1)).found[:1] for question in CHINESE]
    right = sum(
        bool(hit) and stem_of[hit[0].paper.paper_id] == paper
        for hit, paper in zip(first, CHINESE.values(), strict=True)
    )
    print(f"  asked in Chinese: right paper first {right}/{len(CHINESE)}")


def read_questions(name: str, split: str) -> Iterator[Mapping[str, Any]]:
    for line in (QUESTIONS / name).read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question["split"] == split:
            yield question


async def ours(app: App, name: str, split: str) -> None:
    """Print how many of our questions the built-in model answers from the right place."""
    right = answerable = abstained = near_misses = tokens = 0
    names = {p.paper_id: {Path(f.path).name for f in p.files} for p in await app.library.papers()}
    for question in read_questions(name, split):
        session = await app.session()
        result = await app.ask(question["question"], session_id=session.id, model="builtin")
        assert result.answer
        tokens = max(tokens, result.usage.input_tokens)
        if question["kind"] == "near_miss":
            near_misses += 1
            abstained += not result.answer.answered
            continue
        answerable += 1
        right += any(
            set(question["papers"]) & names[c.paper_id]
            and (not question["pages"] or c.page in question["pages"])
            for c in result.answer.citations
        )
    if answerable:
        print(
            f"  {name:24} {split:5} right paper and page {right}/{answerable}"
            f"  abstained {abstained}/{near_misses}  most input tokens {tokens:,}"
        )


async def main() -> None:
    if not DATA.is_dir():
        print(
            f"Nothing measured: the real input is not there ({DATA.relative_to(PROJECT.parent)})."
        )
        return
    notes = str(files("nuncius.notes"))
    folders = {
        "cosmo": [str(DATA / "retrieval" / "cosmopaperqa")],
        "pdf": [str(DATA / "papers" / "pdf")],
        "notes": [notes],
        "all": [str(DATA / "papers" / "pdf"), notes],
    }
    with tempfile.TemporaryDirectory() as home:
        for name, what in folders.items():
            settings = load_settings({"NUNCIUS_HOME": f"{home}/{name}", "HOME": home}).settings
            async with open_app(settings) as app:
                await app.library.add(what)
                match name:
                    case "cosmo":
                        await cosmo(app, Path(what[0]))
                        print("Questions answered by the built-in model")
                    case "all":
                        await ours(app, "questions_plain.jsonl", "dev")
                        await ours(app, "questions_natural.jsonl", "apart")
                    case _:
                        for split in ("dev", "held"):
                            await ours(app, f"questions_{name}.jsonl", split)


if __name__ == "__main__":
    asyncio.run(main())
