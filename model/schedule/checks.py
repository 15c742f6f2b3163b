"""The proof that a schedule carries out its collective, from its table of sends alone.

Nothing here knows how a schedule was made. Each rule reads the whole table at once; Python loops
over rules, never over nodes or sends. Where a rule is broken, the error names the first send that
breaks it: the one of the lowest step and, within the step, the first of the table.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..network.port_model import PortModel
from .collective import Collective
from .promises import require_promise

if TYPE_CHECKING:
    from .table import SendTable

LARGEST_STEP = 1 << 20
LARGEST_VC = 255
NEVER = LARGEST_STEP + 1
LARGEST_PAIR_TABLE = 1 << 26

IntArray = npt.NDArray[np.int64]


class ScheduleError(InvalidInput):
    """A schedule breaks a rule.

    ``send`` is the place in the table of the send at fault, None where a send is missing.
    """

    def __init__(self, message: str, send: int | None = None) -> None:
        super().__init__(message)
        self.send = send


def check_schedule(schedule: SendTable) -> None:
    """Raise :class:`ScheduleError` for the first rule that ``schedule`` breaks; in this order.

    1. steps, nodes, VCs and blocks exist (:func:`check_ranges`), and no switch is a source, a
       target or a node that has or is owed a block (:func:`check_interfaces`);
    2. the blocks are what the collective's name promises (:func:`check_promise`);
    3. each path leads over links from its source to its target (:func:`check_paths`);
    4. no node sends a block before it has got it, no node is left out, and none is reached twice
       in a broadcast (:func:`check_blocks`);
    5. the port model holds (:func:`check_ports`);
    6. no two sends of one step share a directed link and VC (:func:`check_links`).
    """
    check_ranges(schedule)
    check_interfaces(schedule)
    check_promise(schedule)
    check_paths(schedule)
    check_blocks(schedule)
    check_ports(schedule)
    check_links(schedule)


def check_ranges(schedule: SendTable) -> None:
    """Require steps, nodes, VCs and blocks that there are."""
    blocks = schedule.blocks
    last = schedule.topology.nodes - 1
    every = np.arange(schedule.sends)
    path_sends = np.repeat(every, np.diff(schedule.path_offsets))
    block_sends = np.repeat(every, np.diff(schedule.block_offsets))
    for name, values, sends, low, high in (
        ("step", schedule.step, every, 1, LARGEST_STEP),
        ("source", schedule.source, every, 0, last),
        ("target", schedule.target, every, 0, last),
        ("node of the path", schedule.path_nodes, path_sends, 0, last),
        ("VC", schedule.vcs, schedule.hop_sends, 0, LARGEST_VC),
        ("block", schedule.block_ids, block_sends, 0, len(blocks) - 1),
    ):
        place = _first(schedule, (values < low) | (values > high), sends)
        if place is not None:
            complaint = f"{name} must be {low} to {high}, not {values[place]}"
            raise _broken(schedule, int(sends[place]), complaint)
    for name, nodes in _named_nodes(schedule):
        outside = nodes[(nodes < 0) | (nodes > last)]
        if outside.size:
            raise ScheduleError(f"{name} must be 0 to {last}, not {outside[0]}")


def _named_nodes(schedule: SendTable) -> list[tuple[str, npt.NDArray[np.integer]]]:
    """List the nodes that a collective names, and what each of them is called."""
    blocks, root = schedule.blocks, schedule.root
    owed = np.fromiter(chain.from_iterable(nodes or () for nodes in blocks.owed), np.int64)
    return [
        ("root", np.array([] if root is None else [root], np.int64)),
        ("owner", blocks.owner),
        ("node that is owed a block", owed),
    ]


def check_interfaces(schedule: SendTable) -> None:
    """Require that nothing is sent from or to a switch, nor owed to one; paths may cross them."""
    switches = schedule.topology.switches
    if not switches:
        return
    wrong = {end: np.isin(getattr(schedule, end), switches) for end in ("source", "target")}
    send = _first(schedule, wrong["source"] | wrong["target"], np.arange(schedule.sends))
    if send is not None:
        end = next(end for end in wrong if wrong[end][send])
        complaint = f"its {end} {getattr(schedule, end)[send]} is a switch"
        raise _broken(schedule, send, f"{complaint}, which has no network interface")
    for name, nodes in _named_nodes(schedule):
        for node in nodes[np.isin(nodes, switches)][:1].tolist():
            raise ScheduleError(
                f"{name} must be a node with a network interface, not switch {node}"
            )


def check_promise(schedule: SendTable) -> None:
    """Require blocks that are what the collective's name promises."""
    try:
        require_promise(schedule)
    except InvalidInput as error:
        raise ScheduleError(str(error)) from error


