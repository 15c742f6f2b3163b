"""A checker of certificates of packet programs, which shares no code with the compiler.

It reads the files of a program and of its certificate. An accepted program has these properties:

* each route leads along links to a node with an interface, and its channels, ejection included,
  rise in the certificate's order: no packets wait in a circle (Dally & Seitz, 1987);
* each node expects exactly the packets that come, so each step ends;
* rows that stream send on words that come; a second order rises from each packet of their steps to
  all channels and packets that it may wait for;
* with the "timing", and whatever the words are, each owed word is made of each of its values,
  once unless its operator is idempotent;
* if rows are timed and words are owed: each row begins in its cycle, and no flit waits, because no
  two want one output in one cycle;
* if asked: no output chooses between packets, so tiles that are later never end the run earlier.

The file runs alone: ``python packet_checker.py PROGRAM CERTIFICATE``.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from itertools import combinations, islice, pairwise, takewhile
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

Far = Callable[[int, int], tuple[int, int] | None]
"""The node and the input port behind an output port of a node; None without a link."""
MOST_WORDS = 1 << 16
"""Most words of a memory, by section 0 of docs/router.md."""
IDEMPOTENT = ("min", "max", "min-signed", "max-signed", "and", "or")
"""Operators whose words may have values in common."""
GRIDS, WRAPPED = ("mesh", "line", "torus", "ring"), ("torus", "ring")
Place = tuple[int, int]
"""A node and an address."""
Word = tuple[int, int, int]
"""Word i of each value whose bit is set, combined by an operator; 0 for a word of one value."""
Sent = tuple[int, int]
"""The number of a packet, and the number of a word in it."""


class RefusedError(ValueError):
    """A certificate that does not hold; the message says in one line why."""


class MalformedError(ValueError):
    """Files that are no packet program with a certificate."""


class Packet(NamedTuple):
    """A row of a node, its channels [node, port, VC] with the ejection, and its last input port."""

    node: int
    place: int
    row: dict[str, Any]
    channels: list[tuple[int, int, int]]
    lane: int

    @property
    def name(self) -> str:
        """The row's name in messages."""
        return f"node {self.node}, row {self.place}"


def check(
    program_text: bytes, certificate_text: bytes, *, fixed_order: bool = False
) -> dict[str, int]:
    """Return what holds: "channels" and "packets", and "words" that are owed.

    ``fixed_order`` also requires that no output chooses between packets, and adds "parts": sets of
    nodes that do not move each other by a cycle.

    Raises :class:`RefusedError` if the certificate does not hold, and :class:`MalformedError` for
    files of another form.
    """
    try:
        program, certificate = json.loads(program_text), json.loads(certificate_text)
        for file, name in ((program, "eyecast-program"), (certificate, "eyecast-certificate")):
            if [file["format"], file["version"]] != [name, 1]:
                raise ValueError(f"{name} is not a format of version 1 there")
        digest = sha256(program_text).hexdigest()
        require(certificate["program"] == digest, "the certificate is of another program")
        return _check(program, certificate, fixed_order)
    except RefusedError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise MalformedError(f"no program and certificate of version 1: {why}") from error


