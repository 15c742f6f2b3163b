"""``eyecast costs``: Johnsson & Ho's cost formulas for hypercubes, as table and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from ..model.base.errors import InvalidInput, require_range
from ..model.base.texts import integers
from ..model.papers.costs.rows import PORTS, Number
from ..model.papers.costs.tables import find_costs, lower_bound
from .command import command
from .console import print_json, print_table, say, say_written
from .costs_tables import COST_TABLES, CostTable, cost_table
from .options.output import json_option, output_option, output_paths
from .options.values import float_option, integer_option, refuse_beside

_LARGEST_DIMENSION = 20
_SHORTEST_TIME, _LONGEST_TIME = 1e-100, 1e9
"""Limits of times other than 0; the quotient of any two is a finite number."""
_ROUNDING = 1e-9
_BELOW = (
    "* below the lower bound: the formula lets n trees share words that they cannot share equally "
    "(docs/errata.md)"
)


@command(
    "costs",
    "eyecast costs --collective broadcast --dimension 7 -o figures",
    "eyecast costs --table 6",
)
@click.option("--collective", default="broadcast", show_default=True, help="The collective.")
@integer_option("--dimension", 7, "Dimension of the hypercube.")
@integer_option("--flits", 1024, "M: words of the message, or of each block.")
@integer_option("--packet", 1024, "B: the most words of a packet.")
@float_option("--tau", 8e-3, "Time of a start-up; the default is the iPSC's, in seconds.")
@float_option("--tc", 0.8e-6, "Time of a word.")
@click.option(
    "--table", metavar="N", help="Print table N of the paper, 1 to 19, for this dimension."
)
@output_option("pictures of the collective's times (Figs. 15 to 19),", metavar="FOLDER")
@json_option
def costs_command(
    collective: str, output: str | None, as_json: bool, table: str | None, **chosen: Any
) -> None:
    """Print T, B_opt and T_min of every spanning graph of a hypercube (Johnsson & Ho 1986)."""
    n, words, packet = chosen["dimension"], chosen["flits"], chosen["packet"]
    require_range("--dimension", n, 1, _LARGEST_DIMENSION)
    require_range("--flits", words, 1, 1 << 31)
    require_range("--packet", packet, 1, 1 << 31)
    for option in ("tau", "tc"):
        if chosen[option] != 0 and not _SHORTEST_TIME <= chosen[option] <= _LONGEST_TIME:
            allowed = f"0, or {_SHORTEST_TIME:g} to {_LONGEST_TIME:g}"
            raise InvalidInput.of(f"--{option}", allowed, chosen[option])
    if output is not None and not (chosen["tau"] or chosen["tc"]):
        raise InvalidInput("--tau or --tc must be more than 0 for the pictures")
    facts: dict[str, Any] = {"table": None} | chosen
    ports: Sequence[str] = PORTS
    heading = f"{_cube(n)}, "
    if table is not None:
        refuse_beside("--table", ("--collective", "-o"), "the table says which")
        number, *more = integers("--table", "1 to 19", table, ",")
        if more or not 1 <= number <= 19:
            raise InvalidInput.of("--table", "1 to 19", table)
        facts["table"] = number
        if number not in COST_TABLES:
            own = cost_table(number, n, words, chosen["tau"], chosen["tc"])
            _print_own(own, facts if as_json else None)
            return
        collective, ports = COST_TABLES[number]
        heading += f"Table {number} of Johnsson & Ho: "
    rows = _rows(collective, ports, n, words, packet, chosen["tau"], chosen["tc"])
    pictures = ("times.svg", "speed-up.svg") if collective == "broadcast" else ("times.svg",)
    paths = output_paths(output, *pictures)
    if as_json:
        print_json({**facts, "collective": collective, "rows": rows}, network=_cube(n))
    else:
        title = f"{heading}{collective} of {words} words, packets of at most {packet}"
        columns = ("graph", "ports", "start-ups", "words", "T", "B_opt", "T_min")
        print_table(title, columns, [_cells(row) for row in rows])
        if any(row.get("below_bound") for row in rows):
            say(_BELOW)
    if paths:
        from ..picture.costs import draw_speed_up, draw_times
        from ..picture.file import save_picture

        times = {"tau": chosen["tau"], "tc": chosen["tc"]}
        save_picture(draw_times(collective, **times), paths[0])
        for path in paths[1:]:
            save_picture(draw_speed_up(packet=packet, **times), path)
        say_written(*(() if as_json else paths))


def _cube(n: int) -> str:
    """Return the name of the hypercube with ``n`` dimensions."""
    return f"{n}-cube"


def _print_own(table: CostTable, facts: dict[str, Any] | None) -> None:
    """Print a table with columns other than times; as JSON after ``facts``, if given."""
    if facts is not None:
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        print_json({**facts, "collective": None, "rows": rows}, network=_cube(facts["dimension"]))
        return
    print_table(table.title, table.columns, table.rows)
    if table.note:
        say(table.note)


def _rows(
    collective: str, asked: Sequence[str], n: int, words: int, packet: int, tau: float, tc: float
) -> list[dict[str, Any]]:
    """Return a row for each graph and number of ports, below the row of the lower bound."""
    rows: list[dict[str, Any]] = []
    for ports in asked:
        # Look up first: an unknown collective is refused.
        costs = find_costs(collective, ports)
        least: Number = 0
        if ports in PORTS[:2]:
            bound = lower_bound(collective, ports, n, words)
            least = bound.time(tau, tc)
            bounds = (float(bound.start_ups), bound.transferred, None, None, least)
            rows.append(_row("lower bound", ports, bounds, "Section 4 to 7"))
        for cost in costs:
            if n >= cost.least_dimension:
                given = cost.possible(n, words, packet)
                measures = (
                    cost.start_ups(n, words, given),
                    cost.transferred(n, words, given),
                    cost.time(n, words, given, tau, tc),
                    *cost.best_possible(n, words, tau, tc),
                )
                rows.append(_row(cost.graph, ports, measures, cost.place))
                rows[-1]["below_bound"] = measures[-1] < least * (1 - _ROUNDING)
    return rows


def _cells(row: dict[str, Any]) -> tuple[object, ...]:
    """Return the cells of a row; T_min has a mark if it is below the lower bound."""
    *cells, least_time = tuple(row.values())[:7]
    return (*cells, f"{least_time} *" if row.get("below_bound") else least_time)


def _row(graph: str, ports: str, measures: tuple[Any, ...], place: str) -> dict[str, Any]:
    names = ("start_ups", "words", "time", "best_packet", "least_time")
    values = (None if value is None else _number(value) for value in measures)
    return {"graph": graph, "ports": ports, **dict(zip(names, values, strict=True)), "place": place}


def _number(value: Any) -> int | float:
    """Return an integer if the value is one, otherwise four significant digits."""
    return int(value) if value == int(value) else float(f"{float(value):.4g}")
