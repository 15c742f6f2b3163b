"""Requests as the generators of schedules read them."""

from __future__ import annotations

from typing import Any, Protocol

from ...network.port_model import PortModel
from ...network.topology import Topology


class Asked(Protocol):
    """The parts of a request that generators read; :class:`..request.Request` explains them."""

    @property
    def topology(self) -> Topology:
        """The network."""

    @property
    def words(self) -> int:
        """Words of each block."""

    @property
    def source(self) -> int | None:
        """The root, or None."""

    @property
    def root(self) -> int:
        """The source of a collective that has one."""

    @property
    def targets(self) -> tuple[int, ...] | None:
        """The nodes that get a multicast."""

    @property
    def partial(self) -> bool:
        """Whether only the nodes in reach are served."""

    @property
    def all_port(self) -> bool:
        """Whether nodes use all ports at the same time."""

    @property
    def duplex(self) -> PortModel | None:
        """The port model asked for, or None."""

    @property
    def order(self) -> str | None:
        """The order asked for in which blocks leave, or None."""

    @property
    def packet(self) -> int | None:
        """The most words of a send, or None."""

    @property
    def block_words(self) -> Any:
        """Words of each block if blocks differ, otherwise None."""

    @property
    def combining(self) -> str:
        """The name of the operator of a reduction."""