def _check(
    program: dict[str, Any], certificate: dict[str, Any], fixed_order: bool
) -> dict[str, int]:
    if certificate["timing"] not in ("barrier", "self-timed"):
        raise ValueError(f"the timing {certificate['timing']} does not exist")
    order = certificate["channel_order"]
    rank = {(node, port, vc): number for number, (node, port, vc) in enumerate(order)}
    require(len(rank) == len(order), "a channel is in the order twice")
    require(program["network"]["message_words"] <= MOST_WORDS, "no memory has so many words")
    far = links(program["network"]["topology"], certificate.get("links", []))
    packets = [
        packet(program["network"], far, node, place, row, len(order))
        for node, table in enumerate(program["nodes"])
        for place, row in enumerate(table["rows"])
    ]
    for each in packets:
        numbers = [rank.get(channel, -1) for channel in each.channels]
        rises = all(a < b for a, b in zip([-1, *numbers], numbers, strict=False))
        require(rises, f"{each.name}: the channels do not rise in the order")
    require_steps(program, packets)
    feeder = feeders(program["network"], packets)
    barrier = certificate["timing"] == "barrier"
    require(barrier or not feeder, "rows stream without a barrier between steps")
    require_waits(program["network"], packets, feeder, certificate.get("stream_order", []))
    timed = bool(certificate["owed"]) and has_timed_rows(packets)
    if timed:
        cycles = require_times(program["network"], packets, certificate.get("links", []))
    words = require_owed(Memories(program["network"], packets, feeder, certificate))
    found = {"channels": len(order), "packets": len(packets), "words": words}
    found |= {"cycles": cycles} if timed else {}
    if fixed_order:
        found["parts"] = parts_of(program["network"], packets, barrier)
    return found


def require(holds: bool, why: str) -> None:
    """Raise :class:`RefusedError` unless a condition holds."""
    if not holds:
        raise RefusedError(why)


def listed_only(topology: dict[str, Any]) -> bool:
    """Return whether the links of a topology are known from the certificate alone."""
    return bool(topology.get("host")) or topology["kind"] not in (*GRIDS, "hypercube", "graph")


def links(topology: dict[str, Any], listed: list[list[int]]) -> Far:
    """Return the links of a topology: of a kind that is known here, otherwise as ``listed``."""
    kind, table = topology["kind"], topology.get("neighbor", [])
    dims = topology.get("dims") or [topology.get("nodes", 1)]
    faulty, gone = {*topology["faulty_nodes"]}, {(a, b) for a, b in topology["faulty_links"]}
    others = {(a, p): (b, q) for a, p, b, q in listed}

    def ports(a: int, b: int) -> list[int]:
        return [port for port, node in enumerate(table[a]) if node == b]

    def far(node: int, port: int) -> tuple[int, int] | None:
        if listed_only(topology):
            return others.get((node, port))
        if kind == "graph":
            to = table[node][port] if 0 < port < len(table[node]) else -1
            return None if to < 0 else (to, ports(to, node)[ports(node, to).index(port)])
        if kind == "hypercube":
            inside = 0 < port <= topology["dimension"]
            return (node ^ 1 << (port - 1), port) if inside else None
        axis, down = divmod(port - 1, 2)
        if not 0 <= axis < len(dims):
            return None
        below, side = prod(dims[:axis]), dims[axis]
        at = node // below % side
        to = at + 1 - 2 * down
        if kind in WRAPPED and side > 1:
            to %= side
        return (node + (to - at) * below, port + 1 - 2 * down) if 0 <= to < side else None

    def working(node: int, port: int) -> tuple[int, int] | None:
        to = far(node, port)
        bad = to and ({node, to[0]} & faulty or (node, to[0]) in gone)
        return None if bad else to

    return working


def packet(
    network: dict[str, Any], far: Far, node: int, place: int, row: dict[str, Any], most: int
) -> Packet:
    """Follow a row's route along the links; it has at most ``most`` channels."""
    here, came, channels, vc = node, 0, [], 0
    for port, hops, vc in row["route"]:
        require(hops > 0, f"node {node}, row {place}: a segment has no hops")
        require(hops <= most, f"node {node}, row {place}: the channels do not rise in the order")
        for _ in range(hops):
            to = far(here, port)
            name = f"node {node}, row {place}"
            if to is None:
                raise RefusedError(f"{name}: no link leaves node {here} by port {port}")
            require(port != came, f"{name}: the route turns back at node {here}")
            require(0 <= vc < network["vcs"], f"{name}: VC {vc} does not exist")
            channels.append((here, port, vc))
            here, came = to
    one = Packet(node, place, row, [*channels, (here, 0, vc)], came)
    require(bool(channels), f"{one.name}: the route has no hop")
    require(here not in network["topology"].get("switches", []), f"{one.name}: ends at a switch")
    exists = 0 <= row.get("operator", 0) <= 2 * len(network.get("operators", []))
    require(exists, f"{one.name}: its operator does not exist")
    window, words = row.get("window", 0), network["message_words"]
    require(window < max(1, (words - 1).bit_length()), f"{one.name}: its window is too large")
    size = 1 << window if window else row["length"]
    for address in row["source_address"], row["target_address"]:
        first = address >> window << window
        inside = 0 <= first <= words - size and row["length"] <= size
        require(inside, f"{one.name}: its words are not in the memory")
    return one


