"""The matrix of docs/router.md, section 0, "What excludes what", made from the rules."""

from eyecast.model.network.config import DEFAULTS
from eyecast.model.network.exclusions import EXCLUDES, Exclusion

PROPERTIES = {
    "operator_latency": "`operators` with D > 0",
    "further_vcs": "`vcs` > 1",
    "differing_links": "links that differ",
}
"""What the page calls the properties of a network that rules limit beside parameters."""


def excludes_each_other(first: str, second: str) -> bool:
    """Tell whether a rule forbids one of two parameters when the other is set."""
    pairs = [{each.given, each.limited} for each in EXCLUDES if each.least is None]
    return {first, second} in pairs


def matrix() -> str:
    """Return the matrix's lines: rows are limited parameters, columns the limiting ones."""
    columns = [name for name in DEFAULTS if any(each.given == name for each in EXCLUDES)]
    limited = {each.limited for each in EXCLUDES} | {
        each.given for each in EXCLUDES if each.least is None
    }
    names = [name for name in [*DEFAULTS, *PROPERTIES] if name in limited]
    rows = [[_row_name(row), *(_cell(row, column) for column in columns)] for row in names]
    heading = ["", *(f"`{name}`" for name in columns)]
    return "".join(f"|{'|'.join(map(_padded, row))}|\n" for row in [heading, *rows]).replace(
        "\n", "\n" + "|---" * (len(columns) + 1) + "|\n", 1
    )


def _row_name(name: str) -> str:
    return PROPERTIES.get(name, f"`{name}`")


def _padded(cell: str) -> str:
    return f" {cell} " if cell else " "


def _cell(row: str, column: str) -> str:
    rules = [each for each in EXCLUDES if (each.limited, each.given) == (row, column)]
    if excludes_each_other(row, column):
        return "no"
    return ", ".join(_least(rule) for rule in rules)


def _least(rule: Exclusion) -> str:
    shown = "2R+2" if rule.least == "busy_depth" else rule.least
    return f"≥ {shown}"
