"""What is seen in a shell command, and what the user's rules say of it."""

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.doubles import Answers, RuleList
from agent.parts import Act, Bench
from nuncius.agent import commands
from nuncius.agent.arguments import prepare
from nuncius.agent.commands import SubjectRule
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.tool import Permission
from nuncius.core.messages import ToolCall
from nuncius.llm.scripted import Reply

ROOTS = ("/project",)
READS = ("ls *", "cat *", "echo *", "grep *", "git log *", "sort *", "find *", "sed *", "awk *")


def rules(*allow: str, deny: tuple[str, ...] = (), ask: tuple[str, ...] = ()) -> list[SubjectRule]:
    return [
        *(SubjectRule("allow", subject, subject) for subject in allow),
        *(SubjectRule("deny", subject, subject) for subject in deny),
        *(SubjectRule("ask", subject, subject) for subject in ask),
    ]


def decided(command: str, given_rules: list[SubjectRule]) -> str:
    return commands.weigh(commands.read(command), given_rules, ROOTS).decision or "ask"


def programs(command: str) -> list[str]:
    return [part.words[0] or "?" for part in commands.read(command).parts]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("a\nb", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for x in $(a); do b; done", ["a", "b"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("(a; { b; })", ["a", "b"]),
        ("f() { a; }; function g { b; }", ["a", "b"]),
        ("! a", ["a"]),
        ("x=$(a) b", ["b", "a"]),
        ("a `b` <(c) >(d)", ["a", "b", "c", "d"]),
        ('a "$(b "$(c)")"', ["a", "b", "c"]),
        ("a ${x:-$(b)} ${y/$(c)/d}", ["a", "b", "c"]),
        ("a $((1 + $(b)))", ["a", "b"]),
        ("a <<E\n$(b) `c`\nE", ["a", "b", "c"]),
        ("a <<E | b\ntext\nE\nc", ["a", "b", "c"]),
        ("a <<< $(b)", ["a", "b"]),
        ("a >$(b)", ["a", "b"]),
        ("[[ -n $(a) ]]", ["[[", "a"]),
        ("export x=$(a)", ["export", "a"]),
        ("c''at \"l\"s", ["cat"]),
        ("\\cat", ["cat"]),
        ("a `b \\`c\\``", ["a", "b", "c"]),
        ("a \\\n  b", ["a"]),
        ("a\n\\\nb", ["a", "b"]),
        ("a >x\n\\\n \\\nb", ["a", "b"]),
        ("a b\n\\c", ["a", "c"]),
    ],
)
def test_every_command_of_a_line_is_found(command: str, found: list[str]) -> None:
    assert sorted(programs(command)) == sorted(found)


