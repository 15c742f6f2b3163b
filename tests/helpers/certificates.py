"""Drawn and damaged programs of packets; answers of both checkers of certificates."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
from helpers.soak.samples import example_of
from helpers.soak.schedules import schedule_networks, schedules
from helpers.soak.traffic import NETWORKS
from hypothesis import strategies as st

import eyecast as package
from eyecast.model.base.errors import InvalidInput
from eyecast.model.certificate import circuit_checker
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.certificate.circuit_certificate import circuit_certificate
from eyecast.model.certificate.packet_checker import RefusedError, check
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS, Timing
from eyecast.model.program.certified import Room
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.program.deadlock import certify
from eyecast.model.program.file import program_json
from eyecast.model.program.payload import Payload
from eyecast.model.program.program import Program

TRIES = 40
"""Draws of a schedule for a network; most do not fit."""

SEGMENTS = ("port", "hops", "vc")
TIMED = ("start", "awaited")
STREAMED = ("stream", "lead", "window")
FIELDS = (
    *("step", "source_address", "target_address", "length", "operator", "route", "receive_step"),
    *SEGMENTS,
)


def drawn(seed: int) -> Iterator[tuple[Compiled, Timing]]:
    """Programs of the soak's networks and schedules, each with a timing that it allows."""
    draw = np.random.default_rng(seed)
    config = example_of(st.sampled_from(NETWORKS).flatmap(schedule_networks), seed)
    for each in fit(config, example_of(schedules(config, TRIES), seed), fixed=("vcs",))[1]:
        if isinstance(each.program, Program):
            stays = each.program.operator.any() or each.program.stream.any()
            yield each, Timing.BARRIER if stays else TIMINGS[draw.integers(2)]


def by_hand(
    channels: list[list[int]], held: list[Any], owed: list[Any], timing: str = "barrier"
) -> dict[str, Any]:
    """Return a certificate of a program on a grid: the order of its channels, and its words."""
    form = {"format": "eyecast-certificate", "version": 1, "links": [], "timing": timing}
    return {**form, "channel_order": channels, "held": held, "owed": owed}


def verdict(program: Program, certificate: dict[str, Any]) -> str:
    """What the checker says of a program with a certificate, made for it or for another one."""
    text = program_json(program).encode()
    certificate = certificate | {"program": sha256(text).hexdigest()}
    try:
        check(text, json.dumps(certificate).encode())
    except RefusedError as error:
        return str(error)
    return "holds"


def circuit_verdict(one: Compiled, program: CircuitProgram) -> str:
    """What the checker says of a program that should do what ``one`` does."""
    text, certificate = program_json(program), json.loads(circuit_certificate(one))
    certificate |= {"program": sha256(text.encode()).hexdigest(), "cycles": program.cycles}
    try:
        circuit_checker.check(text.encode(), json.dumps(certificate).encode())
    except circuit_checker.RefusedError as error:
        return str(error)
    return "holds"


def damaged(program: Program, draw: np.random.Generator) -> Program:
    """The program with one value of a row, of a segment or of a receive changed."""
    shift = int(draw.choice([-1, 1, 2]))
    config = program.config
    names = (*FIELDS, *TIMED * 3 * config.timed_rows, *STREAMED * 2 * config.streams)
    name = names[draw.integers(len(names))]
    owner: Any = program.routes if name in SEGMENTS else program
    column = getattr(owner, name).copy()
    if not column.size:
        return program
    column[draw.integers(column.size)] += shift
    changes: dict[str, Any] = {name: np.maximum(column, 0)}
    if name in SEGMENTS:
        changes = {"routes": replace(program.routes, **changes)}
    try:
        return replace(program, **changes)
    except InvalidInput:
        return program


def compiled(algorithm: str = "eye", request: dict[str, Any] | None = None) -> Compiled:
    options = {"words": 4} | (request or {"source": 0})
    made = package.schedule(package.mesh((4, 4)), algorithm, **options)
    return Room().compile_one(made)


def works(one: Compiled, program: Program, timing: Timing, *, words: bool) -> bool:
    """Whether a run of the cycle model has no flags and, if asked, delivers every word.

    ``Program.check()`` looks last at words that are written where others are read. It refuses all
    of one step, also those of a ring, which are read before they come around.
    """
    payload = Payload.random(one, seed=5)
    try:
        program.check()
    except InvalidInput as error:
        if "must be apart from the words that" not in str(error):
            return False
    try:
        certify(program)
        found = run(program, payload.memory(program.config), timing=timing, cycle_limit=5000)
    except InvalidInput:
        return False
    topology = program.config.topology
    served = one.schedule.blocks.served(topology)
    delivered = payload.delivered(found.memory, topology).sum() == len(served)
    return bool(found.finished and not found.flags.any() and (delivered or not words))


def compare_damaged(programs: Iterable[tuple[Compiled, Timing]], each: int) -> Counter[str]:
    """Count what the checker says of programs and damaged ones; what it accepts always works."""
    seen, draw = Counter[str](), np.random.default_rng(7)
    for one, timing in programs:
        certificate = json.loads(certificate_json(one, timing))
        assert isinstance(one.program, Program)
        assert verdict(one.program, certificate) == "holds", one.schedule
        seen["good"] += 1
        for number in range(each):
            program = damaged(one.program, draw)
            held = verdict(program, certificate) == "holds"
            right = works(one, program, timing, words=bool(certificate["owed"]))
            assert right or not held, (one.schedule, number)
            seen["holds" if held else "refused, right" if right else "refused, wrong"] += 1
    return seen
