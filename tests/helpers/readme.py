"""Lines of the tour to type, and the files that it shows."""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

ELSEWHERE = ("make", "bitstream", "board-run", "extra", "optimal")
"""Words that mark a line as needing a checkout, a board or an extra."""


class Typed(NamedTuple):
    """A line to type, and the files that the page shows before it: texts by name."""

    line: str
    files: dict[str, str]


def typed_lines(page: str) -> Iterator[Typed]:
    """Return every line behind a ``$``; a continued line is joined with the next."""
    for block in re.finditer(r"(?:^    .*\n|^\n(?=    ))+", page, re.MULTILINE):
        shown, *lines = re.split(r"^\$ ", textwrap.dedent(block[0]), flags=re.MULTILINE)
        names = re.findall(r"`([\w-]+\.(?:json|toml))`", page[: block.start()])
        files = {names[-1]: shown} if lines and shown.strip() else {}
        for line in lines:
            first = re.match(r"(?:.*\\\n)*.*", line)
            assert first is not None
            yield Typed(first[0].replace("\\\n", " "), files)
            files = {}
