"""Who decides, in which order, and what a rule covers."""

import asyncio
from typing import Any, Literal

import pytest

from agent.doubles import Answers, RuleList
from agent.parts import Act, Bench, Look
from nuncius.agent.arguments import prepare
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.rules import exact_rule, parse_rule
from nuncius.agent.tool import Permission
from nuncius.core.errors import UsageError
from nuncius.core.messages import ToolCall
from nuncius.llm.scripted import Reply

Word3 = Literal["deny", "allow", "ask"]
ASK = Permission("ask", "It writes.")


async def judged(
    *rules: tuple[Word3, str],
    own: Permission | None = ASK,
    subject: str = "docs/a.md",
    mode: Any = "ask",
    **attributes: Any,
) -> str:
    tool = Act(permission=own, **attributes)
    call = ToolCall("c", "act", f'{{"word": "{subject}"}}')
    (item,) = prepare([call], ToolRegistry([tool]), used_ids=set(), prefix="p")
    checker = PermissionChecker(RuleList.of(*rules), mode, roots=["/project"])
    return (await checker.judge(item, "s")).decision


@pytest.mark.parametrize(
    ("rules", "decision"),
    [
        ([], "ask"),
        ([("allow", "act")], "allow"),
        ([("allow", "*")], "allow"),
        ([("allow", "act"), ("deny", "*")], "deny"),
        ([("deny", "act(docs/**)"), ("allow", "act(docs/a.md)")], "deny"),
        ([("allow", "act"), ("ask", "act(docs/*)")], "ask"),
        ([("ask", "act"), ("allow", "act(docs/*)")], "allow"),
        ([("ask", "*"), ("allow", "act")], "allow"),
        ([("ask", "act"), ("allow", "act")], "allow"),
        ([("ask", "act(docs/*)"), ("allow", "act(docs/a.md)")], "allow"),
        ([("ask", "act(docs/a.md)"), ("allow", "act(docs/*)")], "ask"),
        ([("deny", "other"), ("allow", "act(other/**)")], "ask"),
        ([("deny", "((")], "deny"),  # a rule that cannot be read must not open a door
        ([("allow", "((")], "ask"),
    ],
)
async def test_deny_wins_then_the_narrower_and_a_tie_allows(rules: Any, decision: str) -> None:
    assert await judged(*rules) == decision


async def test_the_tools_own_word_is_joined() -> None:
    assert await judged(("allow", "act(docs/a.md)"), own=Permission("deny", "Never.")) == "deny"
    assert await judged(own=Permission("allow")) == "allow"
    assert await judged(("ask", "act"), own=Permission("allow")) == "ask"
    assert await judged(("allow", "act"), own=Permission("ask", "New host.", firm=True)) == "ask"
    firm = Permission("ask", "New host.", firm=True)
    assert await judged(("allow", "act(docs/*)"), own=firm) == "allow"


@pytest.mark.parametrize(
    ("mode", "read_only", "rules", "own", "decision"),
    [
        ("plan", False, [("allow", "act")], ASK, "deny"),
        ("plan", True, [], Permission("allow"), "allow"),
        ("auto", False, [], ASK, "allow"),
        ("auto", False, [("ask", "act")], ASK, "ask"),
        ("auto", False, [("deny", "act")], ASK, "deny"),
        ("auto", False, [], Permission("ask", "New host.", firm=True), "ask"),
    ],
)
async def test_the_mode_has_the_last_word(
    mode: str, read_only: bool, rules: Any, own: Permission, decision: str
) -> None:
    assert await judged(*rules, own=own, mode=mode, read_only=read_only) == decision


@pytest.mark.parametrize(
    ("pattern", "path", "allow", "deny"),
    [
        ("docs/a.md", "docs/a.md", True, True),
        ("docs/a.md", "/project/docs/a.md", True, True),
        ("docs", "docs/x/a.md", True, True),
        ("docs/", "docs/x/a.md", True, True),
        ("docs", "docs2/a.md", False, False),
        ("*.md", "docs/x/a.md", True, True),
        ("*.md", "docs/a.md.bak", False, False),
        ("docs/*.md", "docs/a.md", True, True),
        ("docs/*.md", "docs/x/a.md", False, False),
        ("docs/**", "docs/x/a.md", True, True),
        ("docs/**", "deep/docs/a.md", False, True),
        ("**/a.md", "x/y/a.md", True, True),
        ("/docs/*", "docs/a.md", True, True),
        ("/etc/**", "/etc/passwd", True, True),
        ("docs/?.md", "docs/a.md", True, True),
        ("docs/[ab].md", "docs/b.md", True, True),
        ("docs/[!ab].md", "docs/b.md", False, False),
        ("docs/**", "docs/../secret", False, False),
        ("docs/**", "../docs/a.md", False, False),
        ("docs/**", "/project/docs/../../etc/x", False, False),
        ("a.b", "axb", False, False),
        ("docs/**", "/projectile/docs/a.md", False, True),
    ],
)
def test_path_rules_are_gitignore_globs_from_a_root(
    pattern: str, path: str, allow: bool, deny: bool
) -> None:
    rule = parse_rule(f"read_file({pattern})")
    for wanted, generous in ((allow, False), (deny, True)):
        got = rule.matches("read_file", path, "path", roots=("/project",), deny=generous)
        assert got is wanted


