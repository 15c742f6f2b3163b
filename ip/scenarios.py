"""Runs of a package's bench, each predicted by the cycle model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Words, words_differ
from ..model.base.errors import InvalidInput
from ..model.cycle.any_run import run_any
from ..model.cycle.control import Control
from ..model.image.host_port import Space
from ..model.image.image import Image, message_writes
from ..model.network.config import NetworkConfig, Timing
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK
from ..model.program.any_program import AnyProgram
from ..model.program.payload import empty_memory, random_words
from ..model.program.program import Program
from ..model.program.row import Row
from ..model.run.run import Prediction
from . import circuits
from .circuit_stimulus import LOADED, circuit_stimuli
from .draft import Draft
from .resets import reset_cycles
from .stimulus import Stimulus, stimuli
from .ways import shortest_way

Load = tuple[int, int, Words]

BESIDE = 12
"""Most words that a tile writes during a run."""
PACKETS = 12
"""Packets that cross one link in the run with contention."""

LONG = 180
"""Cycles for which a memory is busy: more than two requests wait, 64 each, and the bus takes."""

LIMIT = 40
"""Cycles within which a tile must let a run start that it holds back."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scenario:
    """A run of the bench.

    name
        A comment for the bench, one line.
    image
        The program, the loaded words and the prediction.
    writes
        The bench's writes before the run: rows (node, space, address, word).
    held
        The node that its tile holds back, and the first cycle without the hold, as in
        :class:`.Control`; None without a hold. Meanwhile the tile loads the node's message.
    beside
        A tile's writes during the run, to addresses that no row reads or writes; as ``writes``.
    resets
        Cycles of incomplete runs before it, in each of which a reset ends one.
    busy
        The node whose memory the run reads for so long that a request of the host is given up.
    read
        Node and address of a word that the host reads during the run, and the word, which no row
        changes.
    points
        Points of the network that this run reaches, and no run of a covering program before it.
    """

    name: str
    image: Image
    writes: Words
    held: tuple[int, int] | None = None
    beside: Words | None = None
    resets: Sequence[int] = ()
    busy: int | None = None
    read: tuple[int, int, int] | None = None
    points: int = 0


def scenarios(image: Image) -> Iterator[Scenario]:
    """Yield the runs of the bench; the first is the unchanged image."""
    config = image.program.config
    read = _unchanged(config, messages_of(image), image.predicted, 0)
    yield Scenario(name="The program", image=image, writes=image.writes, read=read)
    yield _limited(image)
    if config.tile_ports and image.loads:
        yield _held(image)
    for name, made in _trials(image).items():
        beside = _beside(made) if config.tile_ports else None
        yield Scenario(name=name, image=made, writes=made.writes, beside=beside)


def covering(image: Image) -> tuple[list[Scenario], list[str]]:
    """Return the runs of the programs that cover the network, and the points that none reaches."""
    config = image.program.config
    made, left = circuit_stimuli(config) if config.circuits else stimuli(config)
    resets = _resets(config, made)
    runs = []
    for number, each in enumerate(made):
        run = replace(
            image,
            program=each.program,
            timing=each.timing,
            loads=each.loads,
            predicted=each.predicted,
            known=words_differ(each.predicted.memory, each.before, axes=2),
            base=0,
            limit=each.limit,
        )
        runs.append(
            Scenario(
                name=each.name,
                image=run,
                writes=run.writes,
                resets=resets.get(number, ()),
                points=len(each.points),
                read=_unchanged(config, each.before, each.predicted, number),
                beside=_beside(run) if config.tile_ports and number == 1 else None,
            )
        )
    return runs, sorted(left)


def _unchanged(
    config: NetworkConfig, before: Words, run: Prediction, number: int
) -> tuple[int, int, int] | None:
    """Return node, host address and value of a loaded word (or its piece 0) that a run keeps.

    ``number`` chooses the node. None if there is no such word, or the run is not done.
    """
    pieces = before.reshape(*before.shape[:2], -1)
    kept = (pieces == run.memory.reshape(pieces.shape)).all(axis=2) & (pieces[..., 0] != 0)
    nodes = np.flatnonzero(kept.any(axis=1)).tolist()
    if not nodes or not run.finished:
        return None
    node = nodes[number % len(nodes)]
    word = int(np.flatnonzero(kept[node])[0])
    return node, word << config.piece_bits, int(pieces[node, word, 0])