def check_paths(schedule: SendTable) -> None:
    """Require paths that follow links from their source to another node, their target."""
    source, target = schedule.source, schedule.target
    every = np.arange(schedule.sends)
    send = _first(schedule, source == target, every)
    if send is not None:
        raise _broken(schedule, send, "a node sends to itself")
    first = schedule.path_nodes[schedule.path_offsets[:-1]]
    last = schedule.path_nodes[schedule.path_offsets[1:] - 1]
    send = _first(schedule, first != source, every)
    if send is not None:
        raise _broken(schedule, send, f"its path begins at {first[send]}")
    send = _first(schedule, last != target, every)
    if send is not None:
        raise _broken(schedule, send, f"its path ends at {last[send]}")
    begins, ends = schedule.hop_ends
    ports = schedule.topology.ports_between(begins, ends)
    hop = _first(schedule, ports < 1, schedule.hop_sends)
    if hop is not None:
        gap = f"its path has a gap: there is no link {begins[hop]} -> {ends[hop]}"
        raise _broken(schedule, int(schedule.hop_sends[hop]), gap)


def check_blocks(schedule: SendTable) -> None:
    """Require that blocks are had before they are sent, and reach all whom they are owed to.

    A node has its own blocks from step 0 and any other from the step in which it first receives
    it; it may send it from the next step on. In a broadcast no node may receive a block that
    it has.
    """
    count = len(schedule.blocks)
    sends = np.repeat(np.arange(schedule.sends), np.diff(schedule.block_offsets))
    steps = schedule.step[sends]
    departing = schedule.source[sends].astype(np.int64) * count + schedule.block_ids
    arriving = schedule.target[sends].astype(np.int64) * count + schedule.block_ids
    owned = schedule.blocks.owner.astype(np.int64) * count + np.arange(count)
    owed = _owed_pairs(schedule)

    have_from = _PairSteps(schedule.topology.nodes * count, (departing, arriving, owned, owed))
    have_from.lower(arriving, steps)
    have_from.lower(owned, np.zeros(count, dtype=np.int32))

    early = _first(schedule, have_from[departing] >= steps, sends)
    if early is not None:
        raise _sent_early(schedule, int(sends[early]), departing[early], arriving, sends)
    missing = owed[have_from[owed] == NEVER]
    if missing.size:
        node, block = divmod(int(missing.min()), count)
        raise ScheduleError(f"node {node} is left out: no send brings it block {block}")
    if schedule.collective == Collective.BROADCAST:
        _check_reached_once(schedule, owned, arriving, sends)


def _owed_pairs(schedule: SendTable) -> IntArray:
    """Return the (node, block) pairs that the collective owes, as ``node * blocks + block``."""
    owed = schedule.blocks.owed
    count = len(owed)
    everyone = np.flatnonzero([nodes is None for nodes in owed])
    pairs = schedule.topology.working_nodes[:, None] * count + everyone
    lengths = [len(nodes or ()) for nodes in owed]
    nodes = np.fromiter(chain.from_iterable(nodes or () for nodes in owed), np.int64)
    return np.concatenate((pairs.ravel(), nodes * count + np.repeat(np.arange(count), lengths)))


class _PairSteps:
    """The step from which a node has a block, for each (node, block) pair that is in use.

    A plain table of all pairs where that is small enough; else only of the pairs that occur, which
    are found by bisection.
    """

    def __init__(self, pairs: int, used: tuple[IntArray, ...]) -> None:
        self._known = None if pairs <= LARGEST_PAIR_TABLE else np.unique(np.concatenate(used))
        size = pairs if self._known is None else self._known.size
        self._steps = np.full(size, NEVER, dtype=np.int32)

    def _places(self, pairs: IntArray) -> IntArray:
        return pairs if self._known is None else np.searchsorted(self._known, pairs)

    def lower(self, pairs: IntArray, steps: npt.NDArray[np.int32]) -> None:
        """Let each pair count from ``steps`` if that is earlier than what is known."""
        np.minimum.at(self._steps, self._places(pairs), steps)

    def __getitem__(self, pairs: IntArray) -> npt.NDArray[np.int32]:
        return self._steps[self._places(pairs)]


def _sent_early(
    schedule: SendTable, send: int, pair: np.int64, arriving: IntArray, sends: IntArray
) -> ScheduleError:
    """Describe a ``send`` whose source has not got the block of ``pair`` before its step."""
    node, block = divmod(int(pair), len(schedule.blocks))
    place = _first(schedule, arriving == pair, sends)
    if place is None:
        return _broken(schedule, send, f"node {node} never gets block {block}")
    bringer = _named(schedule, int(sends[place]))
    return _broken(schedule, send, f"node {node} gets block {block} only by {bringer}")


def _check_reached_once(
    schedule: SendTable, owned: IntArray, arriving: IntArray, sends: IntArray
) -> None:
    at_home = _first(schedule, np.isin(arriving, owned), sends)
    if at_home is not None:
        node, block = divmod(int(arriving[at_home]), len(schedule.blocks))
        complaint = f"node {node} is reached twice: it has block {block} from the start"
        raise _broken(schedule, int(sends[at_home]), complaint)
    clash = _first_clash(schedule, arriving, sends)
    if clash is not None:
        first, second = clash
        node, block = divmod(int(arriving[second]), len(schedule.blocks))
        other = _named(schedule, int(sends[first]))
        complaint = f"node {node} is reached twice with block {block}, first by {other}"
        raise _broken(schedule, int(sends[second]), complaint)


