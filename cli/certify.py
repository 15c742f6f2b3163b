"""``eyecast certify``: the certificate of a program, checked independently of the compiler."""

from __future__ import annotations

import click

from ..model.base.errors import InvalidInput
from ..model.base.files import read_input
from .command import command
from .console import print_json, say
from .options.output import json_option
from .options.values import complete_files


@command(
    "certify",
    "eyecast certify program.json certificate.json",
    "eyecast certify program.json certificate.json --json",
)
@click.argument("program", shell_complete=complete_files)
@click.argument("certificate", shell_complete=complete_files)
@json_option
def certify_command(program: str, certificate: str, as_json: bool) -> None:
    """Check the certificate of a program on circuits.

    The checker follows every word of the program through the run tables of all nodes. It shares no
    code with the compiler and the cycle model. "eyecast program --certificate" writes a
    certificate.

    Exit status 0 only if the certificate holds.
    """
    from ..model.certificate.circuit_checker import MalformedError, RefusedError, check

    try:
        cycles = check(read_input(program), read_input(certificate))
    except MalformedError as error:
        raise InvalidInput(f"{program}, {certificate}: {error}") from error
    except RefusedError as error:
        raise RuntimeError(f"the certificate does not hold: {error}") from error
    if as_json:
        print_json({"holds": True, "cycles": cycles})
        return
    say(
        "the certificate holds:",
        "  each output takes one input a cycle, and each word arrives when a run expects it",
        "  each owed word is made of each of its values, once",
        f"  the run takes {cycles} cycles",
    )
