"""A reader of pages that shares no code with their writer, and the cases of page tests."""

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CODES = {"u1": "B", "u2": "H", "u4": "I", "f8": "d"}
KINDS = ("body", "head", "tail", "single")


def read_page(text: str) -> dict[str, Any]:
    """Read the content of a page, with its columns as lists."""
    (packed,) = re.findall(r'<script id="data" type="text/plain">([^<]*)</script>', text)
    content = zlib.decompress(base64.b64decode(packed, validate=True))
    (length,) = struct.unpack_from("<I", content)
    columns = 4 + length + -(4 + length) % 8

    def column(value: dict[str, Any]) -> Any:
        if value.get("type") not in CODES:
            return value
        assert value["at"] % 8 == 0
        layout = f"<{value['count']}{CODES[value['type']]}"
        return [*map(int, struct.unpack_from(layout, content, columns + value["at"]))]

    return json.loads(content[4 : 4 + length], object_hook=column)


def read_file(path: Path | str) -> dict[str, Any]:
    return read_page(Path(path).read_text())


def words(columns: dict[str, Any]) -> list[int]:
    high = columns["high"] or [0] * len(columns["low"])
    return [low + (more << 32) for low, more in zip(columns["low"], high, strict=True)]


def flits(page: dict[str, Any], run: int = 0) -> Iterator[dict[str, int]]:
    """Return every flit of a run, in order of outputs and cycles."""
    trace, ports = page["runs"][run]["trace"], page["network"]["ports"]
    data, place = words(trace["words"]), 0
    for line, count in zip(trace["lines"], trace["counts"], strict=True):
        cycle = 0
        for each in range(place, place + count):
            cycle += trace["gaps"][each]
            names = ("vc", "kind", "row", "stay", "stalled")
            yield {
                "cycle": cycle,
                "node": line // ports,
                "port": line % ports,
                "data": data[trace["word"][each]],
                **{name: trace[name][each] for name in names},
            }
        place += count
    assert place == trace["rows"]


def trace_text(page: dict[str, Any], run: int = 0) -> str:
    """Return a run's trace as in its file (docs/router.md, section 7)."""
    # The sort keeps several deliveries to a node in one cycle as they are.
    ordered = sorted(flits(page, run), key=lambda each: (each["cycle"], each["node"], each["port"]))
    rows = [
        f"{each['cycle']},{each['node']},{each['port']},{each['vc']},"
        f"{KINDS[each['kind']]},{each['data']:x}\n"
        for each in ordered
    ]
    return "".join(["cycle,node,port,vc,kind,data\n", *rows])
