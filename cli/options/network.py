"""Options of a network and its faults, and the topology that they select."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TypedDict

import click

from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile
from ...model.base.texts import integers
from ...model.network.chiplets import between_of, chiplets
from ...model.network.faults import draw_faults, with_faults
from ...model.network.kinds import GRAPH, KINDS
from ...model.network.network_text import (
    SizeLimit,
    link_in_words,
    node_in_words,
    sized_network,
)
from ...model.network.topology import Topology
from .values import file_option, float_option, integer_option, option_names, recorded, was_typed

_CHIPLETS = "chiplets"
"""The option for a mesh of chiplets."""


class NetworkFacts(TypedDict):
    """The network's label and the seed of a result of ``--json``."""

    network: str
    seed: int | None


@dataclass(frozen=True)
class NetworkOptions:
    """A network and its faults, as they are typed.

    ``sizes`` has the texts of the typed kinds of network by option name; for a graph its file.
    """

    sizes: Mapping[str, str]
    chiplet: str | None
    between: str | None
    faulty_node: tuple[str, ...]
    faulty_link: tuple[str, ...]
    random_faults: float
    keep: tuple[str, ...]
    seed: int

    @property
    def kind(self) -> str:
        """The one kind of network that the options name; "graph" for a file."""
        if not self.sizes:
            raise InvalidInput("a network must be given, such as --mesh 8x8")
        if len(self.sizes) > 1:
            raise InvalidInput(f"one network must be given, not --{' and --'.join(self.sizes)}")
        return next(iter(self.sizes))

    def topology(self, limit: SizeLimit, *, draws: bool = False) -> Topology:
        """Return the network that the options name; refuse one that is larger than ``limit``.

        ``draws`` tells whether the seed draws other things besides faults.
        """
        name = self.kind
        for beside, text in (("chiplet", self.chiplet), ("between", self.between)):
            if (text is None) == (name == _CHIPLETS):
                needs = "needs" if name == _CHIPLETS else "must be left out without"
                one, other = (_CHIPLETS, beside) if name == _CHIPLETS else (beside, _CHIPLETS)
                raise InvalidInput(f"--{one} {needs} --{other}")
        if self.chiplet is not None and self.between is not None:
            topology = self._chiplets(self.chiplet, self.between, limit)
        elif name == GRAPH:
            from ...formats.registry import network_of_file

            topology = network_of_file(InputFile.read(self.sizes[name]))
            limit.require(topology.label, topology.nodes)
        else:
            topology = sized_network(name, self.sizes[name], limit, f"--{name}")
        return self._without_faults(topology, draws=draws)

    def _chiplets(self, chiplet: str, between: str, limit: SizeLimit) -> Topology:
        """Return the mesh of chiplets that the options name."""
        count, allowed = self.sizes[_CHIPLETS], "sides such as 4x4"
        sides = integers(f"--{_CHIPLETS}", allowed, count, "x")
        own_sides = integers("--chiplet", allowed, chiplet, "x")
        limit.require(f"{count} chiplets of {chiplet}", prod((*sides, *own_sides)))
        return chiplets(sides, own_sides, **between_of(between, "--between"))

    def _without_faults(self, topology: Topology, *, draws: bool) -> Topology:
        """Return ``topology`` without the faulty nodes and links that the options name."""
        nodes = [node_in_words(topology, text, "--faulty-node") for text in self.faulty_node]
        links = [link_in_words(topology, text, "--faulty-link") for text in self.faulty_link]
        kept = [node_in_words(topology, text, "--keep") for text in self.keep]
        if self.random_faults:
            names = {"part_name": "--random-faults", "seed_name": "--seed"}
            nodes += draw_faults(topology, self.random_faults, seed=self.seed, keep=kept, **names)
        else:
            for name in filter(was_typed, ("keep",) if draws else ("keep", "seed")):
                raise InvalidInput(f"--{name} must be left out without --random-faults")
        return with_faults(topology, nodes, links) if nodes or links else topology

    def working_node(self, topology: Topology, text: str, option: str) -> int:
        """Return the number of a node; refuse one that is faulty."""
        node = node_in_words(topology, text, option)
        topology.require_interface(option, node)
        if node not in topology.faulty_nodes:
            return node
        named = [node_in_words(topology, each, "--faulty-node") for each in self.faulty_node]
        if self.random_faults and node not in named:
            seed = f"--random-faults {self.random_faults} --seed {self.seed}"
            raise InvalidInput(
                f"{option} must be a node that works, not {text}, which {seed} draws faulty "
                f"(--keep {text}, or another seed, helps)"
            )
        raise InvalidInput.of(option, "a node that is not faulty", text)

    def facts(self, topology: Topology) -> NetworkFacts:
        """Return the network and the seed of a result."""
        return {"network": topology.label, "seed": self.seed}


def _sizes(**texts: str | None) -> dict[str, str]:
    """Return the texts that were typed, by option name."""
    return {name.replace("_", "-"): text for name, text in texts.items() if text is not None}


network_options = recorded(
    "network",
    NetworkOptions,
    recorded(
        "sizes",
        _sizes,
        *(
            click.option(f"--{name}", metavar=kind.metavar, help=kind.help)
            for name, kind in KINDS.items()
        ),
        file_option(f"--{GRAPH}", help="The network: any graph, from a file."),
        click.option(
            f"--{_CHIPLETS}",
            metavar="WxH",
            help="The network: this many chiplets side by side; needs --chiplet and --between.",
        ),
        names=[name.replace("-", "_") for name in (GRAPH, _CHIPLETS, *KINDS)],
    ),
    click.option(
        "--chiplet", metavar="WxH", help="The sides of each chiplet, which is a mesh, such as 4x4."
    ),
    click.option(
        "--between",
        metavar="latency=L,rate=R",
        help="Links between chiplets: each flit takes L cycles, and one flit starts every R "
        "cycles.",
    ),
    click.option(
        "--faulty-node",
        metavar="X,Y",
        multiple=True,
        help="A broken node; repeat the option for several.",
    ),
    click.option(
        "--faulty-link",
        metavar="X,Y:X,Y",
        multiple=True,
        help="A broken link; repeat the option for several.",
    ),
    float_option(
        "--random-faults",
        0.0,
        "Share of the nodes that are broken, from 0 to 1; --seed draws them.",
    ),
    click.option(
        "--keep", metavar="X,Y", multiple=True, help="A node that --random-faults does not break."
    ),
    integer_option("--seed", 1, "Seed from which all random values are drawn."),
    heading="Network",
)
NETWORK_NAMES = option_names(network_options)
