"""Tables of HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _laxity

FIGURES = (
    "flows",
    "arrived",
    "sent",
    "dropped",
    "deadline_misses",
    "throughput_bps",
    "goodput_bps",
    "delay_ns.mean",
    "delay_ns.p50",
    "delay_ns.p99",
    "delay_ns.p99_9",
    "delay_ns.max",
    "transit_ns",
    "bound_ns",
    "deadline_ns",
    "slack_ns",
    "shortest_deadline_ns",
    "highest_rate_bps",
)
"""The figures of a class that tables show, if they are known."""
ROOM = "padding: 0.2em 0.7em"


def figures(words: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of classes: columns of words, each with a head and a field, and the figures that any class has."""
    found = [name for name in FIGURES if any(_value(row, name) is not None for row in rows)]
    heads = [*words, *map(_laxity.label, found)]
    cells = (
        [*(str(row[field]) for field in words.values()), *(cell(name, _value(row, name)) for name in found)]
        for row in rows
    )
    return table(heads, cells, len(words))


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], words: int) -> str:
    """A table whose first columns are words; the others are numbers, aligned right."""

    def line(tag: str, cells: Iterable[str]) -> str:
        drawn = (
            f'<{tag} style="text-align: {"left" if at < words else "right"}; {ROOM}">{html.escape(cell)}</{tag}>'
            for at, cell in enumerate(cells)
        )
        return f"<tr>{''.join(drawn)}</tr>"

    body = "".join(line("td", row) for row in rows)
    style = "font-variant-numeric: tabular-nums"
    return f'<table style="{style}"><thead>{line("th", heads)}</thead><tbody>{body}</tbody></table>'


def said(text: str) -> str:
    """A paragraph, line by line."""
    return f"<p>{'<br>'.join(map(html.escape, text.splitlines()))}</p>"


def cell(name: str, value: float | None) -> str:
    """A figure's value in the unit of its column."""
    is_count = isinstance(value, int) and not _laxity.unit(name)[0]
    return f"{value:,}".replace(",", "\u202f") if is_count else _laxity.cell(name, value)


def _value(row: Mapping[str, Any], name: str) -> float | None:
    if name == "deadline_misses" and row.get("deadline_ns") is None:
        return None
    value: Any = row
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    # What was dropped is told by the reason.
    return sum(value.values()) if isinstance(value, Mapping) else value
