"""Units of a schedule for circuits: what each tree of sends occupies, reads and writes, and when.

A *unit* is one tree of sends (:mod:`...schedule.trees`), and the trees that stream the words of its
targets on: they fork in the routers of these targets, and read no memory. All times of a unit are
known relative to the cycle in which its first word is read: after that, none of its words waits.
Times are those of run tables (docs/router.md, section 23): an entry that is current in cycle t
reads a word in cycle t, and its router moves words in cycle t + 2. With R link registers::

    0 -> 2 by 1, L words     node 0    t          t + L           reads; output 1 takes input 0
                             node 1      t+R+1      t+R+1+L       output 1 takes input 2
                             node 2        t+2(R+1)    ...        output 0 takes input 2

In a join each node takes its words when those from farther away come by, and a sum leaves a cycle
after its words. So the sources of a join begin at different times.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.ragged import offsets_of, ranges
from ...network.config import NetworkConfig
from ...network.port_model import PortModel
from ...schedule.same_sends import first_of_pairs, sets_of
from ...schedule.schedule import Schedule
from ...schedule.streams import Streams
from ..memory.layout import Layout
from .program import SUM

OWN_INPUT = 1
"""The code of input 0, where the words of a node's own memory come from."""
EJECTED = 1
"""The code of an ejection of its own input, in a network with a port for every link."""


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of nodes: columns with a row for each.

    ``unit`` needs the setting from ``time`` on, relative to its begin. ``length`` are the cycles.
    For a code, ``value`` is the code and ``field`` a way out: an output, or with P ports and a port
    for every link P + l - 1 for the ejection of lane l. For an address, ``value`` is the address
    and ``field`` the lane, from 0.
    """

    unit: Numbers
    node: Numbers
    time: Numbers
    length: Numbers
    field: Numbers
    value: Numbers

    def followed_by(self, others: Settings) -> Settings:
        """Return these settings and others."""
        pairs = zip(astuple(self), astuple(others), strict=True)
        return Settings(*map(np.concatenate, pairs)) if len(others.unit) else self


@dataclass(frozen=True, eq=False)
class Words:
    """Blocks that units read or write: columns with a row for each block of a source or target.

    ``pair`` is ``node * blocks + block``, ``send`` a send of the unit with this end. The first word
    of the block is read, or leaves output 0, at ``time`` after the unit's begin.
    """

    unit: Numbers
    send: Numbers
    pair: Numbers
    time: Numbers


@dataclass(frozen=True, eq=False)
class Units:
    """All units of a schedule, in the order of their first sends.

    ``first`` has the first send of each, ``length`` its cycles: its words, or 1 for a token.
    ``span`` is the time from its begin to the cycle after its last word has left output 0. The uses
    of unit i are ``first_use[i]`` to ``first_use[i + 1] - 1``: from ``use_time`` on it occupies
    ``resource`` for ``length`` cycles.
    """

    schedule: Schedule
    first: Numbers
    length: Numbers
    span: Numbers
    first_use: Numbers
    resource: Numbers
    use_time: Numbers
    resources: int
    codes: Settings
    joins: Settings
    sends: Settings
    receives: Settings
    reads: Words
    writes: Words


def split(schedule: Schedule) -> tuple[Schedule, Numbers]:
    """Return the schedule with a send of its own for each block, and the send that each was.

    A block of no words is left out, except the lowest one of a send without words: sends of one
    tree may list their blocks in different orders.
    """
    sends = schedule.block_sends
    kept = schedule.blocks.words[schedule.block_ids] > 0
    lowest = np.lexsort((schedule.block_ids, sends))[schedule.block_offsets[:-1]]
    kept[lowest[schedule.send_words == 0]] = True
    sends, blocks = sends[kept], schedule.block_ids[kept]
    alone = np.arange(len(sends) + 1)
    return schedule.with_sends(sends, schedule.step[sends], alone, blocks), sends


class _Paths:
    """Trees, and the time at which each passes each node of its paths.

    ``time`` has the time of each of ``path_nodes``, and ``way_out`` the port by which its path goes
    on, 0 at its end. ``meeting`` are the sorted keys of links, or ends, that take the sum of two
    words, see :meth:`keys`.
    """

    def __init__(self, schedule: Schedule, config: NetworkConfig, streams: Streams) -> None:
        self.schedule, self.hop_cycles = schedule, 1 + config.link_registers
        self.all_port, self.lanes = config.all_port, config.lanes
        lengths = np.diff(schedule.path_offsets)
        self.send = np.repeat(np.arange(schedule.sends), lengths)
        place = np.arange(len(self.send)) - schedule.path_offsets[self.send]
        self.is_first, self.is_last = place == 0, place == lengths[self.send] - 1
        # Hops begin at all nodes of the paths except the last ones.
        self.begins = np.flatnonzero(~self.is_last)
        self.out_port = schedule.links % schedule.topology.ports
        self.way_out = np.zeros(len(self.send), np.int64)
        self.way_out[self.begins] = self.out_port
        peer = schedule.topology.peer[schedule.path_nodes[self.begins], self.out_port]
        self.input = np.full(len(self.send), OWN_INPUT)
        self.input[self.begins + 1] = 1 + peer
        self.feeder = self._feeders(streams)
        begin, behind = self._begins()
        self.first, self.unit = np.unique(schedule.trees[begin], return_inverse=True)
        joins = np.bincount(schedule.joins, minlength=schedule.sends)[schedule.joins] > 1
        self.meeting, self.first_input, self.second_input = self._meetings(joins)
        self.time = (behind[self.send] + place) * self.hop_cycles
        if joins.any():
            self._delay(joins[self.send])

    def _feeders(self, streams: Streams) -> Numbers:
        """Return the send whose words each send's router takes as they arrive, or -1 for none.

        A tree that streams takes the words of its feeder, if both carry the same blocks, none of
        its links leads back, and it brings them to no node a second time. Words that the memory
        combines pass the memory.
        """
        schedule, found = self.schedule, np.full(self.schedule.sends, -1)
        send, feeder = streams.send, streams.feeder
        if not len(send):
            return found
        first, last = schedule.path_offsets[:-1], schedule.path_offsets[1:] - 1
        carried = sets_of(np.arange(schedule.sends), schedule.block_offsets, schedule.block_ids)
        reached = schedule.step.astype(np.int64) * schedule.topology.nodes + schedule.target
        reached = reached * (1 + carried.max()) + carried
        _, number, count = np.unique(reached, return_inverse=True, return_counts=True)
        good = (carried[send] == carried[feeder]) & (count[number[send]] == 1)
        good &= ~(schedule.combine[send] | schedule.combine[feeder])
        good &= self.input[last[feeder]] != 1 + self.way_out[first[send]]
        whole = np.isin(schedule.trees[send], schedule.trees[send[~good]], invert=True)
        send, feeder = send[whole], feeder[whole]
        found[send] = feeder
        self.input[first[send]] = self.input[last[feeder]]
        return found

    def _begins(self) -> tuple[Numbers, Numbers]:
        """Return the send that reads each send's words from a memory, and the hops from there."""
        begin = np.where(self.feeder < 0, np.arange(len(self.feeder)), self.feeder)
        behind = np.where(self.feeder < 0, 0, self.schedule.distances[begin])
        # Each round doubles the number of sends that are followed back.
        for _ in range(len(begin).bit_length()):
            behind, begin = behind + behind[begin], begin[begin]
        return begin, behind

    def keys(self, places: Numbers) -> Numbers:
        """Return unit, node and way out of some of ``path_nodes`` as one number."""
        topology = self.schedule.topology
        keys = self.unit[self.send[places]] * topology.nodes + self.schedule.path_nodes[places]
        ways: Numbers = keys * topology.ports + self.way_out[places]
        return ways

    def joins_at(self, places: Numbers) -> npt.NDArray[np.bool_]:
        """Tell for some of ``path_nodes`` whether a sum of their unit goes on by their way out."""
        return np.isin(self.keys(places), self.meeting)

    def lanes_out(self, sources: Numbers) -> Numbers:
        """Return the lane, from 0, whose words leave each of the ``sources`` among path nodes."""
        if not self.all_port:
            return np.zeros(len(sources), np.int64)
        port = self.out_port[sources - self.send[sources]].astype(np.int64)
        # A router joins the words of lane 1.
        return np.where(self.joins_at(sources), 0, port - 1)

    def lanes_in(self, targets: Numbers) -> Numbers:
        """Return the lane, from 0, whose ejection the words take at each of the ``targets``."""
        return (
            self.input[targets] - 1 - OWN_INPUT
            if self.all_port
            else np.zeros(len(targets), np.int64)
        )

    def _meetings(self, joins: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers, Numbers]:
        """Return the keys of ways out that take two inputs of one join, and the inputs' codes."""
        crossed = self.schedule.crossings
        ends = self.begins[crossed[joins[self.schedule.hop_sends[crossed]]]] + 1
        sources = np.flatnonzero(self.is_first & joins[self.send])
        places = np.concatenate((ends, sources))
        keys, codes = self.keys(places), self.input[places]
        order = np.lexsort((codes, keys))
        keys, codes = keys[order], codes[order]
        second = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        return keys[second], codes[second - 1], codes[second]

    def _delay(self, joined: npt.NDArray[np.bool_]) -> None:
        """Set the times of joins, counted back from the end that all paths share."""
        places = np.arange(len(self.send))
        step = np.where(self.is_last, 0, self.hop_cycles + self.joins_at(places))
        total = np.cumsum(step)
        back = total[self.schedule.path_offsets[1:] - 1][self.send] - total + step
        longest = np.zeros(len(self.first), np.int64)
        np.maximum.at(longest, self.unit[self.send], back)
        self.time = np.where(joined, longest[self.unit[self.send]] - back, self.time)


