"""Results of an MSCCL reduction: which chunks each output must be the sum of, by its collective.

::

    allreduce        o[p] of every GPU is the sum of all i[p]
    reduce           o[p] of one GPU, the root, is the sum of all i[p]
    reduce_scatter   k = nchunksperloop / ngpus: o[p] of GPU r is the sum of all i[r * k + p]
    custom           nothing is promised: what stands in an output at the end, and came from
                     elsewhere at least in part, is owed to its GPU; where no GPU has an output,
                     so is what stands in an input, but not a sum that all who have it sent on

(Sources: microsoft/msccl-tools, msccl/language/collectives.py; microsoft/msccl,
src/graph/topo.cc and tuning.cc, which count the chunks of inputs and outputs. Neither has an
algorithm for a reduce: its sums are where those of NCCL's ncclReduce are.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ..model.base.errors import InvalidInput
from ..model.schedule.collective import Collective
from ..model.schedule.table import CUSTOM
from .msccl_reduction import ReducingExecution, Value
from .msccl_xml import Algorithm


@dataclass(frozen=True)
class Result:
    """A sum: the ``chunks`` in it, each of another GPU, and for each GPU the value owed to it."""

    chunks: frozenset[int]
    values: dict[int, Value] = field(default_factory=dict)


Output = dict[int, Value]
"""The value at each offset of an output that has one."""


def results_of(algorithm: Algorithm, run: ReducingExecution) -> tuple[int | None, list[Result]]:
    """The root, if there is one, and the results; refused where an output is another one."""
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
    """Sums that outputs must hold."""

    algorithm: Algorithm
    run: ReducingExecution
    outputs: list[Output]

    def _places(self, rank: int) -> range:
        """The places in all inputs of which the output of a GPU has the sums, in order."""
        if self.algorithm.collective == Collective.REDUCE_SCATTER:
            each = self.algorithm.chunks // self.algorithm.ranks
            return range(rank * each, (rank + 1) * each)
        return range(self.algorithm.chunks)

    @cached_property
    def _sums(self) -> list[frozenset[int]]:
        """For each place the chunks that stand there in all inputs."""
        stride = self.run.stride
        end = stride * self.algorithm.ranks
        return [frozenset(range(place, end, stride)) for place in range(stride)]

    def _wrong(self, rank: int) -> int | None:
        """The first offset of an output that does not hold its sum."""
        output = self.outputs[rank]
        for offset, place in enumerate(self._places(rank)):
            if offset not in output or output[offset].chunks != self._sums[place]:
                return offset
        return None

    def root(self) -> int:
        """The first GPU whose output holds all sums."""
        wrong = [self._wrong(rank) for rank in range(self.algorithm.ranks)]
        if None in wrong:
            return wrong.index(None)
        place = max(offset or 0 for offset in wrong)
        raise self._refusal(place, "one gpu", place)

    def results(self, owed: Iterable[int]) -> list[Result]:
        """The results that GPUs are ``owed``, in order of their places."""
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
        """The error that an output does not hold the sum of a place at an offset."""
        xml = self.algorithm.xml
        wanted = f"o[{offset}] of {whose} must end as the sum of all i[{place}]"
        return xml.refusal(xml.root, f"{xml.root.attrib['coll']}: {wanted}")


def _delivered(run: ReducingExecution, outputs: list[Output]) -> list[Result]:
    """The results of a custom collective: all that came from elsewhere, at least in part."""
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
