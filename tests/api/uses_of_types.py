"""Right and wrong uses of the face, for type checkers, which must refuse lines with ``# refused``.

Nothing here runs.
"""

from typing import assert_type

import networkx  # type: ignore[import-untyped]
import numpy as np
from matplotlib.figure import Figure

import eyecast
from eyecast import Block, Entry, Node, Prediction, Send, Verification
from eyecast.model.program.any_program import AnyProgram


def right(root: Node = (0, 0)) -> None:
    """Use each function as the guides do."""
    network = eyecast.mesh((4, 4))
    assert_type(network, eyecast.Topology)
    eyecast.torus([4, 4])
    eyecast.graph(networkx.DiGraph([(0, 1)]))
    faulty = eyecast.with_faults(network, [(1, 1), 7], [((0, 0), 1)])
    eyecast.with_random_faults(eyecast.hypercube(4), 0.1, keep=faulty.working_nodes)
    made = eyecast.schedule(network, "eye", source=root, words=16)
    assert_type(made, eyecast.Schedule)
    eyecast.schedule(network, "ring", collective="all-reduce", ports="full-duplex", operator="max")
    own = eyecast.Operator("saturating-add", latency=1)
    eyecast.schedule(network, "tree", collective="reduce", source=np.int64(3), operator=own)
    eyecast.schedule(network, "eye", source=0, groups=[{"nodes": [0, 1], "root": 1}])
    assert_type(eyecast.measures(made), eyecast.Measures)
    predicted = eyecast.predict(made, timing="self-timed", vcs=2, operators=["add", own])
    assert_type(predicted, Prediction)
    assert_type(predicted.cycles, int)
    verified = eyecast.verify(made, hold={3: 10}, tile_ports=True, programs=1)
    assert_type(verified, Verification)
    assert_type(verified.agrees, bool)
    held = {(0, 0): 10}
    eyecast.write_report(eyecast.verify(made, hold=held, tile_ports=True, programs=1), "run.html")
    assert_type(eyecast.play(made, timing="self-timed", depth=4), eyecast.Player)
    entries = eyecast.compare(network, source=0, algorithms=eyecast.algorithms(), depth=4)
    assert_type(entries, eyecast.Entries)
    assert_type(entries[0], Entry)
    assert_type(eyecast.draw(made, "eye.svg"), Figure)
    program = eyecast.compile(made, flit_width=16)
    assert_type(program, AnyProgram)
    eyecast.write_program(program, "program.json")
    assert_type(eyecast.traffic(network, pattern="hotspot", vcs=2), eyecast.TrafficRun)
    eyecast.schedule_of_sends(network, [(1, [0, 1]), (2, [(0, 0), (0, 1)], [0, 1])], pieces=2)
    reduced = Block(words=4, operator="add", owed=[0])
    sends = [Send(1, [1, 0], combine=True, vcs=1)]
    eyecast.schedule_of_sends(network, sends, collective="custom", blocks=[reduced], ports="all")
    plan = eyecast.transmit(network, seconds=1).best
    assert_type(plan, eyecast.Plan)
    assert_type(eyecast.transmit_schedule(plan), eyecast.Schedule)


def wrong() -> None:
    """Use functions as no one should."""
    network = eyecast.mesh(8)  # refused
    eyecast.mesh(8)  # refused
    eyecast.torus()  # refused
    eyecast.hypercube("4")  # refused
    eyecast.graph([1, 2])  # refused
    eyecast.shedule(network, "eye")  # refused
    made = eyecast.schedule(network, "eye", sources=0)  # refused
    eyecast.schedule("8x8", "eye", source=0)  # refused
    eyecast.schedule(network, "eye", source="0,0")  # refused
    eyecast.schedule(network, "ring", collective="allreduce")  # refused
    eyecast.schedule(network, "eye", source=0, ports="two")  # refused
    eyecast.schedule(network, "eye", groups=[{"node": [0, 1]}])  # refused
    eyecast.schedule(network, "tree", collective="reduce", source=0, operator="mul")  # refused
    eyecast.algorithms("all_gather")  # refused
    eyecast.predict(made, vc=2)  # refused
    eyecast.predict(made, vcs="2")  # refused
    eyecast.predict(made, timing="timed")  # refused
    eyecast.predict(network)  # refused
    eyecast.predict(made=made)  # refused
    eyecast.verify(made, hold=[0])  # refused
    eyecast.traffic(network, pattern="storm")  # refused
    eyecast.schedule_of_sends(network, [(1, 0)])  # refused
    eyecast.schedule_of_sends(network, [("1", [0, 1])])  # refused
    eyecast.schedule_of_sends(network, [(1, [0, 1])], blocks=[3])  # refused
    eyecast.schedule_of_sends(network, [(1, [0, 1])], ports="one")  # refused
    Send(1, [0, 1], combined=True)  # refused
    Block(4, 0)  # refused
    print(eyecast.predict(made).cycle)  # refused
    eyecast.draw(made, 1)  # refused
