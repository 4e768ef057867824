"""The figures of the report as charts of Altair (``pip install laxity[altair]``).

Colours, dashes and scales are the report's: delays and shares are logarithmic, deadlines are dashed, bounds dotted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _laxity
from .extras import needed

if TYPE_CHECKING:
    import altair

Corners = Sequence[tuple[int, float]]
"""Delays in nanoseconds, and the shares of packets that were delayed for longer."""
Row = dict[str, Any]

WIDTH, HEIGHT = 620, 300
PANEL_WIDTH, PANEL_HEIGHT = 300, 180
LONGER = "Share of packets delayed for longer"
NUMBER = ".4~g"


def curves(title: str, drawn: Iterable[tuple[str, Sequence[tuple[float, float]]]]) -> altair.Chart:
    """The curves of a proof."""
    alt = library()
    names, rows = [], []
    for name, corners in drawn:
        names.append(name)
        rows += [{"curve": name, "corner": at, "ms": ms, "kB": work} for at, (ms, work) in enumerate(corners)]
    return (
        alt.Chart(alt.Data(values=rows), title=title, width=WIDTH, height=HEIGHT)
        .mark_line(clip=True)
        .encode(
            x=alt.X("ms:Q", title="Length of the interval, ms"),
            y=alt.Y("kB:Q", title="Work, kB"),
            # Where a curve jumps, two corners are at one place: their order is that of the curve.
            order="corner:Q",
            tooltip=["curve:N", alt.Tooltip("ms:Q", format=NUMBER), alt.Tooltip("kB:Q", format=NUMBER)],
            **subjects("curve", names),
        )
    )


def delays(spread: Iterable[tuple[str, Corners]], classes: Sequence[Mapping[str, Any]]) -> altair.LayerChart:
    """The distribution of delays of a run's classes, with their deadlines and bounds."""
    alt = library()
    rows = [row for name, corners in spread for row in _corners("class", name, corners)]
    rules = [row for one in classes for row in _promises(one)]
    names = [one["name"] for one in classes]
    x, y = _scales([row["delay_ms"] for row in rows + rules], [row["share"] for row in rows])
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after", clip=True)
        .encode(x=x, y=y, order="corner:Q", tooltip=_tooltip("class"), **subjects("class", names))
    )
    deadline, bound = _laxity.promises()
    kinds = {"deadline": deadline, "bound": bound}
    kinds = {kind: dashes for kind, dashes in kinds.items() if any(row["promise"] == kind for row in rules)}
    dashes = alt.Scale(domain=list(kinds), range=list(kinds.values()))
    marks = (
        alt.Chart(alt.Data(values=rules))
        .mark_rule(strokeWidth=1.5)
        .encode(
            x=x,
            color=subjects("class", names)["color"],
            strokeDash=alt.StrokeDash("promise:N", title=None, scale=dashes),
            tooltip=["class:N", "promise:N", alt.Tooltip("delay_ms:Q", title="ms", format=NUMBER)],
        )
    )
    layers = alt.layer(lines, marks) if rules else alt.layer(lines)
    return layers.resolve_scale(strokeDash="independent").properties(
        title="How many packets wait longer", width=WIDTH, height=HEIGHT
    )


