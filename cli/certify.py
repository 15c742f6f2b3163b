"""``eyecast certify``: the certificate of a program, checked independently of the compiler."""

from __future__ import annotations

import click

from ..model.base.errors import InvalidInput
from ..model.base.files import read_input
from ..model.base.json_file import Header, decode_versioned
from .command import command
from .console import print_json, say
from .options.output import json_option
from .options.values import complete_files

PACKETS, CIRCUITS = 1, 2
"""Versions of certificates: of a program of packets, and of one on circuits."""


@command(
    "certify",
    "eyecast certify program.json certificate.json",
    "eyecast certify program.json certificate.json --json",
)
@click.argument("program", shell_complete=complete_files)
@click.argument("certificate", shell_complete=complete_files)
@json_option
def certify_command(program: str, certificate: str, as_json: bool) -> None:
    """Check the certificate of a program.

    For packets the checker follows each route through the certificate's order of channels, in which
    it must rise, and carries the values of the words. For circuits it follows every word through
    the run tables of all nodes. It shares no code with the compiler and the cycle model. "eyecast
    program --certificate" writes a certificate.

    Exit status 0 only if the certificate holds.
    """
    from ..model.certificate import circuit_checker, packet_checker

    texts = read_input(program), read_input(certificate)
    try:
        header = decode_versioned(texts[1], "eyecast-certificate", (PACKETS, CIRCUITS), Header)
        if header.version == PACKETS:
            found = packet_checker.check(*texts)
        else:
            found = {"cycles": circuit_checker.check(*texts)}
    except (circuit_checker.MalformedError, packet_checker.MalformedError) as error:
        raise InvalidInput(f"{program}, {certificate}: {error}") from error
    except (circuit_checker.RefusedError, packet_checker.RefusedError) as error:
        raise RuntimeError(f"the certificate does not hold: {error}") from error
    except InvalidInput as error:
        raise InvalidInput(f"{certificate}: {error}") from error
    if as_json:
        print_json({"holds": True, **found})
        return
    say("the certificate holds:", *(f"  {line}" for line in _lines(header.version, found)))


def _lines(version: int, found: dict[str, int]) -> tuple[str, ...]:
    """Say what a certificate shows."""
    if version == CIRCUITS:
        return (
            "each output takes one input a cycle, and each word arrives when a run expects it",
            "each owed word is made of each of its values, once",
            f"the run takes {found['cycles']} cycles",
        )
    channels, packets, words = (f"{found[name]:,}" for name in ("channels", "packets", "words"))
    return (
        f"the routes of {packets} packets rise in an order of {channels} channels, so none locks",
        "each node expects the packets that come, so each step ends",
        f"{words} owed words are made of each of their values, once",
    )
