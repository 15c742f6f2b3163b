"""A program of packets that a package's bench makes a packet at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.program.program import Program
from ..model.program.row import Row
from .ways import Link, end_of, way_from


@dataclass
class Draft:
    """A program that grows by a packet at a time.

    ``rows`` has the rows of each node that sends. ``receives`` has steps and ports of each node's
    receives; the port is 0 unless the network is all-port. ``port_model`` None stands for all ports
    in an all-port network, otherwise for full-duplex.
    """

    config: NetworkConfig
    rows: dict[int, list[Row]] = field(default_factory=dict)
    receives: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    port_model: PortModel | None = None

    def put(self, source: int, row: Row, target: int, entry: int) -> None:
        """Add a packet of ``source`` that ``target`` receives by the link of port ``entry``."""
        self.rows.setdefault(source, []).append(row)
        receives = self.receives.setdefault(target, [])
        receive = row.step, entry * self.config.all_port
        if receive not in receives:
            receives.append(receive)

    def send(
        self,
        way: Sequence[Link],
        out: Link | None,
        vcs: tuple[int, int],
        step: int,
        length: int,
        *,
        continued: bool = False,
    ) -> None:
        """Add a packet over a way, and from there by a link, to a node; on one VC, then another.

        A packet is ``continued`` if the next one over the way has more of its message.
        """
        source, _ = [*way, out or (0, 0)][0]
        links = [*way, *(way_from(self.config.topology, out, source) if out else ())]
        route = tuple(
            Segment(port, 1, vcs[number >= len(way)]) for number, (_, port) in enumerate(links)
        )
        end, entry = end_of(self.config.topology, links[-1])
        half = self.config.message_words // 2
        length = min(length, max(half, 2), 2 * self.config.depth + 6)
        target = min(half, self.config.message_words - length)
        row = Row(step, route, 0, target, length, continued=continued)
        self.put(source, row, end, entry)

    def program(self) -> Program:
        """Return the program."""
        nodes = range(self.config.topology.nodes)
        usual = PortModel.ALL_PORT if self.config.all_port else PortModel.FULL_DUPLEX
        receives = [sorted(self.receives.get(node, [])) for node in nodes]
        return Program.from_rows(
            self.config,
            self.port_model or usual,
            [self.rows.get(node, []) for node in nodes],
            [[step for step, _ in each] for each in receives],
            receive_ports=[[port for _, port in each] for each in receives],
        )
