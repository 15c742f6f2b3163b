"""Registry entries of Eyecast's own files."""

import msgspec

from ..model.base.files import write_atomically
from ..model.network.topology_file import read_network, topology_to_json
from ..model.schedule.file import FORMAT, read_schedule, write_schedule
from ..model.traffic.traffic import HEADER, read_traffic, write_traffic
from .format import Format, json_keys

SCHEDULE = Format(
    name="schedule",
    title="Eyecast schedule",
    suffixes=(".json",),
    looks=lambda content: "format" in json_keys(content) and FORMAT.encode() in content,
    read_schedule=read_schedule,
    write_schedule=write_schedule,
)
NETWORK = Format(
    name="network",
    title="Eyecast network",
    suffixes=(".json",),
    looks=lambda content: "kind" in json_keys(content),
    read_network=read_network,
    write_network=lambda topology, path: write_atomically(
        path, msgspec.json.encode(topology_to_json(topology)).decode() + "\n"
    ),
)
TRAFFIC = Format(
    name="traffic",
    title="Eyecast traffic",
    suffixes=(".csv",),
    looks=lambda content: content.lstrip().startswith(HEADER.encode()),
    read_traffic=lambda file, setting: read_traffic(file, setting.topology),
    write_traffic=write_traffic,
)
