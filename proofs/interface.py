"""Proofs of the parts of the network interface, against sections 4 and 16 of docs/router.md."""

from amaranth.hdl import C, Mux, Signal, Value

from ..model.network.config import NetworkConfig
from ..rtl.packets.receiver import Receiver
from ..rtl.packets.steps import ArrivalRecord, StepKeeper
from ..rtl.parts.assertions import one_hot_or_zero
from ..rtl.parts.host_map import RunState
from ..rtl.run_control import RunControl
from .harness import Bench
from .networks import network, said
from .proof import Proof


def delivery_of(config: NetworkConfig, word: Value) -> tuple[Value, Value]:
    """Return the fields ``step`` and ``address`` of a delivery."""
    low = config.header.port_bits
    middle = low + config.header.step_bits
    return word[low:middle], word[middle : middle + config.header.address_bits]


def receiver(vcs: int) -> Proof:
    """Return the proof that each payload word is written at its address, and each tail told.

    A VC is chosen freely; its packets begin with header flits.
    """

    def build(bench: Bench) -> None:
        m, config = bench.m, network(3, vcs, message_words=3, flit_width=16)
        dut = bench.drive(Receiver(config))
        link, flit = dut.ejection, dut.ejection.flit
        bench.assumes("one_flit", one_hot_or_zero(link.valid))
        chosen = bench.constant(vcs, "vc")
        bench.assumes("one_vc", one_hot_or_zero(chosen))
        arrives = (link.valid & chosen).any()
        step, address = delivery_of(config, flit.data)
        now_step = Signal(len(step), name="packet_step")
        place = Signal(8, name="place")
        with m.If(arrives & flit.head):
            m.d.sync += [now_step.eq(step), place.eq(address)]
        # The address stops behind the memory.
        with m.Elif(arrives & (place < config.message_words)):
            m.d.sync += place.eq(place + 1)
        word = arrives & ~flit.head
        inside = place < config.message_words
        message = dut.message
        bench.ensures("write_of_a_word", ~arrives | (message.enable == (word & inside)))
        bench.ensures("address_of_the_word", ~(word & inside) | (message.address == place))
        bench.ensures("the_word", ~(word & inside) | (message.word == flit.data))
        bench.ensures("bad_write_is_told", ~arrives | (dut.causes.bad_write == (word & ~inside)))
        bench.ensures("tail_is_told", ~arrives | (dut.arrival.valid == flit.tail))
        of_packet = Mux(flit.head, step, now_step)
        bench.ensures(
            "step_of_the_packet", ~(arrives & flit.tail) | (dut.arrival.step == of_packet)
        )
        silent = ~(message.enable | dut.arrival.valid | dut.causes.bad_write)
        bench.ensures("silent_without_a_flit", link.valid.any() | silent)
        bench.covers("last_word", word & (place == config.message_words - 1) & flit.tail)
        bench.covers("bad_write", dut.causes.bad_write)

    return Proof(
        "receiver",
        said(vcs=vcs),
        "each payload word is written once at its address; each tail is told with its step",
        build,
    )


def steps() -> Proof:
    """Return the proof of the step keeper: the step rises when it may, and never while flagged."""

    def build(bench: Bench) -> None:
        config = network(3, steps=7)
        dut = bench.drive(StepKeeper(config))
        step, progress = dut.clock.step, dut.progress
        rises = Mux(
            dut.barrier, dut.advance, progress.step_done & ~progress.all_done & ~dut.flagged
        )
        risen = bench.before(step + rises, init=1)[: len(step)]
        bench.ensures("step_rises_when_over", step == risen)
        bench.ensures("next_step", dut.clock.next_step == (step + 1)[: len(step)])
        bench.ensures("over_without_a_flag", dut.over == (progress.step_done & ~dut.flagged))
        bench.ensures("finished_without_a_flag", dut.finished == (progress.all_done & ~dut.flagged))
        bench.covers("third_step", step == 3)

    return Proof(
        "step keeper", "7 steps", "the step rises at its end, and not while flagged", build
    )


