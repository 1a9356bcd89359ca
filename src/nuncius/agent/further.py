"""Permission for what a call only learns of while it runs, such as the host that a link leads to."""

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import override

from nuncius.agent.arguments import Prepared, canonical
from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, Permission, SubjectKind, Tool


class Further(Tool[Arguments]):
    """A running call, as far as it asks about one more thing; it is never run itself."""

    args = Arguments

    def __init__(self, tool: AnyTool, subject: str, reason: str, kind: SubjectKind) -> None:
        # The rules are those on the tool: ``download_paper(*.example.org)``.
        self.name = tool.name  # pyright: ignore[reportAttributeAccessIssue]
        self.subject_kind = kind  # pyright: ignore[reportAttributeAccessIssue]
        self._subject = subject
        self._reason = reason

    @override
    def check_permissions(self, args: Arguments) -> Sequence[Permission]:
        return (Permission("ask", self._reason, firm=True),)

    @override
    def subject(self, args: Arguments) -> str:
        return self._subject


def further(
    item: Prepared, tool: AnyTool, subject: str, reason: str, kind: SubjectKind = "host"
) -> Prepared:
    """Return what is judged: the call's arguments, and what it asks about."""
    value = {**item.value, kind: subject}
    asked = Further(tool, subject, reason, kind)
    return replace(item, tool=asked, args=Arguments(), value=value, canonical=canonical(value))
