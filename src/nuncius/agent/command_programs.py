"""What is known of programs: who runs others, which options write or run, what "always" covers.

Text rules only decide when to ask; what can happen is the sandbox's matter.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Words = Sequence[str | None]
"""Values of a command's words; None where only running the line tells."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs the command it is given.

    Attributes:
        values: Short options that take a value.
        long_values: Long options whose value is the next word.
        skip: Operands before the command.
        clear: It changes nothing about what the command does, so the command's rule is enough.
        fills: It adds words of its own to the command.
    """

    values: str = ""
    long_values: tuple[str, ...] = ()
    skip: int = 0
    clear: bool = False
    fills: bool = False


WRAPPERS: Mapping[str, Wrapper] = {
    "builtin": Wrapper(clear=True),
    "busybox": Wrapper(),
    "chroot": Wrapper(skip=1),
    "chrt": Wrapper(values="TPD", skip=1),
    "command": Wrapper(clear=True),
    "coproc": Wrapper(),
    "doas": Wrapper(values="Cu"),
    "env": Wrapper(values="uC", long_values=("--unset", "--chdir"), clear=True),
    "exec": Wrapper(values="a", clear=True),
    "fakeroot": Wrapper(),
    "flock": Wrapper(values="wE", skip=1),
    "ionice": Wrapper(values="cn", long_values=("--class", "--classdata"), clear=True),
    "ltrace": Wrapper(values="aenopsu"),
    "nice": Wrapper(values="n", long_values=("--adjustment",), clear=True),
    "nohup": Wrapper(clear=True),
    "nsenter": Wrapper(values="tSG"),
    "numactl": Wrapper(values="miNCpl"),
    "parallel": Wrapper(values="jnNIa", fills=True),
    "pkexec": Wrapper(long_values=("--user",)),
    "prlimit": Wrapper(),
    "runuser": Wrapper(values="ugG"),
    "setarch": Wrapper(skip=1),
    "setpriv": Wrapper(),
    "setsid": Wrapper(clear=True),
    "stdbuf": Wrapper(values="ioe", long_values=("--input", "--output", "--error"), clear=True),
    "strace": Wrapper(values="aeEIoOpPsSuUX"),
    "sudo": Wrapper(
        values="ugpCcDhRrTtU",
        long_values=("--user", "--group", "--prompt", "--chdir", "--host", "--close-from"),
    ),
    "systemd-run": Wrapper(values="puHM"),
    "taskset": Wrapper(skip=1),
    "time": Wrapper(values="fo", clear=True),
    "timeout": Wrapper(values="ks", long_values=("--kill-after", "--signal"), skip=1, clear=True),
    "toybox": Wrapper(),
    "unbuffer": Wrapper(),
    "unshare": Wrapper(),
    "valgrind": Wrapper(),
    "xargs": Wrapper(
        values="aEIdLnPsl",
        long_values=("--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars"),
        fills=True,
    ),
}

SHELLS = frozenset("sh bash dash ash ksh mksh zsh rbash".split())

STEERING = frozenset(
    """alias bind complete declare enable export getopts hash let local mapfile read readarray
    readonly set shopt trap typeset unalias unset""".split()
)
"""Built-ins after which later words may mean something else, or that keep text to run later."""

HARMLESS_NAMES = re.compile(
    r"LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|OMP_NUM_THREADS|OPENBLAS_NUM_THREADS|CI"
)
"""Variables that may be set before an allowed command."""

_SPEAKS = frozenset(
    """: basename dirname echo expr false id logname nproc printf pwd seq sleep true tty
    uname uptime users whoami""".split()
)
"""Programs whose operands are no files."""


def takes_files(program: str) -> bool:
    """Tell whether the operands of a program may be paths."""
    return program not in _SPEAKS


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that people allow because it reads, and the options with which it does more.

    Attributes:
        values: Short options that take a value.
        short: Short options that write, run a program, or never end.
        long: The same as long options; an abbreviation counts.
        words: Further words that do, as `find -delete`.
        script: The first operand is a text of its own, no path; so are the values of `-e`.
        patterns: Options whose next word is a pattern, no path.
    """

    values: str = ""
    short: str = ""
    long: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    script: bool = False
    patterns: frozenset[str] = frozenset()


