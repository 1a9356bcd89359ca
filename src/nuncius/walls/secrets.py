"""Mask secrets by their value, in every form that logs, URLs and dumps give them."""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "[secret]"
MIN_LENGTH = 6
"""Shorter values are words of ordinary text; masking them would blacken it."""

_SHAPES = re.compile(
    r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \bsk-[A-Za-z0-9_-]{16,}                     # keys of model providers
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,} | \bglpat-[\w-]{16,}
    | \bAKIA[0-9A-Z]{12,} | \bASIA[0-9A-Z]{12,}
    | \bAIza[\w-]{30,}
    | \bxox[abeoprs]-[\w-]{10,}
    | \bhf_[A-Za-z0-9]{20,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*            # a signed web token
    """,
    re.VERBOSE,
)
# A name that says what follows: only what follows is masked.
_NAMED = re.compile(
    r"""(?ix)
    ( \b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)?\s*
    | \bbearer\s+
    | \b(?:set-)?cookie["']?\s*[:=]\s*["']?[\w.-]+=
    | [\w-]*(?:api[_-]?key|apikey|token|secret|passw(?:or)?d|passwd|dev[_-]key)["']?\s*[:=]\s*["']?
    | ://[^\s/:@]*:(?=[^\s/@]+@)
    )
    ([^\s"'&;,@)\]}<>]{8,})
    """
)


class Masker:
    """Replace known secrets, then what has the shape of one.

    Args:
        secrets: Values of configured keys and tokens.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {
            form
            for secret in secrets
            if len(secret.strip()) >= MIN_LENGTH
            for form in _forms(secret.strip())
        }
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(re.escape(form) for form in ordered)) if forms else None

    def mask(self, text: str) -> str:
        """Return `text` with every known secret, in any of its forms, replaced."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        text = _SHAPES.sub(MASK, text)
        return _NAMED.sub(lambda match: match[1] + MASK, text)


def _forms(secret: str) -> set[str]:
    raw = secret.encode("utf-8", errors="surrogatepass")
    forms = {
        secret,
        quote(secret, safe="", errors="replace"),
        quote_plus(secret, errors="replace"),
        quote(secret, errors="replace"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        raw.hex(),
    }
    # Within a longer text (user:secret) base64 takes one of three forms; what depends on the
    # neighbours at both ends is left out.
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        whole = len(raw) + before
        core = encoded[(0, 2, 3)[before] : (whole // 3) * 4 if whole % 3 else None]
        if len(core) >= MIN_LENGTH:
            forms |= {core, core.replace("+", "-").replace("/", "_")}
    return {form for form in forms if len(form) >= MIN_LENGTH}
