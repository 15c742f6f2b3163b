"""Waveforms for tests, read by pyvcd's reader."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from vcd.reader import TokenKind, tokenize

from eyecast.model.network.node_names import port_name
from eyecast.model.network.topology import Topology
from eyecast.model.run.trace import KINDS, Flit


class Waves(NamedTuple):
    """Each signal's changes, (time, value), by full name, and the time at which the file ends."""

    changes: dict[str, list[tuple[int, Any]]]
    end: int

    def values(self, name: str) -> list[Any]:
        """Return a signal's value in each cycle."""
        values: list[Any] = []
        for begin, value in self.changes[name]:
            values += values[-1:] * (begin - len(values))
            values.append(value)
        return values[: self.end] + values[-1:] * (self.end - len(values))


def read_waves(path: Path) -> Waves:
    """Read a VCD file with pyvcd's reader, which shares no code with its writer."""
    names: dict[str, list[str]] = {}
    changes: dict[str, list[tuple[int, Any]]] = {}
    scope: list[str] = []
    time = 0
    with path.open("rb") as file:
        for token in tokenize(file):
            data: Any = token.data
            if token.kind is TokenKind.SCOPE:
                scope.append(data.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scope.pop()
            elif token.kind is TokenKind.VAR:
                names.setdefault(data.id_code, []).append(".".join((*scope, data.reference)))
                changes[names[data.id_code][-1]] = []
            elif token.kind is TokenKind.CHANGE_TIME:
                time = data
            elif hasattr(data, "id_code"):
                for name in names[data.id_code]:
                    changes[name].append((time, data.value))
    return Waves(changes, time)


def flits_in(waves: Waves, topology: Topology) -> Iterator[Flit]:
    """Return every flit at the outputs of ``topology``, found by signal names alone."""
    for name in waves.changes:
        match name.split("."):
            case ["network", _, "interface", _, vc, "valid"]:
                port = 0
            case ["network", _, link, vc, "valid"] if link.startswith("out_"):
                ports = range(1, topology.ports)
                (port,) = [each for each in ports if link == f"out_{port_name(topology, each)}"]
            case _:
                continue
        place = name.split(".")[1]
        coordinates = tuple(map(int, place.partition("_")[2].split(",")))
        stem, valids = name.removesuffix("valid"), waves.values(name)
        # A word of circuits has no kind: a trace calls it a body.
        kinds = waves.values(f"{stem}kind") if f"{stem}kind" in waves.changes else None
        shown = kinds or ["body"] * len(valids), waves.values(f"{stem}data")
        for cycle, (valid, kind, data) in enumerate(zip(valids, *shown, strict=True)):
            if valid == "1":
                node = topology.node_at(coordinates)
                number = KINDS.index(kind)
                yield Flit(cycle, node, port, int(vc.removeprefix("VC_")), number, data)
