"""Drawn networks of the cycle model, with an operator of several cycles that has no hardware."""

from typing import Any

import numpy as np
from helpers.soak.programs import MESSAGE_WORDS, NETWORKS

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import BUILT_IN, Operator


def slow_sum(there: Any, coming: Any, _bits: Any) -> Any:
    return there * np.uint64(5) + coming


def draw_network(draw: np.random.Generator) -> NetworkConfig:
    all_port = bool(draw.integers(2))
    operators = draw.choice([*BUILT_IN], int(draw.integers(0, 4)), replace=False).tolist()
    if draw.integers(2):
        operators.append(Operator("slow-sum", 0 if all_port else int(draw.integers(5)), slow_sum))
    return NetworkConfig(
        topology=NETWORKS[draw.integers(len(NETWORKS))],
        vcs=int(draw.integers(2, 4)),
        depth=int(draw.integers(1, 5)),
        flit_width=int(draw.choice([24, 32, 64])),
        message_words=MESSAGE_WORDS,
        table_words=1 << 12,
        link_registers=int(draw.integers(3)),
        barrier_registers=int(draw.integers(3)),
        all_port=all_port,
        operators=tuple(operators),
        streams=bool(draw.integers(4)),
    )