@pytest.mark.parametrize(
    "wrapped",
    [
        "env curl x",
        "env -i A=1 -u B curl x",
        "env -S 'curl x'",
        "timeout -k 5 10 curl x",
        "timeout --signal KILL 10 curl x",
        "nice -n 5 curl x",
        "nice -10 curl x",
        "nohup curl x",
        "sudo -u root curl x",
        "doas curl x",
        "xargs -n 1 curl",
        "xargs -I{} sh -c 'curl {}'",
        "bash -c 'ls; curl x'",
        "sh -ec 'curl x'",
        'bash -lc "nice curl x"',
        "eval curl x",
        "eval 'cu''rl x'",
        "command curl x",
        "exec -a y curl x",
        "time -p curl x",
        "watch -n 1 curl x",
        "setsid curl x",
        "stdbuf -oL curl x",
        "ionice -c 3 curl x",
        "flock /x curl x",
        "find . -name y -exec curl {} +",
        "coproc curl x",
        "coproc NAME { curl x; }",
        "git -c alias.x='!curl x' x",
        "busybox curl x",
        "strace -f -o y curl x",
        "timeout 5 env A=1 nice bash -c 'eval \"curl x\"'",
        "/usr/bin/curl x",
        "./curl x",
        "curl",
        "$'cur\\x6c' x",
    ],
)
def test_a_wrapped_command_is_refused_as_a_bare_one(wrapped: str) -> None:
    assert decided(wrapped, rules("*", deny=("curl *",))) == "deny"
    assert decided(f"ls $({wrapped})", rules("*", deny=("curl *",))) == "deny"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("timeout 5 ls", "allow"),
        ("nice -n 3 env LANG=C ls", "allow"),
        ("bash -c 'ls; cat a'", "allow"),
        ("LC_ALL=C TZ=UTC sort a", "allow"),
        ("timeout 5 rm a", "ask"),
        ("sudo ls", "ask"),  # it changes who runs it
        ("bash -lc ls", "ask"),  # reads start-up files
        ("bash", "ask"),
        ("echo ls | sh", "ask"),
        ("PATH=. ls", "ask"),
        ("LD_PRELOAD=./x ls", "ask"),
        ("PATH=.; ls", "ask"),
        ("x=1; ls", "allow"),
        ("x[$(y)]=1; ls", "ask"),
        ("$x", "ask"),
        ("ls $x", "ask"),
        ("l* a", "ask"),
        ("./ls a", "ask"),
        ("/bin/ls a", "ask"),
        ("ls >a", "ask"),
        ("ls >>a", "ask"),
        ("ls &>a", "ask"),
        ("ls >|a", "ask"),
        ("ls >&a", "ask"),
        ("ls >/dev/null 2>&1", "allow"),
        ("ls 2>&-", "allow"),
        ("ls <a", "allow"),
        ("ls </etc/passwd", "ask"),
        ("ls /project/a", "allow"),
        ("ls /project/../etc", "ask"),
        ("ls /projectile", "ask"),
        ("ls ..", "ask"),
        ("ls --color=/etc/x", "ask"),
        ("ls ~", "ask"),
        ("cat .env", "ask"),
        ("cat sub/.git/config", "ask"),
        ("echo '..' .env /etc", "allow"),  # words, no files
        ("grep /etc/passwd a", "allow"),  # a pattern
        ("grep -e x /etc/passwd", "ask"),
        ("grep /etc/passwd -e root", "ask"),  # no pattern but a file
        ("grep -f/etc/passwd a", "ask"),
        ("sort -o a b", "ask"),
        ("sort -no a b", "ask"),
        ("sort --outp=a b", "ask"),  # GNU programs take abbreviations
        ("sort *", "ask"),  # a file may be called --output=x
        ("sort -- *", "allow"),
        ("cat *", "allow"),
        ("git log --oneline -3", "allow"),
        ("git --no-pager log", "allow"),
        ("git -C sub log", "allow"),
        ("git -C /etc log", "ask"),
        ("git -c a.b=c log", "ask"),
        ("git logx", "ask"),
        ("git log --output=a", "ask"),
        ("sed -n '1,3p;5q' a", "allow"),
        ("sed 's/a/b/g;s|c|d|' a", "allow"),
        ("sed 's/a/b/w c' a", "ask"),
        ("sed 's/a/b/e' a", "ask"),
        ("sed -e p -e 'w x' a", "ask"),
        ("sed -ni p a", "ask"),
        ("sed -s '$r /etc/passwd' a", "ask"),
        ("awk '{print $1}' a", "allow"),
        ("awk '$3 > 5 {print $1}' a", "allow"),
        ("awk -F, -v x=1 'NR > 1 || $2 {print}' a", "allow"),
        ("awk '{print > \"x\"}' a", "ask"),
        ("awk '/}/ {print > \"x\"}' a", "ask"),
        ("awk '{print | \"sh\"}' a", "ask"),
        ("awk '{\"id\" | getline x; print x}' a", "ask"),
        ("awk 'BEGIN {system(\"id\")}'", "ask"),
        ("awk -f x a", "ask"),
        ("awk --file=x a", "ask"),
        ("find . -name '*.db' -newer a", "allow"),
        ("find . -exec cat {} +", "ask"),
        ("cat <<'E'\n$(curl x)\nE", "allow"),
        ("cat <<E\nplain\nE", "allow"),
        ("cat <<E\n$x\nE", "ask"),
        ("ls\u00a0a", "ask"),
        ("ls\r", "ask"),
        ("ls \\ -o", "ask"),
        ("echo x\n\\evil", "ask"),
        ("echo x\n\\\nevil", "ask"),
        ("echo x >/dev/null \n\\\nevil", "ask"),
        ("ls; x=$\tevil", "ask"),
        ("ls # a\nevil", "ask"),
        ("ls # $(evil)", "allow"),
        ("alias ls=cat; ls", "ask"),
        ("[[ a -eq b ]]", "ask"),
        ("((x=1)); ls", "ask"),
        ("for PATH in .; do ls; done", "ask"),
    ],
)
def test_rules_on_readers_cover_reading_only(command: str, decision: str) -> None:
    assert decided(command, rules(*READS)) == decision


@pytest.mark.parametrize(
    "command",
    [
        "",
        " \n",
        "ls\0",
        "ls \ud800",
        "echo x >.env",
        "echo x >>sub/.git/hooks/a",
        "cd .git && echo x >config",
        "echo x >~/.bashrc",
        "cat /proc/1/environ",
        "cat </proc/self/environ",
        "cat //proc/../proc/1/task/2/environ",
        "exec 3<>/dev/tcp/127.0.0.1/80",
        "echo x >/dev/udp/1.2.3.4/53",
    ],
)
def test_what_is_never_run_is_refused_whatever_the_rules(command: str) -> None:
    assert decided(command, rules("*")) == "deny"


