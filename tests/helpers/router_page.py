"""Tables and blocks of docs/router.md, the contract of model and hardware."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "router.md"


def section(heading: str) -> str:
    """Return the page from ``heading`` to the next heading."""
    _, _, rest = PAGE.read_text().partition(f"\n{heading}\n")
    assert rest, heading
    return re.split(r"^##", rest, flags=re.MULTILINE)[0]


def cells(text: str) -> list[list[str]]:
    """Return the cells of all table lines in ``text``, without backquotes."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def blocks(text: str) -> list[str]:
    """Return the parts of ``text`` that are indented by four spaces."""
    found = re.findall(r"(?:^    .*\n)+", text, flags=re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


def host_words(block: str) -> list[list[int]]:
    """Return node, space, address and word of each write in a block of the page."""
    return [
        [int(node), int(space), address, int(word, 16)]
        for node, space, *words in (line.split() for line in block.splitlines()[1:])
        for address, word in enumerate(words)
    ]
