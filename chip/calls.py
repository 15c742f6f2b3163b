"""The collectives that a C program calls, read from the names that its object file wants.

``ey_allreduce(send, receive, 16, EY_INT, EY_SUM)`` wants ``ey__allreduce__16__int__sum``: the table
of calls is that of the linker, so it has what is called and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.base.errors import InvalidInput
from ..model.collectives.task import Task
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.schedule.collective import Collective
from .float_adder import FLOAT_ADD, FLOAT_ADD_AT_ONCE

PREFIX, SEPARATOR, PLACE = "ey__", "__", "place"
COLLECTIVES = {
    "barrier": Collective.BARRIER,
    "bcast": Collective.BROADCAST,
    "reduce": Collective.REDUCE,
    "allreduce": Collective.ALL_REDUCE,
    "allgather": Collective.ALL_GATHER,
    "alltoall": Collective.ALL_TO_ALL,
    "scatter": Collective.SCATTER,
    "gather": Collective.GATHER,
}
"""The collective of each call, by its name in C."""
REDUCES = ("reduce", "allreduce")
OPERATORS: dict[tuple[str, str], str | Operator] = {
    ("float", "sum"): FLOAT_ADD,
    **{(kind, "sum"): "add" for kind in ("int", "unsigned")},
    **{("int", name): f"{name}-signed" for name in ("min", "max")},
    **{("unsigned", name): name for name in ("min", "max")},
    **{(kind, name): name for kind in ("int", "unsigned") for name in ("and", "or", "xor")},
}
"""The network's operator for each type and operator of C."""


@dataclass(frozen=True)
class Call:
    """A collective that is called: ``symbol`` is the function that the linker wants."""

    symbol: str
    name: str
    words: int
    operator: str | Operator | None = None
    root: int | None = None

    @property
    def collective(self) -> Collective:
        """The collective."""
        return COLLECTIVES[self.name]

    @property
    def shown(self) -> str:
        """The call for a table, such as "allreduce 16 int sum"."""
        return self.symbol.removeprefix(PREFIX).replace(SEPARATOR, " ")

    @classmethod
    def read(cls, symbol: str, nodes: int, *, circuits: bool) -> "Call":
        """Read the name of a function; raise :class:`.InvalidInput` for what no network does."""
        name, count, *rest = symbol.removeprefix(PREFIX).split(SEPARATOR)
        shown = f"ey_{name} in the C program"
        if not count.isdecimal() or int(count) == 0:
            raise InvalidInput.of(f"words of {shown}", "a number, at least 1", count)
        operator = None
        if name in REDUCES:
            operator = OPERATORS.get((rest[0], rest[1]))
            if operator is None:
                allowed = ", ".join(f"{each} of {kind}" for kind, each in OPERATORS)
                raise InvalidInput.of(f"operator of {shown}", allowed, f"{rest[1]} of {rest[0]}")
            if circuits and operator is FLOAT_ADD:
                operator = FLOAT_ADD_AT_ONCE
            rest = rest[2:]
        if not rest:
            return cls(symbol, name, int(count), operator)
        if not rest[0].isdecimal() or int(rest[0]) >= nodes:
            raise InvalidInput.of(f"root of {shown}", f"a number, 0 to {nodes - 1}", rest[0])
        return cls(symbol, name, int(count), operator, int(rest[0]))

    def task(self, topology: Topology) -> Task:
        """Return the call as a task of a network."""
        barrier = self.collective == Collective.BARRIER
        return Task(
            topology=topology,
            collective=self.collective,
            source=self.root,
            flits=None if barrier else self.words,
            operator=self.operator,
        )


def calls_of(wanted: Iterable[str], nodes: int, *, circuits: bool) -> list[Call]:
    """Return the calls among the symbols that an object file wants, in their order."""
    functions = (name for name in wanted if name.startswith(PREFIX))
    names = (name.removesuffix(SEPARATOR + PLACE) for name in functions)
    return [Call.read(name, nodes, circuits=circuits) for name in dict.fromkeys(names)]
