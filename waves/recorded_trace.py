"""The trace of a run from samples of a network's probes (:mod:`..model.network.probes`)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..model.network.probes import Probe, kind_and_data, output_probes, probed_bits
from ..model.run.trace import Trace
from .wanted import UNDEFINED

RESET, DONE = "tile_0.rst", "done"

_ROWS_PER_PIECE = 1 << 16

_Row = tuple[int, int, int, int, int, int]
"""A row of a trace."""


@dataclass(frozen=True)
class RecordedRun:
    """The first run in a recording.

    trace
        Its flits.
    whole
        True if the recording has the run's end: the network is done, or in reset again.
    """

    trace: Trace
    whole: bool = True


def recorded_signals(config: NetworkConfig) -> dict[str, int]:
    """Return the signals for :func:`recorded_run`, in this order, with their bits."""
    probes = output_probes(config)
    widths = {each.valid: config.vcs for each in probes}
    widths |= {each.flit: probed_bits(config) for each in probes}
    paths = (path for each in probes for path in (each.valid, each.flit))
    return {**{path: widths[path] for path in paths}, RESET: 1, DONE: 1}


def recorded_run(config: NetworkConfig, samples: Iterable[Sequence[int]]) -> RecordedRun:
    """Return the first run in which a flit leaves an output.

    ``samples`` has a row for each cycle, with the values of :func:`recorded_signals`; an empty row
    stands for any number of cycles that are not recorded. The run begins with the first cycle after
    reset, and ends when the network is done or in reset again.
    Raises :class:`.InvalidInput` for an undefined ``valid`` or flit in the run, and for samples
    without a run.
    """
    probes = output_probes(config)
    outputs = [(2 * place, probe) for place, probe in enumerate(probes)]
    reset, done = 2 * len(probes), 2 * len(probes) + 1
    rows: list[_Row] = []
    pieces: list[Trace] = []
    # A simulator invents the samples before the first reset.
    cycle, was_reset, ran, whole = -1, False, False, False
    for sample in samples:
        begun = bool(rows or pieces)
        if not sample:
            if begun:
                break
            was_reset = ran = False
        elif sample[reset] != 0:
            if begun:
                whole = True
                break
            cycle, was_reset = -1, True
        elif was_reset:
            if sample[done] == 1 and begun:
                whole = True
                break
            cycle, ran = cycle + 1, True
            if sample[done] != 1:
                rows += _flits(config, outputs, sample, cycle)
            if len(rows) > _ROWS_PER_PIECE:
                # Columns take a tenth of the rows' memory.
                pieces.append(Trace.from_flits(rows, config.pieces))
                rows.clear()
    if not ran:
        raise InvalidInput(
            "the recording must have a run: cycles of reset, and then others without a pause"
        )
    return RecordedRun(Trace.join([*pieces, Trace.from_flits(rows, config.pieces)]).sort(), whole)


def _flits(
    config: NetworkConfig, outputs: Sequence[tuple[int, Probe]], sample: Sequence[int], cycle: int
) -> Iterator[_Row]:
    """Yield the flits that leave in a cycle: one for each set bit of ``valid``."""
    for place, probe in outputs:
        valid = sample[place]
        if not valid:
            continue
        flit = sample[place + 1]
        for name, value in ((probe.valid, valid), (probe.flit, flit)):
            if value == UNDEFINED:
                raise InvalidInput(f"{name} must be defined in cycle {cycle}, it is not")
        for vc in range(valid.bit_length()):
            if valid >> vc & 1:
                kind, data = kind_and_data(flit, config.flit_width)
                yield (cycle, probe.node, probe.port, vc, kind, data)


def require_outputs(path: str, config: NetworkConfig, trace: Trace) -> None:
    """Raise :class:`.InvalidInput` for the first row that the network of ``config`` cannot have."""
    outputs = {(probe.node, probe.port) for probe in output_probes(config)}
    for flit in trace:
        if (flit.node, flit.port) not in outputs:
            allowed = f"an output port of this network, not port {flit.port} of node {flit.node}"
        elif flit.vc >= config.vcs:
            allowed = f"a VC from 0 to {config.vcs - 1}, not {flit.vc}"
        elif flit.data >> config.flit_width:
            allowed = f"data of {config.flit_width} bits, not {flit.data:x}"
        else:
            continue
        raise InvalidInput(f"{path}: the flit {flit} must have {allowed}")
