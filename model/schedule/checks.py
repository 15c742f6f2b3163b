"""The proof that a schedule carries out its collective, given only its table of sends.

The proof does not use how a schedule was made. Each rule reads the whole table at once; Python
loops over rules, never over nodes or sends. The error names the first send that breaks a rule: the
first in the table among those of the lowest step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.port_model import PortModel
from .block_runs import BlockRuns
from .fulfilment import check_requests
from .groups import check_groups
from .possession import check_blocks
from .promises import require_promise
from .reduction import check_reductions
from .rules import (
    LARGEST_STEP,
    LARGEST_VC,
    ScheduleError,
    broken,
    first_broken,
    first_clash,
    send_name,
)
from .same_sends import first_of_pairs
from .streams import check_streams
from .table import SendTable
from .trees import check_trees


def check_schedule(schedule: SendTable) -> None:
    """Raise :class:`.ScheduleError` for the first rule that ``schedule`` breaks, in this order.

    1. steps, nodes, VCs and blocks exist (:func:`check_ranges`), no send carries a block twice
       (:func:`check_carried`), and no switch is a source, a target or a node that has or is owed
       a block (:func:`check_interfaces`); groups have working nodes, and no block leaves one
       (:func:`.check_groups`);
    2. the blocks are what the collective's name promises (:func:`check_promise`), and what was
       requested (:func:`.check_requests`);
    3. each path leads over links from its source to its target, and turns back nowhere
       (:func:`check_paths`);
    4. a node holds a block before it sends it, every node gets the blocks owed to it, and a
       broadcast reaches no node twice (:func:`.check_blocks`);
    5. a streamed word arrives before it leaves again (:func:`.check_streams`);
    6. every result of a reduced block contains each contribution once (:func:`.check_reductions`);
    7. routers can fork and join the trees of a schedule for circuits (:func:`.check_trees`);
    8. the port model holds (:func:`check_ports`);
    9. no two trees of one step share a directed link and VC (:func:`check_links`);
    10. a timed schedule can be put on a timetable (:func:`check_timed`).

    Without circuits each send is a tree alone.
    """
    check_ranges(schedule)
    check_carried(schedule)
    check_interfaces(schedule)
    check_groups(schedule)
    check_promise(schedule)
    check_requests(schedule)
    check_paths(schedule)
    check_blocks(schedule)
    check_streams(schedule)
    check_reductions(schedule)
    check_trees(schedule)
    check_ports(schedule)
    check_links(schedule)
    check_timed(schedule)


def check_ranges(schedule: SendTable) -> None:
    """Require steps, nodes, VCs and blocks within their ranges."""
    blocks = schedule.blocks
    last = schedule.topology.nodes - 1
    every = np.arange(schedule.sends)
    carried, carriers = schedule.block_ids, lambda: schedule.block_sends
    if isinstance(carried, BlockRuns):
        carried, carriers = carried.ends, lambda: np.repeat(next(schedule.runs())[0], 2)
    columns: tuple[tuple[str, npt.NDArray[np.integer], Callable[[], Numbers], int, int], ...] = (
        ("step", schedule.step, lambda: every, 1, LARGEST_STEP),
        ("source", schedule.source, lambda: every, 0, last),
        ("target", schedule.target, lambda: every, 0, last),
        (
            "node of the path",
            schedule.path_nodes,
            lambda: np.repeat(every, np.diff(schedule.path_offsets)),
            0,
            last,
        ),
        ("VC", schedule.vcs, lambda: schedule.hop_sends, 0, LARGEST_VC),
        ("block", carried, carriers, 0, len(blocks) - 1),
    )
    for name, values, sends_of, low, high in columns:
        outside = (values < low) | (values > high)
        if outside.any():
            sends = sends_of()
            place = first_broken(schedule, outside, sends)
            assert place is not None
            complaint = f"{name} must be {low} to {high}, not {values[place]}"
            raise broken(schedule, int(sends[place]), complaint)
    for name, nodes in _named_nodes(schedule):
        unknown = nodes[(nodes < 0) | (nodes > last)]
        if unknown.size:
            raise ScheduleError(f"{name} must be 0 to {last}, not {unknown[0]}")


def check_carried(schedule: SendTable) -> None:
    """Require that no send carries a block twice."""
    count, twice = len(schedule.blocks), []
    for carriers, runs in schedule.runs():
        begins = carriers * count + runs.first
        # Block numbers ascend in most sends; then no order has to be made.
        order = np.argsort(begins) if (np.diff(begins) <= 0).any() else slice(None)
        if (begins[order][1:] >= (begins + runs.count)[order][:-1]).all():
            continue
        sends, blocks = np.repeat(carriers, runs.count), runs[:]
        clash = first_clash(schedule, sends * count + blocks, sends)
        if clash is not None:
            send = int(sends[clash[1]])
            twice.append((int(schedule.step[send]), send, int(blocks[clash[1]])))
    for _, send, block in sorted(twice)[:1]:
        raise broken(schedule, send, f"it carries block {block} twice")


def _named_nodes(schedule: SendTable) -> list[tuple[str, npt.NDArray[np.integer]]]:
    """List the nodes that a collective names, each list with its name for errors."""
    blocks, root = schedule.blocks, schedule.root
    return [
        ("root", np.array([] if root is None else [root], np.int64)),
        ("owner", blocks.owner[~blocks.reduced]),
        ("contributor", _named(blocks.contributors)),
        ("node that is owed a block", _named(blocks.owed)),
        ("node of a group", _named(schedule.groups)),
    ]


def _named(lists: Iterable[tuple[int, ...] | None]) -> Numbers:
    """Return the nodes of all ``lists`` in one array; None adds none."""
    return np.fromiter(chain.from_iterable(nodes or () for nodes in lists), np.int64)


def check_interfaces(schedule: SendTable) -> None:
    """Require that no switch sends, gets or is owed anything; paths may cross switches."""
    switches = schedule.topology.switches
    if not switches:
        return
    wrong = {end: np.isin(getattr(schedule, end), switches) for end in ("source", "target")}
    send = first_broken(schedule, wrong["source"] | wrong["target"], np.arange(schedule.sends))
    if send is not None:
        end = next(end for end in wrong if wrong[end][send])
        complaint = f"its {end} {getattr(schedule, end)[send]} is a switch"
        raise broken(schedule, send, f"{complaint}, which has no network interface")
    for name, nodes in _named_nodes(schedule):
        for node in nodes[np.isin(nodes, switches)][:1].tolist():
            raise ScheduleError(
                f"{name} must be a node with a network interface, not switch {node}"
            )


def check_promise(schedule: SendTable) -> None:
    """Require the blocks that the collective's name promises."""
    try:
        require_promise(schedule)
    except InvalidInput as error:
        raise ScheduleError(str(error)) from error


