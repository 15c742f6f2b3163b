"""Signatures of the hardware equal the model's, for its prediction and for the trace."""

import numpy as np
import pytest

from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.run.signature import signatures
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.sim.verify import run_traffic

TOPOLOGY = mesh((2, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("vcs", "flit_width"), [(1, 16), (2, 40)])
def test_signatures_are_those_of_the_prediction(vcs, flit_width):
    config = NetworkConfig(
        topology=TOPOLOGY,
        vcs=vcs,
        flit_width=flit_width,
        message_words=message_words_for(TOPOLOGY, 4) if flit_width > 16 else 64,
        table_words=1 << 10,
        steps=1,
        timed_rows=True,
        signature=True,
    )
    traffic = draw_traffic(TOPOLOGY, "uniform", rate=0.5, flits=6, cycles=150, seed=2)
    (result,) = run_traffic([TrafficCase.of(traffic, traffic_program(traffic, config, 3), seed=3)])
    assert result.agrees
    measured = result.measured
    assert (measured.signature == signatures(result.case.predicted.trace, config)).all()
    assert len(set(measured.signature.tolist())) == TOPOLOGY.nodes
    assert np.count_nonzero(measured.signature) == TOPOLOGY.nodes
