"""Studies: a plan under every combination of some values, and many seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _laxity, given, own, spread, tables, toml
from .extras import needed
from .figures import Figure
from .plans import Plan, a_plan
from .progress import Going, of_runs
from .schedulers import ByRank, Scheduler, is_one
from .study_charts import Means, Numbers

if TYPE_CHECKING:
    import altair
    import polars

    from .results import Line

SCHEDULER = ("scheduler", "scheduler.kind")
"""The keys that put a plan under another scheduler."""
SHOWN = ("delay_ns.mean", "delay_ns.p99", "delay_ns.max", "deadline_misses", "dropped", "goodput_bps")
"""The figures of a study that a notebook shows, if it has them."""
MOST_ROWS = 40


class Study:
    """The results of a study, and the place of its runs."""

    def __init__(self, summary: _laxity.Summary, store: Path) -> None:
        self._summary = summary
        self.json = summary.json
        self.data: dict[str, Any] = json.loads(self.json)
        self.store = store

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return self.data["keys"]

    @property
    def lines(self) -> list[Line]:
        """A line for each combination, class and figure: ``mean``, ``half_width`` of its confidence interval of 95 %,
        ``p5``, ``p50`` and ``p95`` over ``seeds`` runs."""
        return self.data["lines"]

    @property
    def pattern(self) -> str:
        """The files of its runs, for ``polars.scan_parquet`` or DuckDB's ``read_parquet``, both with
        ``hive_partitioning``."""
        return str(self.store / "runs" / "**" / "*.parquet")

    def to_polars(self) -> polars.DataFrame:
        """The lines as a table of polars (``pip install laxity[polars]``): a column for each key, and a second one with its
        numbers if they have a unit, as in the files of the runs."""
        frame = needed("polars", "polars", "a table").DataFrame
        columns: dict[str, list[Any]] = {key: [line["point"][at] for line in self.lines] for at, key in enumerate(self.keys)}
        for key, column, _, _, values in self._summary.numbers:
            numbers = dict(values)
            columns[column] = [None if value is None else numbers[value] for value in columns[key]]
        fields = ("scheduler", "class", "at", "figure", "mean", "half_width", "p5", "p50", "p95", "seeds")
        own = {field: [line.get(field) for line in self.lines] for field in fields}
        # A key that is the scheduler says it already.
        return frame(columns | {field: values for field, values in own.items() if field not in columns})

    def figure(self, name: str = "delay_ns.p99") -> Figure | None:
        """A figure of runs over the first key whose values are numbers, as the report draws it; ``None`` if no number
        varies, or no class has it.

        Raises ``LaxityError``, with the names of all figures, if no run has this one."""
        svg = self._summary.figure(name)
        return None if svg is None else Figure(svg)

    def chart(
        self, figure: str = "delay_ns.p99", *, x: str | None = None, color: str | None = None
    ) -> altair.ConcatChart:
        """A figure of runs as a chart of Altair, a panel for each class: means over the seeds with their intervals of 95 %.

        ``x`` is by default the first key whose values are numbers. The other keys make lines; ``color`` names one of them.
        If two keys are numbers and no colour is named, the chart is a map of means over both.

        Raises ``LaxityError`` if no class has the figure, or a key does not vary.
        """
        numbers = {
            key: Numbers(unit, {value: number * factor for value, number in values})
            for key, _, unit, factor, values in self._summary.numbers
        }
        return Means(figure, self.keys, self.lines, numbers).over(x, color)

    def __repr__(self) -> str:
        runs, found = self.data["runs"]
        return f"<laxity.Study of {', '.join(self.keys)}: {found} of {runs} runs in {self.store}>"

    def _repr_html_(self) -> str:
        found = {line["figure"] for line in self.lines}
        shown = [name for name in SHOWN if name in found]
        # A key that is the scheduler says it already.
        own = [] if set(SCHEDULER) & set(self.keys) else ["scheduler"]
        places = ["class", "at"] if any("at" in line for line in self.lines) else ["class"]
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for line in self.lines:
            if line["figure"] in shown:
                words = [value or "—" for value in line["point"]] + [str(line.get(field, "")) for field in own + places]
                rows.setdefault(tuple(words), {})[line["figure"]] = _mean(line)
        heads = [*self.keys, *own, *places, *map(_laxity.label, shown)]
        drawn = [[*words, *(cells.get(name, "—") for name in shown)] for words, cells in rows.items()]
        omitted = f" Shown are {MOST_ROWS} of {len(drawn)} lines." if len(drawn) > MOST_ROWS else ""
        explained = "Means over the seeds ± half of their confidence intervals of 95 %."
        table = tables.table(heads, drawn[:MOST_ROWS], len(heads) - len(shown))
        return tables.said(repr(self)) + table + tables.said(explained + omitted)


def _mean(line: Mapping[str, Any]) -> str:
    figure, half = line["figure"], line["half_width"]
    mean = _laxity.cell(figure, line["mean"])
    return mean if half is None else f"{mean} ± {_laxity.cell(figure, half)}"


def sweep(
    plan: Plan,
    over: Mapping[str, Iterable[Any]],
    *,
    seeds: Iterable[int] = (1,),
    duration: str | None = None,
    store: str | PathLike[str] = "study",
    shard: tuple[int, int] = (1, 1),
    executor: Any = None,
    tasks: int | None = None,
    progress: Going | bool | None = None,
) -> Study:
    """Runs a plan with every combination of the values of some keys, under every seed.

    A run is a Parquet file in the folder ``store``, and existing runs are not repeated: the same call continues an
    interrupted study. ``shard=(3, 10)`` makes the third of ten parts, for a machine of its own. ``scheduler`` is a key,
    too; its values are disciplines and your own schedulers. Runs under your own scheduler are made one after another
    here, or in parallel by an executor if ``pickle`` can send the scheduler there.

    It runs on all cores of this machine, or on an ``executor`` whose processes share the folder: a client of Dask, an
    executor of submitit, ``concurrent.futures`` or anything else with ``submit``, a function that makes one, or by
    name Dask's current client (``"dask"``), the cluster that Ray is connected to (``"ray"``) or loky's processes
    (``"joblib"``). ``tasks`` is the number of tasks at a time, by default the number of workers of the executor; with
    submitit it is the number of jobs. ``progress=True`` shows a bar of runs.
    """
    plan = a_plan(plan)
    native = plan._plan
    if plan._at:
        raise _laxity.LaxityError("a study takes your own scheduler in place of the link's, not at an output: use `Plan.run`")
    over = given.table("over", over, '{"link.rate": ["10mbit", "20mbit"]}')
    grid = {key: given.several(key, values, '["10mbit", "20mbit"]') for key, values in over.items()}
    varied = [key for key in grid if key in SCHEDULER]
    ones_own = [value for key in varied for value in grid[key] if not isinstance(value, str)]
    if plan._scheduler is not None and not varied:
        ones_own.append(plan._scheduler)
    for scheduler in ones_own:
        is_one(scheduler)
    grid |= {key: [value if isinstance(value, str) else value.name for value in grid[key]] for key in varied}
    part = given.several("shard", shard, "(1, 10)")
    if len(part) != 2:
        raise TypeError(f"`shard` is a number and of how many, such as (1, 10), not {shard!r}")
    shard = (given.whole("shard", part[0]), given.whole("shard", part[1]))
    tasks = None if tasks is None else given.whole("tasks", tasks)
    question = spread.Question(
        text=native.text,
        name=native.name,
        folder=str(Path(native.folder).absolute()),
        under=native.put_under if plan._scheduler is None else plan._scheduler.name,
        grid=tuple((key, tuple(toml.value(value) for value in values)) for key, values in grid.items()),
        seeds=tuple(given.seeds(seeds)),
        duration=given.time("duration", duration),
        own=tuple(map(own.known, ones_own)),
    )
    study = spread.read(question)
    folder = given.path("store", store)
    with of_runs(progress) as heard:
        if executor is None:
            study.sweep(folder, shard, heard)
            if ones_own:
                _make_own(study, folder, shard, {one.name: one for one in ones_own}, heard)
        else:
            spread.run(study, question, str(folder.absolute()), shard, executor, tasks, heard or (lambda *_: None))
    return Study(study.summary(folder), folder)


def _make_own(
    study: _laxity.Study,
    store: Path,
    shard: tuple[int, int],
    schedulers: Mapping[str, Scheduler | ByRank],
    heard: Going | None,
) -> None:
    runs, missing = study.runs(shard), study.missing(store, shard)
    for at, name in enumerate(missing):
        own.make(study, str(store), [name], schedulers.__getitem__)
        if heard:
            heard(runs, runs - len(missing) + at + 1)