def units_of(schedule: Schedule, config: NetworkConfig, layout: Layout, streams: Streams) -> Units:
    """Return the units of ``schedule`` in a network with blocks at the addresses of ``layout``.

    ``streams`` are those of the schedule whose words do not pass the memory, if they can.
    """
    paths = _Paths(schedule, config, streams)
    unit = paths.unit
    words = schedule.send_words[paths.first]
    length = np.maximum(words, 1)
    begins = np.flatnonzero(paths.is_first)[paths.feeder < 0]
    sources = begins[first_of_pairs(unit[paths.send[begins]], schedule.path_nodes[begins])]
    lane_out = paths.lanes_out(begins) + config.lanes * schedule.path_nodes[begins]
    senders = begins[first_of_pairs(unit[paths.send[begins]], lane_out)]
    targets = np.flatnonzero(paths.is_last)[first_of_pairs(unit, schedule.target)]
    codes = _codes(paths, targets, length)
    joins = _joins(paths, length)
    carried = _Carried.of(schedule, paths, layout)
    reads, _ = carried.at(sources, paths.time[sources], paths.lanes_out(sources))
    _, sends = carried.at(senders, paths.time[senders], paths.lanes_out(senders))
    if layout.token is not None:
        tokens = senders[words[unit[paths.send[senders]]] == 0]
        sends = sends.followed_by(_tokens(paths, tokens, layout.token))
    leaving = paths.time[targets] + paths.joins_at(targets)
    writes, receives = carried.at(targets, paths.time[targets], paths.lanes_in(targets))
    late = np.repeat(leaving - paths.time[targets], carried.counts(targets))
    writes = Words(writes.unit, writes.send, writes.pair, writes.time + late)
    span = np.zeros(len(length), np.int64)
    np.maximum.at(span, unit[paths.send[targets]], leaving)
    first_use, resource, time, number = _uses(paths, senders, codes, joins)
    return Units(
        schedule=schedule,
        first=paths.first,
        length=length,
        span=span + length,
        first_use=first_use,
        resource=resource,
        use_time=time,
        resources=number,
        codes=codes,
        joins=joins,
        sends=sends,
        receives=receives,
        reads=reads,
        writes=writes,
    )