def check_ports(schedule: SendTable) -> None:
    """Require the port model, which says what a node may do in one step.

    half-duplex
        send once or receive once;
    full-duplex
        send once and receive once;
    exchange
        send once and receive once, and if both, to and from the same node;
    all-port
        send once by each port, the first of the path, and receive once by each, the last.
    """
    step = schedule.step.astype(np.int64)
    every = np.arange(schedule.sends)
    sending = step * schedule.topology.nodes + schedule.source
    receiving = step * schedule.topology.nodes + schedule.target
    if schedule.port_model == PortModel.HALF_DUPLEX:
        both = np.concatenate((schedule.source, schedule.target))
        keys = np.concatenate((sending, receiving))
        _require_one(schedule, "in two sends", keys, np.tile(every, 2), both)
        return
    if schedule.port_model == PortModel.ALL_PORT:
        links = schedule.topology.nodes * schedule.topology.ports
        first = schedule.path_offsets[:-1] - every
        last = schedule.path_offsets[1:] - every - 2
        out = step * links + schedule.links[first]
        into = step * links + schedule.links[last]
        _require_one(schedule, "the source of two sends by one port", out, every, schedule.source)
        _require_one(schedule, "the target of two sends by one port", into, every, schedule.target)
        return
    _require_one(schedule, "the source of two sends", sending, every, schedule.source)
    _require_one(schedule, "the target of two sends", receiving, every, schedule.target)
    if schedule.port_model == PortModel.EXCHANGE:
        _check_partners(schedule, sending, receiving)


def _require_one(
    schedule: SendTable,
    what: str,
    keys: IntArray,
    sends: IntArray,
    nodes: npt.NDArray[np.int32],
) -> None:
    """Require that no (step, node or port) of ``keys`` occurs twice."""
    clash = _first_clash(schedule, keys, sends)
    if clash is not None:
        first, second = clash
        raise _port_error(schedule, nodes[second], what, sends[first], sends[second])


def _check_partners(schedule: SendTable, sending: IntArray, receiving: IntArray) -> None:
    """Require that who is sent to sends back or not at all; no node is in two sends by now."""
    order = np.argsort(sending)
    places = np.searchsorted(sending[order], receiving)
    answers = order[np.minimum(places, sending.size - 1)]
    bad = (sending[answers] == receiving) & (schedule.target[answers] != schedule.source)
    send = _first(schedule, bad, np.arange(schedule.sends))
    if send is not None:
        raise _port_error(schedule, schedule.target[send], "with two partners", answers[send], send)


def _port_error(
    schedule: SendTable, node: np.int32, what: str, other: np.int64 | int, send: np.int64 | int
) -> ScheduleError:
    return _broken(
        schedule,
        int(send),
        f"node {node} is {what} in one step, which {schedule.port_model} forbids: "
        f"the other is {_named(schedule, int(other))}",
    )


def check_links(schedule: SendTable) -> None:
    """Require that no directed link and VC is crossed twice in one step."""
    sends = schedule.hop_sends
    links = schedule.topology.nodes * schedule.topology.ports
    keys = schedule.step[sends] * np.int64(links) + schedule.links
    keys = keys * (LARGEST_VC + 1) + schedule.vcs
    clash = _first_clash(schedule, keys, sends)
    if clash is None:
        return
    first, second = clash
    begins, ends = schedule.hop_ends
    where = f"link {begins[second]} -> {ends[second]}, VC {schedule.vcs[second]}"
    send, other = int(sends[second]), int(sends[first])
    if send == other:
        raise _broken(schedule, send, f"its path crosses {where} twice")
    raise _broken(schedule, send, f"it shares {where} with {_named(schedule, other)}")


def _first(schedule: SendTable, broken: npt.NDArray[np.bool_], sends: IntArray) -> int | None:
    """Find where ``broken`` first holds: in the lowest step, then in the first send."""
    places = np.flatnonzero(broken)
    if not places.size:
        return None
    return int(places[np.argmin(schedule.step[sends[places]])])


def _first_clash(schedule: SendTable, keys: IntArray, sends: IntArray) -> tuple[int, int] | None:
    """Find the first key that occurs again: its two places, None if all keys differ."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.lexsort((sends, schedule.step[sends]))
    keys = keys[order]
    again = np.ones(keys.size, dtype=bool)
    again[np.unique(keys, return_index=True)[1]] = False
    second = int(np.argmax(again))
    first = int(np.argmax(keys == keys[second]))
    return int(order[first]), int(order[second])


def _named(schedule: SendTable, send: int) -> str:
    """Name a send as errors do: "send 3 (step 2, 0 -> 5)"."""
    ends = f"{schedule.source[send]} -> {schedule.target[send]}"
    return f"send {send} (step {schedule.step[send]}, {ends})"


def _broken(schedule: SendTable, send: int, complaint: str) -> ScheduleError:
    return ScheduleError(f"{_named(schedule, send)}: {complaint}", send)
