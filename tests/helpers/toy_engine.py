"""A network loaded by an image, written only from docs/router.md and the image's two files.

It shares no code with Eyecast: it takes requests at its host port, and carries out the loaded
tables packet by packet, without cycles.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CARRIED_OUT, NO_SUCH_WORD, NOT_NOW = range(3)


class ToyEngine:
    """The memories of a network, and its controller if it has one."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.described, self.widths = described, described["widths"]
        self.programs = described["network"].get("programs", 0)
        self.lanes = self.widths["lanes"]
        self.memories: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        self.image, self.directory = 0, [0] * (4 * self.programs)

    def write(self, node: int, space: int, address: int, word: int) -> int:
        """Carry out a write request; return its refusal."""
        sizes = {each["space"]: each["words"] for each in self.described["address_map"].values()}
        at = self.described["nodes"]
        if node >= len(at) or at[node]["switch"] or address >= sizes[space]:
            return NO_SUCH_WORD
        if word >> self.widths["flit_width"] or space == 3:
            return NO_SUCH_WORD
        if not self.programs or space != 2:
            self.memories[node, space][address] = word
            return CARRIED_OUT
        if node == 0 and address == 1:
            self.image = word
        elif node == 0 and address >= 8:
            self.directory[address - 8] = word
        elif node == 0 and address == 2 and word & 0xFF == 1:
            return self.start(word >> 8)
        else:
            return NO_SUCH_WORD
        return CARRIED_OUT

    def start(self, number: int) -> int:
        """Run a program to its end, unless the controller refuses the start."""
        if number >= self.programs or self.image != self.described["identity"]:
            return NOT_NOW
        base, words, _, _ = self.directory[4 * number : 4 * number + 4]
        if not words or base + words > self.described["network"]["table_words"]:
            return NOT_NOW
        self.run(base, words)
        return CARRIED_OUT

    def run(self, base: int, words: int | None) -> None:
        """Carry out all rows, step by step; an unexpected packet is an error."""
        rows, expected = [], set()
        for each in self.described["nodes"]:
            for lane in range(0 if each["switch"] else self.lanes):
                masks, table = self.loaded(each["node"], lane, base, words)
                expected |= {(each["node"], lane, step) for step in set_bits(masks, self.widths)}
                rows += [(row["step"], each["node"], row) for row in self.rows(table)]
        arrived = set()
        for step, node, row in sorted(rows, key=lambda one: one[:2]):
            message = self.memories[node, 0]
            begin = row["source_address"]
            payload = [message[begin + word] for word in range(row["length"])]
            target, lane, address, told = self.walk(node, row["header"])
            arrived |= {(target, lane, told)} if told else set()
            assert told in (0, step)
            self.memories[target, 0].update(enumerate(payload, address))
        assert arrived == expected

    def loaded(
        self, node: int, lane: int, base: int, words: int | None
    ) -> tuple[list[int], Iterator[int]]:
        """Return the words of a sender's ``expected``, and its table from the first row on."""
        table, masks = self.memories[node, 1], self.widths["mask_words"]
        first = lane * self.described["address_map"]["table"].get("stride", 0) + base
        if words is None:
            expectations = self.memories[node, 2]
            held = [expectations[lane * masks + word] for word in range(masks)]
            return held, (table[first + word] for word in range(1 << 20))
        held = [table[first + word] for word in range(masks)]
        return held, (table[first + word] for word in range(masks, words))

    def rows(self, table: Iterator[int]) -> Iterator[dict[str, Any]]:
        """Return the rows of a table, up to its end row."""
        fields = self.described["control_fields"]
        while True:
            control = [next(table)]
            if not control[0] & ((1 << fields[0]["width"]) - 1):
                return
            control += [next(table) for _ in range(self.widths["control_words"] - 1)]
            row: dict[str, Any] = {
                each["name"]: control[each["word"]] >> each["low"] & ((1 << each["width"]) - 1)
                for each in fields
            }
            row["header"] = [next(table) for _ in range(row["header_flits"])]
            yield row

    def walk(self, node: int, header: list[int]) -> tuple[int, int, int, int]:
        """Return a packet's end: the node, the lane, and the header's address and step."""
        width, lane = self.widths, 0
        port_mask = (1 << width["port_bits"]) - 1
        deliver = width["deliver_code"]
        for word in header:
            flit = word
            while port := flit & port_mask:
                if port == deliver:
                    rest = flit >> width["port_bits"]
                    step = rest & ((1 << width["step_bits"]) - 1)
                    return node, lane, rest >> width["step_bits"], step
                hops = 1 + (flit >> width["port_bits"] & ((1 << width["hop_bits"]) - 1))
                for _ in range(hops):
                    ports = self.described["nodes"][node]["ports"]
                    (link,) = (each for each in ports if each["port"] == port)
                    node = link["node"]
                    lane = link["enters_by"] - 1 if self.lanes > 1 else 0
                flit >>= width["slot_bits"]
        raise AssertionError("a header without a delivery")


def set_bits(masks: list[int], widths: dict[str, int]) -> Iterator[int]:
    """Return the step numbers whose bits are set."""
    for place, mask in enumerate(masks):
        for bit in range(widths["flit_width"]):
            if mask >> bit & 1:
                yield place * widths["flit_width"] + bit


def read_image(path: Path) -> tuple[list[tuple[int, int, int, int]], dict[str, Any]]:
    """Return the writes and the description in an image's two files."""
    with path.open() as file:
        writes = [
            (int(row["node"]), int(row["space"]), int(row["address"]), int(row["word"], 16))
            for row in csv.DictReader(file)
        ]
    return writes, json.loads(path.with_suffix(".json").read_text())


def wrong_words(engine: ToyEngine) -> int:
    """Return the words of the expected end that the message memories lack."""
    return sum(
        engine.memories[part["node"], 0].get(address) != int(word, 16)
        for part in engine.described["run"]["memory"]
        for address, word in enumerate(part["words"], part["address"])
    )