def check_paths(schedule: SendTable) -> None:
    """Require paths along links from their source to another node, that turn back nowhere."""
    source, target = schedule.source, schedule.target
    every = np.arange(schedule.sends)
    send = first_broken(schedule, source == target, every)
    if send is not None:
        raise broken(schedule, send, "a node sends to itself")
    first = schedule.path_nodes[schedule.path_offsets[:-1]]
    last = schedule.path_nodes[schedule.path_offsets[1:] - 1]
    send = first_broken(schedule, first != source, every)
    if send is not None:
        raise broken(schedule, send, f"its path begins at {first[send]}")
    send = first_broken(schedule, last != target, every)
    if send is not None:
        raise broken(schedule, send, f"its path ends at {last[send]}")
    begins, ends = schedule.hop_ends
    ports = schedule.topology.ports_between(begins, ends)
    hop = first_broken(schedule, ports < 1, schedule.hop_sends)
    if hop is not None:
        gap = f"its path has a gap: there is no link {begins[hop]} -> {ends[hop]}"
        raise broken(schedule, int(schedule.hop_sends[hop]), gap)
    # A router sends nothing out by the port by which it came in, except sums of circuits.
    entered, sends = schedule.topology.peer[begins, ports], schedule.hop_sends
    back = (sends[1:] == sends[:-1]) & (ports[1:] == entered[:-1])
    joined = np.bincount(schedule.joins, minlength=schedule.sends)[schedule.joins] > 1
    back &= ~joined[sends[1:]]
    hop = first_broken(schedule, back, schedule.hop_sends[1:])
    if hop is not None:
        turn = f"its path turns back at node {ends[hop]}, to {begins[hop]} where it came from"
        raise broken(schedule, int(schedule.hop_sends[hop]), turn)


