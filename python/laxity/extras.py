"""Packages that are not needed by all, and the extras that bring them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str, what: str) -> Any:
    """A module that something needs.

    Raises ``ImportError``, which names the extra, if it is not there.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module.partition('.')[0]}: pip install 'laxity[{extra}]'") from error
