"""Arguments of a wrong kind: one line names the parameter, its allowed values and the argument."""

import inspect

import pytest
from helpers.refusals import refusal_of
from matplotlib.figure import Figure

import eyecast
import eyecast.api as face

NETWORK = eyecast.mesh((2, 2))
MADE = eyecast.schedule(NETWORK, "eye", source=0, words=2)
SEND = (1, [0, 1])


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: eyecast.mesh(8), "sides must be integers such as (8, 8), or '8x8', not 8"),
        (lambda: eyecast.torus(4.5), "sides must be integers such as (8, 8), or '8x8', not 4.5"),
        (
            lambda: eyecast.graph([1]),
            "neighbor must be a list of neighbours for each node, or a networkx graph, not [1]",
        ),
        (
            lambda: eyecast.with_faults(NETWORK, 3),
            "faulty nodes must be nodes, each a number or coordinates, not 3",
        ),
        (
            lambda: eyecast.with_faults(NETWORK, (), [(0, 1, 2)]),
            "faulty links must be pairs of nodes, not (0, 1, 2)",
        ),
        (
            lambda: eyecast.with_random_faults(NETWORK, "x"),
            "part must be a number, not 'x'",
        ),
        (
            lambda: eyecast.mesh("8by8"),
            "sides must be integers such as (8, 8), or '8x8', not '8by8'",
        ),
        (
            lambda: eyecast.with_faults(NETWORK, [(2, 0)]),
            "faulty node must be a node of the 2x2 mesh, 0,0 to 1,1, not 2,0",
        ),
        (
            lambda: eyecast.schedule(NETWORK, "eye", collective="allreduce"),
            "collective must be broadcast, multicast, scatter, gather, all-gather, all-to-all, "
            "neighbor, halo, reduce, reduce-scatter, all-reduce, barrier, scan or exscan, not "
            "allreduce "
            "(did you mean all-reduce?)",
        ),
        (
            lambda: eyecast.schedule("8x8", "eye", source=0),
            "network must be a network, such as mesh((8, 8)) or graph(G), not '8x8'",
        ),
        (
            lambda: eyecast.schedule(NETWORK, "eye", source="0,0"),
            "source must be a node, by its number or coordinates, not '0,0'",
        ),
        (
            lambda: eyecast.schedule(NETWORK, "u-mesh", source=0, targets=3),
            "targets must be nodes, each a number or coordinates, not 3",
        ),
        (
            lambda: eyecast.schedule_of_sends(NETWORK, [SEND, (2, 3)]),
            "sends[1].path must be nodes, each a number or coordinates, not 3",
        ),
        (lambda: eyecast.predict(NETWORK), f"schedule must be a schedule, not {NETWORK!r}"),
        (
            lambda: eyecast.predict(MADE, hold=[0]),
            "hold must be cycles by node, not [0]",
        ),
        (
            lambda: eyecast.compare(NETWORK, source=0, algorithms="eye"),
            "algorithms must be names of algorithms, not 'eye'",
        ),
        (lambda: eyecast.transmit(NETWORK, seconds="1"), "seconds must be a number, not '1'"),
        (lambda: eyecast.traffic(NETWORK, rate=True), "rate must be a number, not True"),
        (lambda: eyecast.draw(MADE, 1), "paths must be the name of a file, not 1"),
        (lambda: eyecast.read_network(None), "path must be the name of a file, not None"),
        (lambda: eyecast.write_schedule(MADE.root, "s.json"), "schedule must be a schedule, not 0"),
    ],
)
def test_a_wrong_kind_is_one_line(call, complaint):
    assert refusal_of(call) == complaint


def test_an_unknown_parameter_of_a_network_is_named_with_those_that_there_are():
    told = refusal_of(eyecast.compile, MADE, vc=2)
    assert told.startswith("parameter of a network must be vcs, depth, ")
    assert told.endswith(", not vc (did you mean vcs?)")


def test_operators_are_a_list():
    with pytest.raises(eyecast.InvalidInput, match=r"^operators must be a list of names and Oper"):
        eyecast.predict(MADE, operators=3)


def test_what_gives_values_once_is_gone_through_once():
    assert len(eyecast.compile(MADE, operators=iter(["add", "max"])).config.operators) == 2
    sends = ((step, path) for step, path in [SEND, (2, [0, 2]), (2, [1, 3])])
    assert eyecast.schedule_of_sends(NETWORK, sends).steps == 2
    kept = eyecast.with_random_faults(NETWORK, 0.75, keep=iter([(1, 1)]))
    assert kept.faulty_nodes == (0, 1, 2)


def test_faulty_nodes_and_links_are_numbers_or_coordinates():
    named = eyecast.with_faults(NETWORK, [(1, 1)], [((0, 0), (1, 0)), (2, 0)])
    assert (named.faulty_nodes, named.faulty_links) == ((3,), ((0, 1), (2, 0)))


def test_a_figure_is_returned_where_a_schedule_is_drawn():
    assert isinstance(eyecast.draw(MADE), Figure)


def test_rows_of_a_trace_are_a_trace():
    trace = eyecast.predict(MADE).trace
    assert [*trace[1:4]] == [trace[1], trace[2], trace[3]]
    assert len(trace[:-1]) == len(trace) - 1


FUNCTIONS = [name for name in face.__all__ if inspect.isfunction(getattr(face, name))]
WRONG = object()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_that_is_given_first_gets_into_the_depths(name):
    """Every public function refuses an object that no parameter can be, in each required place."""
    function = getattr(face, name)
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    with pytest.raises(eyecast.InvalidInput):
        function(*[WRONG] * max(1, len(needed)))
