"""Options of a network and its faults, and the topology that they select."""

from math import prod
from typing import TypedDict

import click

from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile
from ...model.base.texts import integers
from ...model.network.chiplets import between_of, chiplets
from ...model.network.faults import draw_faults, with_faults
from ...model.network.kinds import KINDS
from ...model.network.network_text import (
    SizeLimit,
    link_in_words,
    node_in_words,
    sized_network,
)
from ...model.network.topology import Topology
from .values import (
    OptionValues,
    file_option,
    float_option,
    integer_option,
    option_group,
    option_names,
    was_typed,
)

_FILE = "graph"
"""The option for a network from a file."""

_CHIPLETS = "chiplets"
"""The option for a mesh of chiplets."""


network_options = option_group(
    *(
        click.option(f"--{name}", metavar=kind.metavar, help=kind.help)
        for name, kind in KINDS.items()
    ),
    file_option(f"--{_FILE}", help="Any graph, from a file of a known format."),
    click.option(
        f"--{_CHIPLETS}",
        metavar="WxH",
        help="Or this many chiplets side by side; needs --chiplet, --between.",
    ),
    click.option("--chiplet", metavar="WxH", help="The sides of each chiplet, a mesh."),
    click.option(
        "--between",
        metavar="latency=L,rate=R",
        help="Links between chiplets: a flit takes L cycles, and R pass between two flits.",
    ),
    click.option("--faulty-node", metavar="X,Y", multiple=True, help="A faulty node; repeatable."),
    click.option(
        "--faulty-link", metavar="X,Y:X,Y", multiple=True, help="A faulty link; repeatable."
    ),
    float_option("--random-faults", 0.0, "Share of nodes that are faulty, drawn with --seed."),
    click.option(
        "--keep", metavar="X,Y", multiple=True, help="A node that is never drawn as faulty."
    ),
    integer_option("--seed", 1, "Seed of all random choices."),
    heading="Network",
)
NETWORK_NAMES = option_names(network_options)


def kinds_chosen(chosen: OptionValues) -> list[str]:
    """Return the kinds of network that the options name; "graph" for a file."""
    kinds = (_FILE, _CHIPLETS, *KINDS)
    return [kind for kind in kinds if chosen[kind.replace("-", "_")] is not None]


def chosen_kind(chosen: OptionValues) -> str:
    """Return the one kind of network that the options name; "graph" for a file."""
    given = kinds_chosen(chosen)
    if not given:
        raise InvalidInput("a network must be given, such as --mesh 8x8")
    if len(given) > 1:
        raise InvalidInput(f"one network must be given, not --{' and --'.join(given)}")
    return given[0]


def chosen_topology(chosen: OptionValues, limit: SizeLimit) -> Topology:
    """Return the network that the options name; refuse one that is larger than ``limit``."""
    name = chosen_kind(chosen)
    text = chosen[name.replace("-", "_")]
    for beside in ("chiplet", "between"):
        if (chosen[beside] is None) == (name == _CHIPLETS):
            needs = "needs" if name == _CHIPLETS else "must be left out without"
            one, other = (_CHIPLETS, beside) if name == _CHIPLETS else (beside, _CHIPLETS)
            raise InvalidInput(f"--{one} {needs} --{other}")
    if name == _CHIPLETS:
        topology = _chiplets(chosen, limit)
    elif name == _FILE:
        from ...formats.registry import network_of_file

        topology = network_of_file(InputFile.read(text))
        limit.require(topology.label, topology.nodes)
    else:
        topology = sized_network(name, text, limit, f"--{name}")
    return _without_faults(chosen, topology)


def _chiplets(chosen: OptionValues, limit: SizeLimit) -> Topology:
    """Return the mesh of chiplets that the options name."""
    count, chiplet = (
        integers(f"--{name}", "sides such as 4x4", chosen[name], "x")
        for name in (_CHIPLETS, "chiplet")
    )
    limit.require(f"{chosen[_CHIPLETS]} chiplets of {chosen['chiplet']}", prod((*count, *chiplet)))
    return chiplets(count, chiplet, **between_of(chosen["between"], "--between"))


class NetworkFacts(TypedDict):
    """The network's label and the seed of a result of ``--json``."""

    network: str
    seed: int | None


def network_facts(chosen: OptionValues, topology: Topology) -> NetworkFacts:
    """Return the network and the seed of a result; a schedule or program file has no seed."""
    files = (chosen.get("schedule_file"), chosen.get("program_file"))
    return {"network": topology.label, "seed": None if any(files) else chosen["seed"]}


def _without_faults(chosen: OptionValues, topology: Topology) -> Topology:
    """Return ``topology`` without the faulty nodes and links that the options name."""
    nodes = [node_in_words(topology, text, "--faulty-node") for text in chosen["faulty_node"]]
    links = [link_in_words(topology, text, "--faulty-link") for text in chosen["faulty_link"]]
    kept = [node_in_words(topology, text, "--keep") for text in chosen["keep"]]
    if chosen["random_faults"]:
        part, seed = chosen["random_faults"], chosen["seed"]
        names = {"part_name": "--random-faults", "seed_name": "--seed"}
        nodes += draw_faults(topology, part, seed=seed, keep=kept, **names)
    else:
        # Traffic is drawn, too.
        drawing = ("keep",) if "cycles" in chosen else ("keep", "seed")
        for name in filter(was_typed, drawing):
            raise InvalidInput(f"--{name} must be left out without --random-faults")
    return with_faults(topology, nodes, links) if nodes or links else topology