def compared(runs: Sequence[Mapping[str, Any]], spreads: Sequence[Iterable[tuple[str, Corners]]]) -> altair.ConcatChart:
    """The delays of each class under several schedulers, a panel for each class, on equal axes."""
    alt = library()
    names = distinct([run["scheduler"] for run in runs])
    rows = [
        {"class": name, **row}
        for scheduler, spread in zip(names, spreads, strict=True)
        for name, corners in spread
        for row in _corners("scheduler", scheduler, corners)
    ]
    classes = runs[0]["classes"] if runs else []
    rules = [{**row, "class": one["name"]} for one in classes for row in _promises(one) if row["promise"] == "deadline"]
    x, y = _scales([row["delay_ms"] for row in rows + rules], [row["share"] for row in rows])
    deadline, _ = _laxity.promises()

    def panel(name: str) -> Any:
        def own(all_rows: list[Row]) -> Any:
            return alt.Data(values=[row for row in all_rows if row["class"] == name])

        lines = (
            alt.Chart(own(rows))
            .mark_line(interpolate="step-after", clip=True)
            .encode(x=x, y=y, order="corner:Q", tooltip=_tooltip("scheduler"), **subjects("scheduler", names))
        )
        rule = alt.Chart(own(rules)).mark_rule(strokeDash=deadline).encode(x=x, tooltip=["promise:N", "delay_ms:Q"])
        return alt.layer(lines, rule).properties(title=name, width=PANEL_WIDTH, height=PANEL_HEIGHT)

    panels = [panel(one["name"]) for one in classes]
    title = "How many packets wait longer than a given delay (dashed: deadlines)"
    return alt.concat(*panels, columns=2, title=title).resolve_scale(color="shared", strokeDash="shared")


def subjects(field: str, names: Sequence[str], title: str | None = None) -> dict[str, Any]:
    """Colours for the values of a field, and dashes once the colours that colour-blind readers tell apart are taken."""
    alt = library()
    styles = _laxity.styles(len(names))
    legend = alt.Legend(title=title, symbolType="stroke", symbolStrokeWidth=2.5, labelLimit=280, symbolLimit=0)
    shared = {"field": field, "type": "nominal", "sort": None, "legend": legend}
    colours = alt.Scale(domain=list(names), range=[colour for colour, _ in styles])
    encoded = {"color": alt.Color(scale=colours, **shared)}
    if any(dashes for _, dashes in styles):
        scale = alt.Scale(domain=list(names), range=[dashes or [1, 0] for _, dashes in styles])
        encoded["strokeDash"] = alt.StrokeDash(scale=scale, **shared)
    return encoded


def distinct(names: Sequence[str]) -> list[str]:
    """The same names, with numbers so that all differ."""
    return [f"{name} ({names[:at].count(name) + 1})" if name in names[:at] else name for at, name in enumerate(names)]


def library() -> Any:
    """Altair.

    Raises ``ImportError``, which names the extra, if it is missing.
    """
    return needed("altair", "altair", "a chart")


def _corners(field: str, name: str, corners: Corners) -> list[Row]:
    return [
        {field: name, "corner": at, "delay_ms": delay / 1e6, "share": share}
        for at, (delay, share) in enumerate(corners)
    ]


def _promises(one: Mapping[str, Any]) -> list[Row]:
    kinds = {"deadline": one.get("deadline_ns"), "bound": one.get("bound_ns")}
    if kinds["bound"] == kinds["deadline"]:
        del kinds["bound"]
    return [
        {"class": one["name"], "promise": kind, "delay_ms": limit / 1e6}
        for kind, limit in kinds.items()
        if limit is not None
    ]


def _scales(delays: Iterable[float], shares: Iterable[float]) -> tuple[Any, Any]:
    """Logarithmic axes that cover the positive values; all other values lie at their lower end."""
    alt = library()
    times = [delay for delay in delays if delay > 0] or [1.0]
    least = min((share for share in shares if share > 0), default=0.1)
    x = alt.Scale(type="log", domain=[min(times) / 1.2, max(times) * 1.2], clamp=True, nice=False)
    y = alt.Scale(type="log", domain=[least / 1.5, 1], clamp=True, nice=False)
    return (
        alt.X("delay_ms:Q", title="Delay, ms", scale=x, axis=alt.Axis(format="~g", labelOverlap=True, tickCount=8)),
        alt.Y("share:Q", title=LONGER, scale=y, axis=alt.Axis(format="~%", labelOverlap=True, tickCount=6)),
    )


def _tooltip(field: str) -> list[Any]:
    alt = library()
    return [
        f"{field}:N",
        alt.Tooltip("delay_ms:Q", title="delay, ms", format=NUMBER),
        alt.Tooltip("share:Q", title="delayed for longer", format=".3~%"),
    ]
