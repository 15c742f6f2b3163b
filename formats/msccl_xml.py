"""MSCCL XML: an algorithm as the steps of every GPU's threadblocks.

::

    <algo name="ring" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2"
          coll="allgather" inplace="0">
      <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
        <tb id="0" send="1" recv="1" chan="0">
          <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"
                depid="-1" deps="-1" hasdep="0"/>
          ...

Buffers are i(nput), o(utput) and s(cratch), in chunks. A threadblock executes its steps in order.
"s" sends ``cnt`` chunks of srcbuf to GPU ``send`` of the threadblock. "r" receives from GPU
``recv`` into dstbuf; "rcs" receives and sends on; "cpy" copies; "nop" waits. In a reduction "rrc"
combines arriving chunks with srcbuf into dstbuf; "rrs" sends the result instead of storing it;
"rrcs" does both; "re" combines srcbuf with dstbuf into dstbuf. A step waits for step ``deps`` of
threadblock ``depid`` of its GPU, which is marked ``hasdep``. A channel between two GPUs keeps the
order of sends.

(Sources: microsoft/msccl, src/graph/topo.cc, which parses it, and
src/collectives/device/msccl_interpreter.h, which executes it; microsoft/msccl-tools,
msccl/language/ir.py and msccl/ncclize.py, which write it.)

This module reads the file; :mod:`.msccl_execution` finds its moves.
"""

from dataclasses import dataclass

from ..model.base.files import InputFile
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import REDUCTIONS, Collective
from .xml_file import Element, XmlFile

MOST_RANKS = 4096
MOST_CHUNKS = 1 << 20
"""Most chunks of one buffer, and of all GPUs' inputs together."""
MOST_MOVED = 1 << 22
"""Most chunks that all steps together move."""

COLLECTIVES = {
    "allgather": Collective.ALL_GATHER,
    "alltoall": Collective.ALL_TO_ALL,
    "broadcast": Collective.BROADCAST,
    "allreduce": Collective.ALL_REDUCE,
    "reduce_scatter": Collective.REDUCE_SCATTER,
    "reduce": Collective.REDUCE,
    "custom": CUSTOM,
}
"""Collectives by their names in the file."""

_OPERATORS = {"sum": "add", "min": "min", "max": "max", "nop": "add"}
"""Operators by their names in the file; an algorithm of ``nop`` combines nothing."""

_PROTOCOLS = ("Simple", "LL", "LL128")
_COPYING_STEPS = ("s", "r", "rcs", "cpy", "nop")
_REDUCING_STEPS = ("rrs", "rrc", "rrcs", "re")
_STORING_STEPS = ("r", "rcs", "cpy", "rrc", "rrcs", "re")
_BUFFERS = ("i", "o", "s")
NOBODY = -1

Slot = tuple[str, int]
"""A slot for a chunk in a GPU's memory: buffer and offset."""


@dataclass(frozen=True)
class Step:
    """A step: its type, first slots, number of chunks, and the (threadblock, step) it awaits.

    ``element`` is for error messages.
    """

    kind: str
    source: Slot
    target: Slot
    count: int
    awaited: tuple[int, int] | None
    awaitable: bool
    element: Element

    @property
    def sends(self) -> bool:
        """True if the step sends."""
        return self.kind in ("s", "rcs", "rrs", "rrcs")

    @property
    def receives(self) -> bool:
        """True if the step receives."""
        return self.kind in ("r", "rcs", "rrc", "rrs", "rrcs")

    @property
    def reduces(self) -> bool:
        """True if the step combines chunks."""
        return self.kind in _REDUCING_STEPS

    @property
    def stores(self) -> bool:
        """True if the step writes to dstbuf."""
        return self.kind in _STORING_STEPS


@dataclass(frozen=True)
class Threadblock:
    """A threadblock: the GPUs that it sends to and receives from (-1: none), channel and steps."""

    send: int
    recv: int
    channel: int
    steps: list[Step]
    element: Element


