"""Programs for the soak that no schedule makes: they combine, stream and use windows.

Packets meet and wait, and some runs hang. Of those that finish, no order of events changes the
memories. A controller, late tiles, another program that runs first, and mistakes are drawn too.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from helpers.soak.operators import lane_names
from helpers.soak.samples import made
from helpers.soak.topologies import (
    SMALL_NETWORKS,
    connected,
    graphs,
    integer_arrays,
    one_in,
    with_links,
)
from hypothesis import reject
from hypothesis import strategies as st

from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.network.config import MOST_PROGRAMS, TIMINGS, NetworkConfig, Timing
from eyecast.model.network.exclusions import LEAST_CONTROLLED_WIDTH
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.routes import route, segments_of_paths
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import hypercube, mesh, torus
from eyecast.model.program.checks import require_table_room
from eyecast.model.program.payload import random_words
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.program.slots import slots_of
from eyecast.model.run.run import Prediction

HALF = 128
"""Words of the half of a lane's memory to which the packets of a step are written."""
REGION = 16
"""Words of a lane's part of a half."""
MESSAGE_WORDS = 2 * HALF

NETWORKS = [mesh((4,)), mesh((3, 2)), torus((5,)), torus((3, 3)), hypercube(3)]
WIDE = (128, 192, 256, 512)
"""Bits of wide words."""
LONGEST_RUN = 1500
"""Cycles after which a run is given up: more than any run that finishes."""
SHORTEST_LIMIT, LONGEST_LIMIT = 10, 300
"""Cycles of a drawn limit of a controller."""
LONGEST_HOLD = 30
"""Most cycles for which a tile holds its node."""
DAMAGED_SHARE = 0.01
"""Share of damaged words in message memories: about half of the runs then send such a word."""
LONGEST_WRONG_WAY = 3
"""Most hops by which a wrong route goes on."""


SEEDS = st.integers(0, (1 << 31) - 1)
"""Seeds of random words."""


@dataclass(frozen=True, eq=False)
class FirstRun:
    """A run of another resident program before the one that is compared; it finishes."""

    program: Program
    predicted: Prediction


@dataclass(frozen=True, eq=False)
class ProgramCase:
    """A drawn program, and the prediction of its run.

    ``memory`` has the words before the runs: shape (nodes, message words). ``limit`` is the cycle
    in which the controller, or the watchdog, gives up the run. ``hold`` is that of
    :class:`.Control`. ``damaged`` is the word that message memories damage, as in
    :class:`.Control`; None if there is none. ``first`` is the run of another resident program,
    which the host starts before this one; None if there is none. It finishes, and leaves its
    memories to this one.
    """

    program: Program
    memory: npt.NDArray[np.uint64]
    timing: Timing
    limit: int
    hold: npt.NDArray[np.int64] | None
    predicted: Prediction
    damaged: int | None = None
    first: FirstRun | None = None

    def require_room(self) -> None:
        """Raise :class:`.InvalidInput` if the tables have no room for the resident programs."""
        require_table_room(self.program)
        if self.first is not None:
            slots_of([self.program, self.first.program])


@st.composite
def program_cases(
    draw: st.DrawFn, config: NetworkConfig, damaged: int | None = None
) -> ProgramCase:
    """Draw a program for ``config``, its memories, its timing, its limit and late tiles.

    Some programs have a mistake, which keeps the run from finishing.
    """
    mistaken = draw(one_in(6))
    program = draw(_programs(config, mistaken=mistaken))
    memory = draw(memories(config, damaged))
    # Words that are combined or streamed need steps that all nodes begin together.
    plain = not (config.operators or config.streams)
    timing = draw(st.sampled_from(TIMINGS)) if plain else Timing.BARRIER
    limit = LONGEST_RUN
    # After a flag a run goes on for as many cycles as its limit.
    if config.programs and not mistaken and damaged is None and draw(one_in(3)):
        limit = draw(st.integers(SHORTEST_LIMIT, LONGEST_LIMIT - 1))
    hold = draw(holds(config)) if config.tile_ports else None
    control = Control(damaged=damaged)
    first = draw(first_runs(config, memory, timing, control)) if config.programs > 1 else None
    begin = memory if first is None else first.predicted.memory
    control = replace(control, limit=limit if config.programs else 0, hold=hold)
    predicted = run(program, begin, timing=timing, cycle_limit=LONGEST_RUN, control=control)
    if mistaken and predicted.finished:
        # A packet may still be under way, and the memories are read later.
        reject()
    case = ProgramCase(program, memory, timing, limit, hold, predicted, damaged, first)
    made(case.require_room)
    return case