def check_ports(schedule: SendTable) -> None:
    """Require the port model, which says what a node may do in one step.

    half-duplex
        send once or receive once;
    full-duplex
        send once and receive once;
    exchange
        send once and receive once, and if both, to and from the same node;
    all-port
        send once by each port (the first link of the path) and receive once by each (the last).

    The sends of a tree with a common end are one send there.
    """
    step = schedule.step.astype(np.int64)
    every = np.arange(schedule.sends)
    sending = step * schedule.topology.nodes + schedule.source
    receiving = step * schedule.topology.nodes + schedule.target
    if schedule.port_model == PortModel.ALL_PORT:
        links = schedule.topology.nodes * schedule.topology.ports
        hops = {
            "the source": (schedule.source, schedule.path_offsets[:-1] - every),
            "the target": (schedule.target, schedule.path_offsets[1:] - every - 2),
        }
        for end, (node, hop) in hops.items():
            link = schedule.links[hop]
            sends = first_of_pairs(schedule.trees, link)
            keys = (step * links + link)[sends]
            _require_one(schedule, f"{end} of two sends by one port", keys, sends, node[sends])
        return
    out, into = (first_of_pairs(schedule.trees, end) for end in (schedule.source, schedule.target))
    if schedule.port_model == PortModel.HALF_DUPLEX:
        sends = np.concatenate((out, into))
        nodes = np.concatenate((schedule.source[out], schedule.target[into]))
        keys = np.concatenate((sending[out], receiving[into]))
        _require_one(schedule, "in two sends", keys, sends, nodes)
        return
    _require_one(schedule, "the source of two sends", sending[out], out, schedule.source[out])
    _require_one(schedule, "the target of two sends", receiving[into], into, schedule.target[into])
    if schedule.port_model == PortModel.EXCHANGE:
        _check_partners(schedule, sending, receiving)


def _require_one(
    schedule: SendTable,
    what: str,
    keys: Numbers,
    sends: Numbers,
    nodes: npt.NDArray[np.int32],
) -> None:
    """Require that no key, a step with a node or a port, occurs twice in ``keys``."""
    clash = first_clash(schedule, keys, sends)
    if clash is not None:
        first, second = clash
        raise _port_error(schedule, nodes[second], what, sends[first], sends[second])


def _check_partners(schedule: SendTable, sending: Numbers, receiving: Numbers) -> None:
    """Require that a node that receives sends to the same node or not at all."""
    order = np.argsort(sending)
    places = np.searchsorted(sending[order], receiving)
    answers = order[np.minimum(places, sending.size - 1)]
    bad = (sending[answers] == receiving) & (schedule.target[answers] != schedule.source)
    send = first_broken(schedule, bad, np.arange(schedule.sends))
    if send is not None:
        raise _port_error(schedule, schedule.target[send], "with two partners", answers[send], send)


def _port_error(
    schedule: SendTable, node: np.int32, what: str, other: np.int64 | int, send: np.int64 | int
) -> ScheduleError:
    return broken(
        schedule,
        int(send),
        f"node {node} is {what} in one step, which {schedule.port_model} forbids: "
        f"the other is {send_name(schedule, int(other))}",
    )


def check_links(schedule: SendTable) -> None:
    """Require that no directed link and VC is crossed twice in one step, except by one tree."""
    crossed = schedule.crossings
    sends = schedule.hop_sends[crossed]
    links = schedule.topology.nodes * schedule.topology.ports
    keys = schedule.step[sends] * np.int64(links) + schedule.links[crossed]
    keys = keys * (LARGEST_VC + 1) + schedule.vcs[crossed]
    clash = first_clash(schedule, keys, sends)
    if clash is None:
        return
    first, second = crossed[list(clash)].tolist()
    begins, ends = schedule.hop_ends
    where = f"link {begins[second]} -> {ends[second]}, VC {schedule.vcs[second]}"
    send, other = (int(schedule.hop_sends[hop]) for hop in (second, first))
    if send == other:
        raise broken(schedule, send, f"its path crosses {where} twice")
    raise broken(schedule, send, f"it shares {where} with {send_name(schedule, other)}")


def check_timed(schedule: SendTable) -> None:
    """Require that a timed schedule is one-port, does not combine or stream, and is in order.

    A timetable takes the sends in the order of the table, so the send that brings a block to a node
    must stand before the sends that forward it.
    """
    if not schedule.timed:
        return
    if schedule.port_model == PortModel.ALL_PORT:
        raise ScheduleError("port model of a timed schedule must be one of one port, not all-port")
    for send in np.flatnonzero(schedule.combine | schedule.stream)[:1].tolist():
        raise broken(schedule, send, "timed, it must neither combine nor stream")
    send, count = schedule.block_sends, len(schedule.blocks)
    taken, brought = (
        node[send].astype(np.int64) * count + schedule.block_ids
        for node in (schedule.source, schedule.target)
    )
    # The first send that brings each block to each node; rows are in the order of the sends.
    known, first = np.unique(brought, return_index=True)
    place = np.minimum(np.searchsorted(known, taken), max(known.size - 1, 0))
    relayed = schedule.blocks.owner[schedule.block_ids] != schedule.source[send]
    early = relayed & ((known[place] != taken) | (send[first[place]] >= send))
    for each in send[early][:1].tolist():
        raise broken(schedule, each, "timed, it stands before the send that brings its blocks")
