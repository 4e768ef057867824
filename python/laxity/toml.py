"""Values as TOML writes them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import given


def document(tables: Mapping[str, Any]) -> str:
    """A file with a line for each key."""
    return "".join(f"{_key(key)} = {value(item)}\n" for key, item in tables.items() if item is not None)


def value(item: Any) -> str:
    """A value in one line. Keys whose value is ``None`` are left out of tables."""
    item = given.plain(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            raise ValueError(f"a plan has no use for {item}")
        return repr(item)
    if isinstance(item, str):
        return _string(item)
    if isinstance(item, Mapping):
        pairs = (f"{_key(key)} = {value(inner)}" for key, inner in item.items() if inner is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(item, Sequence):
        return "[" + ", ".join(map(value, item)) + "]"
    raise TypeError(f"a plan has no values of {type(item).__name__}: {item!r}")


def _key(key: Any) -> str:
    key = given.word("key", key, "link")
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else _string(key)


def _string(text: str) -> str:
    # JSON's escapes are TOML's, but for the delete character, which JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
