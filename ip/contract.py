"""The hardware's contract as a page: the sections of docs/router.md that apply to a network."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ..model.network.config import NetworkConfig
from .guarantees import guarantee_rows

ROUTER_PAGE = Path(__file__).resolve().parent.parent / "docs" / "router.md"

_STYLE = """
body { max-width: 52em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; }
pre { font: 13px/1.3 monospace; overflow-x: auto; background: #f4f4f4; padding: .8em; }
code { font-family: monospace; background: #f4f4f4; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: .2em .6em; }
"""


def contract_page(config: NetworkConfig, title: str, guaranteed: Mapping[str, Any]) -> str:
    """Return as HTML what an engine guarantees, and the sections of docs/router.md that apply."""
    head, *sections = re.split(r"^(?=## )", ROUTER_PAGE.read_text("utf-8"), flags=re.MULTILINE)
    left_out = _left_out(config)
    kept = [each for each in sections if int(each.split()[1].rstrip(".")) not in left_out]
    # The overview would list sections that are left out.
    head = head.partition("\n| section |")[0]
    renderer = MarkdownIt("commonmark").enable("table")
    rows = (f"| {name} | {value} |\n" for name, value in guarantee_rows(guaranteed))
    table = ("## Guarantees of this package\n\n| | |\n|---|---|\n", *rows, "\n")
    body = renderer.render("".join([head, "\n", *table, *kept]))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}</body>\n</html>\n"
    )


_OF_PACKETS = {1, 2, 3, 4, 5, 22}
"""Sections on flits with headers, which do not hold in a network with circuits."""


def _left_out(config: NetworkConfig) -> set[int]:
    """Return the sections that do not hold for the network."""
    has = {
        9: config.link_registers,
        10: config.barrier_registers,
        11: config.timed_rows,
        12: config.signature,
        13: config.contention_free,
        14: config.all_port,
        15: config.topology.switches,
        17: config.tile_ports,
        18: config.parity,
        19: config.operators,
        20: config.streams,
        23: config.circuits,
        24: config.differing_links,
        25: config.further_pieces,
    }
    left_out = {section for section, applies in has.items() if not applies}
    return left_out | _OF_PACKETS if config.circuits else left_out
