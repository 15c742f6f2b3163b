"""MSCCL algorithms for tests, written one step a line, and functions that read them."""

from collections.abc import Sequence

from helpers.refusals import refusal_of

from eyecast.formats.format import Setting
from eyecast.formats.msccl_reader import read_msccl
from eyecast.model.base.files import InputFile
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.schedule import Schedule


def read(
    text: str, topology: Topology, words: int = 3, ports: PortModel = PortModel.FULL_DUPLEX
) -> Schedule:
    """Read an algorithm and return its proved schedule."""
    setting = Setting(topology=topology, words=words, ports=ports)
    schedule = read_msccl(InputFile("a.xml", text.encode()), setting)
    schedule.check()
    return schedule


def refusal(text: str, topology: Topology) -> str:
    """Return the one-line error that refuses an algorithm."""
    return refusal_of(read, text, topology)


def step(place: int, kind: str, source: str, target: str, **more: object) -> str:
    """Write a step; slots are written like "i0" or "s3"."""
    given = {"cnt": 1, "depid": -1, "deps": -1, "hasdep": 0, **more}
    rest = " ".join(f'{name}="{value}"' for name, value in given.items())
    return (
        f'<step s="{place}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1:]}" '
        f'dstbuf="{target[0]}" dstoff="{target[1:]}" {rest}/>'
    )


def threadblock(number: int, send: int, recv: int, channel: int, *steps: str) -> str:
    begin = f'<tb id="{number}" send="{send}" recv="{recv}" chan="{channel}">'
    return "\n".join((begin, *steps, "</tb>"))


def algorithm(
    collective: str, gpus: Sequence[Sequence[str]], sizes: str, chunks: int, inplace: int = 0
) -> str:
    """Write an algorithm; ``sizes`` counts the chunks of input, output and scratch: "1 4 0"."""
    i, o, s = sizes.split()
    lines = [
        f'<algo name="mine" proto="Simple" nchannels="4" nchunksperloop="{chunks}" '
        f'ngpus="{len(gpus)}" coll="{collective}" inplace="{inplace}">'
    ]
    for rank, blocks in enumerate(gpus):
        lines.append(f'<gpu id="{rank}" i_chunks="{i}" o_chunks="{o}" s_chunks="{s}">')
        lines += [*blocks, "</gpu>"]
    return "\n".join((*lines, "</algo>", ""))


def ring_all_gather(ranks: int) -> str:
    """Write a ring all-gather: each GPU receives, copies and sends on in one step."""
    gpus = []
    for rank in range(ranks):
        before, own = (rank - 1) % ranks, f"o{rank}"
        gets = [f"o{(rank - hop) % ranks}" for hop in range(1, ranks)]
        passed = [step(hop, "rcs", slot, slot) for hop, slot in enumerate(gets[:-1], 1)]
        last = step(ranks - 1, "r", gets[-1], gets[-1])
        ring = threadblock(0, (rank + 1) % ranks, before, 0, step(0, "s", "i0", own), *passed, last)
        gpus.append([ring, threadblock(1, -1, -1, 0, step(0, "cpy", "i0", own))])
    return algorithm("allgather", gpus, f"1 {ranks} 0", ranks)


def relayed() -> str:
    """Let GPU 0 send a chunk to GPU 2 through GPU 1's scratch buffer, in two threadblocks there."""
    first = [threadblock(0, 1, -1, 1, step(0, "s", "i1", "s0"))]
    second = [
        threadblock(0, -1, 0, 1, step(0, "r", "i1", "s0", hasdep=1)),
        threadblock(3, 2, -1, 0, step(0, "s", "s0", "o0", depid=0, deps=0)),
    ]
    third = [threadblock(0, -1, 1, 0, step(0, "r", "s0", "o0"))]
    return algorithm("custom", [first, second, third], "2 2 1", 2)


def promises(schedule: Schedule) -> list[tuple[int, tuple[int, ...]]]:
    """Return the owner and the other targets, sorted, of each block that others are owed."""
    working = schedule.topology.working_nodes.tolist()
    pairs = zip(schedule.blocks.owner.tolist(), schedule.blocks.owed, strict=True)
    others = (
        (owner, tuple(sorted({*(working if owed is None else owed)} - {owner})))
        for owner, owed in pairs
    )
    return sorted((owner, nodes) for owner, nodes in others if nodes)


