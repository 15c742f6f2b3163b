"""MSCCL XML as an entry: algorithms of GPU collectives (microsoft/msccl, msccl-tools)."""

from __future__ import annotations

from .format import Format
from .msccl_reader import read_msccl
from .xml_file import root_name

MSCCL = Format(
    name="msccl",
    title="MSCCL XML",
    suffixes=(".xml",),
    looks=lambda head: root_name(head) == "algo",
    read_schedule_on=read_msccl,
)