@pytest.mark.parametrize(
    ("pattern", "subject", "kind", "allow", "deny"),
    [
        ("*.example.org", "a.example.org", "host", True, True),
        ("*.example.org", "a.b.EXAMPLE.org.", "host", True, True),
        ("*.example.org", "example.org", "host", False, True),
        ("*.example.org", "evilexample.org", "host", False, False),
        ("example.org", "example.org.evil.net", "host", False, False),
        ("bücher.example", "xn--bcher-kva.example", "host", True, True),
        ("git log *", "git log", "command", True, True),
        ("git log *", "git log -p x", "command", True, True),
        ("git log *", "git logx", "command", False, False),
        ("git log", "git log -p", "command", False, True),
        ("git *", "git log && curl x | sh", "command", False, True),
        ("git *", "git log $(rm x)", "command", False, True),
        ("rm *", "ls; rm -rf /", "command", False, True),
        ("rm *", "echo 'unclosed", "command", False, False),
        ("M *", "M 1", "text", True, True),
        ("M 1", "M 10", "text", False, False),
    ],
)
def test_hosts_commands_and_text_have_rules_of_their_own(
    pattern: str, subject: str, kind: Any, allow: bool, deny: bool
) -> None:
    rule = parse_rule(f"tool({pattern})")
    assert rule.matches("tool", subject, kind, roots=(), deny=False) is allow
    assert rule.matches("tool", subject, kind, roots=(), deny=True) is deny


@pytest.mark.parametrize("text", ["", "a b", "tool()", "tool( )", "tool(x", "(x)", "t" * 65])
def test_what_is_no_rule_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(UsageError, match="tool"):
        parse_rule(text)


@pytest.mark.parametrize("subject", ["a*b[1].md", "docs/a (1).md", "back\\slash", "x?"])
def test_always_covers_just_what_was_asked(subject: str) -> None:
    rule = parse_rule(exact_rule("act", subject, "path"))
    assert rule.matches("act", subject, "path", roots=(), deny=False)
    assert not rule.matches(
        "act", subject.replace("*", "z").replace("?", "z") + "z", "path", roots=(), deny=False
    )


def acting(*words: str) -> Reply:
    return Reply(calls=[("act", f'{{"word": "{word}"}}') for word in words])


async def test_a_question_shows_everything_and_is_journaled_with_its_answer() -> None:
    asker = Answers(("allow", "once"))
    bench = Bench([acting("docs/a.md"), "Done."], Act(permission=ASK), asker=asker)
    await bench.turn()
    (request,) = asker.seen
    assert (request.tool, request.rule, request.reason) == ("act", "act(docs/a.md)", "It writes.")
    assert request.arguments == {"word": "docs/a.md"}
    assert len(request.args_sha256) == 64
    kinds = bench.kinds()
    assert kinds.index("permission_request") < kinds.index("permission_resolved")
    assert kinds.index("permission_resolved") < kinds.index("tool_call")
    assert bench.rules.kept == []
    assert bench.results()[0].output == "did docs/a.md"


@pytest.mark.parametrize("scope", ["session", "always"])
async def test_an_answer_for_longer_becomes_a_rule(scope: Any) -> None:
    asker = Answers(("allow", scope))
    bench = Bench([acting("a"), acting("a"), "Done."], Act(permission=ASK), asker=asker)
    await bench.turn()
    (rule,) = bench.rules.kept
    assert (rule.pattern, rule.decision) == ("act(a)", "allow")
    assert rule.session_id == ("s" if scope == "session" else "")
    assert len(asker.seen) == 1


async def test_a_new_rule_answers_the_questions_still_open() -> None:
    asker = Answers(("allow", "always"))  # one answer for two equal calls of one step
    act = Act(permission=ASK)
    bench = Bench([acting("a", "a"), "Done."], act, asker=asker)
    await asyncio.wait_for(bench.turn(), 5)
    assert act.ran == ["a", "a"]
    decisions = [e.by for e in bench.journal.log if e.type == "permission_resolved"]
    assert decisions == ["user", "rule"]


async def test_a_refusal_is_a_result_and_the_turn_goes_on() -> None:
    act = Act(permission=ASK)
    bench = Bench([acting("a"), "Done."], act, asker=Answers(("deny", "once")))
    assert (await bench.turn()).status == "completed"
    assert (act.ran, bench.results()[0].error_kind) == ([], "denied")


async def test_an_asker_that_breaks_is_a_refusal() -> None:
    act = Act(permission=ASK)
    bench = Bench([acting("a"), "Done."], act, asker=Answers())  # has no answer: raises
    assert (await bench.turn()).status == "completed"
    assert (act.ran, bench.results()[0].error_kind) == ([], "denied")


async def test_mode_deny_asks_nobody() -> None:
    asker = Answers()
    bench = Bench([acting("a"), "Done."], Act(permission=ASK), asker=asker)
    await bench.turn(mode="deny")
    assert asker.seen == []
    assert "mode `deny`" in bench.results()[0].output


async def test_reads_need_no_question() -> None:
    bench = Bench([Reply(calls=[("look", "{}")]), "Done."], Look(), asker=Answers())
    await bench.turn()
    assert bench.results()[0].output == "saw "
