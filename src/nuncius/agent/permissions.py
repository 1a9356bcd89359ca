"""May this call run? The tool, the user's rules and the mode decide; a person where they ask.

1. A deny, the tool's or a rule's, always wins.
2. Among the user's allow and ask rules the narrower wins; a tie allows.
3. Where no rule speaks, the tool does; its silence allows a read and asks for all else.
4. The mode: `plan` refuses what is not a read, `auto` skips plain asks, `deny` refuses them.
5. Once the agent has read words of others, an act that reaches out asks, in mode `auto` too; only
   a rule with a subject answers for the person.
6. A hook that wants a person asked is heard, whatever allows the call; a deny stays a deny.
"""

import asyncio
import hashlib
import logging
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nuncius.agent import commands
from nuncius.agent.arguments import Prepared, canonical, shorten
from nuncius.agent.feed import Feed
from nuncius.agent.ports import Asker, PendingRequests, PermissionStore, Rule
from nuncius.agent.questions import decided_elsewhere
from nuncius.agent.registry import AnyTool
from nuncius.agent.rules import Pattern, exact_rule, parse_rule
from nuncius.agent.taint import told
from nuncius.agent.tool import Arguments, Permission
from nuncius.core.errors import NunciusError, UsageError
from nuncius.core.events import PermissionMode, PermissionRequest, PermissionResolved

log = logging.getLogger(__name__)
Scope = Literal["once", "session", "always"]
Verdict = Literal["deny", "allow", "ask"]
_PLAN = "Mode `plan` allows reads only."


