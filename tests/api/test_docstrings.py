"""Docstrings of the face: each parameter, result and refusal in a section of its own."""

import inspect
import re

import pytest

import eyecast

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "References", "Examples")
FUNCTIONS = [name for name in eyecast.__all__ if inspect.isfunction(getattr(eyecast, name))]
WITH_FIELDS = ("NetworkConfig", "NetworkParameters")
"""Classes whose fields have docstrings, or are the fields of another class."""
CLASSES = [
    name
    for name in eyecast.__all__
    if inspect.isclass(getattr(eyecast, name)) and name not in WITH_FIELDS
]
FROM_PAPERS = {
    *("binary_tree", "star_tree", "diagonal_mesh", "de_bruijn"),
    *("compile", "schedule", "transmit", "transmit_schedule"),
}
"""Functions that carry out what a paper, or a page of this project, describes."""


def sections(documented: object) -> dict[str, list[str]]:
    """Return the lines of each section of a docstring, by its heading."""
    lines = (inspect.getdoc(documented) or "").splitlines()
    found: dict[str, list[str]] = {}
    heading = "Summary"
    for place, line in enumerate(lines):
        if lines[place + 1 : place + 2] == ["-" * len(line)] and line:
            heading = line
        elif line != "-" * len(heading):
            found.setdefault(heading, []).append(line)
    return found


def entries(lines: list[str]) -> list[str]:
    """Return the names in a section: of its lines that are not indented."""
    names = ", ".join(line for line in lines if line and not line.startswith(" "))
    return [name.lstrip("*") for name in names.split(", ") if name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_takes_returns_and_refuses(name):
    function = getattr(eyecast, name)
    found = sections(function)
    assert found.keys() <= {"Summary", *SECTIONS}
    assert {"Returns", "Raises"} <= found.keys()
    order = [heading for heading in SECTIONS if heading in found]
    assert [heading for heading in found if heading != "Summary"] == order
    assert sorted(entries(found["Parameters"])) == sorted(inspect.signature(function).parameters)
    raised = [getattr(eyecast, error) for error in entries(found["Raises"])]
    assert all(issubclass(error, eyecast.InvalidInput) for error in raised)
    assert ("References" in found) == (name in FROM_PAPERS)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_says_what_it_holds(name):
    kept = getattr(eyecast, name)
    found = sections(kept)
    listed = entries([*found.get("Parameters", ()), *found.get("Attributes", ())])
    fields = {each for each in inspect.get_annotations(kept) if not each.startswith("_")}
    assert fields | {"send"} & {*listed} == {*listed}


def test_sections_are_found_by_their_underlines():
    assert sections(eyecast.hypercube).keys() == {"Summary", "Parameters", "Returns", "Raises"}
    assert re.match("Number of links", sections(eyecast.hypercube)["Parameters"][1].strip())