def require_steps(program: dict[str, Any], packets: list[Packet]) -> None:
    """Require that rows are in order of step, and that each node expects the arriving packets."""
    network, latest = program["network"], defaultdict[tuple[int, int], int](int)
    come, uncounted = Counter[tuple[int, int, int]](), Counter[int]()
    begun: dict[tuple[int, int], Packet] = {}
    all_port = network.get("all_port", False)
    for each in packets:
        sender, step = sender_of(network, each), each.row["step"]
        require(step >= max(1, latest[sender]), f"{each.name}: its step is before the last row's")
        latest[sender] = step
        if one := begun.pop(sender, None):
            alike = all(one.row[field] == each.row[field] for field in ("step", "route"))
            require(alike, f"{one.name}: the next row does not continue its message")
        if each.row.get("continued", False):
            begun[sender] = each
        target = each.channels[-1][0]
        besides = program["port_model"] == "half-duplex" and not each.row.get("stream", 0)
        besides = besides and step in program["nodes"][each.node]["receives"]
        require(not besides, f"{each.name}: its node receives in the same step")
        if each.row.get("continued", False) or "start" in each.row:
            uncounted[target] += 1
        else:
            come[target, step, each.lane if all_port else 0] += 1
    for each in begun.values():
        require(False, f"{each.name}: no row continues its message")
    for node, table in enumerate(program["nodes"]):
        ports = table["receive_ports"] if all_port else [0] * len(table["receives"])
        for step, port in zip(table["receives"], ports, strict=True):
            single = come.pop((node, step, port), 0) == 1
            require(
                single, f"node {node} expects one packet in step {step}, and another number comes"
            )
        awaited, counts = table.get("awaited", 0), network.get("timed_rows", False)
        right = awaited == (uncounted[node] if counts else 0)
        require(right, f"node {node} does not await the timed packets that come")
    for node, step, _ in come:
        require(False, f"node {node} does not expect the packet of step {step} that comes")


def feeders(network: dict[str, Any], packets: list[Packet]) -> dict[int, int]:
    """Return, for each packet that waits for words, the packet whose words it sends on.

    Require that these words come, and that no word waits for itself.
    """
    all_port, found = network.get("all_port", False), dict[int, int]()
    come = {
        (each.channels[-1][0], each.row["step"], each.lane if all_port else 1): number
        for number, each in enumerate(packets)
        if not each.row.get("continued", False) and "start" not in each.row
    }
    for number, each in enumerate(packets):
        stream, lead = each.row.get("stream", 0), each.row.get("lead", 0)
        require(lead >= 0 and (stream or not lead), f"{each.name}: a lead without a stream")
        if stream:
            source = come.get((each.node, each.row["step"], stream), -1)
            comes = source >= 0 and network.get("streams", False)
            require(comes, f"{each.name}: the packet that it streams does not come")
            waits = each.row["length"] - lead
            enough = waits <= packets[source].row["length"]
            require(enough, f"{each.name}: streams more words than come")
            found |= {number: source} if waits > 0 else {}
    # Around a circle, each lead makes the awaited word an earlier one.
    leadless = {a: [b] for a, b in found.items() if not packets[a].row.get("lead", 0)}
    try:
        TopologicalSorter(leadless).prepare()
    except CycleError as error:
        name = packets[error.args[1][0]].name
        raise RefusedError(f"{name}: its words wait for themselves") from error
    return found


