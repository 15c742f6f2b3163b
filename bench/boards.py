"""Build networks for the boards; keep the results, which ``eyecast boards`` then lists.

    python bench/boards.py [WORD ...]

The command builds all of NETWORKS; with WORD, only those whose board or options contain one of
these words, and it keeps the results of the others. It does not build a cached network again. It
reports a network that no longer fits, and leaves it out.
"""

import json
import subprocess
import sys
from pathlib import Path

import msgspec

from eyecast.boards.measured import MEASURED_FILE, MeasuredNetwork, measured_networks
from eyecast.model.base.files import write_bytes_atomically

TIGHT = "--flit-width 16 --steps 7 --message-words 64 --table-words 32"
SMALL = f"{TIGHT} --contention-free"
NARROW = "--flit-width 11 --steps 7 --message-words 32 --contention-free --no-signature"
LARGE = f"{SMALL} --vcs 2 --barrier-registers 5"
RUNS = "--circuits --message-words 512 --table-words 512"
SHORT = "--flit-width 16 --circuits --message-words 8 --table-words 16 --no-signature"
NETWORKS = (
    ("icebreaker", "--mesh 2x2 --flit-width 16"),
    ("icebreaker", "--mesh 2x2 --flit-width 16 --contention-free"),
    ("icebreaker", f"--mesh 3x3 {SMALL} --no-signature"),
    ("icebreaker", "--mesh 2x2 --flit-width 16 --circuits"),
    ("icebreaker", f"--mesh 3x3 {SHORT}"),
    ("ice40-hx8k", "--mesh 2x2 --flit-width 16"),
    ("ice40-hx8k", "--mesh 3x2 --flit-width 16"),
    ("ice40-hx8k", f"--mesh 3x3 {TIGHT} --no-signature"),
    ("ice40-hx8k", "--mesh 3x3 --flit-width 16 --contention-free"),
    ("ice40-hx8k", f"--mesh 4x3 {SMALL} --no-signature"),
    ("ice40-hx8k", f"--mesh 4x4 {NARROW}"),
    ("ice40-hx8k", "--mesh 2x2 --flit-width 16 --circuits"),
    ("ice40-hx8k", "--mesh 4x2 --flit-width 16 --circuits"),
    ("ice40-hx8k", f"--mesh 3x3 {SHORT}"),
    ("icepi-zero", "--mesh 2x2"),
    ("icepi-zero", "--mesh 4x4 --flit-width 16"),
    ("icepi-zero", f"--mesh 2x2 {RUNS}"),
    ("icepi-zero", f"--mesh 4x4 --flit-width 16 {RUNS}"),
    ("ulx3s-85f", "--mesh 4x4"),
    ("ulx3s-85f", f"--mesh 4x4 {SMALL}"),
    ("ulx3s-85f", f"--mesh 4x4 --flit-width 16 {RUNS}"),
    ("ulx3s-85f", f"--mesh 8x8 {LARGE}"),
    ("ulx3s-85f", f"--mesh 8x8 {LARGE} --link-registers 1 --depth 4"),
    ("ulx3s-85f", f"--mesh 8x8 --flit-width 16 {RUNS} --barrier-registers 5"),
)
"""Boards, and the options of the networks to build for them."""

EYECAST = Path(sys.executable).with_name("eyecast")


def main() -> None:
    """Build one network after another: each needs a whole processor and its memory."""
    words = sys.argv[1:] or [""]
    known = {(network.board, network.options): network for network in measured_networks()}
    for board, options in NETWORKS:
        if not any(word in f"{board} {options}" for word in words):
            continue
        network = _build(board, options)
        known.pop((board, options), None)
        if network is not None:
            known[board, options] = network
            print(network, flush=True)
        _keep([known[key] for key in NETWORKS if key in known])


def _build(board: str, options: str) -> MeasuredNetwork | None:
    """Build a network for a board; if it does not fit, print a line and return None."""
    command = [EYECAST, "bitstream", "--board", board, *options.split(), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not done.stdout:
        return None
    built = json.loads(done.stdout)["result"]
    used = {resource["name"]: resource["used"] for resource in built["resources"]}
    return MeasuredNetwork(
        board=board,
        options=options,
        luts=used.get("logic cells", used.get("LUTs", 0)),
        block_rams=used["block RAMs"],
        fmax=built["fmax_hz"],
    )


def _keep(networks: list[MeasuredNetwork]) -> None:
    """Write the results so far, because the next one may take an hour."""
    text = msgspec.json.format(msgspec.json.encode(networks), indent=1)
    write_bytes_atomically(MEASURED_FILE, text + b"\n")


if __name__ == "__main__":
    main()
