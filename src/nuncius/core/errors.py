"""Every error that nuncius raises on purpose.

NunciusError
├── UsageError              the user's words do not make a request           (exit 2)
├── SettingsError           a setting is missing or makes no sense           (exit 2)
├── NotFoundError           no such paper, session, page, file
├── AccessDeniedError       the path guard or the network door said no       (exit 5)
├── ConfidentialError       confidential text would leave the machine        (exit 5)
├── DocumentError           a document cannot be read; `kind` says why
├── StoreError              the database cannot do what was asked
│   ├── DatabaseBrokenError     damaged, foreign or newer than this version
│   ├── DatabaseBusyError       another process kept the lock too long
│   └── SessionBusyError        a turn of this session runs in another process
├── UpstreamError           a remote service failed                          (exit 3)
│   └── ModelError              a language model failed; `retryable` says how
│       ├── StreamCutError          the stream ended without an end
│       ├── EmptyReplyError         the stream ended well and said nothing
│       └── ContextOverflowError    the request is too long for the model
├── KeyMissingError         no key, or it was refused                        (exit 4)
└── ToolError               a tool cannot do it; the model reads why

A message says what was asked and what happened; `hint` says what to do next.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nuncius.core.messages import Message

DocumentFault = Literal[
    "empty",
    "encrypted",
    "truncated",
    "damaged",
    "not_a_paper",
    "scanned",
    "unsupported",
    "too_large",
    "unreadable",
    "timeout",
]
"""Why a document could not be read.

`not_a_paper`: a web page (challenge, turn-away, log-in) saved under a paper's name.
`scanned`: pages without a text layer. `unreadable`: the file system refused.
"""

ErrorKind = Literal[
    "invalid_arguments",
    "unknown_tool",
    "denied",
    "hook_blocked",
    "timeout",
    "cancelled",
    "aborted_by_sibling",
    "duplicate",
    "crashed",
    "not_found",
    "upstream",
    "unavailable",
    "interrupted",
    "too_large",
    "confidential",
]
"""Why a tool call ended in an error."""


class NunciusError(Exception):
    """Base of all errors that are raised on purpose.

    Args:
        message: What was asked and what happened, one or two sentences.
        hint: What to do next, or an empty string.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class UsageError(NunciusError):
    """The user's words do not make a request."""

    exit_code = 2


class SettingsError(NunciusError):
    """A setting is missing, unknown or makes no sense."""

    exit_code = 2


class NotFoundError(NunciusError):
    """There is no such paper, session, page, section or file."""


class AccessDeniedError(NunciusError):
    """The path guard or the network door refused."""

    exit_code = 5


class ConfidentialError(NunciusError):
    """Confidential text would have left this machine."""

    exit_code = 5


class DocumentError(NunciusError):
    """A document cannot be read; `kind` says why."""

    def __init__(self, kind: DocumentFault, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind: DocumentFault = kind


class StoreError(NunciusError):
    """The database cannot do what was asked."""


class DatabaseBrokenError(StoreError):
    """The database is damaged, foreign, or newer than this version."""


class DatabaseBusyError(StoreError):
    """Another process kept the database locked for too long."""

    exit_code = 3


class SessionBusyError(StoreError):
    """A turn of this session is running, here or in another process."""

    exit_code = 3


class UpstreamError(NunciusError):
    """A remote service failed, or its answer could not be understood."""

    exit_code = 3

    def __init__(self, service: str, url: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{service}: {reason} ({url})", hint=hint)
        self.service = service
        self.url = url
        self.reason = reason


class ModelError(UpstreamError):
    """A language model failed.

    Attributes:
        retryable: Whether the same request may succeed later.
        retry_after_s: Seconds that the provider asked to wait, or None.
        partial: What had come before the stream failed, unfinished calls included, or None.
    """

    partial: "Message | None" = None

    def __init__(
        self,
        service: str,
        url: str,
        reason: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(service, url, reason, hint=hint)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class StreamCutError(ModelError):
    """The stream ended without `[DONE]` and without a finish reason."""


class EmptyReplyError(ModelError):
    """The model ended without text and without calls (it may have thought); worth one more try."""


class ContextOverflowError(ModelError):
    """The request is longer than the model's context."""


class KeyMissingError(NunciusError):
    """A key is missing, or the service refused it."""

    exit_code = 4


class ToolError(NunciusError):
    """A tool cannot do what was asked; the model reads the message.

    Attributes:
        kind: The `error_kind` of the result event.
        code: A finer word for programs, such as ``wrong_type``; may be empty.
    """

    def __init__(
        self, message: str, *, kind: ErrorKind = "not_found", code: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind: ErrorKind = kind
        self.code = code
