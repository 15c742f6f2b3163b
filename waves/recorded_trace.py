"""The trace of a run out of samples of a network's probes (:mod:`..model.network.probes`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..model.network.probes import Probe, kind_and_data, output_probes, vc_of
from ..model.run.trace import Trace
from .recording import UNDEFINED

RESET, DONE = "tile_0.rst", "done"

_Row = tuple[int, int, int, int, int, int]
"""The columns of a trace."""


def recorded_signals(config: NetworkConfig) -> list[str]:
    """Name the signals that :func:`recorded_trace` takes, in this order."""
    probes = output_probes(config)
    return [*(path for each in probes for path in (each.valid, each.flit)), RESET, DONE]


def recorded_trace(config: NetworkConfig, samples: Iterable[Sequence[int]]) -> Trace:
    """Return the trace of the first run in which a flit leaves an output.

    ``samples`` has a row for each cycle, with the values of :func:`recorded_signals`. The run
    begins with the first cycle without reset, and ends when the network is done or in reset again.
    Raises :class:`.InvalidInput` for a ``valid`` or a flit that is undefined in the run.
    """
    probes = output_probes(config)
    outputs = [(2 * place, probe) for place, probe in enumerate(probes)]
    reset, done = 2 * len(probes), 2 * len(probes) + 1
    rows: list[_Row] = []
    # Samples in front of the first reset are what a simulator makes up.
    cycle, was_reset = -1, False
    for sample in samples:
        if sample[reset] != 0:
            if rows:
                break
            cycle, was_reset = -1, True
        elif was_reset:
            cycle += 1
            if sample[done] != 1:
                rows += _flits(config, outputs, sample, cycle)
            elif rows:
                break
    trace = Trace.empty(len(rows))
    for column, values in zip(trace.columns, zip(*rows, strict=True), strict=False):
        column[:] = np.array(values, dtype=column.dtype)
    return trace.sort()


def _flits(
    config: NetworkConfig, outputs: Sequence[tuple[int, Probe]], sample: Sequence[int], cycle: int
) -> Iterator[_Row]:
    """The flits that leave in a cycle."""
    for place, probe in outputs:
        valid = sample[place]
        if not valid:
            continue
        flit = sample[place + 1]
        for name, value in ((probe.valid, valid), (probe.flit, flit)):
            if value == UNDEFINED:
                raise InvalidInput(f"{name} must be defined in cycle {cycle}, it is not")
        try:
            vc = vc_of(valid)
        except ValueError as error:
            raise InvalidInput(f"{probe.valid} in cycle {cycle}: {error}") from error
        yield (cycle, probe.node, probe.port, vc, *kind_and_data(flit, config.flit_width))