def require_waits(
    network: dict[str, Any], packets: list[Packet], feeder: dict[int, int], order: list[Any]
) -> None:
    """Require that an order rises along all waits of the steps in which rows stream.

    A packet waits for a channel that packets of other senders take too, for the packet before it
    at its sender, and for words. Meanwhile it holds channels of its route; so these wait for the
    next channel, and for the words. Packets may have one number in the order if one sends on the
    words of the other, because no word waits for itself.
    """
    rank = {tuple(item): number for number, group in enumerate(order) for item in group}
    steps = {packets[number].row["step"] for number in feeder}
    streamed = [(n, each) for n, each in enumerate(packets) if each.row["step"] in steps]
    senders, routes = defaultdict[tuple[int, ...], set[tuple[int, int]]](set), {}
    for number, each in streamed:
        # An ejection has one sender's packets in a step, or those of one link.
        routes[number] = [(each.row["step"], *channel) for channel in each.channels[:-1]]
        for channel in routes[number]:
            senders[channel].add(sender_of(network, each))
        known = all(item in rank for item in [*routes[number], (each.node, each.place)])
        require(known, f"{each.name}: it is not in the order of streams")
    former: dict[tuple[int, ...], int] = {}
    for number, each in streamed:
        here, numbers = rank[each.node, each.place], [rank[channel] for channel in routes[number]]
        sender = (*sender_of(network, each), each.row["step"])
        awaited = [rank[channel] for channel in routes[number] if len(senders[channel]) > 1]
        awaited += [former[sender]] if sender in former else []
        rises = all(a < b for a, b in pairwise(numbers)) and all(here < a for a in awaited)
        if number in feeder:
            words = rank[packets[feeder[number]].node, packets[feeder[number]].place]
            rises = rises and here <= words and max(numbers) < words
        require(rises, f"{each.name}: its waits do not rise in the order of streams")
        former[sender] = here


def parts_of(network: dict[str, Any], packets: list[Packet], barrier: bool) -> int:
    """Require that packets pass each output in the order of one sender; return the parts.

    All packets of a step, or of all steps without a barrier, come to an output from one buffer.
    Then a flit leaves as soon as it is there, the flit before has left, and a credit is back: no
    later tile makes any flit leave earlier. Parts share no node, and none awaits another.
    """
    source: dict[tuple[int, int, int, int], tuple[int, int, int]] = {}
    parts = {node: {node} for each in packets for node in (each.node, each.channels[-1][0])}
    for each in packets:
        require("start" not in each.row, f"{each.name}: a timed row has no guarantee of time")
        step = each.row["step"] if barrier else 0
        came = (*sender_of(network, each), each.channels[0][2])
        for node, port, vc in each.channels:
            lane = each.lane if port == 0 and network.get("all_port", False) else 0
            alone = source.setdefault((step, node, port, lane), came) == came
            require(alone, f"{each.name}: other packets may take port {port} of node {node} first")
            came = node, port, vc
        joined = parts[each.node] | parts[each.channels[-1][0]]
        parts |= dict.fromkeys(joined, joined)
    return min(1, len(parts)) if barrier else len({id(part) for part in parts.values()})


def has_timed_rows(packets: list[Packet]) -> bool:
    """Return whether a row says its cycle; then :func:`require_times` requires it of each row."""
    return any("start" in each.row for each in packets)


