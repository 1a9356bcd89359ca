"""Handles in, checked quotes out; what they do not carry is marked."""

import pytest

from nuncius.core.documents import Passage
from nuncius.core.evidence import Answer
from nuncius.library.answer import Finisher
from nuncius.library.library import Library
from nuncius.library.show import evidence_of
from nuncius.store.protocols import Store


class Desk:
    """The passages of the small library, and a finisher that was shown them."""

    def __init__(self, store: Store, passages: list[Passage]) -> None:
        self.store = store
        self.passages = passages

    def handle(self, words: str) -> str:
        """Return the handle of the sentence that holds `words`."""
        from nuncius.core.text import sentences

        for passage in self.passages:
            for number, (start, end) in enumerate(sentences(passage.text), 1):
                if words in passage.text[start:end]:
                    return f"[{passage.passage_id}:{number}]"
        raise AssertionError(words)

    async def finish(self, text: str, question: str = "What is it?") -> Answer:
        evidence = [{"evidence": evidence_of(self.passages), "query": question}]
        return await Finisher(self.store).finish(text, question=question, evidence=evidence)


@pytest.fixture
async def desk(filled: Library, store: Store) -> Desk:
    papers = await filled.papers()
    found = [p for paper in papers for p in await filled.passages(paper.paper_id)]
    return Desk(store, found)


async def test_a_handle_becomes_a_citation_with_page_and_check(desk: Desk) -> None:
    answer = await desk.finish(f"The radius is 1.72 solar radii {desk.handle('1.72')}.")
    assert answer.text == "The radius is 1.72 solar radii [1]."
    assert answer.answered
    (citation,) = answer.citations
    assert citation.quote == "Its radius is 1.72 solar radii and its age is 4.1 Gyr."
    assert (citation.page, citation.check, citation.title) == (1, "exact", "A quiet star")
    assert not answer.unsupported


async def test_a_handle_alone_is_replaced_by_the_quote(desk: Desk) -> None:
    answer = await desk.finish(f"It says:\n\n{desk.handle('spin period')}")
    assert answer.text == "It says:\n\n> PSR J0000+0000 has a spin period of 5.75 ms. [1]"
    assert answer.citations[0].page is None
    assert not answer.unsupported


async def test_a_quote_over_a_line_break_is_found_folded_on_its_page(desk: Desk) -> None:
    answer = await desk.finish(desk.handle("-0.03"))
    (citation,) = answer.citations
    assert "reddened" in citation.quote
    assert (citation.page, citation.check) == (2, "folded")


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The radius is 1.73 solar radii {}.", "not in the cited quotes: 1.73"),
        ("The age is 4.1 Myr {}.", "not in the cited quotes: 4.1"),
        ("The star is lovely.", "no citation"),
        ("It is 1.72 solar radii. It has 3 planets {}.", "no citation"),
    ],
)
async def test_what_the_quotes_do_not_carry_is_marked(
    desk: Desk, sentence: str, reason: str
) -> None:
    answer = await desk.finish(sentence.format(desk.handle("1.72")))
    assert reason in {u.reason for u in answer.unsupported}


async def test_signs_are_checked(desk: Desk) -> None:
    handle = desk.handle("-0.03")
    assert not (await desk.finish(f"The excess is -0.03 mag {handle}.")).unsupported
    assert (await desk.finish(f"The excess is 0.03 mag {handle}.")).unsupported


async def test_marks_after_the_full_stop_belong_to_the_sentence(desk: Desk) -> None:
    answer = await desk.finish(f"The radius is 1.72 solar radii. {desk.handle('1.72')} It shines.")
    assert [u.sentence for u in answer.unsupported] == ["It shines."]


async def test_unknown_and_unshown_handles_are_dropped_and_counted(desk: Desk) -> None:
    answer = await desk.finish("It is so [zzzzzzzz-1:1]. It is also so [zzzzzzzz-2].")
    assert (answer.dropped_quotes, answer.citations, answer.answered) == (2, (), False)
    unshown = Desk(desk.store, [])
    answer = await unshown.finish(f"It is so {desk.handle('1.72')}.")
    assert (answer.dropped_quotes, answer.answered) == (1, False)