def _tokens(paths: _Paths, sources: Numbers, address: int) -> Settings:
    """Return the reads of units without words: a token is the word at ``address``."""
    unit, one = paths.unit[paths.send[sources]], np.ones(len(sources), np.int64)
    node = paths.schedule.path_nodes[sources].astype(np.int64)
    return Settings(unit, node, paths.time[sources], one, paths.lanes_out(sources), address * one)


def _codes(paths: _Paths, targets: Numbers, length: Numbers) -> Settings:
    """Return what the outputs take: those of links, and the ways to the memories of targets."""
    crossed, topology = paths.schedule.crossings, paths.schedule.topology
    places = np.concatenate((paths.begins[crossed], targets))
    lanes = paths.lanes_in(targets) + topology.ports * paths.all_port
    output = np.concatenate((paths.out_port[crossed], lanes))
    unit, joined = paths.unit[paths.send[places]], paths.joins_at(places)
    ejected = paths.all_port & paths.is_last[places]
    code = np.where(joined, np.where(ejected, SUM, 1 + output), paths.input[places])
    return Settings(
        unit=unit,
        node=paths.schedule.path_nodes[places].astype(np.int64),
        time=paths.time[places],
        length=length[unit],
        field=output.astype(np.int64),
        value=np.where(ejected & ~joined, EJECTED, code),
    )


