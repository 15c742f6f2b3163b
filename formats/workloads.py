"""Reading a workload from a file of any format."""

from __future__ import annotations

from dataclasses import replace

from ..model.base.files import InputFile
from ..model.network.topology import Topology
from ..model.workload.workload import Workload
from .format import Content, Format, WorkloadSetting
from .registry import format_with
from .workload_table import WORKLOAD


def workload_format(file: InputFile) -> Format:
    """Return the format of a workload's file, by its content or suffix."""
    return format_with(file, Content.WORKLOAD, WORKLOAD)


def read_workload(file: InputFile, topology: Topology, setting: WorkloadSetting) -> Workload:
    """Read a checked workload; the file's content or suffix tells its format.

    Raises :class:`.InvalidInput` with the file and its line or operation.
    """
    form = workload_format(file)
    assert form.read_workload is not None
    read = form.read_workload(file, topology, setting)
    return replace(read, word_bytes=setting.word_bytes)
