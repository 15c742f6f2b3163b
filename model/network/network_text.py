"""Networks as people write them: kind, size, nodes and links; and the largest size for each use."""

from enum import Enum

from ..base.errors import InvalidInput
from ..base.texts import integers
from .kinds import KINDS
from .topology import LARGEST_NODE_COUNT, Topology


class SizeLimit(Enum):
    """The uses of a network: words for the use, and the largest size that takes only minutes."""

    SCHEDULE = ("for a schedule", LARGEST_NODE_COUNT)
    PROGRAM = ("for a program", 1 << 20)
    COMPARISON = ("for a comparison", 1 << 16)
    PICTURE = ("for a picture", 1 << 16)
    SEARCH = ("to be searched", 1 << 12)
    EXPLORE = ("to explore", 1 << 8)
    HARDWARE = ("for hardware", 1 << 10)
    WAVES = ("for waveforms", 1 << 10)

    def require(self, label: str, nodes: int) -> None:
        """Raise :class:`InvalidInput` if the network ``label`` has too many nodes for this use."""
        purpose, most = self.value
        if nodes > most:
            # With many sides, a number can have more digits than Python prints.
            given = nodes if nodes < 1 << 63 else "more"
            error = InvalidInput.of(f"nodes of the {label}", f"at most {most} {purpose}", given)
            raise error.between("", self._instead(nodes))

    def _instead(self, nodes: int) -> str:
        """Return in words the command that runs a network of ``nodes`` nodes; "" if none does."""
        runs = (SizeLimit.COMPARISON, SizeLimit.EXPLORE, SizeLimit.HARDWARE)
        most = SizeLimit.PROGRAM.value[1]
        return f" (predict takes up to {most})" if self in runs and nodes <= most else ""


def sized_network(name: str, text: str, limit: SizeLimit, parameter: str) -> Topology:
    """Return the network of kind ``name`` whose size is written in ``text``: "8x8", "2,5".

    Raises :class:`InvalidInput`, naming ``parameter``, for a text that is not a size, and for a
    network too large for its use.
    """
    kind = KINDS[name]
    # The size is checked before the network is made, which could take too long.
    size = integers(parameter, kind.allowed, text, kind.separator)
    if not kind.sides and len(size) != len(kind.fields):
        raise InvalidInput.of(parameter, kind.allowed, repr(text))
    limit.require(f"{text} {name}", kind.nodes(size))
    return kind.network(size)


def node_in_words(topology: Topology, text: str, parameter: str) -> int:
    """Return the node at the coordinates in ``text``, "3,4", or with the name in ``text``.

    A node of a cube has a name such as "01101", and a node of a file's graph the name in the file.
    A number is always the number of a node. Raises :class:`InvalidInput` that names ``parameter``.
    """
    bits = len(topology.dims)
    if topology.kind == "hypercube" and len(text) == bits > 1 and set(text) <= {"0", "1"}:
        return int(text, 2)
    if topology.node_names and not text.isdecimal():
        if topology.node_names.count(text) != 1:
            allowed = f"a node of the {topology.label}, by its number or name"
            raise InvalidInput.of(parameter, allowed, repr(text))
        return topology.node_names.index(text)
    return topology.node_at(integers(parameter, "coordinates such as 0,0", text, ","), parameter)


def link_in_words(topology: Topology, text: str, parameter: str) -> tuple[int, int]:
    """Return the two nodes of the link in ``text``: "3,4:4,4"."""
    begin, colon, end = text.partition(":")
    if not colon:
        raise InvalidInput.of(parameter, "two nodes such as 3,4:4,4", repr(text))
    return node_in_words(topology, begin, parameter), node_in_words(topology, end, parameter)