# Of awk's long options none is needed: all of them are a fault.
_AWK = Reader(values="vF", short="fiIloOpdDeEhLS", script=True, long=("--",))
_GREP = Reader(values="efmABCdD", script=True)
READERS: Mapping[str, Reader] = {
    "awk": _AWK,
    "gawk": _AWK,
    "mawk": _AWK,
    "nawk": _AWK,
    "date": Reader(values="dfrs", short="s", long=("--set",)),
    "fd": Reader(values="deEtSx", short="xX", long=("--exec", "--exec-batch"), script=True),
    "file": Reader(
        values="mfeFP", short="mCzZ", long=("--magic-file", "--compile", "--uncompress")
    ),
    "find": Reader(
        words=frozenset(
            """-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls
            -files0-from""".split()
        ),
        patterns=frozenset(
            """-name -iname -path -ipath -wholename -regex -iregex -lname -ilname -printf
            -perm -size -user -group""".split()
        ),
    ),
    "git": Reader(
        long=(
            "--output",
            "--output-directory",
            "--ext-diff",
            "--textconv",
            "--no-index",
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "--contents",
            "--ignore-revs-file",
        ),
    ),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "head": Reader(values="cn"),
    "jq": Reader(short="fL", long=("--from-file", "--library-path"), script=True, values="Lf"),
    "printf": Reader(words=frozenset({"-v"})),
    "rg": Reader(
        values="efgtTmABCMjrdE",
        short="z",
        long=("--pre", "--hostname-bin", "--search-zip"),
        script=True,
    ),
    "sed": Reader(values="efl", short="if", long=("--in-place", "--file"), script=True),
    "sort": Reader(
        values="ktoST", short="oT", long=("--output", "--compress-program", "--temporary-directory")
    ),
    "tail": Reader(values="cns", short="fF", long=("--follow", "--retry")),
    "tar": Reader(
        short="I",
        long=(
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--rmt-command",
        ),
    ),
    "tree": Reader(values="LPIo", short="o", long=("--output",)),
    "uniq": Reader(values="fsw"),
    "yq": Reader(short="i", long=("--inplace", "--in-place"), script=True),
}


@dataclass(frozen=True, slots=True)
class Read:
    """What the words of a command are: its operands that may be paths, and its fault or none."""

    fault: str
    paths: tuple[str, ...]


def read_arguments(words: Words, *, leading_glob: bool = False) -> Read:
    """Sort the known words behind the program into paths and others, and look for a fault.

    Args:
        leading_glob: A pattern that begins with ``*``, ``?`` or ``[`` is among the words: a file
            name may come out as an option.
    """
    program = words[0] or ""
    reader = READERS.get(program)
    known = [word for word in words[1:] if word is not None]
    if reader is None:
        return Read("", tuple(known) if takes_files(program) else ())
    if leading_glob and (reader.short or reader.long or reader.words) and "--" not in known:
        return Read("a file name could come out as an option that writes or runs", tuple(known))
    fault, scripts, paths = _sort(reader, known)
    if not fault and program == "uniq" and sum(not word.startswith("-") for word in paths) > 1:
        fault = "its second file is written"
    for script in (*scripts, *paths) if program == "jq" else scripts:
        fault = fault or _script_fault(program, script)
    return Read(fault, tuple(paths) if takes_files(program) else ())


