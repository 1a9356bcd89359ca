"""Options that several commands share."""

from typing import Annotated, Literal

import typer

MOST = 2**31 - 1
"""The greatest number that an option takes, so that whatever it is for can hold it."""

Mode = Literal["ask", "auto", "plan", "deny"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
SessionId = Annotated[str, typer.Option("--session", metavar="ID", help="Go on in this session.")]
Continue = Annotated[bool, typer.Option("--continue", help="Go on in the latest conversation.")]
ModelName = Annotated[str, typer.Option("--model", metavar="M", help="The language model.")]
Thinking = Annotated[
    bool | None, typer.Option("--thinking/--no-thinking", help="Let the model reason first.")
]
PermissionModeOption = Annotated[
    Mode | None,
    typer.Option("--mode", help="Who decides on acts: ask, auto, plan (reads only) or deny."),
]
MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=1, max=MOST, metavar="N", help="Model calls of the turn.")
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=MOST, metavar="N", help="At most.")]
PaperName = Annotated[
    str,
    typer.Argument(metavar="ID", help="Library id, bibcode, arXiv id, DOI or cite key."),
]
