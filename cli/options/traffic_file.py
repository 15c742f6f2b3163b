"""Traffic from a file, and the options that turn rates into packets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...model.base.files import InputFile, input_name
from ...model.network.config import MOST_MEMORY_WORDS
from ...model.network.topology import Topology
from ...model.traffic.traffic import Traffic
from .values import integer_option, option_names, recorded, refuse_beside

if TYPE_CHECKING:
    from ...formats.format import Format


@dataclass(frozen=True)
class DrawingOptions:
    """The packets that are drawn: their length in flits, and the cycles in which they begin."""

    packet_flits: int
    cycles: int

    def traffic_of_file(
        self, file: InputFile, form: Format | None, topology: Topology, seed: int, option: str
    ) -> Traffic:
        """Return the traffic of ``file``; ``form`` is its format, detected if None.

        Refuses options that the file replaces, beside ``option``. A file of rates keeps the options
        for drawing packets.
        """
        from ...formats.format import Content, TrafficSetting
        from ...formats.own import TRAFFIC
        from ...formats.registry import format_of

        form = form or format_of(file, Content.TRAFFIC) or TRAFFIC
        replaced = () if form.draws_traffic else option_names(drawing_options)
        refuse_beside(
            option, ("--pattern", "--rate", "--hotspot", "--burst", "--reply-flits", *replaced)
        )
        assert form.read_traffic is not None
        setting = TrafficSetting(
            topology=topology, flits=self.packet_flits, cycles=self.cycles, seed=seed
        )
        return replace(form.read_traffic(file, setting), origin=f"from {input_name(file)}")


drawing_options = recorded(
    "drawing",
    DrawingOptions,
    integer_option(
        "--packet-flits", 4, f"Length of a packet with its header, 1 to {MOST_MEMORY_WORDS}."
    ),
    integer_option("--cycles", 2000, "Number of cycles in which packets are drawn."),
    heading="Traffic",
)