async def test_headings_of_dropped_quotes_do_not_stay_alone(desk: Desk) -> None:
    answer = await desk.finish("Found:\n\n**A paper** (X 2020)\n\n[zzzzzzzz-1:1]")
    assert answer.text == "The quotes could not be found again in the papers and are not shown."
    assert not answer.unsupported


async def test_a_heading_with_a_star_claims_nothing(desk: Desk) -> None:
    answer = await desk.finish(f"**Around Sgr A\\*** (X 2020)\n\n{desk.handle('1.72')}")
    assert answer.text.startswith("**Around Sgr A\\*** (X 2020)")
    assert not answer.unsupported


async def test_a_mark_typed_by_the_model_is_no_citation(desk: Desk) -> None:
    answer = await desk.finish(f"The sky is green [1]. It is 1.72 {desk.handle('1.72')}.")
    assert answer.text == "The sky is green (1). It is 1.72 [1]."
    assert [u.reason for u in answer.unsupported] == ["no citation"]


async def test_absence_is_no_claim_but_may_not_smuggle_a_number(desk: Desk) -> None:
    good = await desk.finish("[not found] No mass of HD 12345 on p. 1.", "Mass of HD 12345?")
    assert (good.text, good.unsupported) == ("No mass of HD 12345 on p. 1.", ())
    bad = await desk.finish("[not found] It must be 99 solar masses.")
    assert bad.unsupported


async def test_what_absence_smuggles_in_is_marked_where_it_stands(desk: Desk) -> None:
    answer = await desk.finish("[not found] It must be 99 solar masses.")
    assert [u.sentence in answer.text for u in answer.unsupported] == [True]


async def test_a_block_quote_typed_by_the_model_is_no_quote(desk: Desk) -> None:
    answer = await desk.finish("> The star was found by aliens.\n\n> So it is. [2]")
    assert [(u.sentence, u.reason) for u in answer.unsupported] == [
        ("The star was found by aliens.", "no citation"),
        ("So it is. (2)", "no citation"),
    ]


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("> The star was found by aliens {}.", False),
        ("> Its radius is 1.72 solar radii and its age is 4.1 Gyr. {}", True),
        ('They say "the radius was measured by aliens" {}.', False),
        ("They say “its radius is 1.72 solar radii” {}.", True),
        ('They say "Its radius is ... its age is 4.1 Gyr" {}.', True),
        ('They say "Its radius is ... found by aliens long ago" {}.', False),
        ('The so-called "quiet star" has 1.72 solar radii {}.', True),
        ('A 5" aperture and a seeing disc of this kind" give 1.72 {}.', True),
        ("文中写道“这颗恒星是由外星人发现的” {}。", False),
        ("这颗恒星的“半径”是 1.72 {}。", True),
    ],
)
async def test_what_is_given_as_a_quote_must_stand_in_what_is_cited(
    desk: Desk, sentence: str, holds: bool
) -> None:
    answer = await desk.finish(sentence.format(desk.handle("1.72")))
    reasons = [
        u.reason for u in answer.unsupported if "1.72" not in u.reason and "5" not in u.reason
    ]
    assert bool(reasons) != holds, answer.unsupported


async def test_numbers_in_a_table_row_need_their_citation(desk: Desk) -> None:
    row = (
        f"| star | radius |\n|---|---|\n| HD 12345 | 1.72 {desk.handle('1.72')} |\n| other | 9.9 |"
    )
    answer = await desk.finish(row)
    assert [u.sentence for u in answer.unsupported] == ["| other | 9.9 |"]


async def test_what_was_searched_is_told(desk: Desk) -> None:
    answer = await desk.finish("[not found] Nothing.")
    assert answer.searched.papers_in_library == 2
    assert answer.searched.queries == ("What is it?",)
    assert sorted(answer.searched.pages.values()) == [[], [1]]


async def test_chinese_reasons_for_chinese_sentences(desk: Desk) -> None:
    answer = await desk.finish("这颗星很亮。")
    assert [u.reason for u in answer.unsupported] == ["没有引文"]
