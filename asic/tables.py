"""The tables of measured networks in the guide *Into silicon*."""

import re
from collections.abc import Iterable, Sequence

from .measure import Energy
from .measured import USUAL_WIDTH, MeasuredNetwork

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
    *("network", "MHz", "broadcast: mW", "clock's share", "pJ per byte and hop"),
    *("uniform traffic: mW", "clock's share", "pJ per byte and hop"),
)
_WIDTHS = (
    *("network", "bits", "router kGE", "ns", "interface kGE", "ns"),
    *("Gbit/s of a link", "Gbit/s per mm² of router", "pJ per byte and hop"),
)


def library_title(library: str) -> str:
    """Return what the guide calls a library."""
    return _TITLES.get(library, library)


def guide_with(text: str, measured: Sequence[MeasuredNetwork]) -> str:
    """Return the text of the guide with all tables of each library."""
    usual = [each for each in measured if each.flit_width == USUAL_WIDTH]
    wide = {each.name for each in measured if each not in usual}
    compared = sorted((each for each in measured if each.name in wide), key=lambda each: each.name)
    for name, heads, row, shown in (
        ("areas", _AREAS, _area, usual),
        ("energies", _ENERGIES, _energy, usual),
        ("widths", _WIDTHS, _width, compared),
        ("all-reduces", _all_reduce_heads(compared), _all_reduce, compared),
    ):
        tables = []
        for library in dict.fromkeys(each.library for each in measured):
            rows = [heads, ("---",) * len(heads)]
            rows += [cells for each in shown if each.library == library and (cells := row(each))]
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


def _width(each: MeasuredNetwork) -> tuple[str, ...]:
    router, interface = each.parts["router"], each.parts["interface"]
    rate = each.link_rate * 1e-9
    energy = each.energy.get(_RUNS[0])
    return (
        each.name,
        str(each.flit_width),
        *(f"{router.gates / 1e3:.1f}", f"{router.period * 1e9:.2f}"),
        *(f"{interface.gates / 1e3:.1f}", f"{interface.period * 1e9:.2f}"),
        f"{rate:,.0f}",
        f"{rate / (router.area * 1e-6):,.0f}",
        f"{energy.per_byte * 1e12:.1f}" if energy else "–",
    )


def _all_reduce_heads(measured: Sequence[MeasuredNetwork]) -> tuple[str, ...]:
    sizes = next((list(each.all_reduce) for each in measured if each.all_reduce), [])
    return "network", "bits", "ns", *map(_size_text, sizes)


def _size_text(size: int) -> str:
    return f"{size >> 20} MB" if size >> 20 else f"{size >> 10} kB"


def _all_reduce(each: MeasuredNetwork) -> tuple[str, ...]:
    if not each.all_reduce:
        return ()
    times = (cycles * each.period * 1e6 for cycles in each.all_reduce.values())
    period = f"{each.period * 1e9:.2f}"
    return each.name, str(each.flit_width), period, *(f"{time:,.1f}" for time in times)