@dataclass(frozen=True)
class Algorithm:
    """An algorithm. ``gpus[rank]`` has the threadblocks of a GPU by number.

    ``operator`` combines chunks. ``chunks`` is nchunksperloop; ``sizes[rank]`` has the chunks of
    each buffer.
    """

    xml: XmlFile
    name: str
    collective: str
    inplace: bool
    operator: str
    chunks: int
    sizes: list[dict[str, int]]
    gpus: list[dict[int, Threadblock]]

    @property
    def ranks(self) -> int:
        """Number of GPUs."""
        return len(self.gpus)

    @property
    def reduces(self) -> bool:
        """True if chunks are combined: by the collective, in a custom one by the steps."""
        if self.collective != CUSTOM:
            return self.collective in REDUCTIONS
        blocks = (block for gpu in self.gpus for block in gpu.values())
        return any(step.reduces for block in blocks for step in block.steps)


def read_algorithm(file: InputFile) -> Algorithm:
    """Read an algorithm; raise :class:`.InvalidInput` if the file has none."""
    xml = XmlFile(file)
    root = xml.root
    if root.tag != "algo":
        raise xml.refusal(root, "must be an <algo>")
    required = ("name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace")
    # Message and threadblock sizes only select the algorithm, and do not change its moves.
    sizes = ("outofplace", "minBytes", "maxBytes", "nthreads")
    xml.require_attributes(root, required, (*sizes, "redop"))
    collective = COLLECTIVES[xml.text(root, "coll", COLLECTIVES)]
    xml.text(root, "proto", _PROTOCOLS)
    ranks = xml.integer(root, "ngpus", 1, MOST_RANKS)
    channels = xml.integer(root, "nchannels", 0, 1 << 16)
    algorithm = Algorithm(
        xml=xml,
        name=root.attrib["name"],
        collective=collective,
        inplace=bool(xml.integer(root, "inplace", 0, 1)),
        operator=_operator(xml),
        chunks=xml.integer(root, "nchunksperloop", 1, MOST_CHUNKS),
        sizes=[{}] * ranks,
        gpus=[{}] * ranks,
    )
    seen: set[int] = set()
    for gpu in xml.children(root, "gpu"):
        xml.require_attributes(gpu, ("id", "i_chunks", "o_chunks", "s_chunks"))
        rank = xml.integer(gpu, "id", 0, ranks - 1)
        if rank in seen:
            raise xml.refusal(gpu, f"id must be that of no other gpu, not {rank}")
        seen.add(rank)
        algorithm.sizes[rank] = {
            buffer: xml.integer(gpu, f"{buffer}_chunks", 0, MOST_CHUNKS) for buffer in _BUFFERS
        }
        algorithm.gpus[rank] = _threadblocks(algorithm, gpu, rank, channels)
    for rank in sorted(set(range(ranks)) - seen):
        raise xml.refusal(root, f"must have a gpu of id {rank}, as ngpus is {ranks}")
    _require_few(algorithm)
    xml.say_unknown()
    return algorithm


def _operator(xml: XmlFile) -> str:
    """Return the operator that ``redop`` names; add without it, as NCCL's caller chooses one."""
    if "redop" not in xml.root.attrib:
        return "add"
    return _OPERATORS[xml.text(xml.root, "redop", _OPERATORS)]


def _require_few(algorithm: Algorithm) -> None:
    """Require that all steps together move at most :data:`MOST_MOVED` chunks."""
    blocks = (block for gpu in algorithm.gpus for block in gpu.values())
    moved = sum(step.count for block in blocks for step in block.steps)
    if moved > MOST_MOVED:
        complaint = f"cnt of all steps together must be at most {MOST_MOVED}, not {moved}"
        raise algorithm.xml.refusal(algorithm.xml.root, complaint)


