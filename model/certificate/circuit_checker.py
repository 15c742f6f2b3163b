"""A checker of certificates of programs on circuits, which shares no code with the compiler.

It reads the files of a program and of its certificate, and follows every word through the run
tables, as docs/router.md, section 23, says. It knows of a word only which values it is made of.
What it accepts has these properties, whatever the words are:

* each output takes one input a cycle, and a sum never meets a word at an output;
* each word arrives in the cycle in which a run expects it, and no run expects another;
* no word is read while it is written, and nothing lies beyond a memory;
* at the end, each owed word is made of each of its values, once unless its operator is idempotent.

The links of meshes, tori, lines and rings are known here. Of any other network they are those that
the certificate lists. The file runs alone: ``python circuit_checker.py PROGRAM CERTIFICATE``.
"""

import json
import sys
from collections import defaultdict
from hashlib import sha256
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

MOST_WORDS, LONGEST_RUN = 1 << 16, 1023
"""Most words of a memory, and most cycles of a run: sections 0 and 23 of docs/router.md."""
FIRST_CYCLE = 2
"""The cycle in which the first run of each table begins."""
REPLACE = 1
"""The value of ``receive`` for a word that replaces; greater ones combine."""


class RefusedError(ValueError):
    """A certificate that does not hold; the message says in one line why."""


class MalformedError(ValueError):
    """Files that are no program on circuits with a certificate."""


class Word(NamedTuple):
    """Word ``place`` of each value whose bit is set in ``values``, combined by an operator.

    ``operator`` is the number of the network's operator, or 0 for a word of one value.
    """

    place: int
    values: int
    operator: int


IDEMPOTENT = ("min", "max", "min-signed", "max-signed", "and", "or")
"""Operators whose words may have values in common."""

UNKNOWN = Word(-1, 0, 0)
"""A word of a memory of which the certificate says nothing."""

SUM = -1000
"""In place of a way into a router: the sum of the two words that its run joins."""

Step = tuple[dict[str, Any], int]
"""A run, and the number of cycles for which it was current before."""
IDLE: Step = ({"codes": []}, 0)


def check(program_text: bytes, certificate_text: bytes) -> int:
    """Return the cycles of the run; raise :class:`RefusedError` if the certificate does not hold.

    Raises :class:`MalformedError` for files of another form.
    """
    try:
        return _check(program_text, certificate_text)
    except RefusedError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        raise MalformedError(f"no program and certificate of version 2: {why}") from error


def _check(program_text: bytes, certificate_text: bytes) -> int:
    program, certificate = json.loads(program_text), json.loads(certificate_text)
    for file, name in ((program, "eyecast-program"), (certificate, "eyecast-certificate")):
        if [file["format"], file["version"]] != [name, 2]:
            raise ValueError(f"{name} is not a format of version 2 there")
    digest = sha256(program_text).hexdigest()
    require(certificate["program"] == digest, "the certificate is of another program")
    run = Run(program, certificate)
    for cycle in range(run.cycles + 1):
        run.go(cycle)
    require(certificate["cycles"] == run.cycles, f"the run takes {run.cycles} cycles")
    run.require_owed(certificate["owed"])
    return run.cycles


def require(holds: bool, why: str) -> None:
    """Raise :class:`RefusedError` unless a condition holds."""
    if not holds:
        raise RefusedError(why)


def bits_of(certificate: dict[str, Any]) -> dict[int, int]:
    """Return a bit for each value that is held or owed, whatever its number."""
    held = {each["value"] for each in certificate["held"]}
    owed = {value for each in certificate["owed"] for value in each["values"]}
    return {value: 1 << place for place, value in enumerate(sorted(held | owed))}


def idempotent(operator: object) -> bool:
    """Tell whether words combined by an operator, with lanes or without, may share values."""
    return str(operator).partition(":")[0] in IDEMPOTENT