def require_times(network: dict[str, Any], packets: list[Packet], listed: list[list[int]]) -> int:
    """Require that each row begins in its cycle and no flit waits; return the cycles of the run.

    Flit j of a packet leaves the k-th router of its path k * (R + 1) cycles after the first. Each
    packet has all outputs on its path for itself, also where header flits are dropped.
    """
    hop = 1 + network.get("link_registers", 0)
    require(network["depth"] >= 2 * hop, "flits of timed rows wait for credits")
    require(not network["topology"].get("links"), "timed rows need links that are alike")
    pause, flits_of = lengths(network, listed)
    ready: dict[int, int] = {}
    taken: dict[tuple[int, int], list[tuple[int, int, str]]] = defaultdict(list)
    cycles = 0
    for each in packets:
        begin, flits = each.row.get("start", -1), flits_of(each.row)
        require(each.row["step"] == 1 and begin >= 0, f"{each.name}: the row is not timed")
        in_time = begin >= ready.get(each.node, pause)
        require(in_time, f"{each.name}: the sender is not ready in cycle {begin}")
        ready[each.node] = begin + flits + pause
        for k, (node, port, _) in enumerate(each.channels):
            first = begin + 1 + k * hop
            taken[node, port].append((first, first + flits - 1, each.name))
        cycles = max(cycles, first + flits)
    for (node, port), times in taken.items():
        times.sort()
        for (_, last, _), (first, _, other) in pairwise(times):
            require(last < first, f"{other}: flits meet at port {port} of node {node}")
    return cycles


def lengths(
    network: dict[str, Any], listed: list[list[int]]
) -> tuple[int, Callable[[dict[str, Any]], int]]:
    """Return the control words of a timed row, and a function for the flits of its packet.

    In a network whose links are ``listed``, each port of a node is one of some listed link.
    """
    topology, width = network["topology"], min(network["flit_width"], 64)
    dims = topology.get("dims") or [topology.get("nodes", 1)]
    if listed_only(topology):
        ports = 1 + max(port for _, port, _, _ in listed)
        run = longest_walk({(node, port): to for node, port, to, _ in listed})
    elif topology["kind"] in GRIDS:
        ports, run = 2 * len(dims) + 1, max(dims) - 1
    elif topology["kind"] == "hypercube":
        ports, run = topology["dimension"] + 1, 1
    else:
        ports, rows = len(topology["neighbor"][0]), enumerate(topology["neighbor"])
        ahead = {(node, port): to for node, row in rows for port, to in enumerate(row) if to >= 0}
        run = longest_walk(ahead)
    counted = (max(1, run) - 1).bit_length()
    slot = ports.bit_length() + counted + (network["vcs"] - 1).bit_length()
    step, words = network["steps"].bit_length(), network["message_words"]
    address = (words - 1).bit_length()

    def filled(widths: list[int]) -> int:
        """Return the words of fields: one that does not fit in a word starts the next."""
        full, used = 1, 0
        for each in widths:
            full, used = (full, used + each) if used + each <= width else (full + 1, each)
        return full

    def flits_of(row: dict[str, Any]) -> int:
        slots = sum(-(-hops >> counted) for _, hops, _ in row["route"])
        delivery = ports.bit_length() + step + address
        return filled([*[slot] * slots, delivery]) + int(row["length"])

    fields = [step, 4, address, words.bit_length(), min(width, 32)]
    return filled(fields), flits_of


def longest_walk(ahead: dict[tuple[int, int], int]) -> int:
    """Return the most links of a walk that leaves by one port and visits no node twice.

    ``ahead`` has the node behind each port of a node.
    """
    longest = 0
    for node, port in ahead:
        seen, here = {node}, ahead.get((node, port), -1)
        while here >= 0 and here not in seen:
            seen.add(here)
            here = ahead.get((here, port), -1)
        longest = max(longest, len(seen) - 1)
    return longest


def sender_of(network: dict[str, Any], each: Packet) -> tuple[int, int]:
    """Return the node and the injection port of a packet."""
    return each.node, each.channels[0][1] if network.get("all_port", False) else 0


def bits_of(certificate: dict[str, Any]) -> dict[int, int]:
    """Return a bit for each value that is held or owed, whatever its number."""
    held = {each["value"] for each in certificate["held"]}
    owed = {value for each in certificate["owed"] for value in each["values"]}
    return {value: 1 << place for place, value in enumerate(sorted(held | owed))}


