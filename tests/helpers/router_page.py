"""The contract of model and hardware, docs/router.md, as tests read it."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "router.md"


def section(heading: str) -> str:
    """The page from ``heading`` to the next heading."""
    _, _, rest = PAGE.read_text().partition(f"\n{heading}\n")
    assert rest, heading
    return re.split(r"^##", rest, flags=re.MULTILINE)[0]


def cells(text: str) -> list[list[str]]:
    """The cells of all lines of the tables in ``text``, without the marks of code."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def blocks(text: str) -> list[str]:
    """The parts of ``text`` that are set off by four spaces."""
    found = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


def host_words(block: str) -> list[list[int]]:
    """Node, space, address and word of each write that a block of the page lists."""
    return [
        [int(node), int(space), address, int(word, 16)]
        for node, space, *words in (line.split() for line in block.splitlines()[1:])
        for address, word in enumerate(words)
    ]
