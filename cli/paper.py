"""``eyecast paper``: the tables and figures of a paper, printed values beside ours."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..model.base.errors import InvalidInput, like, require_range
from ..model.network.network_text import SizeLimit, sized_network
from .command import command
from .console import print_json, print_table, progress, say, say_written
from .options.output import json_option, output_option, output_paths
from .options.values import float_option, integer_option, recorded, refuse_beside

if TYPE_CHECKING:
    from ..model.papers.items.item import Item, Paper, Setting

_FORMULAS = ("--dimension", "--words", "--packet", "--tau", "--tc")
"""Options of Johnsson & Ho alone."""

_SHORTEST_TIME, _LONGEST_TIME = 1e-100, 1e9
"""Limits of times other than 0: the quotient of any two is a finite number."""


def _complete(context: click.Context, _option: click.Parameter, begun: str) -> list[Any]:
    from ..model.papers.items.papers import PAPERS

    paper = PAPERS.get(str(context.params.get("name")))
    names = PAPERS if paper is None else paper.items
    return [CompletionItem(name) for name in names if name.startswith(begun)]


@dataclass(frozen=True)
class FormulaOptions:
    """The parameters of Johnsson & Ho's formulas."""

    dimension: int
    words: int
    packet: int
    tau: float
    tc: float

    def setting(self, mesh: str | None) -> Setting:
        """Return the choices of the options; refuse those out of range."""
        from ..model.papers.items.item import Setting
        from ..model.papers.items.johnsson_ho import LARGEST_DIMENSION

        require_range("--dimension", self.dimension, 2, LARGEST_DIMENSION)
        require_range("--words", self.words, 1, 1 << 31)
        require_range("--packet", self.packet, 1, 1 << 31)
        for option, time in (("--tau", self.tau), ("--tc", self.tc)):
            if time != 0 and not _SHORTEST_TIME <= time <= _LONGEST_TIME:
                allowed = f"0, or {_SHORTEST_TIME:g} to {_LONGEST_TIME:g}"
                raise InvalidInput.of(option, allowed, time)
        if mesh is None:
            return Setting(None, *astuple(self))
        topology = sized_network("mesh", mesh, SizeLimit.SCHEDULE, "--mesh")
        return Setting(topology, *astuple(self))


@command(
    "paper",
    "eyecast paper cang-wu-1998 -o figures",
    "eyecast paper johnsson-ho-1986 table-4 table-5 --dimension 3 --words 12 --packet 2",
)
@click.argument("name", required=False, metavar="[PAPER]", shell_complete=_complete)
@click.argument("chosen", nargs=-1, metavar="[ITEM]...", shell_complete=_complete)
@click.option(
    "--mesh",
    metavar="WxH",
    help="Draw a map of the links that broadcasts cross on this mesh (Cang & Wu, Figs. 2 and 5).",
)
@recorded(
    "formulas",
    FormulaOptions,
    integer_option("--dimension", 4, "The number n: dimension of the hypercube."),
    integer_option("--words", 16, "The number M: words of the message, or of each block."),
    integer_option("--packet", 4, "The number B: the most words of a packet."),
    float_option(
        "--tau",
        8e-3,
        "The number τ: time to start a send, in seconds; by default that of the iPSC.",
    ),
    float_option("--tc", 0.8e-6, "The number t_c: time to send one word, in seconds."),
    heading="Johnsson & Ho",
)
@output_option("a picture of each figure", metavar="FOLDER")
@json_option
def paper_command(
    name: str | None,
    chosen: tuple[str, ...],
    mesh: str | None,
    formulas: FormulaOptions,
    output: str | None,
    as_json: bool,
) -> None:
    """Print and draw the tables and figures of a paper: printed values beside ours.

    Without PAPER, the command lists the papers and their items. An ITEM is a table, a figure or a
    claim of a paper, such as table-1; without ITEM, the command prints all. If a value in a paper
    is wrong, the last column names its entry in docs/errata.md. A printed value is that of the
    paper's text, or of its formula.
    """
    from ..model.papers.items.papers import PAPERS

    if name is None:
        _list(PAPERS, as_json)
        return
    if name not in PAPERS:
        raise InvalidInput.of("PAPER", ", ".join(PAPERS), like(name, PAPERS))
    paper = PAPERS[name]
    for item in chosen:
        if item not in paper.items:
            raise InvalidInput.of("ITEM", ", ".join(paper.items), like(item, paper.items))
    if not name.startswith("johnsson"):
        refuse_beside(name, _FORMULAS, "it has no hypercubes")
    if not name.startswith("cang"):
        refuse_beside(name, ("--mesh",), "it has no maps of TCDs")
    setting = formulas.setting(mesh)
    names = chosen or tuple(paper.items)
    with progress(name, len(names), shown=True) as (now, advance):
        items = {}
        for each in names:
            now(each)
            items[each] = paper.items[each](setting)
            advance()
    written = _draw(items, output)
    if as_json:
        facts = {"paper": name, "citation": paper.citation}
        print_json({**facts, "items": [_to_json(each, item) for each, item in items.items()]})
        return
    say(paper.citation, "")
    for each, found in items.items():
        columns = (*found.labels, "printed", "ours", "erratum")
        rows = [(*row.labels, row.printed, row.ours, row.mark) for row in found.rows]
        print_table(f"{each}: {found.title}", columns, rows)
        if found.note:
            say(found.note)
    say_written(*written)


def _list(papers: dict[str, Paper], as_json: bool) -> None:
    if as_json:
        listed = [
            {"paper": name, "citation": paper.citation, "items": list(paper.items)}
            for name, paper in papers.items()
        ]
        print_json({"papers": listed})
        return
    for name, paper in papers.items():
        say(f"{name}: {paper.citation}", f"  {' '.join(paper.items)}")


def _draw(items: dict[str, Item], output: str | None) -> list[Any]:
    """Draw all pictures into the folder, and return their paths; none without a folder."""
    from ..picture.file import save_picture
    from ..picture.papers import draw_picture

    drawn = {
        "-".join(filter(None, (name, suffix))) + ".svg": picture
        for name, item in items.items()
        for suffix, picture in item.pictures.items()
    }
    paths = output_paths(output, *drawn)
    with progress("drawing", len(paths), shown=True) as (_, advance):
        for path, picture in zip(paths, drawn.values(), strict=False):
            save_picture(draw_picture(picture), path)
            advance()
    return paths


def _to_json(name: str, item: Item) -> dict[str, object]:
    labels = [label.replace("\n", " ") for label in item.labels]
    rows = [
        {
            "labels": list(row.labels),
            "printed": row.printed,
            "ours": row.ours,
            "erratum": row.mark or None,
        }
        for row in item.rows
    ]
    return {"item": name, "title": item.title, "labels": labels, "rows": rows, "note": item.note}
