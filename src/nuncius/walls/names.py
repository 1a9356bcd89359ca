"""Names that the path guard treats specially, whatever root they lie under."""

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

PROTECTED = (
    # Keys and settings: reading one puts a secret into a prompt, writing one redirects requests.
    ".env*",
    "config.toml",
    "token",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".ads",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.pem",
    "*.p12",
    "*.pfx",
    # Our own database and logs; `*.db*` also covers write-ahead logs and copies.
    "*.db*",
    "nuncius.log*",
    # What other programs execute when they meet it.
    ".git",
    ".gitmodules",
    ".gitconfig",
    ".githooks",
    ".husky",
    ".hg",
    ".svn",
    ".vscode",
    ".idea",
    ".mcp.json",
    "sitecustomize.py",
    "usercustomize.py",
    ".bashrc",
    ".bash_*",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    # Mail between agents is written by the team tools only.
    ".team",
)
"""Patterns of single components that may be neither read nor written (security.md, rule 1)."""

PROTECTED_IN_LIBRARY = ("hooks", "logs")
"""Further names at the top of the library; in a project these are ordinary folders."""

INSTRUCTIONS = (
    "agents.md",
    "agents.override.md",
    "claude.md",
    "claude.local.md",
    "gemini.md",
    "copilot-instructions.md",
    "skill.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    "conftest.py",
)
"""Files that agents obey or tools run: reading is ordinary, writing always asks."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_protected(parts: Sequence[str], *, library: bool) -> bool:
    """Tell whether a path below a root meets a protected name in any of its components."""
    folded = [_plain(part) for part in parts]
    if library and folded and folded[0] in PROTECTED_IN_LIBRARY:
        return True
    return any(fnmatchcase(part, pattern) for part in folded for pattern in PROTECTED)


def is_instruction(parts: Sequence[str]) -> bool:
    """Tell whether the file named last steers agents or is run by tools."""
    return bool(parts) and _plain(parts[-1]) in INSTRUCTIONS


def is_deceptive(name: str) -> bool:
    """Tell whether a new name would show as something else than it is.

    Control characters, bidi overrides, zero-width and other format characters, line separators
    and lone surrogates: they spoof listings and break terminals and logs.
    """
    return any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in name)


def is_malformed(path: str) -> bool:
    """Tell whether `path` as written can name nothing that a tool may open.

    Blank, too long for any kernel, a NUL, a leading ``~`` (never expanded), a ``..`` component,
    or a URL. ``a..b``, ``IMG~1`` and ``%2e%2e`` are ordinary names.
    """
    return (
        not path.strip()
        or len(path) > 4096
        or "\0" in path
        or path.startswith("~")
        or ".." in path.split("/")
        or _URL.match(path) is not None
    )


def _plain(name: str) -> str:
    """Fold what file systems fold: case, invisible characters, trailing dots and spaces."""
    visible = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return visible.rstrip(" .").casefold()