def _threadblocks(
    algorithm: Algorithm, gpu: Element, rank: int, channels: int
) -> dict[int, Threadblock]:
    """Return the threadblocks of a GPU by number."""
    xml, ranks = algorithm.xml, algorithm.ranks
    blocks: dict[int, Threadblock] = {}
    users: set[tuple[str, int, int]] = set()
    for element in xml.children(gpu, "tb"):
        xml.require_attributes(element, ("id", "send", "recv", "chan"))
        number = xml.integer(element, "id", 0, MOST_CHUNKS)
        if number in blocks:
            raise xml.refusal(element, f"id must be that of no other tb of gpu {rank}")
        peers = {way: xml.integer(element, way, NOBODY, ranks - 1) for way in ("send", "recv")}
        # A threadblock that only copies may have channel -1.
        channel = xml.integer(element, "chan", -1, channels - 1)
        for way, peer in peers.items():
            if peer == rank:
                raise xml.refusal(element, f"{way} must be another gpu, not {peer}")
            if peer != NOBODY and (way, peer, channel) in users:
                other = "to" if way == "send" else "from"
                only = f"the only tb of gpu {rank} {other} gpu {peer} on channel {channel}"
                raise xml.refusal(element, f"must be {only}")
            users.add((way, peer, channel))
        steps: list[Step] = []
        blocks[number] = Threadblock(peers["send"], peers["recv"], channel, steps, element)
        for child in xml.children(element, "step"):
            steps.append(_step(algorithm, child, rank, len(steps)))
            for way, used in (("send", steps[-1].sends), ("recv", steps[-1].receives)):
                if used and peers[way] == NOBODY:
                    kind = steps[-1].kind
                    raise xml.refusal(child, f"{kind} needs {way} of its tb to be a gpu, not -1")
    _require_awaited(xml, blocks)
    return blocks


def _step(algorithm: Algorithm, element: Element, rank: int, place: int) -> Step:
    """Return the step with index ``place`` of a threadblock of GPU ``rank``."""
    xml, sizes = algorithm.xml, algorithm.sizes[rank]
    names = ("s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep")
    xml.require_attributes(element, names)
    xml.require_empty(element)
    kind = element.attrib["type"]
    if kind in _REDUCING_STEPS and algorithm.collective not in (*REDUCTIONS, CUSTOM):
        collective = xml.root.attrib["coll"]
        raise xml.refusal(element, f"type must be one that copies in {collective}, not {kind}")
    xml.text(element, "type", (*_COPYING_STEPS, *_REDUCING_STEPS))
    xml.integer(element, "s", place, place)
    count = xml.integer(element, "cnt", 0 if kind == "nop" else 1, MOST_CHUNKS)
    slots = []
    reads = kind in ("s", "cpy", *_REDUCING_STEPS)
    for side, used in (("src", reads), ("dst", kind in _STORING_STEPS)):
        buffer = xml.text(element, f"{side}buf", _BUFFERS)
        # The other side belongs to the peer GPU.
        high = sizes[buffer] - count if used else MOST_CHUNKS
        if used and high < 0:
            given = f"{buffer}_chunks of gpu {rank} is {sizes[buffer]}"
            raise xml.refusal(element, f"cnt must fit in {side}buf: {given}")
        low = 0 if used else -1
        slots.append((buffer, xml.integer(element, f"{side}off", low, high)))
    awaited = xml.integer(element, "depid", NOBODY, MOST_CHUNKS)
    step = xml.integer(element, "deps", NOBODY, MOST_CHUNKS)
    return Step(
        kind=kind,
        source=slots[0],
        target=slots[1],
        count=count,
        awaited=None if awaited == NOBODY else (awaited, step),
        awaitable=bool(xml.integer(element, "hasdep", 0, 1)),
        element=element,
    )


def _require_awaited(xml: XmlFile, blocks: dict[int, Threadblock]) -> None:
    """Require that every awaited step exists and is marked as awaited."""
    for block in blocks.values():
        for step in block.steps:
            if step.awaited is None:
                continue
            number, place = step.awaited
            if number not in blocks:
                raise xml.refusal(step.element, f"depid must be a tb of its gpu, not {number}")
            steps = blocks[number].steps
            if not 0 <= place < len(steps):
                allowed = f"a step of tb {number}, 0 to {len(steps) - 1}"
                raise xml.refusal(step.element, f"deps must be {allowed}, not {place}")
            if not steps[place].awaitable:
                line = step.element.sourceline
                raise xml.refusal(steps[place].element, f"hasdep must be 1, as line {line} waits")
