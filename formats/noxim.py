"""Traffic of Noxim: tables of rates, and lists of packets ("hardcoded").

A table has the rate of each pair of source and target::

    % src dst  pir   por  t_on t_off t_period
      0   5
      1   4    0.02  0.3  0    500   1000

In every cycle a node has at most one packet. It sends one to the target of a row with probability
``pir`` (default: 0.01, as in Noxim's ``default_config.yaml``); in the cycle after a packet with
probability ``por`` (default: ``pir``). A row is active in cycles whose remainder by ``t_period`` is
above ``t_on`` and below ``t_off`` (default: all cycles except cycle 0). A file without any rate may
as well be a list: its format must be named.

A list has packets in the order of cycles; -1 ends a cycle. In both, ``%`` or ``#`` begins a
comment, also behind numbers::

    0 5                % cycle 0
    1 4
    -1
    -1
    2 3                % cycle 2

Neither format has packet lengths. Node numbers are Noxim's: x + width * y. Source of both formats:
``src/GlobalTrafficTable.cpp``, ``src/GlobalTrafficHardcoding.cpp`` and ``canShot`` of
``src/ProcessingElement.cpp`` in davidepatti/noxim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Numbers
from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import InputFile, input_name
from ..model.network.config import MOST_MEMORY_WORDS
from ..model.network.topology import Topology
from ..model.traffic.traffic import LARGEST_CYCLES, LARGEST_PACKETS, Traffic
from .format import Format, TrafficSetting
from .lines import numbered_lines, quoted, wrong_line

LARGEST_WORK = 1 << 30
"""Most rows times cycles of a drawing: half a minute."""

_CHUNK = 4096
_COLUMNS = ("src", "dst", "pir", "por", "t_on", "t_off", "t_period")
_NEVER = 1 << 40
_WHOLE = re.compile(r"\d{1,9}")
_RATE = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_END = "-1"
_COMMENT = re.compile("[#%].*")
_RATE_BY_DEFAULT = 0.01
_BEFORE = rb"(?:[ \t]*+(?:\d+[ \t]+\d+[ \t]*+)?(?:[#%].*+)?\r?\n)*+[ \t]*+"
_TABLE_HEAD = re.compile(_BEFORE + rb"\d+[ \t]+\d+[ \t]+[01]?(?:\.\d*)?(?:[eE][-+]?\d+)?\s")
_LIST_HEAD = re.compile(_BEFORE + rb"-1(?:\s|\Z)")


@dataclass(frozen=True)
class _Row:
    """A complete row of a table."""

    source: int
    target: int
    pir: float
    por: float
    on: int
    off: int
    period: int


def read_noxim_table(file: InputFile, setting: TrafficSetting) -> Traffic:
    """Draw packets from a table of rates, with the setting's seed, cycles and packet length.

    Raises :class:`InvalidInput` with the line of a mistake, and for too many cycles or packets.
    """
    require_range("cycles", setting.cycles, 1, LARGEST_CYCLES)
    working = _working(setting.topology)
    rows: dict[int, list[_Row]] = {}
    for number, line in _lines(file):
        row = _row(file, number, line)
        _require_ends(file, number, row.source, row.target, setting.topology, working)
        rows.setdefault(row.source, []).append(row)
    work = sum(map(len, rows.values())) * setting.cycles
    if work > LARGEST_WORK:
        name = f"{input_name(file)}: rows x cycles"
        raise InvalidInput.of(name, f"at most {LARGEST_WORK}", work)
    parts = [np.zeros((3, 0), dtype=np.int64)]
    packets = 0
    for source in sorted(rows):
        cycle, target = _drawn(rows[source], setting.cycles, (setting.seed, source))
        packets += len(cycle)
        if packets > LARGEST_PACKETS:
            name = f"{input_name(file)}: packets drawn"
            raise InvalidInput.of(name, f"at most {LARGEST_PACKETS}", "more")
        parts.append(np.stack((cycle, np.full_like(cycle, source), target)))
    return _traffic(np.concatenate(parts, axis=1), setting)


def _lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold numbers, without their comments."""
    for number, line in numbered_lines(file):
        if stripped := _COMMENT.sub("", line).rstrip():
            yield number, stripped


def _row(file: InputFile, number: int, line: str) -> _Row:
    """Return the row in a line of a table, with Noxim's defaults for missing columns."""
    words = line.split()
    if not 2 <= len(words) <= len(_COLUMNS):
        complaint = f"must be 2 to 7 numbers, {' '.join(_COLUMNS)}, not {quoted(line)}"
        raise wrong_line(file, number, complaint)
    for name, word in zip(_COLUMNS, words, strict=False):
        rate = name in ("pir", "por")
        fits = _RATE.fullmatch(word) and float(word) <= 1 if rate else _WHOLE.fullmatch(word)
        if not fits:
            allowed = "0 to 1 packets per cycle" if rate else "a number, 0 or more"
            raise wrong_line(file, number, f"{name} must be {allowed}, not {quoted(word)}")
    source, target = int(words[0]), int(words[1])
    pir = float(words[2]) if len(words) > 2 else _RATE_BY_DEFAULT
    por = float(words[3]) if len(words) > 3 else pir
    times = [int(word) for word in words[4:]]
    for (name, time), (later_name, later) in pairwise(zip(_COLUMNS[4:], times, strict=False)):
        if later <= time:
            complaint = f"{later_name} must be above {name}, {time}, not {later}"
            raise wrong_line(file, number, complaint)
    return _Row(source, target, pir, por, *times, *(0, _NEVER, _NEVER)[len(times) :])


