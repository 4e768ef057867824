"""Checks of arguments: numpy's numbers and arrays count as numbers and lists, and any other type is refused in a
sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from reprlib import repr as short
from typing import Any

from ._laxity import LaxityError

MOST = 2**64 - 1


def plain(value: Any) -> Any:
    """A value of numpy, or a column of pandas or polars, as one of Python."""
    listed = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    return listed() if callable(listed) else value


def whole(name: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """A whole number.

    Raises ``TypeError`` for any other type, ``LaxityError`` if it is out of range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` is a whole number, not {short(value)}") from None
    if not least <= number <= most:
        raise LaxityError(f"`{name}` is a whole number from {least} to {most}, not {number}")
    return number


def real(name: str, value: Any) -> float:
    """A number."""
    try:
        return float(operator.pos(plain(value)))
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` is a number, not {short(value)}") from None


def word(name: str, value: Any, such: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is a text such as {such!r}, not {short(value)}")
    return str(value)


def time(name: str, value: Any) -> str | None:
    """A time as plans write it, if one is given."""
    return None if value is None else word(name, value, "10s")


def path(name: str, value: Any) -> Path:
    """A path."""
    try:
        return Path(value)
    except TypeError:
        raise TypeError(f"`{name}` is a path, not {short(value)}") from None


def several(name: str, values: Any, such: str) -> list[Any]:
    """A list, or any other iterable; a text is no list."""
    try:
        if isinstance(values, str | bytes | Mapping):
            raise TypeError
        return list(plain(values))
    except TypeError:
        raise TypeError(f"`{name}` is a list such as {such}, not {short(values)}") from None


def seeds(values: Any) -> list[int]:
    """The seeds of several runs."""
    return [whole("seeds", seed) for seed in several("seeds", values, "range(1, 11)")]


def table(name: str, values: Any, such: str) -> dict[Any, Any]:
    """A mapping from names to values."""
    if not isinstance(values, Mapping):
        raise TypeError(f"`{name}` is a dictionary such as {such}, not {short(values)}")
    return dict(values)


def tables(name: str, values: Iterable[Any], such: str) -> list[dict[Any, Any]]:
    """A list of mappings."""
    return [table(f"{name}[{at}]", one, such) for at, one in enumerate(several(name, values, f"[{such}]"))]


def function(name: str, value: Any, of: str) -> Callable[..., Any]:
    """A callable."""
    if not callable(value):
        raise TypeError(f"`{name}` is a function of {of}, not {short(value)}")
    return value
