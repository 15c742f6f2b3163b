"""Custom operators: the modules from which they are loaded, and refusals."""

import pytest
from helpers.refusals import refusal_of

import eyecast

NETWORK = eyecast.mesh((2, 2))


def difference(there, coming, _bits):
    return there - coming


OWN = eyecast.Operator("difference", meaning=difference)
REDUCED = {"collective": "all-reduce", "words": 2}


@pytest.mark.parametrize("groups", [None, "rows"])
def test_the_best_is_chosen_by_what_it_takes_to_combine(groups: str | None) -> None:
    made = eyecast.schedule(NETWORK, "best", operator=OWN, groups=groups, **REDUCED)
    assert {*made.blocks.operator} == {"difference"}
    assert eyecast.predict(made, operators=[OWN]).finished


def test_a_comparison_is_on_networks_with_the_operator() -> None:
    asked = {"algorithms": ["tree", "ring"], "operator": OWN, **REDUCED}
    entries = eyecast.compare(NETWORK, **asked)
    said = eyecast.compare(NETWORK, operators=[OWN], **asked)
    assert all("barrier" in entry.cycles for entry in entries)
    assert [each.cycles for each in entries] == [each.cycles for each in said]


@pytest.mark.parametrize(("given", "shown"), [({}, "left out"), ({"operators": ["add"]}, "add")])
def test_a_schedule_knows_only_the_name(given: dict[str, object], shown: str) -> None:
    made = eyecast.schedule(NETWORK, "tree", operator=OWN, **REDUCED)
    line = (
        "operators must be given with the Operator difference, by which the schedule combines, "
        f"not {shown}"
    )
    assert refusal_of(eyecast.predict, made, **given) == line
