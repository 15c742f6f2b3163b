"""``eyecast certify`` with files of other forms: one line, exit status 2."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, refusal

PACKETS = ("program", "--mesh", "2x2", "--source", "0,0", "-o", "p.json", "--certificate", "c.json")


def damaged(change: dict[str, Any]) -> None:
    """Change keys of the certificate; None removes one."""
    text = json.loads(Path("c.json").read_text()) | change
    text = {name: value for name, value in text.items() if value is not None}
    Path("c.json").write_text(json.dumps(text))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "c.json: Input data was truncated"),
        ("a,b", "c.json: JSON is malformed: invalid character (byte 0)"),
        ("[]", "c.json: Expected object, got array"),
        ("{}", "c.json: Object missing required field format"),
    ],
)
@pytest.mark.parametrize("certificate", [True, False])
def test_a_file_of_no_such_format(
    eyecast: Command, content: str, line: str, *, certificate: bool
) -> None:
    assert eyecast(*PACKETS).status == 0
    name = "c.json" if certificate else "p.json"
    Path(name).write_text(content)
    assert eyecast("certify", "p.json", "c.json") == refusal(line.replace("c.json", name))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"version": 3}, "version must be 1 or 2, not 3"),
        ({"format": "other"}, "format must be eyecast-certificate, not other"),
        ({"owed": None}, "Object missing required field owed"),
        ({"channel_order": 5}, "channel_order: Expected array, got int"),
        ({"held": [{"node": 0}]}, "held[0]: Object missing required field address"),
    ],
)
def test_a_certificate_of_another_form(eyecast: Command, change: dict[str, Any], line: str) -> None:
    assert eyecast(*PACKETS).status == 0
    damaged(change)
    assert eyecast("certify", "p.json", "c.json") == refusal(f"c.json: {line}")


@pytest.mark.usefixtures("here")
def test_a_certificate_of_circuits_for_a_program_of_packets(eyecast: Command) -> None:
    assert eyecast(*PACKETS).status == 0
    circuits = ("program", "--circuits", "--mesh", "2x2", "--source", "0,0", "-o", "other.json")
    assert eyecast(*circuits, "--certificate", "other").status == 0
    assert eyecast("certify", "p.json", "other") == refusal(
        "other: certificate must be one of packets, as p.json is, not one of circuits"
    )
    assert eyecast("certify", "other.json", "c.json") == refusal(
        "c.json: certificate must be one of circuits, as other.json is, not one of packets"
    )