@dataclass(frozen=True, slots=True)
class Judgement:
    """What rules, tool and mode say of one call.

    Attributes:
        rules: What "always" would write; more than one for a command of several parts, none
            where no rule could cover it.
        what: The call named for people: the tool with its subject.
    """

    decision: Verdict
    reason: str
    rules: tuple[str, ...] = ()
    what: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The end of the question.

    Attributes:
        args_sha256: Digest of the canonical arguments that were judged; nothing else may run.
        asked: Whether somebody had to be asked (and, where nobody could be, was not).
        what: The call in short, such as ``file_write(docs/a.md)``.
    """

    allowed: bool
    reason: str
    args_sha256: str
    asked: bool = False
    what: str = ""


class PermissionChecker:
    """Judges the calls of one session.

    Args:
        roots: Absolute directories that path rules are meant from.
        pending: Where decisions of other processes are seen; None: there are none.
        ask_at_once: Whether the asker can show several questions at the same time (a page can, a
            terminal cannot).
    """

    def __init__(
        self,
        store: PermissionStore,
        mode: PermissionMode = "ask",
        *,
        roots: Iterable[str] = (),
        ask_at_once: bool = False,
        pending: PendingRequests | None = None,
    ) -> None:
        self._store = store
        self._elsewhere = pending
        self.mode: PermissionMode = mode
        self._roots = tuple(str(root).rstrip("/") or "/" for root in roots)
        self._asking = asyncio.Semaphore(1_000 if ask_at_once else 1)
        self._pending: dict[str, _Pending] = {}

    async def judge(
        self,
        item: Prepared,
        session_id: str,
        *,
        mode: PermissionMode | None = None,
        sources: Sequence[str] = (),
    ) -> Judgement:
        """Say what rules, tool and mode think of the call; nobody is asked."""
        rules = await self._store.rules(session_id)
        return self._join(item, rules, mode or self.mode, sources)

    async def decide(
        self,
        items: Sequence[Prepared],
        feed: Feed,
        asker: Asker | None,
        *,
        mode: PermissionMode | None = None,
        sources: Sequence[str] = (),
    ) -> list[Decision]:
        """Decide on each call, asking where that is needed; requests are shown all at once.

        A rule that an answer writes is applied to the questions still open.

        Args:
            sources: Whose words the agent had read when it made the calls.
        """
        mode = mode or self.mode
        rules = await self._store.rules(feed.session_id)
        judged = [self._join(item, rules, mode, sources) for item in items]
        questions = [
            _Pending(item, judgement, mode, feed, sources) if judgement.decision == "ask" else None
            for item, judgement in zip(items, judged, strict=True)
        ]
        if asker is None or mode == "deny":
            return [
                _unasked(item, judgement, mode)
                for item, judgement in zip(items, judged, strict=True)
            ]
        await self._ask_all([question for question in questions if question], feed, asker)
        return [
            question.outcome.result() if question else _unasked(item, judgement, mode)
            for item, judgement, question in zip(items, judged, questions, strict=True)
        ]

    # --- judging ---

    def _join(
        self,
        item: Prepared,
        rules: Sequence[Rule],
        mode: PermissionMode,
        sources: Sequence[str] = (),
    ) -> Judgement:
        assert item.tool is not None
        assert item.args is not None
        try:
            own = _own(item.tool, item.args)
            subject = item.tool.subject(item.args)
            if (
                sources
                and own.decision != "deny"
                and self._reaches_out(item.tool, item.args, subject)
            ):
                own = Permission("ask", f"{own.reason} {told(sources)}".strip(), firm=True)
        except Exception:
            log.exception("the permission check of %s broke", item.tool.name)
            name = item.tool.name
            return Judgement("deny", "The tool's own permission check broke.", (name,), name)
        judgement = self._weigh(item.tool, own, subject, rules, mode)
        if item.ask and judgement.decision != "deny":  # a hook's wish beats every allow
            own_reason = judgement.reason if judgement.decision == "ask" else ""
            reason = f"{item.ask} {own_reason}".rstrip()
            judgement = replace(judgement, decision="ask", reason=reason)
        what = f"{item.tool.name}({shorten(subject, 100)})" if subject else item.tool.name
        return replace(judgement, what=what)

    def _reaches_out(self, tool: AnyTool, args: Arguments, subject: str) -> bool:
        if not tool.reaches_out(args):
            return False
        if tool.subject_kind != "command":
            return True
        return not commands.only_reads(commands.read(subject), self._roots)

    def _weigh(
        self,
        tool: AnyTool,
        own: Permission,
        subject: str,
        rules: Sequence[Rule],
        mode: PermissionMode,
    ) -> Judgement:
        if tool.subject_kind == "command":
            return self._weigh_command(tool, own, subject, rules, mode)
        always = (exact_rule(tool.name, subject, tool.subject_kind),)
        matching = [
            (rule, pattern)
            for rule in rules
            if (pattern := self._matching(rule, tool, subject)) is not None
        ]
        denied = next((rule for rule, _ in matching if rule.decision == "deny"), None)
        if own.decision == "deny":
            return Judgement("deny", own.reason or f"{tool.name} refuses this.", always)
        if denied:
            return Judgement("deny", f"A rule of the user forbids it: {denied.pattern}.", always)
        if mode == "plan" and not (tool.read_only or tool.judged_inside):
            return Judgement("deny", _PLAN, always)
        verdict, reason = _allow_or_ask(own, matching, mode)
        return Judgement(verdict, reason, always)

    def _weigh_command(
        self,
        tool: AnyTool,
        own: Permission,
        command: str,
        rules: Sequence[Rule],
        mode: PermissionMode,
    ) -> Judgement:
        """Judge every part of a command line: each must be allowed, one can refuse."""
        line = commands.read(command)
        mine = list(_subject_rules(rules, tool.name))
        weighed = commands.weigh(line, mine, self._roots)
        if own.decision == "deny":
            return Judgement("deny", own.reason or f"{tool.name} refuses this.")
        if weighed.decision == "deny":
            return Judgement("deny", weighed.reason)
        if mode == "plan" and not tool.read_only:
            return Judgement("deny", _PLAN)
        always = tuple(
            exact_rule(tool.name, subject, "command")
            for subject in commands.always(line, mine, self._roots)
        )
        if weighed.decision == "ask":
            return Judgement("ask", weighed.reason, always)
        if own.decision == "allow":
            return Judgement("allow", own.reason, always)
        if weighed.decision == "allow" and (weighed.named or not own.firm):
            return Judgement("allow", weighed.reason, always)
        if mode == "auto" and not own.firm:
            if commands.unseen_rules(line, mine):
                return Judgement("ask", f"{weighed.reason} A rule may be meant for it.", always)
            return Judgement("allow", "Allowed by mode `auto`.", always)
        return Judgement("ask", f"{own.reason} {weighed.reason}".strip(), always)

    def _matching(self, rule: Rule, tool: AnyTool, subject: str) -> Pattern | None:
        deny = rule.decision == "deny"
        try:
            pattern = parse_rule(rule.pattern)
        except UsageError:
            # A stored rule that cannot be read must not fall silent where it forbids something.
            return Pattern("*", None) if deny else None
        kind = tool.subject_kind
        fits = pattern.matches(tool.name, subject, kind, roots=self._roots, deny=deny)
        return pattern if fits else None

    # --- asking ---

    async def _ask_all(self, questions: Sequence["_Pending"], feed: Feed, asker: Asker) -> None:
        if not questions:
            return
        self._pending.update((question.id, question) for question in questions)
        await feed.emit(*(question.request(feed) for question in questions), durable=True)
        try:
            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(self._ask(question, feed, asker))
                    group.create_task(self._watch(question))
        finally:
            for question in questions:  # those that a cancel left open
                if self._pending.pop(question.id, None):
                    await self._resolve(question, feed, allowed=False, scope="once", by="cancel")

    async def _ask(self, question: "_Pending", feed: Feed, asker: Asker) -> None:
        async with self._asking:
            answer = asyncio.ensure_future(asker.ask(question.request(feed)))
            try:
                await asyncio.wait((answer, question.outcome), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not answer.done():
                    answer.cancel()
            if question.outcome.done():
                return
        by = "user"
        try:
            decision, scope = answer.result()
        except Exception:
            log.exception("the permission question could not be asked")
            decision, scope, by = "deny", "once", "error"
        self._pending.pop(question.id, None)
        await self._resolve(question, feed, allowed=decision == "allow", scope=scope, by=by)
        await self._write_rule(question, decision, scope)

    async def _watch(self, question: "_Pending") -> None:
        """Take the decision of another process, if it is on these very arguments."""
        if self._elsewhere is None:
            return
        watching = asyncio.ensure_future(decided_elsewhere(self._elsewhere, question.id))
        try:
            await asyncio.wait((watching, question.outcome), return_when=asyncio.FIRST_COMPLETED)
        finally:
            watching.cancel()
        if question.outcome.done():
            return
        try:
            request = watching.result()
        except NunciusError:  # whoever is asked here can still decide
            log.exception("a waiting permission request could not be looked up")
            return
        if not self._pending.pop(question.id, None):
            return
        allowed = request.state == "allow" and request.args_sha256 == question.digest
        question.settle(allowed=allowed, by="user")
        if request.scope in {"session", "always"} and request.args_sha256 == question.digest:
            decision: Literal["allow", "deny"] = "allow" if allowed else "deny"
            await self._write_rule(question, decision, request.scope)

    async def _write_rule(
        self, question: "_Pending", decision: Literal["allow", "deny"], scope: str
    ) -> None:
        rules = question.judgement.rules
        if scope == "once" or (decision == "deny" and len(rules) > 1):
            return  # who refuses a line of several parts does not refuse each of them
        session_id = question.feed.session_id if scope == "session" else ""
        for rule in rules:
            await self._store.add_rule(rule, decision, session_id=session_id)
        await self._judge_again()

    async def _judge_again(self) -> None:
        """Close the open questions that a new rule answers, each by the rules of its session."""
        for question in list(self._pending.values()):
            rules = await self._store.rules(question.feed.session_id)
            judgement = self._join(question.item, rules, question.mode, question.sources)
            if judgement.decision != "ask" and self._pending.pop(question.id, None):
                allowed = judgement.decision == "allow"
                await self._resolve(
                    question, question.feed, allowed=allowed, scope="once", by="rule"
                )

    async def _resolve(
        self, question: "_Pending", feed: Feed, *, allowed: bool, scope: Scope, by: str
    ) -> None:
        word = "allow" if allowed else "deny"
        await feed.emit(
            feed.stamp(
                PermissionResolved,
                id=question.id,
                tool_call_id=question.item.call.id,
                decision=word,
                scope=scope,
                by=by,
            ),
            durable=True,
        )
        if allowed and self._elsewhere:  # of two decisions in one moment the first one stands
            request = await self._elsewhere.pending_request(question.id)
            allowed = request.state == "allow"
        question.settle(allowed=allowed, by=by)


class _Pending:
    """One open question, known by its own id, so equal calls are never mixed up."""

    def __init__(
        self,
        item: Prepared,
        judgement: Judgement,
        mode: PermissionMode,
        feed: Feed,
        sources: Sequence[str],
    ) -> None:
        self.feed = feed
        self.sources = sources
        self.id = f"perm_{uuid.uuid4().hex[:16]}"
        self.item = item
        self.judgement = judgement
        self.mode: PermissionMode = mode
        self.digest = digest(item)
        self.outcome: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

    def settle(self, *, allowed: bool, by: str) -> None:
        """Give the question its decision; the first one stands."""
        who = {"user": "the user", "rule": "a rule of the user", "cancel": "the cancel"}.get(by, by)
        reason = f"{'Allowed' if allowed else 'Refused'} by {who}."
        if not self.outcome.done():
            what = self.judgement.what
            self.outcome.set_result(Decision(allowed, reason, self.digest, asked=True, what=what))

    def request(self, feed: Feed) -> PermissionRequest:
        return feed.stamp(
            PermissionRequest,
            id=self.id,
            tool_call_id=self.item.call.id,
            tool=self.item.call.name,
            arguments=self.item.value,
            args_sha256=self.digest,
            reason=self.judgement.reason,
            rule="\n".join(self.judgement.rules),
        )


def digest(item: Prepared) -> str:
    """Return the SHA-256 of the canonical arguments: what an approval is bound to."""
    return hashlib.sha256(canonical(item.value).encode()).hexdigest()


def _unasked(item: Prepared, judgement: Judgement, mode: PermissionMode) -> Decision:
    """Return the decision on a call about which nobody is asked: an ask is a deny."""
    if judgement.decision != "ask":
        allowed = judgement.decision == "allow"
        return Decision(allowed, judgement.reason, digest(item), what=judgement.what)
    why = "mode `deny` refuses what would ask" if mode == "deny" else "nobody can be asked here"
    reason = f"{judgement.reason} It needs a person's permission, and {why}."
    return Decision(
        allowed=False,
        reason=reason,
        args_sha256=digest(item),
        asked=True,
        what=judgement.what,
    )


def _allow_or_ask(
    own: Permission, matching: Sequence[tuple[Rule, Pattern]], mode: PermissionMode
) -> tuple[Verdict, str]:
    """Join the tool's word with the narrowest of the user's allow and ask rules."""
    winner = max(
        matching,
        key=lambda pair: (pair[1].narrowness, pair[0].decision == "allow"),
        default=None,
    )
    if winner and winner[0].decision == "ask":
        return "ask", f"A rule of the user asks: {winner[0].pattern}."
    if own.decision == "allow":
        return "allow", own.reason
    if winner and (winner[1].subject is not None or not own.firm):
        return "allow", f"Allowed by the rule {winner[0].pattern}."
    if mode == "auto" and not own.firm:
        return "allow", "Allowed by mode `auto`."
    return "ask", own.reason


def _subject_rules(rules: Sequence[Rule], tool: str) -> Iterator[commands.SubjectRule]:
    """Yield the rules on a tool; a refusal that cannot be read refuses all."""
    for rule in rules:
        try:
            pattern = parse_rule(rule.pattern)
        except UsageError:
            pattern = Pattern("*", None) if rule.decision == "deny" else None
        if pattern and pattern.tool in {"*", tool}:
            yield commands.SubjectRule(rule.decision, pattern.subject, rule.pattern)


def _own(tool: AnyTool, args: Arguments) -> Permission:
    """Return the strictest of what the tool itself says."""
    said = tuple(tool.check_permissions(args))
    if not said:
        said = (
            (Permission("allow"),)
            if tool.read_only
            else (Permission("ask", f"{tool.name} has side effects."),)
        )
    order = {"deny": 0, "ask": 1, "allow": 2}
    return min(said, key=lambda permission: (order[permission.decision], not permission.firm))