@pytest.mark.parametrize(
    ("command", "subjects"),
    [
        ("git log --oneline -3", ["git log *"]),
        ("git log | head -3; ls", ["git log *", "head *", "ls *"]),
        ("aws s3 ls b", ["aws s3 ls *"]),
        ("rm -r build", ["rm -r build"]),  # who allows this does not allow `rm -r .`
        ("python3 fit.py 'a b'", ["python3 fit.py 'a b'"]),
        ("cat /etc/hosts", ["cat /etc/hosts"]),
        ("sort -o a b", ["sort -o a b"]),
        ("timeout 5 ls a", ["ls *"]),
        ("rm *", ["rm '*'"]),
        ("ls && ls a", ["ls *"]),
        ("make $x", []),
        ("$x", []),
        ("make >log", []),
        ("ls '", []),
        ("printf 'a\nb'", []),
    ],
)
def test_always_writes_a_rule_for_each_part_or_none(command: str, subjects: list[str]) -> None:
    line = commands.read(command)
    assert commands.always(line, [], ROOTS) == subjects
    if subjects:
        assert decided(command, rules(*subjects)) == "allow"
        assert commands.always(line, rules(*subjects), ROOTS) == []


def test_the_narrower_rule_wins_and_a_tie_allows() -> None:
    assert decided("git log -p", rules("git *", ask=("git log *",))) == "ask"
    assert decided("git log -p", rules("git log *", ask=("git *",))) == "allow"
    assert decided("git log -p", rules("git log *", ask=("git log *",))) == "allow"
    assert decided("git log -p", rules("git log -p", ask=("git log *",))) == "allow"
    assert decided("ls; timeout 5 git push", rules("*", ask=("git push *",))) == "ask"


def test_a_rule_without_a_star_covers_that_command_whatever_it_does() -> None:
    assert decided("find . -delete", rules("find *")) == "ask"
    assert decided("find . -delete", rules("find . -delete")) == "allow"
    assert decided("find . -delete -x", rules("find . -delete")) == "ask"


# --- no writing of a command makes it more allowed -------------------------------------------------