def _resets(config: NetworkConfig, made: list[Stimulus]) -> dict[int, list[int]]:
    """Return the runs that are interrupted by resets, and then repeated, and their cycles."""
    if config.circuits:
        # Later programs of circuits find the words of earlier ones.
        whole = [number for number, each in enumerate(made[:LOADED]) if each.loads]
        return {number: [made[number].predicted.cycles // 2] for number in whole}
    meetings: dict[str, int] = {}
    for number, each in enumerate(made):
        if any(" at once " in point for point in each.points):
            meetings.setdefault(each.name, number)
    chosen = reset_cycles(config, [each.predicted for each in made], [*meetings.values()])
    for number, each in enumerate(made):
        if any(" at once, first " in point for point in each.points):
            # Until all flits have left: then it is the turn of another VC.
            chosen.setdefault(number, []).append(int(each.predicted.trace.cycle.max()) + 1)
    return chosen


def busy_memory(image: Image) -> Scenario | None:
    """Return a run in which a node reads its memory for longer than a request waits, if it can."""
    config, way = image.program.config, shortest_way(image.program.config.topology)
    if not way:
        return None
    node = way[0][0]
    length = min(config.message_words, LONG)
    program: AnyProgram
    if config.circuits:
        program = circuits.steady(config, way, words=length, times=-(-LONG // length))
    else:
        draft = Draft(config)
        draft.send(way, None, (0, 0), 1, 0)
        draft.rows[node] = [replace(draft.rows[node][0], target_address=0, length=length)]
        program = draft.program()
    if int(program.table_sizes.max()) > config.table_words:
        return None
    made = _with_program(image, program, {node: length}, np.zeros_like(image.known))
    sent = made.predicted.trace.cycle[made.predicted.trace.node == node]
    if len(sent) < LONG or sent[-1] - sent[0] >= len(sent):
        return None
    name = "A memory that is busy until a request is given up"
    return Scenario(name=name, image=made, writes=made.writes, busy=node)


def reloaded(image: Image) -> Words:
    """Return the writes of ``image`` without those to tables, which are already loaded."""
    writes = image.writes
    kept: Words = writes[writes[:, 1] != Space.TABLE]
    return kept


def endless(image: Image) -> Image:
    """Return a program without end: it expects a packet that nobody sends.

    With circuits it is a program that ends later than the bench stops it.
    """
    config, nodes = image.program.config, range(image.program.nodes)
    if config.circuits:
        return replace(image, program=circuits.endless(config), loads=[], limit=0)
    last = max({*nodes} - {*config.topology.switches})
    receives = [[1] if node == last else [] for node in nodes]
    ports = [[1] if node == last else [] for node in nodes]
    program = Program.from_rows(
        config, image.program.port_model, [[] for _ in nodes], receives, receive_ports=ports
    )
    return replace(image, program=program, loads=[], limit=0)


def never_begun(image: Image) -> Image:
    """Return the program of circuits with a tile that keeps it from starting beyond the limit."""
    config = image.program.config
    hold = np.zeros(config.topology.nodes, dtype=np.int64)
    hold[max({*range(len(hold))} - {*config.topology.switches})] = LIMIT + 1000
    return _again(image, Control(hold=hold, limit=LIMIT))


def messages_of(image: Image) -> npt.NDArray[np.uint64]:
    """Return the message memories before the run, (nodes, message words): 0 except the loads."""
    memory = empty_memory(image.program.config)
    for node, address, words in image.loads:
        memory[node, address : address + len(words)] = words
    return memory


def _again(image: Image, control: Control) -> Image:
    """Predict the run of ``image`` with another control."""
    predicted = predict(image, messages_of(image), control)
    return replace(image, predicted=predicted, limit=control.limit)


def predict(image: Image, memory: Words, control: Control | None = None) -> Prediction:
    """Predict a run of the program of ``image`` with other messages, by the cycle model."""
    return run_any(image.program, memory, timing=image.timing, control=control)


def _limited(image: Image) -> Scenario:
    """Return the same program with a timeout after half of its cycles."""
    limit = max(1, image.predicted.cycles // 2)
    made = _again(image, Control(limit=limit))
    return Scenario(name=f"Timed out after {limit} cycles", image=made, writes=reloaded(made))


def _held(image: Image) -> Scenario:
    """Return the same program, held back by a tile that loads its message during the run."""
    config = image.program.config
    node = image.loads[0][0]
    words = sum(len(each) for at, _, each in image.loads if at == node)
    hold = np.zeros(config.topology.nodes, dtype=np.int64)
    hold[node] = 4 * words + image.predicted.cycles + 40
    made = _again(image, Control(hold=hold))
    name = f"Held back by the tile of node {node}"
    return Scenario(name=name, image=made, writes=reloaded(made), held=(node, int(hold[node])))


def _beside(image: Image) -> Words | None:
    """Return words for the receiving node's memory, at addresses without loaded or received ones.

    A program sends words that are loaded. None if the memory has no room beside them.
    """
    config = image.program.config
    received = np.argwhere(image.known)
    if not len(received):
        return None
    node = int(received[-1][0])
    loaded = image.writes[(image.writes[:, :2] == (node, Space.MESSAGE)).all(axis=1), 2]
    loaded >>= np.uint64(config.piece_bits)
    used = {*loaded.tolist(), *np.flatnonzero(image.known[node]).tolist()}
    addresses = [each for each in range(config.message_words) if each not in used][:BESIDE]
    words = random_words(config, (len(addresses),), seed=1)
    return message_writes(config, node, np.array(addresses), words) if addresses else None


# Additional programs of the bench


def _trials(image: Image) -> dict[str, Image]:
    """Return the programs in which packets wait for each other, and those that must fail."""
    config = image.program.config
    if config.circuits:
        return _failing_circuits(image)
    crossing = "Packets that wait for each other"
    drafts = {
        crossing: _crossing(config),
        "A word beyond the message memory": _beyond(config),
        "A send and a receive in one step, half-duplex": _both_ways(config),
    }
    found = {name: draft and _image_of(image, draft) for name, draft in drafts.items()}
    return {
        name: made
        for name, made in found.items()
        if made and (name == crossing or made.predicted.flags.any())
    }


def _image_of(image: Image, draft: Draft) -> Image | None:
    """Return the image of a draft in the slot of ``image``; None if the network is too small."""
    program = draft.program()
    if int(program.table_sizes.max()) > program.config.table_words:
        return None
    lengths = {node: max(row.length for row in rows) for node, rows in draft.rows.items()}
    nothing = np.zeros_like(image.known)
    try:
        made = _with_program(replace(image, timing=Timing.SELF_TIMED), program, lengths, nothing)
    except InvalidInput:
        return None
    if made.predicted.finished:
        changed = words_differ(made.predicted.memory, messages_of(made), axes=2)
        made = replace(made, known=changed)
    return made


def _with_program(
    image: Image, program: AnyProgram, lengths: dict[int, int], known: npt.NDArray[np.bool_]
) -> Image:
    """Return the image of another program, whose nodes send words from address 0 on."""
    loads = [
        (node, 0, random_words(program.config, (length,), seed=2 + node))
        for node, length in lengths.items()
    ]
    return _again(replace(image, program=program, loads=loads, known=known, base=0), Control())


def _failing_circuits(image: Image) -> dict[str, Image]:
    """Return the programs of circuits that set a flag, by name."""
    config = image.program.config
    nothing = np.zeros_like(image.known)
    for node, port, neighbor in _links(config):
        lengths = dict.fromkeys((node, neighbor), config.message_words)
        images = {
            name: _with_program(image, program, lengths, nothing)
            for name, program in circuits.failing(config, node, port).items()
            if int(program.table_sizes.max()) <= config.table_words
        }
        return {name: made for name, made in images.items() if made.predicted.flags.any()}
    return {}


def _links(config: NetworkConfig) -> Iterator[tuple[int, int, int]]:
    """Yield (node, port, neighbor) of every link between nodes that are not switches."""
    topology = config.topology
    for node, neighbors in enumerate(topology.neighbor.tolist()):
        for port, neighbor in enumerate(neighbors):
            if port and neighbor != NO_LINK and not {node, neighbor} & {*topology.switches}:
                yield node, port, neighbor


def _crossing(config: NetworkConfig) -> Draft | None:
    """Return self-timed packets of several nodes through one link, each in its own step."""
    if config.contention_free:
        return None
    links = [*_links(config)]
    best: list[tuple[int, tuple[Segment, ...]]] = []
    target = entry = 0
    for middle, port, end in links:
        out = Segment(port, 1, 0)
        routes: list[tuple[int, tuple[Segment, ...]]] = [(middle, (out,))]
        routes += [
            (node, (Segment(leaves, 1, 0), out))
            for node, leaves, there in links
            if there == middle and node != end
        ]
        if len(routes) > max(1, len(best)):
            best, target = routes, end
            entry = int(config.topology.peer[middle, port])
    length = min(2 * config.depth + 4, config.message_words)
    packets = min(PACKETS, config.steps, config.table_words // (config.table.control_words + 4))
    if not best or packets < len(best):
        return None
    draft = Draft(config)
    for step in range(1, packets + 1):
        node, route = best[step % len(best)]
        vc = (config.vcs - 1) * (step % 5 == 0)
        route = tuple(segment._replace(vc=vc) for segment in route)
        place = (step * length) % (config.message_words // length * length)
        draft.put(node, Row(step, route, 0, place, length), target, entry)
    return draft


def _beyond(config: NetworkConfig) -> Draft | None:
    """Return a packet whose last word lies beyond its target's memory."""
    for node, port, neighbor in _links(config):
        draft = Draft(config)
        row = Row(1, (Segment(port, 1, 0),), 0, config.message_words - 1, 2)
        draft.put(node, row, neighbor, int(config.topology.peer[node, port]))
        return draft
    return None


def _both_ways(config: NetworkConfig) -> Draft | None:
    """Return two neighbors that send to each other in a step, which half-duplex forbids."""
    links = [*_links(config)]
    for node, port, neighbor in links:
        back = int(config.topology.peer[node, port])
        if (neighbor, back, node) in links:
            draft = Draft(config, port_model=PortModel.HALF_DUPLEX)
            draft.put(node, Row(1, (Segment(port, 1, 0),), 0, 0, 1), neighbor, back)
            draft.put(neighbor, Row(1, (Segment(back, 1, 0),), 0, 0, 1), node, port)
            return draft
    return None
