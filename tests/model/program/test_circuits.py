"""Run tables: entries as the words of docs/router.md, section 23."""

from helpers.circuits import example

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits import CircuitProgram, entry_fields, run_table_words

TABLE = ["1002", "0", "1", "403c02", "0", "2", "400c02", "0"]
"""The words of all run tables of the page's example, node after node."""


def test_the_words_of_the_example_are_those_of_the_page() -> None:
    program = example()
    assert sum(width for _, width in entry_fields(program.config)) == 23
    first, words = run_table_words(program)
    assert first.tolist() == [0, 2, 5, 8]
    assert [f"{int(word):x}" for word in words[:, 0]] == TABLE


def test_an_entry_goes_on_in_the_next_word_without_a_gap() -> None:
    config = NetworkConfig(topology=line(3), message_words=8, flit_width=16, circuits=True)
    columns = {name: getattr(example(), name) for name in example().__dataclass_fields__}
    _, words = run_table_words(CircuitProgram(**columns | {"config": config}))
    assert words.shape == (8, 2)
    assert [f"{low:x} {high:x}" for low, high in words.tolist()[3:4]] == ["3c02 40"]
