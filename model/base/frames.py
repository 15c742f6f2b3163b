"""Tables for users who have pandas or Arrow; Eyecast needs neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .errors import InvalidInput

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(columns: Mapping[str, Any]) -> DataFrame:
    """Return a data frame of ``columns``; NumPy arrays are not copied.

    Raises :class:`.InvalidInput` if pandas is missing.
    """
    try:
        import pandas  # noqa: PLC0415 - no dependency
    except ImportError as error:
        raise InvalidInput.of("pandas", "installed (pip install pandas)", "missing") from error
    # copy=False keeps each column as it is; a frame by default joins columns of one type.
    return pandas.DataFrame(columns, copy=False)


def stream_of(columns: Mapping[str, Any], requested_schema: object) -> object:
    """Return ``columns`` as a stream of Arrow's C interface; NumPy arrays are not copied.

    Raises :class:`.InvalidInput` if pyarrow is missing.
    """
    try:
        import pyarrow  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise InvalidInput.of("pyarrow", "installed (pip install pyarrow)", "missing") from error
    return pyarrow.table({**columns}).__arrow_c_stream__(requested_schema)