def record() -> Proof:
    """Return the proof of the arrival record: a step is received when its packet has arrived."""

    def build(bench: Bench) -> None:
        config = network(3, steps=3)
        dut = bench.drive(ArrivalRecord(config), expected=bench.constant(4, "expected"))
        arrival, number = dut.arrival, bench.constant(2, "number")
        arrives = arrival.valid & (arrival.step == number) & (number != 0)
        came = bench.latest(C(1, 1), arrives)
        bench.ensures("arrived", dut.arrived.bit_select(number, 1) == came)
        awaited = dut.expected.bit_select(number, 1) & ~came
        bench.ensures(
            "no_step_received_too_early", ~(dut.step_received & awaited & (dut.step == number))
        )
        bench.ensures("not_all_received_too_early", ~(dut.all_received & awaited))
        unexpected = (
            ~dut.expected.bit_select(number, 1) | came | (dut.barrier & (dut.step != number))
        )
        bench.ensures(
            "unexpected_is_told", ~arrives | (dut.causes.unexpected_receive == unexpected)
        )
        bench.covers("received", dut.all_received & (dut.expected == 14))
        bench.covers("twice", arrives & came)

    return Proof(
        "arrival record", "3 steps", "no step is over before its packet has arrived", build
    )


def run_control() -> Proof:
    """Return the proof of the run control: what ends a run, and which program begins."""

    def build(bench: Bench) -> None:
        config = network(3, programs=2, tile_ports=True, flit_width=32)
        dut = bench.drive(RunControl(config))
        bench.assumes("start_without_a_queue", ~dut.start | ~dut.queued)
        nodes, state = dut.nodes, dut.state
        for name in ("finished", "flagged"):
            bench.assumes(f"heard_{name}", nodes.heard | ~getattr(nodes, name))
        running = state == RunState.RUNNING
        late = nodes.heard & ((dut.cycle + 1)[:33] == dut.run.limit)
        ends = Mux(
            nodes.flagged,
            RunState.FAILED,
            Mux(nodes.finished, RunState.DONE, Mux(late, RunState.TIMED_OUT, RunState.RUNNING)),
        )
        failed = running & ~dut.stop & (nodes.flagged | (~nodes.finished & late))
        first = Mux(nodes.flagged, nodes.first_flagged, nodes.first_unfinished)
        # One bit of the settings, chosen freely, stands for all.
        size = len(dut.run.as_value())
        place = bench.constant(range(size), "place")
        bench.assumes("place_inside", place < size)
        now, then, offered = (
            each.as_value().bit_select(place, 1) for each in (dut.run, dut.next_run, dut.offered)
        )
        before = bench.before(state)
        begun = (state == RunState.STARTING) & (before != RunState.STARTING)
        ended = bench.before(running & ~dut.stop)
        bench.ensures("stop_comes_first", ~bench.before(dut.stop) | (state == RunState.IDLE))
        bench.ensures("end_of_a_run", ~ended | (state == bench.before(ends)))
        bench.ensures("no_queue_after_a_stop", ~bench.before(dut.stop) | ~dut.queued)
        bench.ensures("no_queue_after_a_failure", ~bench.before(failed) | ~dut.queued)
        bench.ensures("culprit", ~bench.before(failed) | (dut.culprit == bench.before(first)))
        asked = bench.before(dut.start | dut.queued)
        bench.ensures("started_or_queued", ~begun | asked)
        came = bench.before(C(1, 1))
        bench.ensures("settings_stay_in_a_run", ~came | begun | (now == bench.before(now)))
        offer = bench.before(Mux(dut.queued, then, offered))
        bench.ensures("settings_as_offered", ~begun | (now == offer))
        bench.ensures(
            "starting_before_running",
            (state != RunState.RUNNING)
            | (before == RunState.RUNNING)
            | (before == RunState.STARTING),
        )
        waits = bench.before((state == RunState.DONE) & dut.queued & ~dut.stop)
        bench.ensures("queued_run_begins", ~waits | begun)
        bench.covers("queued_run", waits & begun)
        bench.covers("timed_out", state == RunState.TIMED_OUT)

    return Proof(
        "run control",
        "32 bits",
        "a stop, a flag, completion and the limit end a run, in this order; a queued run begins",
        build,
    )