class Run:
    """All words of a program under way, and the memories."""

    def __init__(self, program: dict[str, Any], certificate: dict[str, Any]) -> None:
        network = program["network"]
        names = network.get("operators", [])
        self.operators = len(names)
        self.idempotent = {number for number, each in enumerate(names, 1) if idempotent(each)}
        self.hop = 1 + network.get("link_registers", 0)
        self.half_duplex = program["port_model"] == "half-duplex"
        self.all_port = network.get("all_port", False)
        self.switches = {*network["topology"].get("switches", [])}
        self.words = network["message_words"]
        self.ends = {(a, p): (b, q) for a, p, b, q in certificate["links"]}
        require(len({*self.ends.values()}) == len(certificate["links"]), "two links have one end")
        known = grid_links(network["topology"])
        require(known in (None, self.ends), "the links are not those of the network")
        require(self.words <= MOST_WORDS, "no memory has so many words")
        tables = [node["runs"] for node in program["nodes"]]
        require(max(map(len, tables)) < network["table_words"], "a table is too long")
        longest = max((run["duration"] for runs in tables for run in runs), default=0)
        require(longest <= LONGEST_RUN, "a run is too long")
        self.steps = [[(run, k) for run in runs for k in range(run["duration"])] for runs in tables]
        # The end entry, and then the cycles in which the last words are written.
        after = 5 if self.operators else 3
        self.cycles = FIRST_CYCLE + max(map(len, self.steps)) + after
        self.memory: dict[tuple[int, int], Word] = {}
        self.bits = bits_of(certificate)
        for held in certificate["held"]:
            inside = 0 <= held["address"] <= self.words - held["words"]
            require(inside, f"node {held['node']} holds a value beyond its memory")
            for place in range(held["words"]):
                word = Word(place, self.bits[held["value"]], 0)
                self.memory[held["node"], held["address"] + place] = word
        self.inputs: dict[int, dict[tuple[int, int], Word]] = defaultdict(dict)
        self.writes: dict[int, dict[tuple[int, int], Word]] = defaultdict(dict)
        self.sums: dict[int, Word] = {}

    def go(self, cycle: int) -> None:
        """Carry out one cycle of all nodes."""
        sums, self.sums = self.sums, {}
        held: dict[int, dict[int, Word]] = defaultdict(dict)
        for (node, port), word in self.inputs.pop(cycle, {}).items():
            held[node][port] = word
        for node in range(len(self.steps)):
            step, before = self.step(node, cycle - 2), self.step(node, cycle - 3)
            if step is not IDLE or before is not IDLE or node in held:
                self.switch(node, cycle, step, before, held[node], sums.get(node))
            self.read(node, cycle)
        self.memory |= self.writes.pop(cycle, {})

    def step(self, node: int, cycle: int) -> Step:
        """Return the run that is current in a cycle."""
        place, steps = cycle - FIRST_CYCLE, self.steps[node]
        return steps[place] if 0 <= place < len(steps) else IDLE

    def ways(self, run: dict[str, Any]) -> dict[int, int]:
        """Return what each way out of a router takes: a way in, or SUM.

        A positive way is a link port. Way 0 leads from and to the memory; with a port for every
        link, way -l is lane l.
        """
        lane = -1 if self.all_port else 0
        found = {}
        for output, code in enumerate(run.get("codes", [])):
            if code:
                found[output] = SUM if code == 1 + output else code - 1 or lane * output
        for number, code in enumerate(run.get("ejections", []), start=1):
            if code:
                found[-number] = number if code == 1 else SUM
        return found

    def joined(self, run: dict[str, Any]) -> list[int]:
        """Return the ways in whose words a run joins; SUM, which no word takes, for a code of 0."""
        codes = [run.get(name, 0) for name in ("first", "second")] if run.get("operator") else []
        return [code - 1 or -self.all_port if code else SUM for code in codes]

    def read(self, node: int, cycle: int) -> None:
        """Read the words that the current run sends."""
        run, k = self.step(node, cycle)
        for way in {*self.ways(run).values(), *self.joined(run)} - {SUM}:
            if way > 0:
                continue
            require(node not in self.switches, f"{name(node, cycle)} is a switch and reads a word")
            place = node, self.address(node, cycle, of_lane(run, "send_address", way) + k)
            require(place not in self.writes[cycle], f"{name(node, cycle)} reads what is written")
            self.inputs[cycle + 2][node, way] = self.memory.get(place, UNKNOWN)

    def switch(
        self, node: int, cycle: int, step: Step, before: Step, held: dict[int, Word], made: Any
    ) -> None:
        """Let words leave a router by the ways that take them."""
        run, outputs = step[0], {}
        named = {*self.joined(run)}
        if named:
            require(named <= {*held}, f"{name(node, cycle)} joins a word that is not there")
            require(len(named) == 2, f"{name(node, cycle)} joins a word with itself")
            self.sums[node] = self.combined(node, cycle, run["operator"], *map(held.get, named))
        for output, source in self.ways(run).items():
            if source == SUM:
                require(node in self.sums, f"{name(node, cycle)} has no sum")
                continue
            require(source in held, f"{name(node, cycle)} takes a word that is not there")
            named.add(source)
            outputs[output] = held[source], step
        for output, source in self.ways(before[0]).items():
            if source == SUM:
                require(output not in outputs, f"a sum meets a word at {name(node, cycle)}")
                outputs[output] = made, before
        require(named == {*held}, f"{name(node, cycle)} has a word that nothing takes")
        both = self.half_duplex and min(held, default=1) <= 0 and min(outputs, default=1) <= 0
        require(not both, f"{name(node, cycle)} sends and receives at once")
        for output, (word, of) in outputs.items():
            self.leave(node, cycle, output, word, of)

    def leave(self, node: int, cycle: int, output: int, word: Word, step: Step) -> None:
        """Let a word leave by a way out: to the next router, or to the memory."""
        if output > 0:
            require((node, output) in self.ends, f"{name(node, cycle)} has no link {output}")
            self.inputs[cycle + self.hop][self.ends[node, output]] = word
            return
        run, k = step
        require(node not in self.switches, f"{name(node, cycle)} is a switch and gets a word")
        receive = of_lane(run, "receive", output)
        if not receive:
            return
        require(word is not UNKNOWN, f"{name(node, cycle)} receives a word of no value")
        place = node, self.address(node, cycle, of_lane(run, "receive_address", output) + k)
        written = cycle + (2 if self.operators else 1)
        if receive > REPLACE:
            changing = any(place in self.writes[other] for other in range(cycle, written))
            require(not changing, f"{name(node, cycle)} combines with a word that is being written")
            there = self.memory.get(place, UNKNOWN)
            word = self.combined(node, cycle, receive - REPLACE, there, word)
        require(place not in self.writes[written], f"{name(node, cycle)} writes a word twice")
        self.writes[written][place] = word

    def combined(self, node: int, cycle: int, operator: int, x: Any, y: Any) -> Word:
        """Return the result of an operator on two words.

        The words have no value in common, unless the operator is idempotent. The sum of tokens is a
        token: a word of no value, which no memory may receive.
        """
        if x == y == UNKNOWN and operator <= self.operators:
            return UNKNOWN
        alike = x.place == y.place >= 0 and {x.operator, y.operator} <= {0, operator}
        require(alike and operator <= self.operators, f"{name(node, cycle)} combines other words")
        once = operator in self.idempotent or not x.values & y.values
        require(once, f"{name(node, cycle)} combines a value twice")
        return Word(x.place, x.values | y.values, operator)

    def address(self, node: int, cycle: int, address: int) -> int:
        """Return an address of a message memory."""
        require(0 <= address < self.words, f"{name(node, cycle)} needs address {address}")
        return address

    def require_owed(self, owed: list[dict[str, Any]]) -> None:
        """Require that the memories hold every owed word, made of each of its values."""
        for each in owed:
            values = sum(self.bits[value] for value in {*each["values"]})
            for place in range(each["words"]):
                at = each["node"], each["address"] + place
                right = Word(place, values, each["operator"])
                require(self.memory.get(at) == right, f"node {at[0]} lacks the word at {at[1]}")


