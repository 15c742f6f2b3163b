"""The tables of measured networks in the guide *Into silicon*."""

import re
from collections.abc import Iterable, Sequence

from .measure import Energy
from .measured import MeasuredNetwork

_TITLES = {
    "osu018_stdcells": "OSU 0.18 µm",
    "sg13g2_stdcell_typ_1p20V_25C": "IHP SG13G2 (130 nm), 1.2 V",
}
_AREAS = (
    *("network", "router µm²", "kGE", "ns", "interface kGE", "ns", "node µm²", "algorithm"),
    *("cycles", "µs", "µs × mm²"),
)
_RUNS = ("broadcast", "uniform")
_ENERGIES = (
    *("network", "MHz", "broadcast: mW", "of these clock", "pJ per byte and hop"),
    *("uniform traffic: mW", "of these clock", "pJ per byte and hop"),
)


def library_title(library: str) -> str:
    """Return what the guide calls a library."""
    return _TITLES.get(library, library)


def guide_with(text: str, measured: Sequence[MeasuredNetwork]) -> str:
    """Return the text of the guide with both tables of each library."""
    for name, heads, row in (("areas", _AREAS, _area), ("energies", _ENERGIES, _energy)):
        tables = []
        for library in dict.fromkeys(each.library for each in measured):
            rows = [heads, ("---",) * len(heads)]
            rows += [cells for each in measured if each.library == library and (cells := row(each))]
            lines = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
            tables.append(f"**{library_title(library)}**\n\n{lines}\n\n")
        begin, end = f"<!-- {name} -->\n", f"<!-- end of the {name} -->"
        text = re.sub(f"(?<={begin}).*?(?={end})", "\n" + "".join(tables), text, flags=re.DOTALL)
    return text


def _area(each: MeasuredNetwork) -> tuple[str, ...]:
    router, interface = each.parts["router"], each.parts["interface"]
    return (
        each.variant,
        f"{router.area:,.0f}",
        *(f"{router.gates / 1e3:.1f}", f"{router.period * 1e9:.2f}"),
        *(f"{interface.gates / 1e3:.1f}", f"{interface.period * 1e9:.2f}"),
        f"{each.node_area:,.0f}",
        f"`{each.algorithm}`",
        str(each.cycles),
        f"{each.cycles * each.period * 1e6:.2f}",
        f"{each.time_area:.2f}",
    )


def _energy(each: MeasuredNetwork) -> tuple[str, ...]:
    if not each.energy:
        return ()
    period = next(iter(each.energy.values())).period
    cells = (cell for run in _RUNS for cell in _run(each.energy.get(run)))
    return (each.variant, f"{1e-6 / period:.0f}", *cells)


def _run(energy: Energy | None) -> Iterable[str]:
    if energy is None:
        return "–", "–", "–"
    power = f"{energy.power * 1e3:.1f}"
    return power, f"{energy.clock * 100:.0f} %", f"{energy.per_byte * 1e12:.1f}"
