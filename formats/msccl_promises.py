"""Results of an MSCCL reduction: the sums that each collective's outputs must hold.

::

    allreduce        o[p] of every GPU is the sum of all i[p]
    reduce           o[p] of one GPU, the root, is the sum of all i[p]
    reduce_scatter   k = nchunksperloop / ngpus: o[p] of GPU r is the sum of all i[r * k + p]
    custom           no promise: a GPU is owed what its output holds at the end, if at least a
                     part came from another GPU; if no GPU has an output, the same for its
                     input, except sums that every holder sent on

(Sources: microsoft/msccl-tools, msccl/language/collectives.py; microsoft/msccl, src/graph/topo.cc
and tuning.cc, which count the chunks of inputs and outputs. Neither has an algorithm for a reduce:
its sums are where NCCL's ncclReduce has them.)
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ..model.base.errors import InvalidInput
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from .msccl_reducing_execution import ReducingExecution, Value
from .msccl_xml import Algorithm


@dataclass(frozen=True)
class Result:
    """A sum: its ``chunks``, each of another GPU, and for each GPU the value that it is owed."""

    chunks: frozenset[int]
    values: dict[int, Value] = field(default_factory=dict)


Output = dict[int, Value]
"""The value at each filled offset of an output."""


def results_of(algorithm: Algorithm, run: ReducingExecution) -> tuple[int | None, list[Result]]:
    """Return the root, if any, and the results; refuse a wrong output."""
    outputs = [
        {offset: run.values[number] for offset, number in sorted(output.items())}
        for output in run.outputs
    ]
    if algorithm.collective == CUSTOM:
        return None, _delivered(run, outputs)
    promise = _Promise(algorithm, run, outputs)
    if algorithm.collective == Collective.REDUCE:
        root = promise.root()
        return root, promise.results([root])
    return None, promise.results(range(algorithm.ranks))


@dataclass(frozen=True)
class _Promise:
    """Sums that the outputs must hold."""

    algorithm: Algorithm
    run: ReducingExecution
    outputs: list[Output]

    def _places(self, rank: int) -> range:
        """Return the offsets of the inputs that a GPU's output sums up, in order."""
        if self.algorithm.collective == Collective.REDUCE_SCATTER:
            each = self.algorithm.chunks // self.algorithm.ranks
            return range(rank * each, (rank + 1) * each)
        return range(self.algorithm.chunks)

    @cached_property
    def _sums(self) -> list[frozenset[int]]:
        """For each offset, the chunks at this offset of all inputs."""
        stride = self.run.stride
        end = stride * self.algorithm.ranks
        return [frozenset(range(place, end, stride)) for place in range(stride)]

    def _wrong(self, rank: int) -> int | None:
        """Return the first offset of an output without its sum; None if all are right."""
        output = self.outputs[rank]
        for offset, place in enumerate(self._places(rank)):
            if offset not in output or output[offset].chunks != self._sums[place]:
                return offset
        return None

    def root(self) -> int:
        """Return the first GPU whose output holds all sums."""
        wrong = [self._wrong(rank) for rank in range(self.algorithm.ranks)]
        if None in wrong:
            return wrong.index(None)
        place = max(offset or 0 for offset in wrong)
        raise self._refusal(place, "one gpu", place)

    def results(self, owed: Iterable[int]) -> list[Result]:
        """Return the results that the GPUs in ``owed`` get, in order of offsets."""
        results: dict[int, Result] = {}
        for rank in owed:
            wrong = self._wrong(rank)
            if wrong is not None:
                raise self._refusal(wrong, f"gpu {rank}", self._places(rank)[wrong])
            for offset, place in enumerate(self._places(rank)):
                result = results.setdefault(place, Result(self._sums[place]))
                result.values[rank] = self.outputs[rank][offset]
        return [results[place] for place in sorted(results)]

    def _refusal(self, offset: int, whose: str, place: int) -> InvalidInput:
        """Return the error for an output offset without its sum."""
        xml = self.algorithm.xml
        wanted = f"o[{offset}] of {whose} must end as the sum of all i[{place}]"
        return xml.refusal(xml.root, f"{xml.root.attrib['coll']}: {wanted}")


def _delivered(run: ReducingExecution, outputs: list[Output]) -> list[Result]:
    """Return the results of a custom collective: all values that partly came from other GPUs."""
    results: dict[frozenset[int], Result] = {}
    ends: set[frozenset[int]] = set()
    sent = {run.values[number].state for number in run.moved}
    for rank, output in enumerate(outputs):
        for value in output.values():
            if value.moves:
                result = results.setdefault(value.chunks, Result(value.chunks))
                result.values.setdefault(rank, value)
                if not run.ends_in_inputs or value.state not in sent:
                    ends.add(value.chunks)
    return [result for chunks, result in results.items() if chunks in ends]
