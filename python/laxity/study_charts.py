"""Charts of Altair for the results of a study (``pip install laxity[altair]``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _laxity
from .charts import NUMBER, PANEL_HEIGHT, PANEL_WIDTH, Row, library, subjects

if TYPE_CHECKING:
    import altair


class Numbers(NamedTuple):
    """A key with only numbers as values."""

    unit: str
    of: Mapping[str, float]


class Means:
    """A figure of a study over its keys."""

    def __init__(
        self,
        figure: str,
        keys: Sequence[str],
        lines: Iterable[Mapping[str, Any]],
        numbers: Mapping[str, Numbers],
    ) -> None:
        self.keys = list(keys)
        self.numbers = numbers
        self.title = f"{_laxity.plain(figure)}{_after(_laxity.unit(figure)[0])}"
        factor = _laxity.unit(figure)[1]
        self.rows = [self._row(line, factor) for line in lines if line["figure"] == figure]
        if not self.rows:
            raise _laxity.LaxityError(f"no run of the study has the figure `{figure}`")

    def over(self, x: str | None, color: str | None) -> altair.ConcatChart:
        """A panel for each class: means with their intervals over one key, or a map over two."""
        for key in (x, color):
            if key is not None and key not in self.keys:
                raise _laxity.LaxityError(f"`{key}` does not vary; accepted: {', '.join(self.keys)}")
        first = x or next(iter(self.numbers), self.keys[0])
        second = next((key for key in self.numbers if key != first), None)
        if color is None and first in self.numbers and second is not None:
            return self._panels(lambda rows: self._map(rows, first, second), [first, second], "independent")
        others = [key for key in self.keys if key not in (first, color)]
        if color is None:
            return self._panels(lambda rows: self._lines(rows, first, "series", self._named(others)), [first, *others])
        names = sorted({row[color] for row in self.rows}, key=lambda value: self._place(color, value))
        return self._panels(lambda rows: self._lines(rows, first, color, names), [first, color])

    def _row(self, line: Mapping[str, Any], factor: float) -> Row:
        point = dict(zip(self.keys, line["point"], strict=True))
        half = line["half_width"]
        mean = line["mean"] * factor
        subject = line["class"] + (f" at {line['at']}" if line.get("at") else "")
        row = {"class": subject, "of": line["scheduler"], **point, "mean": mean, "seeds": line["seeds"]}
        if half is not None:
            row |= {"low": mean - half * factor, "high": mean + half * factor}
        return row | {f"{key} #": numbers.of.get(point[key]) for key, numbers in self.numbers.items()}

    def _named(self, others: Sequence[str]) -> list[str]:
        """Names lines by the other keys that vary, or by the scheduler if there are none."""
        for row in self.rows:
            row["series"] = ", ".join(str(row[key]) for key in others) or row["of"]
        return list(dict.fromkeys(row["series"] for row in self.rows))

    def _place(self, key: str, value: str) -> float:
        values = list(dict.fromkeys(row[key] for row in self.rows))
        return self.numbers[key].of[value] if key in self.numbers else values.index(value)

    def _panels(self, draw: Any, drawn: Sequence[str], color: str = "shared") -> altair.ConcatChart:
        """A panel for each class and each combination of the keys that are not drawn."""
        alt = library()
        rest = [key for key in self.keys if key not in drawn]

        def name(row: Row) -> str:
            return ", ".join([row["class"], *(str(row[key]) for key in rest)])

        panels = []
        for title in dict.fromkeys(map(name, self.rows)):
            rows = [row for row in self.rows if name(row) == title]
            panels.append(draw(rows).properties(title=title, width=PANEL_WIDTH, height=PANEL_HEIGHT))
        together: altair.ConcatChart = alt.concat(*panels, columns=2, title=self.title)
        return together.resolve_scale(color=color, strokeDash=color)

    def _lines(self, rows: list[Row], x: str, color: str, names: Sequence[str]) -> Any:
        alt = library()
        across = self._axis(x)
        up = alt.Y("mean:Q", title=self.title, scale=alt.Scale(zero=True))
        base = alt.Chart(alt.Data(values=rows)).encode(x=across)
        coloured = subjects(_escaped(color), names, None if color == "series" else color)
        tooltip = [_field(color), _field(x), *_means()]
        # Between values that are no numbers there is nothing: they are points, side by side.
        if x in self.numbers:
            means = base.mark_line(point=True)
        else:
            aside = alt.Scale(domain=list(names))
            base = base.encode(xOffset=alt.XOffset(field=_escaped(color), type="nominal", scale=aside))
            means = base.mark_point(filled=True, opacity=1, size=50)
            coloured.pop("strokeDash", None)
        line = means.encode(y=up, tooltip=tooltip, **coloured)
        bars = base.mark_rule().encode(y=alt.Y("low:Q", title=self.title), y2="high:Q", color=coloured["color"])
        return alt.layer(bars.transform_filter("isValid(datum.low)"), line)

    def _map(self, rows: list[Row], x: str, y: str) -> Any:
        alt = library()

        def axis(channel: Any, key: str, is_upwards: bool) -> Any:
            values = sorted({row[key] for row in rows}, key=lambda value: self._place(key, value), reverse=is_upwards)
            scale, along = alt.Scale(domain=values), alt.Axis(labelAngle=0)
            return channel(field=_escaped(key), type="ordinal", sort=None, title=key, scale=scale, axis=along)

        return (
            alt.Chart(alt.Data(values=rows))
            .mark_rect()
            .encode(
                x=axis(alt.X, x, False),
                y=axis(alt.Y, y, True),
                color=alt.Color("mean:Q", title=None, scale=alt.Scale(scheme="viridis")),
                tooltip=[_field(x), _field(y), *_means()],
            )
        )

    def _axis(self, key: str) -> Any:
        alt = library()
        if key not in self.numbers:
            return alt.X(field=_escaped(key), type="nominal", sort=None, title=key, axis=alt.Axis(labelAngle=0))
        title = f"{key}{_after(self.numbers[key].unit)}"
        scale = alt.Scale(zero=False)
        return alt.X(field=_escaped(f"{key} #"), type="quantitative", title=title, scale=scale)


def _means() -> list[Any]:
    alt = library()
    names = {"mean": NUMBER, "low": NUMBER, "high": NUMBER, "seeds": "d"}
    return [alt.Tooltip(f"{name}:Q", format=form) for name, form in names.items()]


def _field(name: str) -> Any:
    return library().Tooltip(field=_escaped(name), type="nominal", title=name)


def _escaped(field: str) -> str:
    """A field's name, with dots escaped so that they are no paths."""
    return field.replace("\\", "\\\\").replace(".", "\\.").replace("[", "\\[").replace("]", "\\]")


def _after(unit: str) -> str:
    return f", {unit}" if unit else ""
