"""The registry entry of MSCCL XML: GPU collectives (microsoft/msccl, msccl-tools)."""

from .format import Format
from .msccl_reader import read_msccl
from .msccl_writer import write_msccl
from .ranks import OMITTED
from .xml_file import root_name

MSCCL = Format(
    name="msccl",
    title="MSCCL XML",
    suffixes=(".xml",),
    looks=lambda content: root_name(content) == "algo",
    omits={**OMITTED, "root": "root", "blocks.words": "words", "blocks.operator": "operator"},
    read_schedule_on=read_msccl,
    write_schedule=write_msccl,
)
