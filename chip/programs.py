"""The programs of a chip's calls, side by side in tables and message memories.

::

    message memory   | words of call 0 |     | words of call 1 | ...
                     ^ place            alignment of windows
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.cycle.any_run import run_any
from ..model.image.programs import ProgramsImage
from ..model.network.config import NetworkConfig, Timing
from ..model.network.operators import as_operators
from ..model.network.topology import Topology
from ..model.program.certified import Room
from ..model.program.compiler import Compiled, compile_all, make_room
from ..model.program.memory.layout import Layout, power_for
from ..model.program.payload import empty_memory
from ..model.run.run import Prediction
from .calls import Call

MOST_PROGRAMS = 15
"""Most programs that a controller keeps."""
WORD_BITS = 32
FEWEST_WORDS, DEFAULT_OPERATOR = 1024, "add"
"""Words of memories that most programs need, and the operator of a network whose program has none:
most programs run on the same chip, and so on one simulator."""


class Run(NamedTuple):
    """Adjacent words: from ``address`` in a message memory, from ``offset`` in a buffer in C."""

    address: int
    offset: int
    words: int


@dataclass(frozen=True)
class Served:
    """A call with its program, and where its words are.

    ``sent`` and ``received`` have the runs of each node, before and after the program.
    """

    call: Call
    compiled: Compiled
    sent: tuple[tuple[Run, ...], ...]
    received: tuple[tuple[Run, ...], ...]

    @property
    def place(self) -> int | None:
        """The address at which every node has the call's words; None if they are not in one run.

        A node without results, such as the root of a broadcast, has what it sends there.
        """
        runs = [received or sent for sent, received in zip(self.sent, self.received, strict=True)]
        begins = {run.address - run.offset for node in runs for run in node}
        whole = all(len(node) <= 1 for node in runs)
        return begins.pop() if whole and len(begins) == 1 else None


@dataclass(frozen=True)
class Programs:
    """All calls of a C program, on one network."""

    config: NetworkConfig
    served: Sequence[Served]

    @property
    def used_words(self) -> int:
        """Words of a message memory from address 0 on that programs use."""
        halves = any(each.compiled.layout.halves.any for each in self.served)
        last = max(each.compiled.layout.size for each in self.served)
        return self.config.message_words if halves else last

    @property
    def link_flits(self) -> list[npt.NDArray[np.int64]]:
        """For each program, the flits that leave each node by each port: shape (nodes, ports)."""
        memory, topology = empty_memory(self.config), self.config.topology
        return [
            run_any(each.compiled.program, memory, timing=Timing.BARRIER).link_flits(topology)
            for each in self.served
        ]

    @cached_property
    def image(self) -> ProgramsImage:
        """The words that load the programs, for a host."""
        programs = [each.compiled.program for each in self.served]
        none: list[Prediction] = []
        return ProgramsImage(
            programs=programs, timing=Timing.BARRIER, predicted=none, limits=[0] * len(programs)
        )


def programs_of(calls: Sequence[Call], topology: Topology, *, circuits: bool) -> Programs:
    """Find the best schedule of each call, and compile all for one network.

    Raises :class:`.InvalidInput` for too many calls, or words that no memory holds.
    """
    if not 1 <= len(calls) <= MOST_PROGRAMS:
        allowed = f"1 to {MOST_PROGRAMS}, the programs that a network keeps"
        raise InvalidInput.of("collectives of the C program", allowed, len(calls))
    parameters: dict[str, Any] = {
        **{"programs": MOST_PROGRAMS, "tile_ports": True, "circuits": circuits},
        **{"flit_width": WORD_BITS, "message_words": FEWEST_WORDS},
    }
    schedules = []
    for call in calls:
        own = as_operators(filter(None, (call.operator,)))
        room = Room({**parameters, "operators": own})
        schedules.append(call.schedule(topology, room))
    wanted = {each.operator: None for each in calls if each.operator is not None}
    operators = as_operators(wanted or {DEFAULT_OPERATOR: None})
    config = NetworkConfig(topology=topology, operators=operators, **parameters)
    config, layouts = make_room(config, schedules)
    moved, end = [], 0
    for layout in layouts:
        window = power_for(layout.size)
        begin = -(-end // window) * window
        moved.append(_moved(layout, begin))
        end = begin + layout.size
    halves = any(layout.halves.any for layout in layouts)
    words = power_for(end) * (2 if halves else 1)
    config = replace(config, message_words=max(FEWEST_WORDS, words))
    config, compiled = compile_all(config, schedules, moved)
    words = power_for(sum(int(each.table_words) for each in compiled))
    config = replace(config, table_words=max(FEWEST_WORDS, words))
    compiled = [each._replace(program=replace(each.program, config=config)) for each in compiled]
    return Programs(config, [_served(*pair) for pair in zip(calls, compiled, strict=True)])


def _moved(layout: Layout, begin: int) -> Layout:
    """Return the layout with all addresses higher by ``begin``."""
    if begin and layout.halves.copied:
        raise InvalidInput("blocks with copies cannot lie beside those of other programs")
    packed = layout.packed and {key: address + begin for key, address in layout.packed.items()}
    token = None if layout.token is None else layout.token + begin
    return replace(
        layout, base=layout.base - begin, packed=packed, size=layout.size + begin, token=token
    )


def _served(call: Call, compiled: Compiled) -> Served:
    """Find the words of a call's buffers in the memories of its program."""
    find = _contributions if call.operator is not None else _blocks
    found: dict[bool, dict[int, list[Run]]] = {False: defaultdict(list), True: defaultdict(list)}
    if call.name != "barrier":
        for node, comes, run in find(call, compiled):
            found[comes][node].append(run)
    nodes = range(compiled.schedule.topology.nodes)
    sent, received = (tuple(_joined(each[node]) for node in nodes) for each in found.values())
    return Served(call, compiled, sent, received)


