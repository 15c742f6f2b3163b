"""Workload points: compute and collectives of a file, on both machines."""

from typing import Any

from ..formats.format import WorkloadSetting
from ..formats.workloads import read_workload
from ..model.base.files import InputFile
from ..model.workload.mapping import mapped
from ..model.workload.run import run_workload
from .facts import network_facts
from .layout import Row
from .networks import topology_of

SETTING = ("clock", "rate", "word_bytes")
"""Keys that say what a file leaves open."""

RESULTS = {
    "operations": int,
    "call_words": int,
    "ideal_cycles": int,
    "compute": float,
    "communication": float,
    "exposed": float,
    "ideal_exposed": float,
}
"""Columns that only workloads have; ``call_words`` are the words of all messages and blocks."""


def results(values: dict[str, Any]) -> list[Row]:
    """Run a workload, and return its row; ``cycles`` are those of the engine.

    Raises :class:`.InvalidInput` if the file is wrong, or does not fit the network.
    """
    file = InputFile.read(values["file"]["path"])
    setting = WorkloadSetting(**{name: values[name] for name in SETTING})
    read = read_workload(file, topology_of(values), setting)
    found = run_workload(
        mapped(read, values["mapping"]),
        policy=values["policy"],
        circuits=bool(values["circuits"]),
        memory_words=values["message_words"],
    )
    engine, on_links = found.engine, found.link_flits[:, 1:]
    means = {name: engine.mean(name) for name in ("compute", "communication", "exposed")}
    row = {
        **({} if found.config is None else network_facts(found.config)),
        # The asked ones, which pieces may fill: the network may have fewer.
        "message_words": values["message_words"],
        "finished": True,
        "cycles": engine.cycles,
        "least_cycles": found.bound,
        "link_flits": int(on_links.sum()),
        "busiest_link_flits": int(on_links.max(initial=0)),
        "operations": read.rows,
        "call_words": sum(call.words for call in read.calls),
        "ideal_cycles": found.ideal.cycles,
        **means,
        "ideal_exposed": found.ideal.mean("exposed"),
    }
    return [row]