@st.composite
def first_runs(
    draw: st.DrawFn,
    config: NetworkConfig,
    memory: npt.NDArray[np.uint64],
    timing: Timing,
    control: Control,
) -> FirstRun | None:
    """Draw a program, which runs first if it finishes; in half of the draws, none does."""
    if not draw(st.booleans()):
        return None
    program = draw(_programs(config, mistaken=False))
    predicted = run(program, memory, timing=timing, cycle_limit=LONGEST_RUN, control=control)
    return FirstRun(program, predicted) if predicted.finished else None


@st.composite
def memories(
    draw: st.DrawFn, config: NetworkConfig, damaged: int | None = None
) -> npt.NDArray[np.uint64]:
    """Draw the words of all nodes; some are ``damaged``."""
    memory = random_words(config, (config.topology.nodes, config.message_words), draw(SEEDS))
    if damaged is not None:
        chances = np.random.default_rng(draw(SEEDS)).random(memory.shape)
        memory[chances < DAMAGED_SHARE] = damaged
    memory[list(config.topology.switches)] = 0
    return memory


@st.composite
def _programs(draw: st.DrawFn, config: NetworkConfig, *, mistaken: bool) -> Program:
    """Draw a program of up to 4 steps, with a mistake or without."""
    most = draw(st.integers(1, 3 * config.topology.nodes - 1))
    return draw(programs(config, draw(st.integers(1, 4)), (1, most), mistaken=mistaken))


@st.composite
def holds(draw: st.DrawFn, config: NetworkConfig) -> npt.NDArray[np.int64]:
    """Draw for each node the cycles for which its tile holds it: shape (nodes,); 0 for some."""
    cycles = st.just(0) | st.integers(0, LONGEST_HOLD)
    hold = draw(integer_arrays(config.topology.nodes, cycles))
    hold[list(config.topology.switches)] = 0
    return hold