def _sort(reader: Reader, words: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Return the fault of an option, the texts and the possible paths."""
    given: list[str] = []  # texts that options gave
    operands: list[str] = []
    paths: list[str] = []
    only_operands = has_text = False
    takes = ""  # the option whose value the next word is
    for word in words:
        if takes:
            if takes in _TEXT_OPTIONS and reader.script:
                given.append(word)
            elif takes not in reader.patterns:
                paths.append(word)
            takes = ""
        elif word in reader.words:
            return f"{word} writes or runs", [], []
        elif word in reader.patterns:
            takes = word
        elif only_operands or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word == "--":
            only_operands = True
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            if any(bad.startswith(name) for bad in reader.long) or "--" in reader.long:
                return f"{name} writes, runs or reads elsewhere", [], []
            has_text = has_text or name in _NO_TEXT
            if reader.script and name in _TEXT_OPTIONS and equals:
                given.append(value)
            elif equals:
                paths.append(value)
            elif name in _TEXT_OPTIONS:
                takes = name
        else:
            fault, takes, value = _bundle(reader, word)
            if fault:
                return fault, [], []
            has_text = has_text or takes == "f" or value.startswith("f")
            if value:
                (given if reader.script and value[0] == "e" else paths).append(value[1:])
    if reader.script and not given and not has_text:
        given, operands = operands[:1], operands[1:]
    return "", given, paths + operands


_TEXT_OPTIONS = frozenset({"e", "--regexp", "--expression"})
_NO_TEXT = frozenset({"--file", "--files", "--type-list"})
"""Options with which the first operand is a path after all."""


def _bundle(reader: Reader, word: str) -> tuple[str, str, str]:
    """Read ``-abc``: a fault, the option that still wants its value, or option and value."""
    for at, letter in enumerate(word[1:], 2):
        if letter in reader.short:
            return f"-{letter} writes, runs or never ends", "", ""
        if letter in reader.values:
            return ("", letter, "") if at == len(word) else ("", "", letter + word[at:])
    return "", "", word[word.index("/") - 1 :] if "/" in word else ""


# --- texts that are programs themselves ------------------------------------------------------------

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)"
_SED_COMMAND = re.compile(
    rf"[\s;]*(?:{_SED_ADDRESS}(?:,[+~]?{_SED_ADDRESS})?\s*!?\s*)?"
    r"(?:[pdDPnNgGhHxlz=]|[qQ]\d*|s(?P<s>[/|,#@:!])(?:(?!(?P=s))[^\\\n]|\\.)*(?P=s)"
    r"(?:(?!(?P=s))[^\\\n]|\\.)*(?P=s)[gpiImM0-9]*|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/)"
    r"\s*(?:[;\n]|$)"
)
_JQ_FAULT = re.compile(r"\b(?:env|input_filename|include|import|modulemeta|getpath|debug)\b|\$ENV")
_AWK_FAULT = re.compile(r"system|getline|ENVIRON|@|/inet|close|fflush")


def _script_fault(program: str, script: str) -> str:
    if program == "sed" and not _harmless_sed(script):
        return "the sed script may write or run"
    if program in {"awk", "gawk", "mawk", "nawk"} and not _harmless_awk(script):
        return "the awk program may write or run"
    if program == "jq" and _JQ_FAULT.search(script):
        return "the jq filter may read the environment or other files"
    return ""


def _harmless_sed(script: str) -> bool:
    """Tell whether all commands of a sed script are plain ones: no files, nothing run."""
    at = 0
    while at < len(script):
        match = _SED_COMMAND.match(script, at)
        if not match:
            return not script[at:].strip(" \t\n;")
        at = match.end()
    return True


def _harmless_awk(program: str) -> bool:
    """Tell whether an awk program only prints; a comparison is told from a redirection."""
    if _AWK_FAULT.search(program):
        return False
    if not re.search(r"[>|]", program):
        return True
    if re.search(r"[/#\\]", program):  # where a text begins and ends is not told for certain
        return False
    bare = re.sub(r'"[^"\n]*"', "", program).replace("||", "")
    if '"' in bare or "|" in bare:
        return False
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == ">" and depth:
            return False
    return True


# --- git -------------------------------------------------------------------------------------------

_GIT_VALUES = frozenset("-C -c --git-dir --work-tree --namespace --exec-path --config-env".split())
_GIT_HARMLESS = frozenset("-P --no-pager --no-optional-locks --literal-pathspecs -C".split())


def without_git_options(words: Words) -> tuple[list[str | None], bool, list[str]]:
    """Take the options before git's sub-command away.

    Returns:
        The plain command, whether all options were harmless, and shell texts that were set.
    """
    harmless = True
    texts: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        if word is None or not word.startswith("-"):
            break
        name = word.partition("=")[0]
        harmless = harmless and name in _GIT_HARMLESS
        value = words[at + 1] if at + 1 < len(words) else None
        if name == "-c" and value and (found := re.match(r"alias\.[^=]+=!(.*)", value, re.DOTALL)):
            texts.append(found[1])
        at += 2 if word in _GIT_VALUES else 1
    return [words[0], *words[at:]], harmless, texts


# --- what "always" covers --------------------------------------------------------------------------

_READS = frozenset(
    """awk cat column comm cut df diff du egrep fgrep file find fold grep head id jq ls md5sum nl
    nproc od paste pwd readlink realpath rev rg sed seq sha256sum sort stat strings tac tail tr tree
    true uname uniq wc which whoami xxd""".split()
)
_PREFIXES = frozenset(
    tuple(line.split())
    for line in """git blame/git cat-file/git describe/git diff/git grep/git log/git ls-files
    /git ls-tree/git name-rev/git rev-list/git rev-parse/git shortlog/git show/git status
    /git whatchanged/pip check/pip freeze/pip list/pip show/conda info/conda list/conda search
    /npm list/npm ls/npm outdated/npm view/cargo tree/cargo metadata/go list/go version
    /docker images/docker logs/docker ps/kubectl describe/kubectl get/kubectl logs/aws s3 ls
    /uv pip list/uv pip show/uv tree""".split("/")
)


def prefix_length(words: Sequence[str]) -> int:
    """Return how many words of a command a rule for others like it keeps; 0: the command whole.

    Only what reads gets a rule with a ``*``: who once allowed ``rm -r build`` did not allow
    ``rm -r .``.
    """
    if words[0] in _READS:
        return 1
    return next((n for n in (2, 3) if tuple(words[:n]) in _PREFIXES), 0)
