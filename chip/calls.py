"""The collectives that a C program calls, read from the names that its object file wants.

``ey_allreduce(send, receive, 16, EY_INT, EY_SUM)`` wants ``ey__allreduce__16__int__sum``: the table
of calls is that of the linker, so it lists the program's calls and no others.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..api import Block, schedule_of_rounds
from ..model.base.errors import InvalidInput, one_of
from ..model.collectives.task import BEST, Task
from ..model.compare.answer import answer
from ..model.network.operators import Operator
from ..model.network.topology import NO_LINK, Topology
from ..model.program.certified import Room
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from ..model.workload.workload import MESSAGE
from .float_adder import AT_ONCE, BFLOAT16_ADD, FLOAT_ADD

PREFIX, SEPARATOR, PLACE = "ey__", "__", "place"
NEIGHBOURS, EXCHANGE = "neighbours", "exchange"
"""Calls that are custom collectives: a block for each neighbour, and a block for a partner."""
COLLECTIVES = {
    "barrier": Collective.BARRIER,
    "bcast": Collective.BROADCAST,
    "reduce": Collective.REDUCE,
    "allreduce": Collective.ALL_REDUCE,
    "scan": Collective.SCAN,
    "exscan": Collective.EXSCAN,
    "allgather": Collective.ALL_GATHER,
    "alltoall": Collective.ALL_TO_ALL,
    "scatter": Collective.SCATTER,
    "gather": Collective.GATHER,
}
"""The collective of each other call, by its name in C."""
REDUCES = ("reduce", "allreduce", "scan", "exscan")
LAST = {**dict.fromkeys(("bcast", "reduce", "scatter", "gather"), "root"), EXCHANGE: "partner"}
"""The last value of a call's name, of those that have one."""
ORDER = {
    "alltoall": (True, True),
    "allgather": (False, True),
    "scatter": (True, False),
    "gather": (False, True),
}
"""Whether a buffer has a block for each target, and for each owner; others have one block."""
INTEGERS = {
    **{"int": ("", "-signed"), "unsigned": ("", "")},
    **{"int16x2": (":16", "-signed"), "uint16x2": (":16", "")},
    **{"int8x4": (":8", "-signed"), "uint8x4": (":8", "")},
}
"""The lanes of the network's operators for each type of integers, and their signs."""
OPERATORS: dict[tuple[str, str], str | Operator] = {
    ("float", "sum"): FLOAT_ADD,
    ("bfloat16x2", "sum"): BFLOAT16_ADD,
    **{(kind, "sum"): f"add{lanes}" for kind, (lanes, _) in INTEGERS.items()},
    **{
        (kind, name): f"{name}{sign}{lanes}"
        for name in ("min", "max")
        for kind, (lanes, sign) in INTEGERS.items()
    },
    **{(kind, name): name for name in ("and", "or", "xor") for kind in INTEGERS},
}
"""The network's operator for each type and operator of C."""


@dataclass(frozen=True)
class Call:
    """A collective that is called: ``symbol`` is the function that the linker wants.

    ``last`` is the root; of an exchange the bits in which the partner's number differs.
    """

    symbol: str
    name: str
    words: int
    operator: str | Operator | None = None
    last: int | None = None

    @property
    def kind(self) -> str:
        """The kind of the call in a workload."""
        return COLLECTIVES[self.name].value if self.name in COLLECTIVES else MESSAGE

    @property
    def shown(self) -> str:
        """The call for a table, such as "allreduce 16 int sum"."""
        return self.symbol.removeprefix(PREFIX).replace(SEPARATOR, " ")

    @classmethod
    def read(cls, symbol: str, nodes: int, *, circuits: bool) -> "Call":
        """Read the name of a function; raise :class:`.InvalidInput` for what no network does."""
        name, count, *rest = symbol.removeprefix(PREFIX).split(SEPARATOR)
        shown = f"ey_{name} in the C program"
        known = (*COLLECTIVES, NEIGHBOURS, EXCHANGE)
        if name not in known:
            raise InvalidInput.unknown("collective of the C program", known, name)
        values = ["type", "operator"] * (name in REDUCES) + [*filter(None, [LAST.get(name)])]
        if len(rest) != len(values):
            given = " ".join((count, *rest))
            raise InvalidInput.of(f"values of {shown}", ", ".join(("words", *values)), given)
        if not count.isdecimal() or int(count) == 0:
            raise InvalidInput.of(f"words of {shown}", "a number, at least 1", count)
        operator = None
        if name in REDUCES:
            operator = OPERATORS.get((rest[0], rest[1]))
            if operator is None:
                names = one_of(name for kind, name in OPERATORS if kind == "int")
                allowed = f"sum of float or bfloat16x2, or {names} of {one_of(INTEGERS)}"
                raise InvalidInput.of(f"operator of {shown}", allowed, f"{rest[1]} of {rest[0]}")
            if circuits:
                operator = AT_ONCE.get(operator, operator)
            rest = rest[2:]
        if not rest:
            return cls(symbol, name, int(count), operator)
        if not rest[0].isdecimal() or int(rest[0]) >= nodes:
            raise InvalidInput.of(
                f"{LAST[name]} of {shown}", f"a number, 0 to {nodes - 1}", rest[0]
            )
        return cls(symbol, name, int(count), operator, int(rest[0]))

    def schedule(self, topology: Topology, room: Room) -> Schedule:
        """Return the best schedule of the call for a network."""
        if self.name in (NEIGHBOURS, EXCHANGE):
            pairs = list(self.pairs(topology))
            blocks = [Block(words=self.words, owner=begin, owed=(end,)) for begin, end in pairs]
            sends = [(begin, end, (block,)) for block, (begin, end) in enumerate(pairs)]
            return schedule_of_rounds(topology, [sends], collective="custom", blocks=blocks)
        task = Task(
            topology=topology,
            collective=COLLECTIVES[self.name],
            source=self.last,
            words=None if self.name == "barrier" else self.words,
            operator=self.operator,
        )
        return answer(task, BEST, room).schedule

    def pairs(self, topology: Topology) -> Iterator[tuple[int, int]]:
        """Yield the nodes that send to each other in an exchange, by the ports or by their bits."""
        for node in topology.working_nodes.tolist():
            if self.name == EXCHANGE:
                assert self.last is not None
                if node ^ self.last < topology.nodes:
                    yield node, node ^ self.last
                continue
            for port in range(1, topology.ports):
                if topology.neighbor[node, port] != NO_LINK:
                    yield node, int(topology.neighbor[node, port])

    def place_of(self, topology: Topology, owner: int, target: int) -> tuple[int, int]:
        """Return where a block is in the owner's buffer, and in the target's, in words."""
        if self.name == NEIGHBOURS:
            (port, *_) = np.flatnonzero(topology.neighbor[owner, 1:] == target).tolist()
            return port * self.words, (int(topology.peer[owner, port + 1]) - 1) * self.words
        by_target, by_owner = ORDER.get(self.name, (False, False))
        return by_target * target * self.words, by_owner * owner * self.words


def calls_of(wanted: Iterable[str], nodes: int, *, circuits: bool) -> list[Call]:
    """Return the calls among the symbols that an object file wants, in their order."""
    functions = (name for name in wanted if name.startswith(PREFIX))
    names = (name.removesuffix(SEPARATOR + PLACE) for name in functions)
    return [Call.read(name, nodes, circuits=circuits) for name in dict.fromkeys(names)]
