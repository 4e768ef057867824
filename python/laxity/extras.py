"""Optional packages, and the extras that install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str, what: str) -> Any:
    """A module of an optional package.

    Raises ``ImportError``, which names the extra, if it is missing.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} needs {module.partition('.')[0]}: pip install 'laxity[{extra}]'") from error
