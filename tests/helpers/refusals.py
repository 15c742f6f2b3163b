"""The one-line error of a refused call."""

from collections.abc import Callable
from typing import Any

import pytest

from eyecast.model.base.errors import InvalidInput


def refusal_of(
    function: Callable[..., object],
    *arguments: Any,
    kind: type[InvalidInput] = InvalidInput,
    **named: Any,
) -> str:
    """Call a function that must raise this kind of error; return the error's line."""
    with pytest.raises(kind) as caught:
        function(*arguments, **named)
    (line,) = str(caught.value).splitlines()
    return line
