"""Whose words an agent has read: papers, files and outputs are data, whoever wrote them.

Each result names its sources in its metadata, so they are known after a restart, after a
compaction, and in whoever reads a subagent's report. The names are made of ids, paths and tool
names: never of text that one of the sources could have chosen, such as a title.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nuncius.agent.arguments import shorten
from nuncius.agent.registry import AnyTool
from nuncius.agent.tool import Arguments, ToolOutput
from nuncius.core.shapes import is_list

log = logging.getLogger(__name__)
UNTRUSTED = "untrusted"
"""The name under which a result's metadata lists its sources."""
NAMED = 3


def labelled(tool: AnyTool, args: Arguments, output: ToolOutput) -> ToolOutput:
    """Return the output with its sources in its metadata."""
    try:
        sources = [shorten(source, 120) for source in tool.sources(args, output)]
    except Exception:
        log.exception("the sources of %s could not be named", tool.name)
        sources = [f"the output of {tool.name}"]
    if sources and output.is_error and UNTRUSTED not in output.metadata:
        sources = [f"an error of {tool.name}"]  # what the call named may not be there
    if not sources:
        return output
    return replace(output, metadata={**output.metadata, UNTRUSTED: list(dict.fromkeys(sources))})


def sources_of(metadata: Mapping[str, object]) -> Sequence[str]:
    """Return the sources that a result names."""
    sources = metadata.get(UNTRUSTED)
    return [str(source) for source in sources] if is_list(sources) else []


def told(sources: Sequence[str]) -> str:
    """Return what a person is told before an act that may have been asked for by such words."""
    last = list(sources)[-NAMED:]
    more = f" and {len(sources) - NAMED} more" if len(sources) > NAMED else ""
    return f"The agent has read words that may not be yours: {', '.join(last)}{more}."
