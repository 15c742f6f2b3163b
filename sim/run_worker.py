"""A process of its own that runs the simulator under cocotb's runner and can be stopped whole."""

import os
import sys
from pathlib import Path

from cocotb_tools.config import libs_dir
from cocotb_tools.runner import get_results, get_runner

from eyecast.sim.verilog import TOP_MODULE


def run(top: str, bench: str, build_folder: Path, run_folder: Path, *, waves: bool = False) -> int:
    """Run the simulator of the module ``top`` with a bench; 0 if the bench passed."""
    # A simulator knows where these were when it was built, and they may have been links then.
    searched = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    others = filter(None, [os.environ.get(searched)])
    os.environ[searched] = os.pathsep.join([str(libs_dir), *others])
    results = get_runner("verilator").test(
        test_module=bench,
        hdl_toplevel=top,
        hdl_toplevel_lang="verilog",
        build_dir=build_folder,
        test_dir=run_folder,
        results_xml=str(run_folder / "results.xml"),
        waves=waves,
        log_file=run_folder / "simulator.log",
    )
    _, failed = get_results(results)
    return 1 if failed else 0


def main() -> int:
    """``worker BUILD_FOLDER RUN_FOLDER WAVES``; exit status 0 if the bench passed."""
    build_folder, run_folder, waves = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "waves"
    return run(TOP_MODULE, "eyecast.sim.bench", build_folder, run_folder, waves=waves)


if __name__ == "__main__":
    sys.exit(main())