@st.composite
def controllers(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the parameters of a controller, of tile ports and of parity; in half of the draws, none.

    The result has the fields of :class:`.NetworkConfig`.
    """
    if not draw(st.booleans()):
        return {"programs": 0}
    return {
        "programs": draw(st.integers(1, MOST_PROGRAMS)),
        "tile_ports": draw(st.booleans()),
        "parity": draw(st.booleans()),
    }


@st.composite
def program_networks(
    draw: st.DrawFn, *, signature: bool = False, wide: bool = False
) -> NetworkConfig:
    """Draw a network whose rows may combine and stream; ``signature``: one with signatures.

    ``wide``: a small network with wide words.
    """
    controller = draw(controllers())
    narrowest = LEAST_CONTROLLED_WIDTH if controller["programs"] else 24
    flit_width = draw(st.sampled_from(WIDE if wide else [narrowest, 33, 64, *WIDE]))
    named = SMALL_NETWORKS if wide else NETWORKS
    whole = draw(graphs() if draw(one_in(6)) else st.sampled_from(named))
    return NetworkConfig(
        topology=draw(connected(draw(with_links(whole)))),
        vcs=draw(st.integers(2, 3)),
        depth=draw(st.integers(1, 4)),
        flit_width=flit_width,
        message_words=MESSAGE_WORDS,
        table_words=1 << 10,
        link_registers=draw(st.integers(0, 2)),
        barrier_registers=draw(st.integers(0, 7)),
        all_port=not signature and draw(st.booleans()),
        operators=tuple(
            draw(st.lists(lane_names([*BUILT_IN], flit_width), max_size=3, unique=True))
        ),
        streams=not draw(one_in(4)),
        signature=signature,
        **controller,
    )


class _Growing:
    """A program that grows by a packet at a time; in a step words go from one half to the other."""

    def __init__(self, draw: st.DrawFn, config: NetworkConfig) -> None:
        self.draw, self.config = draw, config
        self.rows: dict[int, list[Row]] = {n: [] for n in range(config.topology.nodes)}
        self.receives: dict[int, list[tuple[int, int]]] = {n: [] for n in self.rows}
        self.port_model = PortModel.FULL_DUPLEX
        self.came: dict[tuple[int, int], Row] = {}
        """Packets of the step that a node may send on, by node and lane."""

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def chosen(self, values: list[int]) -> int:
        return self.draw(st.sampled_from(values))

    def add_packet(self, step: int) -> None:
        """Draw a packet, unless its target already gets another one in this step."""
        topology = self.config.topology
        nodes = topology.working_nodes.tolist()
        source = self.chosen(nodes)
        target = self.chosen([node for node in nodes if node != source])
        offsets, path, vcs = route(topology, np.array([source]), np.array([target]), 2)
        segments = segments_of_paths(topology, offsets, path, vcs)[0]
        if not topology.wrapped:
            most = self.config.vcs - 1
            segments = tuple(each._replace(vc=self.number(0, most)) for each in segments)
        before = int(path[-2])
        port = int(topology.peer[before, segments[-1].port]) if self.config.all_port else 0
        if (step, port) in self.receives[target]:
            return
        self.receives[target].append((step, port))
        row = self._streamed(source, step) or self._own(step)
        there = HALF * (step % 2) + REGION * max(port, 1)
        place = 8 * self.number(0, 1) + self.number(0, 7) if row.window else self.number(3, 4)
        row = replace(row, step=step, route=segments, target_address=there + place)
        if not row.window and not row.stream and row.length > 1 and self.number(0, 4) == 0:
            first = self.number(0, row.length)
            self.rows[source].append(replace(row, length=first, continued=True))
            row = replace(
                row,
                length=row.length - first,
                source_address=row.source_address + first,
                target_address=row.target_address + first,
            )
        else:
            self.came[target, max(port, 1)] = row
        self.rows[source].append(row)

    def _own(self, step: int) -> Row:
        """Return a row that sends words of the half that no packet writes to."""
        window = 3 if self.config.streams and self.number(0, 1) else 0
        here = HALF * (1 - step % 2) + self.number(0, HALF - 16)
        operator = self.number(0, 2 * len(self.config.operators))
        return Row(0, (), here, 0, self.number(0, 8), operator=operator, window=window)

    def _streamed(self, source: int, step: int) -> Row | None:
        """Return a row that sends on a packet while ``source`` receives it."""
        lanes = [lane for node, lane in self.came if node == source]
        if not lanes or not self.config.streams or self.number(0, 3) == 0:
            return None
        lane = self.chosen(lanes)
        fed = self.came[source, lane]
        lead = self.number(0, 8 - fed.length if fed.window else 3)
        begin = _address(fed.target_address, -lead, fed.window)
        operator = self.number(0, 2 * len(self.config.operators))
        length = self.number(0, min(lead + fed.length, 8))
        window = fed.window
        return Row(0, (), begin, 0, length, None, False, operator, lane, lead, window)

    def add_mistake(self) -> None:
        """Make the program wrong, in one of five ways; some of them change nothing."""
        kind = self.number(0, 4)
        if kind == 0:
            # A packet that nobody expects.
            receiver = self.chosen([node for node, own in self.receives.items() if own])
            self.receives[receiver].pop(self.number(0, len(self.receives[receiver]) - 1))
        elif kind == 1:
            # A node that sends in the step in which it receives.
            self.port_model = PortModel.HALF_DUPLEX
        else:
            sender = self.chosen([node for node, own in self.rows.items() if own])
            place = self.number(0, len(self.rows[sender]) - 1)
            self.rows[sender][place] = self._wrong(self.rows[sender][place], kind)

    def _wrong(self, row: Row, kind: int) -> Row:
        """Return a row that sends words, or writes words, beyond the memory, or goes on too far."""
        last = self.config.message_words - 1
        if kind == 2:
            return replace(row, source_address=last, length=max(row.length, 2))
        if kind == 3:
            return replace(row, target_address=last)
        port = self.number(1, self.config.topology.ports - 1)
        hops = self.number(1, LONGEST_WRONG_WAY)
        return replace(row, route=(*row.route, *[Segment(port, 1, 0)] * hops))

    def program(self) -> Program:
        ports = {node: sorted(own) for node, own in self.receives.items()}
        return Program.from_rows(
            self.config,
            self.port_model,
            [self.rows[node] for node in self.rows],
            [[step for step, _ in ports[node]] for node in ports],
            receive_ports=[[port for _, port in ports[node]] for node in ports],
        )


def _address(first: int, place: int, window: int) -> int:
    """Return the address of word ``place`` of a message that begins at ``first``."""
    if window == 0:
        return first + place
    size = 1 << window
    return first - first % size + (first + place) % size


@st.composite
def programs(
    draw: st.DrawFn,
    config: NetworkConfig,
    steps: int,
    packets: tuple[int, int],
    *,
    mistaken: bool = False,
) -> Program:
    """Draw a program with this many steps, and in each a number of packets from a range.

    ``mistaken``: then draw a mistake, which most runs answer with a flag.
    """
    drawn = _Growing(draw, config)
    for step in range(1, steps + 1):
        drawn.came = {}
        for _ in range(drawn.number(*packets)):
            drawn.add_packet(step)
    if mistaken:
        drawn.add_mistake()
    return drawn.program()
