"""Base of :class:`.LoadedMessage` and :class:`.SharedMessage`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from amaranth.hdl import C, Module, Signal, Value

from ..model.network.config import NetworkConfig
from .combiner import Combiner
from .host_map import HostSpace
from .lane import Lane
from .steps import StepKeeper
from .technology import Technology


class Message(ABC):
    """The host's accesses to a node, and its message memory.

    Parameters
    ----------
    m
        The module of the interface, to which the message adds its gates.
    config, technology
        The network, and what the memory is made of.
    ports
        The ports of the interface.

    Attributes
    ----------
    selected : Signal
        High in a cycle in which the host addresses this node; with programs, in the cycle in which
        a request of the controller to this node is carried out.
    accept : Value
        High in a cycle in which the node takes a flit. Low only where a timed program refuses it.
    shows_damaged : Signal
        High in a cycle in which a damaged word is shown to the tile or the host, or combined. Low
        without parity.

    """

    def __init__(
        self, m: Module, config: NetworkConfig, technology: Technology, ports: Any
    ) -> None:
        self._m, self._config, self._technology = m, config, technology
        self._ports, self._host = ports, ports.host
        self.selected = Signal(name="selected")
        self.accept: Value = C(1)
        self.shows_damaged = Signal(name="shows_damaged")

    def host_writes(self, space: HostSpace) -> Value:
        """Return 1 if the host writes to ``space`` of this node in this cycle."""
        return self.selected & self._host.write & (self._host.space == space)

    @abstractmethod
    def prepare_lane(self, lane: Lane, number: int) -> None:
        """Connect what lane ``number`` takes from the host."""

    @abstractmethod
    def add_memory(self, lanes: Sequence[Lane], combiner: Combiner | None) -> Value:
        """Add the memory; return the signal with the word that it answers to the host's reads."""

    @abstractmethod
    def add_options(self, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """Add the parts that only some networks have."""
