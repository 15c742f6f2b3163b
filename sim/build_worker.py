"""A process of its own that runs Verilator and the compiler and can be stopped whole."""

import json
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cocotb_tools import config
from cocotb_tools.runner import Verilator

from eyecast.sim.toolchain import is_plain
from eyecast.sim.verilog import TOP_MODULE

MAKEFILE, HIERARCHICAL_MAKEFILE = "Vtop.mk", "Vtop_hier.mk"


def build(
    top: str, sources: Sequence[str], folder: Path, options: Sequence[str], *, waves: bool = False
) -> None:
    """Compile the simulator of the module ``top``; exit if that fails."""
    with tempfile.TemporaryDirectory(prefix="eyecast-") as links:
        _Plain(Path(links)).build(
            sources=[Path(source) for source in sources],
            hdl_toplevel=top,
            build_dir=folder,
            build_args=options,
            waves=waves,
            timescale=("1ns", "1ns"),
            always=True,
        )


class _Plain(Verilator):  # type: ignore[misc]
    """The runner, with links in ``links`` instead of folders whose names make cannot read."""

    def __init__(self, links: Path) -> None:
        super().__init__()
        self._links = links

    def _build_command(self) -> list[list[str]]:
        commands: list[list[str]] = super()._build_command()
        if "--hierarchical" in commands[0]:
            # What makes the blocks too, and then the makefile that the runner knows.
            commands[-1] = [word.replace(MAKEFILE, HIERARCHICAL_MAKEFILE) for word in commands[-1]]
        for folder in map(str, (self.build_dir.parent, config.libs_dir, config.share_dir)):
            plain = self._plain(folder)
            commands = [[word.replace(folder, plain) for word in command] for command in commands]
        # Verilator's makefile refuses by this name, which make itself finds out behind the link.
        commands[-1].append(f"CURDIR={self._plain(str(self.build_dir))}")
        root = self.env.get("VERILATOR_ROOT")
        if root is not None and not is_plain(root):
            self.env["VERILATOR_ROOT"] = self._plain(root)
            # The script around the program finds out where it is, and cannot read that. It would
            # also give it all the stack that there is.
            commands[0][0] = f"{self.env['VERILATOR_ROOT']}/bin/verilator_bin"
            _, most = resource.getrlimit(resource.RLIMIT_STACK)
            resource.setrlimit(resource.RLIMIT_STACK, (most, most))
        return commands

    def _plain(self, folder: str) -> str:
        """The folder itself, or a link to it where its name has a space or the like."""
        if is_plain(folder):
            return folder
        link = self._links / str(len(list(self._links.iterdir())))
        link.symlink_to(folder, target_is_directory=True)
        return str(link)


def main() -> None:
    """``builder BUILD_FOLDER OPTIONS WAVES SOURCE...``; exit status 0 if the simulator is built.

    ``OPTIONS`` are Verilator's, as a list in JSON.
    """
    folder, options, waves = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3] == "waves"
    build(TOP_MODULE, sys.argv[4:], folder, options, waves=waves)


if __name__ == "__main__":
    main()