def _joins(paths: _Paths, length: Numbers) -> Settings:
    """Return the joins; their field is the first input, and their value the second one."""
    topology = paths.schedule.topology
    unit, node = np.divmod(paths.meeting // topology.ports, topology.nodes)
    every = np.arange(len(paths.send)) if len(unit) else np.zeros(0, np.int64)
    keys, place = np.unique(paths.keys(every), return_index=True)
    time = paths.time[place[np.searchsorted(keys, paths.meeting)]]
    return Settings(unit, node, time, length[unit], paths.first_input, paths.second_input)


def _uses(
    paths: _Paths, senders: Numbers, codes: Settings, joins: Settings
) -> tuple[Numbers, Numbers, Numbers, int]:
    """Return the resources of each unit, sorted by unit: first of each, resource, time, number.

    A way out of a router is a resource, the lane out of a memory, and the adder of a router. With
    half-duplex, the memory of a node is one too. A sum takes its way out a cycle later than its
    entry names it, so if there are joins, a way out is two resources: its code, and its wire.
    """
    nodes, ports, lanes = paths.schedule.topology.nodes, paths.schedule.topology.ports, paths.lanes
    ways = ports + lanes * paths.all_port
    way, into = codes.node * ways + codes.field, (codes.field == 0) | (codes.field >= ports)
    wire_time = codes.time + (codes.value == np.where(codes.field < ports, 1 + codes.field, SUM))
    unit, own = paths.unit[paths.send[senders]], paths.schedule.path_nodes[senders].astype(np.int64)
    time = paths.time[senders]
    wires, reads, adders, memories = np.cumsum([nodes * ways, nodes * ways, nodes * lanes, nodes])
    rows = [
        (codes.unit, way, codes.time),
        (unit, reads + own * lanes + paths.lanes_out(senders), time),
        (joins.unit, adders + joins.node, joins.time),
    ]
    if len(joins.unit):
        rows.append((codes.unit, wires + way, wire_time))
    if paths.schedule.port_model == PortModel.HALF_DUPLEX:
        rows.append((unit, memories + own, time))
        rows.append((codes.unit[into], memories + codes.node[into], wire_time[into]))
    table = np.unique(np.stack([np.concatenate(each) for each in zip(*rows, strict=True)]), axis=1)
    first = offsets_of(np.bincount(table[0], minlength=len(paths.first)))
    return first, table[1].copy(), table[2].copy(), int(memories) + nodes


@dataclass(frozen=True, eq=False)
class _Carried:
    """The blocks of each unit in the order of its words: unit i has ``first[i]`` to ``first[i+1]``.

    ``offset`` counts the words of the unit before each block.
    """

    schedule: Schedule
    paths: _Paths
    layout: Layout
    first: Numbers
    block: Numbers
    offset: Numbers

    @classmethod
    def of(cls, schedule: Schedule, paths: _Paths, layout: Layout) -> _Carried:
        """Order the blocks of each unit by their addresses at its first source."""
        count = np.diff(schedule.block_offsets)[paths.first]
        block = schedule.block_ids[ranges(schedule.block_offsets[paths.first], count)]
        unit = np.repeat(np.arange(len(count)), count)
        address = layout.addresses(schedule.source[paths.first][unit], block)
        order = np.lexsort((block, address, unit))
        carried: Numbers = block[order].astype(np.int64)
        first, words = offsets_of(count), schedule.blocks.words[carried].astype(np.int64)
        before = offsets_of(words)[:-1]
        offset: Numbers = before - before[first[:-1]][unit]
        return cls(schedule, paths, layout, first, carried, offset)

    def counts(self, places: Numbers) -> Numbers:
        """Return how many blocks the unit of each of ``path_nodes`` carries."""
        unit = self.paths.unit[self.paths.send[places]]
        counts: Numbers = self.first[unit + 1] - self.first[unit]
        return counts

    def at(self, places: Numbers, time: Numbers, lane: Numbers) -> tuple[Words, Settings]:
        """Return the blocks at the sources or targets ``places``, and the addresses there.

        ``time`` is the time of the first word at each, and ``lane`` the lane that it takes. A block
        of no words has no setting.
        """
        schedule, counts = self.schedule, self.counts(places)
        send = np.repeat(self.paths.send[places], counts)
        unit, node = self.paths.unit[send], np.repeat(schedule.path_nodes[places], counts)
        row = ranges(self.first[self.paths.unit[self.paths.send[places]]], counts)
        block = self.block[row]
        begin = np.repeat(time, counts) + self.offset[row]
        pair = node.astype(np.int64) * len(schedule.blocks) + block
        words = schedule.blocks.words[block].astype(np.int64)
        some = np.flatnonzero(words)
        settings = Settings(
            unit=unit[some],
            node=node[some].astype(np.int64),
            time=begin[some],
            length=words[some],
            field=np.repeat(lane, counts)[some],
            value=self.layout.addresses(node[some], block[some]),
        )
        return Words(unit, send, pair, begin), settings