ORDER = {"deny": 0, "ask": 1, "allow": 2}
COMMANDS = st.sampled_from(
    ["ls", "ls a", "cat b | sort", "rm -rf x", "curl y", "git log", "make", "echo $(id)", "ls >z",
     "find . -delete", "$x", "sed -n 1p a", "ls '", "bash -c 'curl x'", "cat <<E\na\nE", "ls # c"]
)  # fmt: skip
MIXED = rules(*READS, deny=("curl *", "rm -rf *"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(COMMANDS, min_size=1, max_size=4), st.sampled_from([" && ", "; ", "\n", " | ", " & "])
)
def test_a_line_is_as_allowed_as_its_worst_part(parts: list[str], join: str) -> None:
    parts = [part for part in parts if part != "ls '"] or ["ls"]  # its quote takes what follows
    if any("\n" in part or "#" in part for part in parts):
        join = "\n"
    worst = min((decided(part, MIXED) for part in parts), key=ORDER.__getitem__)
    assert ORDER[decided(join.join(parts), MIXED)] <= ORDER[worst]


@settings(max_examples=300, deadline=None)
@given(
    COMMANDS.filter(lambda text: "\n" not in text and "'" not in text and "#" not in text),
    st.lists(
        st.sampled_from(
            ["{}; rm -rf x", "rm -rf x\n{}", "({})", "{{ {}; }}", "if true; then {}; fi", "! {}",
             "bash -c '{}'", "eval '{}'", "env {}", "timeout 5 {}", "x=$({})", "echo `{}`", "nice {}",
             "for i in 1; do {}; done", "f() {{ {}; }}", "cat <({})", "xargs {}", "{} &", "time {}",
             'echo "$({})"', "\\{}", " {} # x\n"]
        ),
        min_size=1,
        max_size=3,
    ),
)  # fmt: skip
def test_wrapping_never_makes_a_command_more_allowed(command: str, wraps: list[str]) -> None:
    before = decided(command, MIXED)
    for wrap in wraps:
        if "'" in command and "'" in wrap:
            continue
        command = wrap.format(command)
        after = decided(command, MIXED)
        assert after != "allow" or before == "allow", command
        assert "rm -rf" not in wrap or after != "allow", command
        before = after


PIECES = st.sampled_from(
    """ls|echo|evil|evil| | |\n|;|&|&&|(|)|{ |; }|$(|`|"|'|\\|\\\n|\\ |<<E\n|<<'E'\n|\nE\n|E|<|>/dev/null|
    2>&1|$|${|}|x|a|#|if |then |fi|while |do |done|;;|!|[[ | ]]|-n|=|a=|((|))|<(|*|{a,|$'|\t|f()|eval |
    coproc |<<<|\r|for x in |1|@|%|-|time |env |nice |bash -c |command """.replace("|\n    ", "|").split("|")
)  # fmt: skip


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@settings(max_examples=1000, deadline=None)
@given(st.lists(PIECES, min_size=2, max_size=16))
def test_bash_runs_nothing_that_was_not_seen(pieces: list[str]) -> None:
    command = "ls " + "".join(pieces)
    if decided(command, rules("ls *", "echo *", "[[ *", "x *", "a *")) != "allow":
        return
    # Nothing is found, so each program that bash would run is named instead of run.
    told = 'command_not_found_handle() { echo "RAN<$1>" >&2; }\nnice() { "$@"; }\nenv() { "$@"; }\n'
    ran = subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "-c", told + 'eval "$0"', command],
        env={"PATH": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert b"RAN<evil" not in ran.stderr + ran.stdout, command


# --- within the whole decision ---------------------------------------------------------------------


async def judged(command: str, *given_rules: Any, mode: Any = "ask", firm: bool = False) -> Any:
    tool = Act(permission=Permission("ask", "A command.", firm=firm), subject_kind="command")
    call = ToolCall("c", "act", json.dumps({"word": command}))
    (item,) = prepare([call], ToolRegistry([tool]), used_ids=set(), prefix="p")
    checker = PermissionChecker(RuleList.of(*given_rules), mode, roots=ROOTS)
    return await checker.judge(item, "s")


async def test_mode_auto_asks_where_a_rule_may_be_meant_for_what_is_hidden() -> None:
    assert (await judged("make", mode="auto")).decision == "allow"
    assert (await judged("$x", mode="auto")).decision == "allow"  # the sandbox decides
    deny = ("deny", "act(curl *)")
    assert (await judged("make", deny, mode="auto")).decision == "allow"
    for hidden in ("$x", "eval $x", "echo x | sh", "ls '", "cur\u200bl x", "l" * 40_000):
        assert (await judged(hidden, deny, mode="auto")).decision == "ask"
    assert (await judged("make", ("ask", "act(make *)"), mode="auto")).decision == "ask"


async def test_a_firm_question_is_answered_only_by_a_rule_that_names_the_command() -> None:
    assert (await judged("make", mode="auto", firm=True)).decision == "ask"
    assert (await judged("make", ("allow", "act"), firm=True)).decision == "ask"
    assert (await judged("make", ("allow", "act(make *)"), firm=True)).decision == "allow"


async def test_a_rule_that_cannot_be_read_refuses_and_never_allows() -> None:
    assert (await judged("ls", ("deny", "(("))).decision == "deny"
    assert (await judged("ls", ("allow", "(("))).decision == "ask"
    assert (await judged("ls", mode="plan")).decision == "deny"


async def test_always_on_a_line_of_several_parts_writes_several_rules() -> None:
    act = Act(permission=Permission("ask", "A command."), subject_kind="command")
    asker = Answers(("allow", "always"))
    line, other = "git log | head -3", "head -5 a; git log -p"
    replies = [Reply(calls=[("act", json.dumps({"word": word}))]) for word in (line, other)]
    bench = Bench([*replies, "Done."], act, asker=asker)
    await bench.turn()
    assert [rule.pattern for rule in bench.rules.kept] == ["act(git log *)", "act(head *)"]
    assert asker.seen[0].rule == "act(git log *)\nact(head *)"
    assert act.ran == [line, other]


async def test_a_refusal_for_longer_of_several_parts_does_not_refuse_each() -> None:
    act = Act(permission=Permission("ask", "A command."), subject_kind="command")
    reply = Reply(calls=[("act", '{"word": "ls; rm x"}')])
    bench = Bench([reply, "Done."], act, asker=Answers(("deny", "always")))
    await bench.turn()
    assert (act.ran, bench.rules.kept) == ([], [])


def test_a_chain_of_hundreds_is_read_to_its_end() -> None:
    assert decided("ls && " * 2000 + "ls", rules("ls *")) == "allow"
    assert decided("ls && " * 2000 + "curl x", rules("ls *", deny=("curl *",))) == "deny"
    assert decided("$(" * 500 + "ls" + ")" * 500, rules("ls *")) == "ask"


def test_nothing_of_the_shell_is_loaded_before_it_is_needed() -> None:
    code = "import sys, nuncius.agent.permissions; print('tree_sitter' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert ran.stdout.strip() == b"False"
