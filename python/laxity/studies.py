"""Studies: a plan under every combination of some values, and many seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from . import _laxity, spread, toml
from .plans import Plan

Going = Callable[[int, int], object]
"""Hears how many runs there are and how many of them are done; what it raises stops the study."""


class Study:
    """What a study came to, and where its runs are."""

    def __init__(self, answer: str, store: Path) -> None:
        self.json = answer
        self.data: dict[str, Any] = json.loads(answer)
        self.store = store

    @property
    def keys(self) -> list[str]:
        """The keys that vary."""
        return self.data["keys"]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A line for each combination, class and figure: ``mean``, ``half_width`` of its confidence interval of 95 %,
        ``p5``, ``p50`` and ``p95`` over ``seeds`` runs."""
        return self.data["lines"]

    @property
    def pattern(self) -> str:
        """The files of its runs, for ``polars.scan_parquet`` or DuckDB's ``read_parquet``, both with
        ``hive_partitioning``."""
        return str(self.store / "runs" / "**" / "*.parquet")

    def __repr__(self) -> str:
        runs, found = self.data["runs"]
        return f"<laxity.Study of {', '.join(self.keys)}: {found} of {runs} runs in {self.store}>"


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
    progress: Going | None = None,
) -> Study:
    """Runs a plan with each value of some keys with each of the others, under every seed.

    A run is a Parquet file in the folder ``store``, and one that is there is not run again: the same call goes on
    after whatever stopped it. ``shard=(3, 10)`` makes the third of ten parts, for a machine of its own.
    ``scheduler`` is a key, too, whose values are disciplines.

    It runs on all cores of this machine, or on an ``executor`` whose processes share the folder: a client of Dask, an
    executor of submitit, ``concurrent.futures`` or whatever else has ``submit``, a function that makes one, or by
    name Dask's current client (``"dask"``), the cluster that Ray is connected to (``"ray"``) or loky's processes
    (``"joblib"``). ``tasks`` is how many run at a time, without it as many as the executor has workers; submitit
    makes as many jobs.
    """
    native = plan._plan
    question = spread.Question(
        text=native.text,
        name=native.name,
        folder=str(Path(native.folder).absolute()),
        under=native.put_under,
        grid=tuple((key, tuple(toml.value(value) for value in values)) for key, values in over.items()),
        seeds=tuple(seeds),
        duration=duration,
    )
    study = _laxity.Study(*question)
    folder = Path(store)
    if executor is None:
        study.sweep(folder, shard, progress)
    else:
        spread.run(study, question, str(folder.absolute()), shard, executor, tasks, progress or (lambda *_: None))
    return Study(study.summary(folder), folder)