def of_lane(run: dict[str, Any], field: str, way: int) -> int:
    """Return a run's field for the lane of a way: a list has a value for each lane."""
    given = run.get(field, 0)
    value: int = given[-way - 1] if isinstance(given, list) else given
    return value


def name(node: int, cycle: int) -> str:
    """Name a node in a cycle."""
    return f"node {node} in cycle {cycle}"


def grid_links(topology: dict[str, Any]) -> dict[tuple[int, int], tuple[int, int]] | None:
    """Return the links of a mesh, torus, line or ring; None for another network.

    Port 2d + 1 leads on in dimension d, port 2d + 2 back. A link enters by the opposite port.
    """
    kind = topology["kind"]
    if kind not in ("mesh", "torus", "line", "ring") or topology.get("host"):
        return None
    dims = topology["dims"] if "dims" in topology else [topology["nodes"]]
    faulty = {*topology.get("faulty_nodes", [])}
    gone = {tuple(link) for link in topology.get("faulty_links", [])}
    links = {}
    for place in product(*map(range, reversed(dims))):
        at = [*reversed(place)]
        for d, size in enumerate(dims):
            for port, way in ((2 * d + 1, 1), (2 * d + 2, -1)):
                to = [*at[:d], at[d] + way, *at[d + 1 :]]
                if kind in ("torus", "ring") and size > 1:
                    to[d] %= size
                a, b = (sum(x * prod(dims[:i]) for i, x in enumerate(each)) for each in (at, to))
                if 0 <= to[d] < size and not {a, b} & faulty and (a, b) not in gone:
                    links[a, port] = b, port + way
    return links


def main() -> None:
    """Check the two files that the command line names; exit with status 1 if it does not hold."""
    program, certificate = (Path(name).read_bytes() for name in sys.argv[1:3])
    try:
        sys.stdout.write(f"holds: the run takes {check(program, certificate)} cycles\n")
    except (RefusedError, MalformedError) as error:
        sys.exit(f"does not hold: {error}")


if __name__ == "__main__":
    main()
