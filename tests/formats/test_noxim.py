"""Noxim's traffic: tables become packets at their rates, lists become exactly their packets."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.command import Command, result
from helpers.foreign import file, owners_tool
from helpers.processes import run_program
from helpers.refusals import refusal_of

from eyecast.formats import noxim
from eyecast.formats.format import TrafficSetting
from eyecast.formats.noxim import read_noxim_list, read_noxim_table
from eyecast.formats.registry import format_of
from eyecast.model.base.files import InputFile
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import mesh
from eyecast.model.traffic.traffic import Traffic

MESH = mesh((4, 4))


def setting(cycles: int = 20_000, seed: int = 1) -> TrafficSetting:
    return TrafficSetting(topology=MESH, flits=4, cycles=cycles, seed=seed)


def drawn(text: str, cycles: int = 20_000, seed: int = 1) -> Traffic:
    return read_noxim_table(file(text), setting(cycles, seed))


def test_packets_come_as_often_as_the_rates_say() -> None:
    traffic = drawn("% src dst pir\n0 5 0.1\n0 6 0.3\n\n3 1 1\n")
    assert set(traffic.flits.tolist()) == {4}
    counts = {
        (source, target): int(((traffic.source == source) & (traffic.target == target)).sum())
        for source, target in ((0, 5), (0, 6), (3, 1))
    }
    assert sum(counts.values()) == len(traffic)
    # Cycle 0 is not above t_on, so there is no packet in it. The others are within six standard
    # deviations.
    assert counts[3, 1] == 19_999
    for pair, rate in (((0, 5), 0.1), ((0, 6), 0.3)):
        assert abs(counts[pair] - 20_000 * rate) < 6 * np.sqrt(20_000 * rate * (1 - rate))
    both = traffic.cycle[traffic.source == 0]
    assert len(np.unique(both)) == len(both)
    assert drawn("0 5").cycle.tolist() == drawn("0 5 0.01").cycle.tolist() != []


def test_the_rate_after_a_packet_is_another() -> None:
    traffic = drawn("0 5 0.1 0.7")
    after = np.isin(np.arange(20_000), traffic.cycle + 1)
    sent = np.isin(np.arange(20_000), traffic.cycle)
    assert sent[after].mean() == pytest.approx(0.7, abs=0.05)
    assert sent[~after].mean() == pytest.approx(0.1, abs=0.02)


def test_the_target_after_a_packet_is_of_the_other_rates() -> None:
    traffic = drawn("0 5 0.5 0\n0 6 0 0.8")
    after = np.isin(traffic.cycle - 1, traffic.cycle)
    assert set(traffic.target[after].tolist()) == {6}
    assert set(traffic.target[~after].tolist()) == {5}


def test_rows_count_between_on_and_off_of_each_period() -> None:
    traffic = drawn("0 5 1 1 2 5 10", cycles=9000)
    assert set((traffic.cycle % 10).tolist()) == {3, 4}
    assert len(traffic) == 1800
    until = drawn("0 5 1 1 7 9000", cycles=9050)
    assert (until.cycle.min(), until.cycle.max()) == (8, 8999)


def test_the_same_seed_draws_the_same_whatever_others_send() -> None:
    def of_node_0(traffic: Traffic) -> list[tuple[int, int]]:
        here = traffic.source == 0
        return list(zip(traffic.cycle[here].tolist(), traffic.target[here].tolist(), strict=True))

    alone = of_node_0(drawn("0 5 0.1"))
    assert of_node_0(drawn("2 3 0.2\n0 5 0.1")) == alone
    assert of_node_0(drawn("0 5 0.1", seed=2)) != alone


def test_comments_may_stand_behind_numbers() -> None:
    read = file("# none\n0 5 % first\n-1 # next\n1 4\n-1")
    form = format_of(read)
    assert form is not None and form.name == "noxim-list"
    assert read_noxim_list(read, setting()).cycle.tolist() == [0, 1]
    assert (drawn("0 5 1 % always\n").cycle == drawn("0 5 1\n").cycle).all()


def test_a_list_has_packets_cycle_by_cycle() -> None:
    traffic = read_noxim_list(file("# list\n0 5\n1 4\n-1\n-1 -1\n% and\n2 3\n"), setting())
    columns = (traffic.cycle, traffic.source, traffic.target, traffic.flits)
    assert [column.tolist() for column in columns] == [[0, 0, 2], [0, 1, 2], [5, 4, 3], [4, 4, 4]]


def test_empty_files_are_no_traffic() -> None:
    for reader in (read_noxim_table, read_noxim_list):
        assert len(reader(file("% nothing\n"), setting())) == 0


ENDS = [
    ("16 1 1", "x, line 1: src must be a node, 0 to 15, not 16"),
    ("1 99999999 1", "x, line 1: dst must be a node, 0 to 15, not 99999999"),
    ("\n3 3 1", "x, line 2: dst must be another node than src, not 3"),
]
REFUSED = [
    *((read_noxim_table, text, line) for text, line in ENDS),
    *((read_noxim_list, text.removesuffix(" 1"), line) for text, line in ENDS),
    (
        read_noxim_table,
        "0",
        "x, line 1: must be 2 to 7 numbers, src dst pir por t_on t_off t_period, not '0'",
    ),
    (read_noxim_table, "0 1 1.5", "x, line 1: pir must be 0 to 1 packets per cycle, not '1.5'"),
    (read_noxim_table, "0 1 nan", "x, line 1: pir must be 0 to 1 packets per cycle, not 'nan'"),
    (read_noxim_table, "0 1 1 1 -2", "x, line 1: t_on must be a number, 0 or more, not '-2'"),
    (read_noxim_table, "0 1 1 1 9 5", "x, line 1: t_off must be above t_on, 9, not 5"),
    (read_noxim_table, "0 1 1 1 1 5 5", "x, line 1: t_period must be above t_off, 5, not 5"),
    (read_noxim_list, "0 1 2", "x, line 1: must be src dst, or -1, not '0 1 2'"),
    (read_noxim_list, "0 x", "x, line 1: must be src dst, or -1, not '0 x'"),
]
Reader = Callable[[InputFile, TrafficSetting], Traffic]


@pytest.mark.parametrize(("reader", "text", "line"), REFUSED)
def test_what_cannot_be_read_is_one_line(reader: Reader, text: str, line: str) -> None:
    assert refusal_of(reader, file(text), setting()) == line


def test_nodes_that_take_no_part_are_refused() -> None:
    broken = TrafficSetting(topology=with_faults(MESH, [5]), flits=4, cycles=10, seed=1)
    line = "x, line 1: dst must be a node that takes part, not 5"
    assert refusal_of(read_noxim_table, file("0 5 0.1"), broken) == line


def test_more_than_can_be_drawn_is_refused() -> None:
    many = "0 1 0.1\n" * 2000
    assert refusal_of(read_noxim_table, file(many), setting(cycles=1_000_000)) == (
        "x: rows x cycles must be at most 1073741824, not 2000000000"
    )
    assert refusal_of(read_noxim_table, file("0 1 1"), setting(cycles=0)).startswith(
        "cycles must be"
    )


def test_the_packets_of_all_nodes_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of two nodes sends 9 packets in 10 cycles.
    monkeypatch.setattr(noxim, "LARGEST_PACKETS", 18)
    assert len(drawn("0 1 1\n1 0 1", cycles=10)) == 18
    monkeypatch.setattr(noxim, "LARGEST_PACKETS", 17)
    assert refusal_of(drawn, "0 1 1\n1 0 1", cycles=10) == (
        "x: packets drawn must be at most 17, not more"
    )


def test_the_command_takes_both(eyecast: Command, here: Path) -> None:
    (here / "table").write_text("% rates\n2 6\n0 5 0.02\n1 4 0.05\n")
    (here / "list").write_text("0 5\n1 4\n-1\n2 3\n")
    for name, form in (("table", "noxim-table"), ("list", "noxim-list")):
        found = format_of(InputFile.read(here / name))
        assert found is not None and found.name == form
    network = ("--mesh", "4x4")
    assert eyecast("convert", "table", "t.csv", *network, "--cycles", "500").status == 0
    packets = len((here / "t.csv").read_text().splitlines()) - 1
    assert packets > 10
    run = ("traffic", *network, "--on", "model", "--json", "--traffic-file")
    answer = eyecast(*run, "table", "--cycles", "500", "--packet-flits", "3")
    assert result(answer)["measures"]["packets_delivered"] == packets
    assert eyecast("convert", "list", "l.csv", *network, "--packet-flits", "3").status == 0
    assert (here / "l.csv").read_text().splitlines()[1:] == ["0,0,5,3", "0,1,4,3", "1,2,3,3"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("table", "0 5 1 1 2 5 100\n"),
        ("table", "0 5 1 0 2 8 100\n3 7 0\n"),
        ("hardcoded", "0 5\n1 4\n-1\n-1\n2 3\n"),
    ],
)
def test_noxim_sends_as_many_packets(kind: str, text: str, tmp_path: Path) -> None:
    """Compare with Noxim at rates of 0 or 1, where no packet is drawn."""
    noxim = owners_tool("noxim", "EYECAST_NOXIM")
    (tmp_path / "traffic").write_text(text)
    config = noxim.parent.parent / "config_examples" / "default_config.yaml"
    options = f"-topology MESH -dimx 4 -dimy 4 -sim 10000 -warmup 0 -size 4 4 -traffic {kind}"
    command = [noxim, "-config", config, "-power", noxim.parent / "power.yaml", *options.split()]
    told = run_program([*command, tmp_path / "traffic"], check=True, timeout=60).stdout
    reader = read_noxim_table if kind == "table" else read_noxim_list
    packets = len(reader(file(text), setting(cycles=10_000)))
    assert packets > 0
    assert f"Total received packets: {packets}\n" in told
