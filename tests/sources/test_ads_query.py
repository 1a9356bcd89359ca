"""Words become ADS syntax: nothing that was named is dropped, and what is sent is valid."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuncius.core.errors import UsageError
from nuncius.sources.ads_clauses import AnyOf, Match, Operator, Span, walk
from nuncius.sources.ads_fields import MAX_FILTERS, MAX_QUERY_CHARS
from nuncius.sources.ads_query import AdsQuery, translate, validate

TODAY = date(2026, 12, 1)


def read(text: str) -> AdsQuery:
    return translate(text, today=TODAY)


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("papers by Jarmak", 'author:"Jarmak"'),
        ("first author Ensslin", 'author:"^Ensslin"'),
        ("papers by Enßlin as first author", 'author:"^Enßlin"'),
        ("papers where ensslin is the lead author", 'author:"^ensslin"'),
        ("papers by Smith, J.", 'author:"Smith, J"'),
        ("by Fry and Fields", 'author:"Fry" author:"Fields"'),
        ("van Dokkum et al. 2022", 'year:2022 author:"van Dokkum"'),
        ("papers by Pieter van Dokkum", 'author:"van Dokkum, Pieter"'),
        ("papers by SMITH JA and JONES", 'author:"SMITH, JA" author:"JONES"'),
        ("papers by Ž. Ivezić", 'author:"Ivezić, Ž"'),
        ("papers by El-Badry", 'author:"El-Badry"'),
        ("papers by de la Fuente Marcos, C.", 'author:"de la Fuente Marcos, C"'),
        (
            "papers by Smith, J., Jones, A. and Brown",
            'author:"Smith, J" author:"Jones, A" author:"Brown"',
        ),
        ("papers by Smith or Jones", '(author:"Smith" OR author:"Jones")'),
        ("Rubin, Vera dark energy", 'author:"Rubin, Vera" abs:"dark energy"'),
        ("Tully's papers on spiral galaxies", 'author:"Tully" abs:"spiral galaxies"'),
        ("Penzias & Wilson 1965", 'author:"Penzias" author:"Wilson" year:1965'),
        ("papers by O'Neil", 'author:"O\'Neil"'),
    ],
)
def test_authors_are_read_in_every_form(words: str, query: str) -> None:
    assert read(words).q == query


def test_two_unknown_names_are_read_both_as_two_people_and_as_one() -> None:
    query = read("papers by Quorvin Haldett").q
    assert query == '((author:"Quorvin" author:"Haldett") OR author:"Haldett, Quorvin")'


@pytest.mark.parametrize(
    ("words", "dates"),
    [
        ("pulsars since 2019", "year:[2019 TO *]"),
        ("pulsars from 2019 onwards", "year:[2019 TO *]"),
        ("pulsars between 2010 and 2015", "year:2010-2015"),
        ("pulsars 2010-2015", "year:2010-2015"),
        ("pulsars 1995–99", "year:1995-1999"),
        ("pulsars from 2019 to the present", "year:[2019 TO *]"),
        ("pulsars in the last five years", "year:[2021 TO *]"),
        ("pulsars in the 90s", "year:1990-1999"),
        ("pulsars in the early 2000s", "year:2000-2003"),
        ("pulsars before 2000", "year:[* TO 1999]"),
        ("pulsars after 2015", "year:[2016 TO *]"),
        ("pulsars after 2015, before 2020", "year:2016-2019"),
        ("pulsars until 2004", "year:[* TO 2004]"),
        ("pulsars published in March 2012", "pubdate:[2012-03 TO 2012-03]"),
        ("pulsars between March 2010 and June 2012", "pubdate:[2010-03 TO 2012-06]"),
        ("pulsars in the last 6 months", "pubdate:[2026-06 TO *]"),
        ("pulsars last year", "year:2025"),
        ("pulsars this week", "entdate:[NOW-7DAYS TO *]"),
        ("pulsars in 2015 or 2019", "(year:2015 OR year:2019)"),
        ("recent pulsars papers", "year:[2023 TO *]"),
    ],
)
def test_dates_are_read_in_every_form(words: str, dates: str) -> None:
    assert read(words).q == f'{dates} abs:"pulsars"'


@pytest.mark.parametrize(
    "words", ["lasers at 1550 nm", "a star of 2000 K", "NGC 1999 spectra", "HD 2019"]
)
def test_a_number_with_a_unit_or_in_a_designation_is_no_year(words: str) -> None:
    assert "year:" not in read(words).q


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("about M31", 'object:"M31"'),
        ("cooling flows in NGC 1275", 'object:"NGC 1275" abs:"cooling flows"'),
        ("papers on the Large Magellanic Cloud", 'object:"LMC"'),
        (
            "near ra 05:23:34.6 dec -69:45:22 within 10 arcmin",
            'object:"05h23m34.6s -69d45m22s:0.1667"',
        ),
        ('the paper "A map of the local bubble"', 'title:"A map of the local bubble"'),
        ("papers with JWST in the title", 'title:"JWST"'),
        ("map within 5 words of planar in title", "title:(map NEAR5 planar)"),
        ("refereed papers on quasars", 'property:refereed abs:"quasars"'),
        ("quasars not peer-reviewed", 'property:notrefereed abs:"quasars"'),
        ("open access papers on quasars", 'property:openaccess abs:"quasars"'),
        ("PhD theses on quasars", 'doctype:phdthesis abs:"quasars"'),
        ("catalogs of galaxy clusters", 'doctype:catalog abs:"galaxy clusters"'),
        ("papers using ALMA", "bibgroup:ALMA"),
        ("studies using Hubble Space Telescope data", "bibgroup:HST"),
        ("Hubble constant", 'abs:"Hubble constant"'),
        ("papers from Caltech on quasars", 'aff:"Caltech" abs:"quasars"'),
        ("papers from the University of Vienna", 'aff:"University of Vienna"'),
        ("quasars in Nature", 'bibstem:"Natur" abs:"quasars"'),
        ("nature of quasars", "abs:(nature AND quasars)"),
        ("MNRAS or ApJ papers on quasars", '(bibstem:"MNRAS" OR bibstem:"ApJ") abs:"quasars"'),
        ("astro-ph.GA papers about quasars", 'arxiv_class:astro-ph.GA abs:"quasars"'),
        ("papers with data in VizieR", "data:VizieR"),
        ("quasars with more than 100 citations", 'citation_count:[101 TO *] abs:"quasars"'),
        ("single-author papers by Binney", 'author_count:1 author:"Binney"'),
        ("ORCID 0000-0003-3455-5082", "orcid:0000-0003-3455-5082"),
        ("papers with DOI 10.3847/0004-637X/826/1/56", 'identifier:"10.3847/0004-637X/826/1/56"'),
        ("arXiv preprint 2301.12345", "arXiv:2301.12345"),
        ("2018A&A...616A...1G", 'identifier:"2018A&A...616A...1G"'),
        ("grant NNX17AE43G", 'grant:"NNX17AE43G"'),
    ],
)
def test_filters_are_read(words: str, query: str) -> None:
    assert read(words).q == query


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("papers citing Riess et al. 2016", 'citations(year:2016 author:"Riess")'),
        ("references of 2016ApJ...826...56R", 'references(identifier:"2016ApJ...826...56R")'),
        ("papers similar to arXiv:1907.10625", "similar(arXiv:1907.10625)"),
        ("reviews of dark energy since 2015", 'reviews(abs:"dark energy") year:[2015 TO *]'),
        ("trending papers in ApJ", 'trending(bibstem:"ApJ")'),
        ("most cited papers on magnetars", 'topn(10, abs:"magnetars", citation_count desc)'),
        ("top 25 papers on magnetars", 'topn(25, abs:"magnetars", citation_count desc)'),
        ("useful papers on magnetars", 'useful(abs:"magnetars")'),
        ("reviews citing papers by Riess", 'reviews(citations(author:"Riess"))'),
        (
            "papers citing magnetar work published since 2020",
            'citations(abs:"magnetar") year:[2020 TO *]',
        ),
    ],
)
def test_second_order_requests_are_read(words: str, query: str) -> None:
    assert read(words).q == query


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("quasars not by Smith", '-author:"Smith" abs:"quasars"'),
        ("quasars excluding theses", '-doctype:phdthesis abs:"quasars"'),
        ("dark matter -axion", 'abs:"dark matter" -abs:"axion"'),
        ("galaxies without AGN", 'abs:"galaxies" -abs:"AGN"'),
        ("quasars not in ApJ or MNRAS", '-bibstem:"ApJ" -bibstem:"MNRAS" abs:"quasars"'),
        ("not in ApJ", '*:* -bibstem:"ApJ"'),
    ],
)
def test_negation_turns_what_follows(words: str, query: str) -> None:
    assert read(words).q == query


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("作者 Hubble 的论文", 'author:"Hubble"'),
        ("第一作者 Wang, Y. 2010年到2015年", 'author:"^Wang, Y" year:2010-2015'),
        ("2019年以来关于 magnetars 的论文", 'year:[2019 TO *] abs:"magnetars"'),
        ("近五年关于 TESS 的综述", 'reviews(abs:"TESS") year:[2021 TO *]'),
        ("经同行评审的关于M31的文章", 'property:refereed object:"M31"'),
        ("引用次数超过100的关于 magnetars 的论文", 'citation_count:[101 TO *] abs:"magnetars"'),
        (
            "发表在《ApJ》上的 magnetars 论文，不包括博士论文",
            'bibstem:"ApJ" -doctype:phdthesis abs:"magnetars"',
        ),
    ],
)
def test_chinese_requests_are_read(words: str, query: str) -> None:
    found = read(words)
    assert sorted(found.q.split()) == sorted(query.split())


def test_chinese_terms_take_their_english_from_the_glossary() -> None:
    query = translate("关于暗物质的论文", today=TODAY, glossary={"暗物质": "dark matter"})
    assert query.q == 'abs:"dark matter"'


@pytest.mark.parametrize(
    "typed",
    [
        'author:"^Hubble" year:1929',
        'citations(author:"Jarmak, S") -property:refereed',
        "abs:(dark OR light) year:2019-2021",
    ],
)
def test_ads_syntax_passes_unchanged(typed: str) -> None:
    query = read(typed)
    assert query.q == typed
    assert query.faults == ()


def test_broken_ads_syntax_is_told_and_read_as_words() -> None:
    query = read('author:"Hubble year:1929')
    assert [fault.message for fault in query.faults] == ["a quote is not closed"]
    assert "a quote is not closed" in query.explanation
    assert validate(query.q) == []
    assert "Hubble" in query.q


def test_pieces_of_ads_syntax_stand_among_words() -> None:
    assert (
        read('author:"Smith" papers since 2019 on pulsars').q
        == 'author:"Smith" year:[2019 TO *] abs:"pulsars"'
    )


def test_an_order_that_the_words_ask_for_is_no_part_of_the_query() -> None:
    query = read("papers on magnetars sorted by citations")
    assert (query.q, query.sort) == ('abs:"magnetars"', "citation_count desc")


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("papers by the Planck Collaboration in 2020", 'year:2020 author:"Planck Collaboration"'),
        ("papers from MIT or Harvard", '(aff:"MIT" OR aff:"Harvard")'),
        ('"dark matter" or "dark energy"', '(abs:"dark matter" OR abs:"dark energy")'),
        ("pulsars or magnetars", '(abs:"pulsars" OR abs:"magnetars")'),
        ("ApJ 826, 56", 'bibstem:"ApJ" volume:826 page:56'),
        ("Riess, A. G.; Schmidt, B.", 'author:"Riess, A. G" author:"Schmidt, B"'),
        ("metal-poor stars not by Spite", '-author:"Spite" abs:"metal-poor stars"'),
        ("top 5 papers by Riess", 'topn(5, author:"Riess", citation_count desc)'),
    ],
)
def test_lists_and_bodies_are_read(words: str, query: str) -> None:
    assert read(words).q == query


def test_arguments_are_added_to_the_words() -> None:
    query = translate(
        "magnetars",
        authors=["^Kouveliotou, C"],
        year_from=1998,
        year_to=2004,
        object="SGR 1806-20",
        refereed=True,
        today=TODAY,
    )
    assert query.q == (
        'abs:"magnetars" author:"^Kouveliotou, C" year:1998-2004 object:"SGR 1806-20" property:refereed'
    )


def test_arguments_are_added_to_typed_syntax() -> None:
    assert (
        translate("abs:a OR abs:b", year_from=2000, today=TODAY).q
        == "(abs:a OR abs:b) year:[2000 TO *]"
    )


def test_arguments_alone_make_a_query() -> None:
    assert (
        translate("", authors=["Hubble"], refereed=False, today=TODAY).q
        == 'author:"Hubble" property:notrefereed'
    )


@pytest.mark.parametrize("text", ["", "   ", "((((", "?!"])
def test_nothing_to_look_for_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        read(text)


def test_years_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(UsageError, match="2020 to 2010"):
        translate("magnetars", year_from=2020, year_to=2010, today=TODAY)


def test_each_phrase_is_explained() -> None:
    explanation = read("refereed papers by Jarmak since 2019").explanation
    assert explanation == (
        '"refereed" → property:refereed; "since 2019" → year:[2019 TO *]; "papers by Jarmak" → author:"Jarmak"'
    )


def test_a_long_request_keeps_its_filters_and_loses_words_of_the_topic() -> None:
    topic = " ".join(f"wort{number}" for number in range(300))
    query = translate(f"refereed {topic}", authors=["Hubble"], year_from=2000, today=TODAY)
    assert len(query.q) <= MAX_QUERY_CHARS
    assert query.truncated
    for needed in ("property:refereed", 'author:"Hubble"', "year:[2000 TO *]"):
        assert needed in " ".join([query.q, *query.fq])
    assert len(query.fq) <= MAX_FILTERS


def test_many_authors_move_to_filters() -> None:
    names = [f"Verylongsurname{letter * 60}, A" for letter in "abcdefghijklmnop"]
    query = translate("magnetars", authors=names, today=TODAY)
    whole = " ".join([query.q, *query.fq])
    assert all(name in whole for name in names)
    assert all(len(part) <= MAX_QUERY_CHARS for part in (query.q, *query.fq))


@pytest.mark.parametrize(
    "name",
    ['O"Brien', "Smith) OR *:*", "a\\", "Smith:year", "(Smith", 'x" OR author:"y', "Smith]", "*"],
)
def test_marks_in_a_name_cannot_leave_the_quotes(name: str) -> None:
    if not any(char.isalnum() for char in name):
        with pytest.raises(UsageError):
            translate("magnetars", authors=[name], today=TODAY)
        return
    query = translate("magnetars", authors=[name], today=TODAY)
    assert validate(query.q) == []
    assert len([c for c in query.clauses if isinstance(c, Match) and c.field == "author"]) == 1


ANY_TEXT = st.text(min_size=1, max_size=80)
ODD_TEXT = st.lists(
    st.sampled_from(
        [*'"\\()[]{}:*?^~/=+-!&|,;', "AND", "OR", "NOT", "NEAR3", "TO", "not", "or", "by", "Smith", "J.", "since", "2019", "1990s", "in",
         "ApJ", "author:", "year:", "citations(", "dark", "matter", "NGC", "1275", "et al", "cited by", "reviews of", "作者", "年", "\ue000", "é", "'s"]
    ),
    min_size=1,
    max_size=14,
).map(" ".join)  # fmt: skip


@given(st.one_of(ANY_TEXT, ODD_TEXT))
def test_any_text_becomes_a_valid_query(text: str) -> None:
    try:
        query = read(text)
    except UsageError:
        return
    for part in (query.q, *query.fq):
        assert validate(part) == [], part
    assert "\n" not in query.explanation


@given(
    text=st.one_of(ANY_TEXT, ODD_TEXT),
    author=st.from_regex(r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2,12}(, [A-Z])?", fullmatch=True),
    years=st.tuples(st.integers(1900, 2030), st.integers(0, 60)),
    refereed=st.booleans(),
)
def test_a_filter_given_as_argument_is_never_dropped(
    text: str, author: str, years: tuple[int, int], refereed: bool
) -> None:
    low, high = years[0], years[0] + years[1]
    query = translate(
        text, authors=[author], year_from=low, year_to=high, refereed=refereed, today=TODAY
    )
    found = set(query.clauses) | set(query.filters)
    assert Match("author", author) in found
    assert Span("year", str(low), str(high)) in found
    assert Match("property", "refereed" if refereed else "notrefereed", "plain") in found
    assert all(validate(part) == [] for part in (query.q, *query.fq))


SURNAMES = st.sampled_from(
    [
        "Jarmak",
        "van Dokkum",
        "Enßlin",
        "O'Neil",
        "El-Badry",
        "de Vaucouleurs",
        "Krełowski",
        "Smith, J.",
    ]
)
TOPICS = st.sampled_from(
    ["dark matter", "magnetars", "stellar winds in binaries", "galaxy clusters", "the solar corona"]
)
YEARS = st.one_of(
    st.integers(1950, 2026).map(lambda year: (f"since {year}", Span("year", str(year), "*"))),
    st.integers(1950, 2026).map(lambda year: (f"in {year}", Span("year", str(year), str(year)))),
    st.integers(1950, 2010).map(
        lambda year: (f"between {year} and {year + 9}", Span("year", str(year), str(year + 9)))
    ),
    st.integers(1950, 2026).map(lambda year: (f"before {year}", Span("year", "*", str(year - 1)))),
)
FILTERS = st.sampled_from(
    [
        ("refereed", Match("property", "refereed", "plain")),
        ("open access", Match("property", "openaccess", "plain")),
        ("not refereed", Match("property", "notrefereed", "plain")),
        ("in ApJ", Match("bibstem", "ApJ")),
        ("not in MNRAS", Match("bibstem", "MNRAS", negated=True)),
        ("using ALMA", Match("bibgroup", "ALMA", "plain")),
        ("from Caltech", Match("aff", "Caltech")),
        ("with more than 50 citations", Span("citation_count", "51", "*")),
        ("excluding theses", Match("doctype", "phdthesis", "plain", negated=True)),
        ("about NGC 1275", Match("object", "NGC 1275")),
        ("with data in VizieR", Match("data", "VizieR", "plain")),
    ]
)
ORDERS = st.permutations(["author", "topic", "year", "filter"])


@given(surname=SURNAMES, topic=TOPICS, year=YEARS, kind=FILTERS, order=ORDERS)
def test_a_filter_named_in_words_is_never_dropped(
    surname: str,
    topic: str,
    year: tuple[str, Span],
    kind: tuple[str, Match | Span],
    order: list[str],
) -> None:
    said = {
        "author": f"papers by {surname}",
        "topic": f"on {topic}",
        "year": year[0],
        "filter": kind[0],
    }
    query = read(", ".join(said[part] for part in order))
    clauses = set(walk(query.clauses))
    assert year[1] in clauses
    assert kind[1] in clauses
    assert Match("author", surname.strip(".")) in clauses
    text = " ".join(c.value for c in clauses if isinstance(c, Match) and c.field == "abs")
    assert all(word in text for word in topic.split() if word not in {"in", "the"})
    assert not any(isinstance(clause, AnyOf | Operator) for clause in clauses)


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("α Centauri planets", 'object:"alf Cen" abs:"planets"'),
        ("planets of θ¹ Ori C", 'object:"tet01 Ori C" abs:"planets"'),
        ("μ Arae", 'object:"mu. Ara"'),
        ("βPic b atmosphere", 'object:"bet Pic b" abs:"atmosphere"'),
        ("eta Car eruption", 'object:"eta Car" abs:"eruption"'),
        ("dust around beta Pictoris b", 'object:"beta Pictoris b" abs:"dust"'),
        ("55 Cancri e atmosphere", 'object:"55 Cancri e" abs:"atmosphere"'),
        ("关于绘架座β的论文", 'object:"beta Pictoris"'),
        ("半人马座 α A 的行星", 'object:"alpha Centauri A" abs:"行星"'),
        ("除了参宿四的 dust", '-object:"Betelgeuse" abs:"dust"'),
        ("飞马座51b 的 atmosphere", 'object:"51 Pegasi b" abs:"atmosphere"'),
    ],
)
def test_a_star_is_read_however_its_letter_is_written(words: str, query: str) -> None:
    assert read(words).q == query


@pytest.mark.parametrize(
    "words",
    ["Lyman α forest", "Hα emission", "alpha And beta decay", "δ Sct pulsations", "beta Cephei stars", "σ Ori cluster",
     "ρ Oph cloud", "天鹅座X射线双星", "猎户座KL星云", "盾牌座δ型变星", "大角度散射", "银心的恒星", "mu and tau neutrinos",
     "ζ Aurigae binaries"],
)  # fmt: skip
def test_letters_classes_and_clusters_are_no_star(words: str) -> None:
    assert "object:" not in read(words).q
    assert "author:" not in read(words).q


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("β Pic", "bet Pic"), ("参宿四", "Betelgeuse"), ("织女星", "Vega"), ("SGR 1806-20", "SGR 1806-20")],
)  # fmt: skip
def test_an_object_is_asked_for_by_the_name_that_simbad_knows(typed: str, asked: str) -> None:
    assert translate("", object=typed, today=TODAY).q == f'object:"{asked}"'


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("Rey & Dahl (2019) quasars", 'author:"Rey" author:"Dahl" year:2019 abs:"quasars"'),
        ("Rey & Dahl 2019 quasars", 'author:"Rey" author:"Dahl" year:2019 abs:"quasars"'),
        ("Rey and Dahl (2019b) on quasars", 'author:"Rey" author:"Dahl" year:2019 abs:"quasars"'),
        (
            "Rey, Dahl, & van Es (2019) dust",
            'author:"Rey" author:"Dahl" author:"van Es" year:2019 abs:"dust"',
        ),
        (
            "Šťastný & O'Neill (2020) dust",
            'author:"Šťastný" author:"O\'Neill" year:2020 abs:"dust"',
        ),
        ("the quasars of Rey & Dahl (2019)", 'author:"Rey" author:"Dahl" year:2019 abs:"quasars"'),
        ("Field & Goldsmith 1969", 'author:"Field" author:"Goldsmith" year:1969'),
    ],
)
def test_a_reference_is_its_authors_and_year(words: str, query: str) -> None:
    assert read(words).q == query


@pytest.mark.parametrize(
    "words", ["Stars & Planets (2019)", "Black Holes & Neutron Stars (2019)", "Dust & Gas 2019"]
)
def test_things_with_a_year_are_no_reference(words: str) -> None:
    assert "author:" not in read(words).q


@pytest.mark.parametrize(
    ("author", "query"),
    [
        ("^Grasshorn Gebhardt", '(author:"^Grasshorn Gebhardt" OR author:"^Gebhardt, Grasshorn")'),
        ("Zhang Wei", '(author:"Zhang, Wei" OR author:"Wei, Zhang")'),
        ("Ewine van Dishoeck", 'author:"van Dishoeck, Ewine"'),
        ("Vera Rubin", 'author:"Rubin, Vera"'),
    ],
)
def test_two_words_that_may_be_either_name_are_asked_for_as_both(author: str, query: str) -> None:
    assert translate("", authors=[author], today=TODAY).q == query


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ('author:^"Grasshorn Gebhardt"', 'author:"^Grasshorn Gebhardt"'),
        ('author:(^"Rey, A" "Dahl, B")', 'author:("^Rey, A" "Dahl, B")'),
        ('title:"x ^" abs:"y"', 'title:"x ^" abs:"y"'),
    ],
)
def test_the_mark_of_a_first_author_is_put_into_its_quotes(typed: str, sent: str) -> None:
    assert read(typed).q == sent


def test_full_width_signs_are_read_as_ascii() -> None:
    assert read("arXiv：2010.12345").q == "arXiv:2010.12345"
    assert read("ａｕｔｈｏｒ：＂Ｒｅｙ＂").q == 'author:"Rey"'