def _contributions(_call: Call, compiled: Compiled) -> Iterator[tuple[int, bool, Run]]:
    """Yield each contribution, and each result: node, True for a result, and where it is."""
    schedule, layout, program = compiled
    blocks, topology = schedule.blocks, schedule.topology
    apart = layout.apart(program.config)
    for block, words in enumerate(blocks.words.tolist()):
        offset = int(layout.starts[block])
        nodes = np.array(blocks.holders(block, topology))
        places = layout.halves.place(nodes, np.full(len(nodes), block), np.zeros(1, np.int64))
        for node, place in zip(nodes.tolist(), places.tolist(), strict=True):
            yield node, False, Run(layout.address(node, block) + apart * place, offset, words)
        owed = blocks.owed[block]
        for node in topology.working_nodes.tolist() if owed is None else owed:
            yield node, True, Run(layout.address(node, block), offset, words)


def _blocks(call: Call, compiled: Compiled) -> Iterator[tuple[int, bool, Run]]:
    """Yield each block at its owner, and at each node that gets it, as :func:`_contributions`."""
    schedule, layout, _ = compiled
    blocks, everyone = schedule.blocks, schedule.topology.working_nodes.tolist()
    before: Counter[tuple[int, object]] = Counter()
    for block, (owner, owed) in enumerate(zip(blocks.owner.tolist(), blocks.owed, strict=True)):
        words, position = int(blocks.words[block]), before[owner, owed]
        before[owner, owed] += words
        targets = everyone if owed is None else owed
        begin, _ = call.place_of(schedule.topology, owner, targets[0])
        yield owner, False, Run(layout.address(owner, block), begin + position, words)
        for node in targets:
            if node != owner or call.name == "allgather":
                _, begin = call.place_of(schedule.topology, owner, node)
                yield node, True, Run(layout.address(node, block), begin + position, words)


def _joined(runs: list[Run]) -> tuple[Run, ...]:
    """Return runs in the order of the buffer, adjacent ones as one."""
    joined: list[Run] = []
    for run in sorted(runs, key=lambda each: each.offset):
        last = joined[-1] if joined else None
        if last and (run.address - last.address, run.offset - last.offset) == (last.words,) * 2:
            joined[-1] = last._replace(words=last.words + run.words)
        else:
            joined.append(run)
    return tuple(joined)
