"""``eyecast costs``: the cost formulas of Johnsson & Ho for hypercubes, as table and pictures."""

from __future__ import annotations

from typing import Any

import click

from .console import print_json, print_table, say_written
from .model.cube.cost_rows import PORTS
from .model.cube.costs import find_costs, lower_bound
from .model.errors import InvalidInput, require_range
from .options import float_option, integer_option, json_option, output_option, output_paths

_LARGEST_DIMENSION = 20
_SHORTEST_TIME, _LONGEST_TIME = 1e-100, 1e9
"""Times other than 0; the quotient of two of them is a number."""


@click.command("costs")
@click.option("--collective", default="broadcast", show_default=True, help="Of which collective.")
@integer_option("--dimension", 7, "Of the hypercube.")
@integer_option("--flits", 1024, "M: words of the message, or of each block.")
@integer_option("--packet", 1024, "B: the most words of a packet.")
@float_option("--tau", 8e-3, "Time of a start-up; as it is, that of the iPSC in seconds.")
@float_option("--tc", 0.8e-6, "Time of a word.")
@output_option("pictures of Figs. 15 to 19, with these times,", metavar="FOLDER")
@json_option
def costs_command(collective: str, output: str | None, as_json: bool, **chosen: Any) -> None:
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
    rows = _rows(collective, n, words, packet, chosen["tau"], chosen["tc"])
    paths = output_paths(output, "speed-up.svg", "times.svg")
    if as_json:
        print_json(rows)
    else:
        title = f"{n}-cube, {collective} of {words} words, packets of at most {packet}"
        columns = ("graph", "ports", "start-ups", "words", "T", "B_opt", "T_min")
        print_table(title, columns, [tuple(row.values())[: len(columns)] for row in rows])
    if paths:
        from .picture import save_picture
        from .picture_costs import draw_speed_up, draw_times

        times = {"tau": chosen["tau"], "tc": chosen["tc"]}
        save_picture(draw_speed_up(packet=packet, **times), paths[0])
        save_picture(draw_times(**times), paths[1])
        say_written(*(() if as_json else paths))


def _rows(
    collective: str, n: int, words: int, packet: int, tau: float, tc: float
) -> list[dict[str, Any]]:
    """A row for each graph and number of ports, below what bounds them."""
    rows: list[dict[str, Any]] = []
    for ports in PORTS:
        # Asked first: a collective that there is not is refused.
        costs = find_costs(collective, ports)
        if ports in PORTS[:2]:
            least = lower_bound(collective, ports, n, words)
            bounds = (float(least.start_ups), least.transferred, None, None, least.time(tau, tc))
            rows.append(_row("lower bound", ports, bounds, "Section 4 to 7"))
        for cost in costs:
            if n >= cost.least_dimension:
                measures = (
                    cost.start_ups(n, words, packet),
                    cost.transferred(n, words, packet),
                    cost.time(n, words, packet, tau, tc),
                    cost.best_packet(n, words, tau, tc) if tau and tc else None,
                    cost.least_time(n, words, tau, tc),
                )
                rows.append(_row(cost.graph, ports, measures, cost.place))
    return rows


def _row(graph: str, ports: str, measures: tuple[Any, ...], place: str) -> dict[str, Any]:
    names = ("start_ups", "words", "time", "best_packet", "least_time")
    values = (None if value is None else _number(value) for value in measures)
    return {"graph": graph, "ports": ports, **dict(zip(names, values, strict=True)), "place": place}


def _number(value: Any) -> int | float:
    """An integer where it is one, otherwise four digits."""
    return int(value) if value == int(value) else float(f"{float(value):.4g}")
