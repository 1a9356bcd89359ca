"""``python -m nuncius.parsing [NAME] < FILE``: bytes in, one line of JSON out.

A damaged file may bring the process down or keep it for ever; whoever starts it sets a deadline.
Exit code 0 also where the file cannot be read: the JSON says why.
"""

import sys

from nuncius.core.errors import DocumentError
from nuncius.parsing import parse, wire


def main() -> int:
    """Parse stdin; the optional argument is the file's name."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        answer = wire.dump(parse(sys.stdin.buffer.read(), name=name))
    except DocumentError as error:
        answer = wire.dump_error(error)
    sys.stdout.buffer.write(answer + b"\n")
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
