"""``eyecast compare --lengths``: cycles of each algorithm over words."""

from collections.abc import Mapping, Sequence

from ..model.compare.side_by_side import SideBySide
from .console import print_json, print_table, say_written
from .options.network import NetworkFacts

BOUND = "lower bound"


def compare_lengths(
    comparisons: Sequence[SideBySide], output: str | None, facts: NetworkFacts | None
) -> None:
    """Print the fewest cycles of each algorithm for each number of words, and draw them.

    comparisons
        One comparison for each number of words.
    output
        File of the picture; None for no picture.
    facts
        Network and seed of a JSON result; None to print a table.
    """
    series = _series(comparisons)
    words = [comparison.task.words for comparison in comparisons]
    first = comparisons[0]
    title = f"{first.task.topology.label}, {first.task.title}, fewest cycles over words"
    if output is not None:
        from ..picture.file import save_picture
        from ..picture.sweep import draw_cycles

        lines = {name: [*cycles.items()] for name, cycles in series.items() if cycles}
        bound = lines.pop(BOUND, [])
        save_picture(draw_cycles(lines, title, bound), output)
    if facts is not None:
        least = {"cycles": series.pop(BOUND)}
        print_json({"words": words, "least": least, "cycles": series}, **facts)
        return
    rows = [(name, *(cycles.get(count) for count in words)) for name, cycles in series.items()]
    fastest = (_fastest(series, count) for count in words)
    print_table(title, ("words", *map(str, words)), [*rows, ("the fastest", *fastest)])
    say_written(output)


def _series(comparisons: Sequence[SideBySide]) -> dict[str, dict[int, int]]:
    """Return the cycles with the better timing by words: the bound first, then each algorithm."""
    series: dict[str, dict[int, int]] = {BOUND: {}}
    for comparison in comparisons:
        words = comparison.task.words
        series[BOUND][words] = comparison.least["cycles"]
        for entry in comparison.entries:
            found = series.setdefault(entry.label, {})
            if entry.cycles:
                found[words] = min(entry.cycles.values())
    return series


def _fastest(series: Mapping[str, Mapping[int, int]], words: int) -> str | None:
    """Return the algorithm with the fewest cycles; the first one in a tie."""
    named = {name: cycles[words] for name, cycles in series.items() if words in cycles}
    named.pop(BOUND, None)
    return min(named, key=named.__getitem__) if named else None