def _drawn(rows: Sequence[_Row], cycles: int, seed: tuple[int, int]) -> tuple[Numbers, Numbers]:
    """Return cycles and targets of the packets of one source."""
    draw = np.random.default_rng(seed)
    targets, on, off, period = (
        np.array([getattr(row, name) for row in rows]) for name in ("target", "on", "off", "period")
    )
    at, to = [], []
    sent_before = False
    for first in range(0, cycles, _CHUNK):
        cycle = np.arange(first, min(first + _CHUNK, cycles))
        phase = cycle[:, np.newaxis] % period
        active = (phase > on) & (phase < off)
        lot = draw.random(len(cycle))[:, np.newaxis]
        # A packet belongs to the first row at which the cumulated rates exceed the drawn number.
        fresh, again = (
            lot < np.cumsum(np.where(active, [getattr(row, name) for row in rows], 0), axis=1)
            for name in ("pir", "por")
        )
        sent = _sent(fresh[:, -1], again[:, -1], sent_before)
        after = np.append(sent_before, sent[:-1])
        row = np.where(after, again.argmax(axis=1), fresh.argmax(axis=1))
        sent_before = bool(sent[-1])
        at.append(cycle[sent])
        to.append(targets[row[sent]])
    return np.concatenate(at), np.concatenate(to)


def _sent(
    fresh: npt.NDArray[np.bool_], again: npt.NDArray[np.bool_], before: bool
) -> npt.NDArray[np.bool_]:
    """Return the cycles with a packet: by ``again`` after a packet, otherwise by ``fresh``."""
    if (fresh == again).all():
        return fresh
    sent = []
    for if_not, if_so in zip(fresh.tolist(), again.tolist(), strict=True):
        before = if_so if before else if_not
        sent.append(before)
    return np.array(sent)


def read_noxim_list(file: InputFile, setting: TrafficSetting) -> Traffic:
    """Read a list of packets; the setting has their length.

    Raises :class:`InvalidInput` with the line.
    """
    working = _working(setting.topology)
    cycle = 0
    packets: list[tuple[int, int, int]] = []
    for number, line in _lines(file):
        words = line.split()
        if words[0] == _END:
            cycle += 1
            continue
        if len(words) != 2 or not all(map(_WHOLE.fullmatch, words)):
            raise wrong_line(file, number, f"must be src dst, or -1, not {quoted(line)}")
        source, target = map(int, words)
        _require_ends(file, number, source, target, setting.topology, working)
        packets.append((cycle, source, target))
        if len(packets) > LARGEST_PACKETS:
            raise wrong_line(file, number, f"packets must be at most {LARGEST_PACKETS}")
    return _traffic(np.array(packets, dtype=np.int64).reshape(-1, 3).T, setting)


def _traffic(columns: Numbers, setting: TrafficSetting) -> Traffic:
    """Return packets of equal length from cycles, sources and targets, shape (3, packets)."""
    require_range("packet flits", setting.flits, 1, MOST_MEMORY_WORDS)
    return Traffic.sorted(*columns, np.full(columns.shape[1], setting.flits))


def _working(topology: Topology) -> frozenset[int]:
    return frozenset(topology.working_nodes.tolist())


def _require_ends(
    file: InputFile,
    number: int,
    source: int,
    target: int,
    topology: Topology,
    working: frozenset[int],
) -> None:
    """Require two different working nodes of ``topology``."""
    for name, node in (("src", source), ("dst", target)):
        if node >= topology.nodes:
            complaint = f"{name} must be a node, 0 to {topology.nodes - 1}, not {node}"
            raise wrong_line(file, number, complaint)
        if node not in working:
            raise wrong_line(file, number, f"{name} must be a node that takes part, not {node}")
    if source == target:
        raise wrong_line(file, number, f"dst must be another node than src, not {target}")


NOXIM_TABLE = Format(
    name="noxim-table",
    title="Noxim traffic table",
    suffixes=(".noxim",),
    looks=lambda content: _TABLE_HEAD.match(content) is not None,
    read_traffic=read_noxim_table,
    draws_traffic=True,
)
NOXIM_LIST = Format(
    name="noxim-list",
    title="Noxim hardcoded traffic",
    suffixes=(".noxim",),
    looks=lambda content: _LIST_HEAD.match(content) is not None,
    read_traffic=read_noxim_list,
    draws_traffic=True,  # a list has packets, but their length is a drawing's option
)