def ring_reduce_scatter(ranks: int, inplace: bool = False) -> str:
    """Write a ring reduce-scatter: each chunk passes all GPUs, which add theirs, to its own GPU."""
    gpus = []
    for rank in range(ranks):
        passed = [f"i{(rank - 1 - hop) % ranks}" for hop in range(ranks)]
        steps = [step(0, "s", passed[0], "o0")]
        steps += [step(hop, "rrs", passed[hop], passed[hop]) for hop in range(1, ranks - 1)]
        steps.append(step(ranks - 1, "rrc", passed[-1], "o0"))
        gpus.append([threadblock(0, (rank + 1) % ranks, (rank - 1) % ranks, 0, *steps)])
    return algorithm("reduce_scatter", gpus, f"{ranks} 1 0", ranks, int(inplace))


def ring_all_reduce(ranks: int) -> str:
    """Write a ring all-reduce: chunks are added, then copied, by steps of every sending type."""
    gpus = []
    for rank in range(ranks):
        passed = [f"i{(rank - 1 - hop) % ranks}" for hop in range(ranks)]
        kinds = ["s", *["rrs"] * (ranks - 2), "rrcs", *["rcs"] * (ranks - 2), "r"]
        slots = [*passed, *passed[:-1]]
        steps = [step(place, kind, slots[place], slots[place]) for place, kind in enumerate(kinds)]
        gpus.append([threadblock(0, (rank + 1) % ranks, (rank - 1) % ranks, 0, *steps)])
    return algorithm("allreduce", gpus, f"{ranks} {ranks} 0", ranks, 1)


def chain_reduce(ranks: int) -> str:
    """Write a chain reduce: the last GPU sends first, each adds its chunk, GPU 0 gets the sums."""
    first = [threadblock(0, -1, 1, 0, step(0, "rrc", "i0", "o0"))]
    between = [
        [threadblock(0, rank - 1, rank + 1, 0, step(0, "rrs", "i0", "i0"))]
        for rank in range(1, ranks - 1)
    ]
    last = [threadblock(0, ranks - 2, -1, 0, step(0, "s", "i0", "i0"))]
    return algorithm("reduce", [first, *between, last], "1 1 0", 1)


def all_to_all_reduce(ranks: int) -> str:
    """Let every GPU send its chunk to all others first, and then add the chunks it receives."""
    gpus = []
    for rank in range(ranks):
        others = [other for other in range(ranks) if other != rank]
        blocks = [
            threadblock(other, other, -1, 0, step(0, "s", "i0", f"s{rank}", hasdep=1))
            for other in others
        ]
        blocks += [
            threadblock(ranks + other, -1, other, 0, step(0, "r", "i0", f"s{other}", hasdep=1))
            for other in others
        ]
        sent = [
            step(place, "nop", "i0", "o0", depid=other, deps=0)
            for place, other in enumerate(others)
        ]
        added = [
            step(place, "re", f"s{other}", "o0", depid=ranks + other, deps=0)
            for place, other in enumerate(others, len(sent))
        ]
        gpus.append([*blocks, threadblock(2 * ranks, -1, -1, 0, *sent, *added)])
    return algorithm("allreduce", gpus, f"1 1 {ranks}", 1, 1)


def two_sums() -> str:
    """Sum GPUs 0 and 1 in GPU 1, and GPUs 2 and 3 in GPU 3; GPU 3 passes its sum to GPU 0."""
    pair = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0"))]
    sums = [threadblock(0, -1, 0, 0, step(0, "rrc", "i0", "o0"))]
    gets = [*pair, threadblock(1, -1, 3, 0, step(0, "r", "i0", "o0"))]
    other = [threadblock(0, 3, -1, 0, step(0, "s", "i0", "o0"))]
    passes = [threadblock(0, 0, 2, 0, step(0, "rrcs", "i0", "o0"))]
    return algorithm("custom", [gets, sums, other, passes], "1 1 0", 1)


def dissemination(ranks: int) -> str:
    """Let GPU r send its sum to GPU r + 2^k in round k while it adds a received one."""
    gpus = []
    rounds = (ranks - 1).bit_length()
    for rank in range(ranks):
        sends, adds, blocks = 2 * rounds, 3 * rounds, []
        for turn in range(rounds):
            to, of = (rank + (1 << turn)) % ranks, (rank - (1 << turn)) % ranks
            before = {"depid": adds + turn - 1, "deps": 1} if turn else {}
            blocks += [
                threadblock(
                    sends + turn, to, -1, turn, step(0, "s", "i0", "s0", hasdep=1, **before)
                ),
                threadblock(turn, -1, of, turn, step(0, "r", "i0", f"s{turn}", hasdep=1)),
                threadblock(
                    adds + turn,
                    -1,
                    -1,
                    0,
                    step(0, "nop", "i0", "o0", depid=sends + turn, deps=0),
                    step(1, "re", f"s{turn}", "o0", depid=turn, deps=0, hasdep=1),
                ),
            ]
        gpus.append(blocks)
    return algorithm("allreduce", gpus, f"1 1 {rounds}", 1, 1)