class Memories:
    """The values that all memories hold, while the steps go by."""

    def __init__(
        self,
        network: dict[str, Any],
        packets: list[Packet],
        feeder: dict[int, int],
        certificate: dict[str, Any],
    ) -> None:
        self.network, self.packets, self.feeder = network, packets, feeder
        self.listed = certificate.get("links", [])
        self.barrier, self.owed = certificate["timing"] == "barrier", certificate["owed"]
        self.half = 1 << (network["message_words"] - 1).bit_length() - 1
        self.words: dict[Place, Word | None] = {}
        self.used: set[Place] = set()
        self.depths: dict[Sent, int] = {}
        self.bits = bits_of(certificate)
        for held in certificate["held"]:
            inside = 0 <= held["address"] <= network["message_words"] - held["words"]
            require(inside, f"node {held['node']} holds a value beyond its memory")
            for i in range(held["words"]):
                self.words[held["node"], held["address"] + i] = i, self.bits[held["value"]], 0

    def go(self, numbers: list[int]) -> None:
        """Carry out a step: of all words that await equally many, first reads and then writes."""
        reads, writes = defaultdict[Place, list[Sent]](list), defaultdict[Place, list[Sent]](list)
        levels = defaultdict[int, list[tuple[Sent, Place, Place]]](list)
        for number in numbers:
            row, target = self.packets[number].row, self.packets[number].channels[-1][0]
            for i in range(row["length"]):
                sent = number, i
                at = self.packets[number].node, wrapped(row, row["source_address"], i)
                to = target, wrapped(row, row["target_address"], i)
                reads[at].append(sent)
                writes[to].append(sent)
                if self.code(sent) and self.code(sent) % 2 == 0:
                    reads[self.other(to)].append(sent)
                levels[self.depth(sent)].append((sent, at, to))
        brought: dict[Sent, Word | None] = {}
        for _, level in sorted(levels.items()):
            brought |= {sent: self.words.get(at) for sent, at, _ in level}
            for sent, _, to in level:
                word = brought[sent]
                self.words[to] = self.combined(sent, to, word) if self.code(sent) else word
        self.require_order(reads, writes, brought)

    def require_order(
        self,
        reads: dict[Place, list[Sent]],
        writes: dict[Place, list[Sent]],
        brought: dict[Sent, Word | None],
    ) -> None:
        """Require that no result depends on which words of a step arrive first."""
        for to, words in writes.items():
            for one, other in combinations(words, 2):
                codes = self.code(one), self.code(other)
                alike = codes == (0, 0) and brought[one] == brought[other]
                alike = alike or all(code % 2 for code in codes)
                alike = alike or self.before(one, other, 1) or self.before(other, one, 1)
                name = self.packets[other[0]].name
                require(alike, f"{name}: another packet of its step writes word {to[1]}, too")
            free = to not in self.used and all(
                self.before(write, read, 1) or self.before(read, write, 0)
                for read in reads.get(to, ())
                for write in words
            )
            require(free, f"node {to[0]} may read word {to[1]} while it is written")
        if not self.barrier:
            self.used |= reads.keys() | writes.keys()

    def awaited(self, sent: Sent) -> Iterator[Sent]:
        """Yield a word, the word that must be written before it leaves, and so on."""
        while True:
            yield sent
            number, i = sent
            lead = self.packets[number].row.get("lead", 0)
            if number not in self.feeder or i < lead:
                return
            sent = self.feeder[number], i - lead

    def before(self, one: Sent, other: Sent, least: int) -> bool:
        """Tell if a word leaves before another; with ``least`` 1, if it is also written before."""
        ways = islice(self.awaited(other), least, None)
        return any(number == one[0] and one[1] <= i for number, i in ways)

    def depth(self, sent: Sent) -> int:
        """Return how many words a word awaits, one after the other."""
        way = [*takewhile(lambda each: each not in self.depths, self.awaited(sent))]
        further = next(islice(self.awaited(way[-1]), 1, None), None) if way else None
        known = -1 if further is None else self.depths[further]
        for each in reversed(way):
            known += 1
            self.depths[each] = known
        return self.depths[sent]

    def code(self, sent: Sent) -> int:
        """Return the operator's number in a word's row."""
        return int(self.packets[sent[0]].row.get("operator", 0))

    def other(self, to: Place) -> Place:
        """Return the same word of the other half of a memory."""
        return to[0], to[1] ^ self.half

    def go_by_cycles(self) -> None:
        """Carry out timed rows: a word written in cycle t is read from cycle t + 1 on."""
        _, flits_of = lengths(self.network, self.listed)
        hop = 1 + self.network.get("link_registers", 0)
        events = []
        for number, each in enumerate(self.packets):
            row, target = each.row, each.channels[-1][0]
            injected = row["start"] + flits_of(row) - row["length"]
            way = 1 + hop * (len(each.channels) - 1)
            for i in range(row["length"]):
                # Of a cycle, all reads come before all writes.
                read = injected + i - 1, 0, number, i, (each.node, row["source_address"] + i)
                write = injected + i + way, 1, number, i, (target, row["target_address"] + i)
                events += [read, write]
        carried: dict[Sent, Word | None] = {}
        for _, writes, number, i, at in sorted(events):
            if writes:
                self.words[at] = carried.pop((number, i))
            else:
                carried[number, i] = self.words.get(at)

    def combined(self, sent: Sent, to: Place, y: Word | None) -> Word:
        """Return the result of a row's operator on two words.

        The words have no value in common, unless the operator is idempotent.
        """
        name, (operator, across) = self.packets[sent[0]].name, divmod(self.code(sent) + 1, 2)
        x = self.words.get(self.other(to) if across else to)
        require(self.barrier, f"{name}: combines words without a barrier")
        if x is None or y is None:
            raise RefusedError(f"{name}: combines a word of no value")
        alike = x[0] == y[0] and {x[2], y[2]} <= {0, operator}
        once = not x[1] & y[1] or idempotent(self.network["operators"][operator - 1])
        require(alike and once, f"{name}: combines other words, or a value twice")
        return x[0], x[1] | y[1], operator


