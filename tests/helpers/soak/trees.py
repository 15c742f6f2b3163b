"""Schedules of trees for the soak, on small networks of circuits with wide words."""

from random import Random

from helpers.drawn_trees import REDUCED, drawn_case
from helpers.soak.operators import lane_names
from helpers.soak.programs import SEEDS, WIDE, controllers
from helpers.soak.topologies import SMALL_NETWORKS, broken
from hypothesis import strategies as st

from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import BUILT_IN


@st.composite
def tree_cases(draw: st.DrawFn, count: int) -> list[Case]:
    """Draw a small network of circuits with wide words, and ``count`` schedules of trees for it."""
    names = lane_names([*BUILT_IN], width := draw(st.sampled_from(WIDE)))
    config = NetworkConfig(
        topology=draw(broken(draw(st.sampled_from(SMALL_NETWORKS)))),
        flit_width=width,
        message_words=64,
        table_words=256,
        circuits=True,
        operators=tuple(draw(st.lists(names, min_size=REDUCED, max_size=REDUCED, unique=True))),
        all_port=draw(st.booleans()),
        link_registers=draw(st.integers(0, 2)),
        **draw(controllers()),
    )
    seed = draw(SEEDS)
    drawn = (drawn_case(Random(each), config) for each in range(seed, seed + count))
    return [case for case in drawn if case is not None]
