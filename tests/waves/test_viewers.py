"""Viewers, and their libraries, read the files made for them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.processes import run_program
from helpers.waves import read_waves

import eyecast
from eyecast.waves.file import write_waves
from eyecast.waves.view import write_gtkwave

SHOW_ALL = """\
set file [open shown.txt w]
foreach signal [gtkwave::getDisplayedSignals] { puts $file $signal }
close $file
gtkwave::/File/Quit
exit
"""
needs_gtkwave = pytest.mark.skipif(
    not (shutil.which("gtkwave") and shutil.which("xvfb-run")),
    reason="gtkwave or xvfb is not installed",
)


@pytest.fixture
def waves(here: Path) -> Path:
    """A broadcast with two VCs, and its view."""
    made = eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(1, 2))
    config, predicted = eyecast.compile(made, vcs=2).config, eyecast.predict(made, vcs=2)
    write_waves(here / "waves.vcd", config, predicted.trace, predicted.cycles)
    write_gtkwave(here / "waves.gtkw", "waves.vcd", config, predicted.trace, made.root)
    return here / "waves.vcd"


@pytest.mark.slow
@needs_gtkwave
def test_gtkwave_shows_every_signal_of_the_view(waves: Path) -> None:
    (waves.parent / "show.tcl").write_text(SHOW_ALL)
    done = run_program(
        ["xvfb-run", "-a", "gtkwave", "-S", "show.tcl", "waves.vcd", "waves.gtkw"],
        timeout=120,
        check=True,
        env={**os.environ, "HOME": str(waves.parent)},
    )
    shown = (waves.parent / "shown.txt").read_text().split()
    lines = waves.with_suffix(".gtkw").read_text().splitlines()
    asked = [line.split()[-1] for line in lines if "network." in line]
    assert len(asked) > 80
    assert shown == asked
    assert "unmatched" not in (done.stdout + done.stderr).lower()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("vcd2fst") is None, reason="gtkwave is not installed")
def test_it_can_be_packed_as_fst(waves: Path) -> None:
    packed = waves.with_suffix(".fst")
    subprocess.run(["vcd2fst", waves, packed], capture_output=True, check=True, timeout=60)
    back = waves.with_name("back.vcd")
    subprocess.run(["fst2vcd", "-f", packed, "-o", back], check=True, timeout=60)
    first, again = read_waves(waves), read_waves(back)
    numbers = [name for name in first.changes if name.endswith((".valid", ".data", ".step"))]
    for name in numbers:
        values = [str(value).strip("z") for value in first.values(name)]
        assert [str(value).strip("z") for value in again.values(name)] == values, name
    assert numbers


@pytest.mark.slow
def test_the_reader_of_surfer_reads_the_same(waves: Path) -> None:
    pywellen = pytest.importorskip("pywellen", reason="pywellen, Surfer's reader, is not installed")
    names = {var.full_name: var for var in pywellen.Waveform(str(waves)).all_vars()}
    ours = read_waves(waves)
    assert set(names) == set(ours.changes)
    out = "network.node_1,2.out_east.VC_0."
    for name in (f"{out}kind", f"{out}data", f"{out}step", f"{out}valid", "network.cycle"):
        signal = names[name].signal
        for cycle, value in enumerate(ours.values(name)):
            read = str(signal.value_at(cycle))
            # Surfer's reader repeats the "z" of an unknown value for each bit; ours has one "z".
            assert (read.strip("z") or read[:1]) == str(value), (name, cycle)