def idempotent(operator: object) -> bool:
    """Tell whether words combined by an operator, with lanes or without, may share values."""
    return str(operator).partition(":")[0] in IDEMPOTENT


def require_owed(memories: Memories) -> int:
    """Require that the packets bring each owed word; return the number of these words."""
    words = 0
    if memories.owed and has_timed_rows(memories.packets):
        memories.go_by_cycles()
    elif memories.owed:
        steps = defaultdict[int, list[int]](list)
        for number, each in enumerate(memories.packets):
            steps[each.row["step"]].append(number)
        for step in sorted(steps):
            memories.go(steps[step])
    for owed in memories.owed:
        values = sum(memories.bits[value] for value in {*owed["values"]})
        for i in range(owed["words"]):
            there = memories.words.get((owed["node"], owed["address"] + i))
            right = there == (i, values, owed["operator"])
            require(right, f"node {owed['node']} lacks the word at {owed['address'] + i}")
        words += owed["words"]
    return words


def wrapped(row: dict[str, Any], address: int, i: int) -> int:
    """Return the address of word ``i`` of a message, in its window if it has one."""
    mask = (1 << row.get("window", 0)) - 1
    return address & ~mask | address + i & mask if mask else address + i


def main() -> None:
    """Check the two files that the command line names; exit with status 1 if it does not hold."""
    program, certificate = (Path(name).read_bytes() for name in sys.argv[1:3])
    try:
        found = check(program, certificate)
    except (RefusedError, MalformedError) as error:
        sys.exit(f"does not hold: {error}")
    sys.stdout.write(
        "holds: {channels} channels, {packets} packets, {words} words\n".format(**found)
    )


if __name__ == "__main__":
    main()
