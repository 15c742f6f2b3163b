"""``eyecast compare --all-sources``: TCD of the eye broadcast and least TCD from every node."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..model.collectives.halving.minimum import Gain, gain_over_eye, minimum_tcds
from ..model.collectives.registry import find_algorithm
from ..model.network.topology import Topology
from ..model.schedule.collective import Collective
from .console import print_json, print_table, progress, say_written
from .options.network import NetworkFacts

Costs = npt.NDArray[np.int64]


def compare_sources(topology: Topology, output: str | None, facts: NetworkFacts | None) -> None:
    """Print how much the least TCD saves over the eye broadcast; draw both if asked.

    output
        File of the picture; None for no picture.
    facts
        Network and seed of a JSON result; None to print a table.

    Raises :class:`.InvalidInput` if an algorithm does not serve the network or it cannot be drawn.
    """
    with progress("costs of all sources", 1 if output is None else 2, shown=True) as (say, advance):
        gain = gain_over_eye(topology)
        minimum = minimum_tcds(topology)
        costs = {"eye": minimum + gain.saved, "minimum": minimum}
        advance()
        if output is not None:
            say("drawing")
            _draw(topology, costs, gain, output)
            advance()
    if facts is not None:
        print_json(_to_json(costs, gain), **facts)
    else:
        _print(topology, costs, gain)
        say_written(output)


def _to_json(costs: dict[str, Costs], gain: Gain) -> dict[str, object]:
    return {
        "sources": gain.sources,
        "better": gain.better,
        "largest": gain.largest,
        "total": gain.total,
        "tcd": {
            name: {"least": int(cost.min()), "most": int(cost.max()), "total": int(cost.sum())}
            for name, cost in costs.items()
        },
    }


def _print(topology: Topology, costs: dict[str, Costs], gain: Gain) -> None:
    eye, minimum = costs["eye"], costs["minimum"]
    print_table(
        f"{topology.label}, TCD from every source, eye ({_paper_name(topology)}) and minimum",
        ("", "eye", "minimum", "saved"),
        [
            ("TCD from the best source", eye.min(), minimum.min(), eye.min() - minimum.min()),
            ("TCD from the worst source", eye.max(), minimum.max(), eye.max() - minimum.max()),
            ("TCD from all sources together", eye.sum(), minimum.sum(), gain.total),
            ("most saved from one source", None, None, gain.largest),
            ("sources that save", None, None, f"{gain.better}/{gain.sources}"),
        ],
    )


def _paper_name(topology: Topology) -> str:
    """Return Cang & Wu's name of the eye broadcast on meshes with this many axes."""
    names = {2: "Algorithm 1", 3: "Algorithm 2 of 3-D"}
    return names.get(len(topology.dims), "Cang & Wu")


def _draw(topology: Topology, costs: dict[str, Costs], gain: Gain, output: str) -> None:
    from ..picture.file import save_picture
    from ..picture.sources import draw_sources

    marked = {
        name: find_algorithm(Collective.BROADCAST, name).landmarks(topology) for name in costs
    }
    saving = f"minimum saves from {gain.better} of {gain.sources} sources"
    title = (
        f"{topology.label}, TCD by source: {saving}, at most {gain.largest}, {gain.total} in all"
    )
    save_picture(draw_sources(title, topology, costs, gain.saved, marked), output)
