"""MSCCL algorithms as text, a line for each step, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from eyecast.model.schedule.schedule import Schedule


def step(place: int, kind: str, source: str, target: str, **more: object) -> str:
    """A step; slots such as "i0" or "s3"."""
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
    """An algorithm; ``sizes`` are the chunks of every input, output and scratch: "1 4 0"."""
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
    """Every GPU passes on what it gets: received, copied and sent on in one step."""
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
    """GPU 0 sends a chunk to GPU 2 by the scratch buffer of GPU 1, in two threadblocks there."""
    first = [threadblock(0, 1, -1, 1, step(0, "s", "i1", "s0"))]
    second = [
        threadblock(0, -1, 0, 1, step(0, "r", "i1", "s0", hasdep=1)),
        threadblock(3, 2, -1, 0, step(0, "s", "s0", "o0", depid=0, deps=0)),
    ]
    third = [threadblock(0, -1, 1, 0, step(0, "r", "s0", "o0"))]
    return algorithm("custom", [first, second, third], "2 2 1", 2)


def promises(schedule: Schedule) -> list[tuple[int, tuple[int, ...]]]:
    """For each block that others are owed its owner, and these others; sorted."""
    working = schedule.topology.working_nodes.tolist()
    pairs = zip(schedule.blocks.owner.tolist(), schedule.blocks.owed, strict=True)
    others = (
        (owner, tuple(sorted({*(working if owed is None else owed)} - {owner})))
        for owner, owed in pairs
    )
    return sorted((owner, nodes) for owner, nodes in others if nodes)
