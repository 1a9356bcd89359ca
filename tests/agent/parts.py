"""Tools and runtimes that the tests of the kernel share."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import override

from agent.doubles import ListJournal, PlainFinisher, RuleList
from nuncius.agent.permissions import PermissionChecker
from nuncius.agent.registry import ToolRegistry
from nuncius.agent.runtime import Runtime
from nuncius.agent.streaming import Clock
from nuncius.agent.tool import Arguments, Permission, Resource, Tool, ToolContext, ToolOutput
from nuncius.llm.scripted import Script, ScriptedModel

SYSTEM = "You are a test."


class Word(Arguments):
    word: str = ""


class Look(Tool[Word]):
    """Look at a word."""

    name = "look"
    args = Word
    read_only = True

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(f"saw {args.word}", metadata={"word": args.word})


class Act(Tool[Word]):
    """Do whatever the test says, as `act`."""

    name = "act"
    args = Word

    def __init__(
        self,
        does: Callable[[Word, ToolContext], Any] | None = None,
        *,
        permission: Permission | None = None,
        keys: Sequence[Resource] = (),
        **attributes: Any,
    ) -> None:
        self._does = does
        self._permission = permission or Permission("allow")
        self._keys = keys
        self.ran: list[str] = []
        for key, value in attributes.items():
            setattr(self, key, value)

    @override
    def resources(self, args: Word) -> Sequence[Resource]:
        return self._keys

    @override
    def check_permissions(self, args: Word) -> Sequence[Permission]:
        return (self._permission,)

    @override
    def subject(self, args: Word) -> str:
        return args.word

    @override
    async def run(self, args: Word, ctx: ToolContext) -> ToolOutput:
        self.ran.append(args.word)
        outcome = self._does(args, ctx) if self._does else ToolOutput(f"did {args.word}")
        return await outcome if asyncio.iscoroutine(outcome) else outcome


class Bench:
    """A runtime with what stands around it in view."""

    def __init__(
        self,
        script: Script,
        *tools: Tool[Any],
        journal: ListJournal | None = None,
        rules: RuleList | None = None,
        **more: Any,
    ) -> None:
        self.model = ScriptedModel(script)
        self.journal = journal or ListJournal()
        self.rules = rules or RuleList()
        self.finisher = PlainFinisher()
        options: dict[str, Any] = {"clock": Clock(sleep=_now), **more}
        self.runtime = Runtime(
            self.model,
            ToolRegistry(tools or (Look(),)),
            self.journal,
            PermissionChecker(self.rules),
            self.finisher,
            system_prompt=SYSTEM,
            **options,
        )

    async def turn(self, question: str = "go", **options: Any) -> Any:
        return await self.runtime.run_turn("s", question, **options)

    def results(self) -> list[Any]:
        """Return the tool results in the order in which they were shown."""
        return [event for event in self.journal.log if event.type == "tool_result"]

    def kinds(self) -> list[str]:
        return [event.type for event in self.journal.log]


async def _now(_: float) -> None:
    return
