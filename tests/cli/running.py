"""What the tests of the command line share."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

NOTE = """---
title: "Masses of neutron stars"
author: "Ada Example"
date: 2021
---

# Masses of neutron stars

## Heavy ones

The Shapiro delay weighs neutron stars. It gives PSR J0740+6620 a mass of 2.08 ± 0.07 solar masses.
The delay is the extra travel time of light near the companion.

## Light ones

The lightest neutron star that was weighed well has 1.174 solar masses.
"""

QUESTION = "What is the mass of PSR J0740+6620?"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Return stdout, which must be one JSON object of the first schema version."""
        shape = json.loads(self.out)
        assert shape["schema_version"] == 1
        return shape


class Run(Protocol):
    def __call__(self, *arguments: str | Path, stdin: str | bytes = "") -> Ran: ...
