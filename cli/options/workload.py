"""Options of workloads: how a file is read, and how its calls are placed and ordered."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click

from ...formats.format import WorkloadSetting
from ...model.base.files import InputFile
from ...model.network.topology import Topology
from .values import (
    file_option,
    float_option,
    integer_option,
    option_group,
    option_names,
    recorded,
    refuse_beside,
)

if TYPE_CHECKING:
    from ...model.workload.timeline import Policy
    from ...model.workload.workload import Workload

_setting_options = recorded(
    *("setting", WorkloadSetting),
    float_option(
        "--clock", 1.0, "Clock cycles in a nanosecond, for workload files that count time."
    ),
    integer_option(
        "--rate", 1024, "Arithmetic operations that a rank (process) computes in a cycle."
    ),
    integer_option("--word-bytes", 4, "Bytes of a network's word, which a link moves in a cycle."),
    file_option(
        "--comm-group",
        help="File with the ranks of each group of a Chakra trace; by default NAME.json beside "
        "the trace.",
    ),
)


@dataclass(frozen=True)
class WorkloadOptions:
    """Typed options of reading and running a workload."""

    setting: WorkloadSetting
    mapping: str
    policy: Policy

    def read(self, file: str, topology: Topology) -> Workload:
        """Read a workload onto its nodes; refuse options that its format does not heed."""
        from ...formats.workloads import read_workload, workload_format
        from ...model.workload.mapping import mapped

        content = InputFile.read(file)
        form = workload_format(content)
        unheeded = {each.name for each in fields(self.setting)}.difference(form.heeds)
        options = [f"--{name.replace('_', '-')}" for name in unheeded]
        refuse_beside(file, options, f"{form.title} does not depend on it")
        return mapped(read_workload(content, topology, self.setting), self.mapping)


def _policy(text: str) -> Policy:
    """Return the policy of this name, before a file is read."""
    from ...model.workload.timeline import Policy

    return Policy.named(text)


workload_options = recorded(
    *("options", WorkloadOptions),
    _setting_options,
    option_group(
        file_option(
            "--mapping",
            metavar="rows|best|FILE",
            default="rows",
            show_default=True,
            help=(
                "On which node each rank (process) runs. rows: in order; best: ranks that "
                "communicate much on near nodes; FILE: as the file lists."
            ),
        ),
        click.option(
            "--policy",
            metavar="first-come|urgent",
            default="first-come",
            callback=lambda _context, _option, text: _policy(text),
            show_default=True,
            help="Which of several collectives starts first, if they are ready at the same time.",
        ),
    ),
    heading="Workload",
)
WORKLOAD_NAMES = option_names(workload_options)
