"""Plans, proofs and runs."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from . import _laxity, toml
from .schedulers import ByRank, Scheduler, native

Progress = Callable[[int], object]
"""Hears how far simulated time is, in nanoseconds; what it raises stops the run."""


class Plan:
    """A plan: a link, or a network, its classes, its scheduler and its sources. Whatever changes it makes another.

    The keywords are the tables of a plan file (https://github.com/laxity/laxity, docs/plan.md); ``classes`` are its
    ``[class]`` tables by name, and ``sources`` its ``[[source]]`` tables.
    """

    def __init__(
        self,
        *,
        classes: Mapping[str, Mapping[str, Any]],
        sources: Iterable[Mapping[str, Any]] = (),
        folder: str | PathLike[str] = ".",
        **tables: Any,
    ) -> None:
        sources = [dict(source) for source in sources]
        document = {"version": 1, **tables, "class": dict(classes)}
        if sources:
            document["source"] = sources
        self._plan = _laxity.Plan.parse(toml.document(document), "plan", Path(folder))
        self._scheduler: Scheduler | ByRank | None = None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Plan:
        """The plan of a file.

        Raises ``PlanError``, with ``file``, ``line``, ``column`` and ``help``, if it is none.
        """
        path = Path(path)
        return cls.parse(path.read_text(encoding="utf-8"), name=str(path), folder=path.parent)

    @classmethod
    def parse(cls, text: str, name: str = "plan", folder: str | PathLike[str] = ".") -> Plan:
        """The plan of a text, called ``name`` in errors, whose recordings are looked for from ``folder``."""
        return cls._of(_laxity.Plan.parse(text, name, Path(folder)))

    @classmethod
    def _of(cls, plan: _laxity.Plan, scheduler: Scheduler | ByRank | None = None) -> Plan:
        made = cls.__new__(cls)
        made._plan = plan
        made._scheduler = scheduler
        return made

    @property
    def text(self) -> str:
        """The plan as a file."""
        return self._plan.text

    @property
    def title(self) -> str | None:
        """Its title."""
        return self._plan.title

    @property
    def scheduler(self) -> str:
        """Its discipline, such as ``edf/exact``, or the name of the scheduler that it is under."""
        return self._scheduler.name if self._scheduler else self._plan.scheduler

    @property
    def classes(self) -> list[str]:
        """The names of its classes."""
        return self._plan.classes

    @property
    def rate(self) -> int:
        """The link's rate in bits a second."""
        return self._plan.rate

    @property
    def deadlines(self) -> dict[str, int]:
        """The deadlines of the classes that have one, in nanoseconds."""
        return {name: deadline for name, deadline, _ in self._plan.shares if deadline is not None}

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the classes that have packets."""
        return {name: weight for name, _, weight in self._plan.shares}

    def edit(self, values: Mapping[str, Any]) -> Plan:
        """The plan with other values at some keys, such as ``{"class.video.deadline": "20ms"}``."""
        edits = [(key, toml.value(value)) for key, value in values.items()]
        return Plan._of(self._plan.edited(edits), self._scheduler)

    def under(self, scheduler: str | Scheduler | ByRank) -> Plan:
        """The plan under another discipline, such as ``hfsc`` or ``edf/background``, or a scheduler of one's own."""
        if isinstance(scheduler, str):
            return Plan._of(self._plan.under(scheduler))
        deadlines = scheduler.deadlines if isinstance(scheduler, ByRank) else None
        if deadlines is None:
            # First come, first served proves nothing.
            return Plan._of(self._plan.under("fifo"), scheduler)
        edits = {f"class.{name}.deadline": deadline for name, deadline in deadlines.items()}
        return Plan._of(self.edit(edits)._plan.under("edf/background"), scheduler)

    def check(self) -> Proof:
        """What can be proved of it; of schedulers of one's own, only of a rank that is a ``Deadline``."""
        if self._scheduler and not (isinstance(self._scheduler, ByRank) and self._scheduler.deadlines is not None):
            raise _laxity.LaxityError(
                f"nothing is proved of {self.scheduler}: only a rank that is a laxity.Deadline has an admission test"
            )
        return Proof(*self._plan.check())

    def run(
        self,
        *,
        duration: str | None = None,
        seed: int | None = None,
        packets: bool = False,
        progress: Progress | None = None,
    ) -> Run:
        """Simulates it, for a time such as ``"10s"``, with every packet in ``Run.packets`` if these are wanted.

        Other threads of Python go on meanwhile, and Ctrl-C stops it.
        """
        return Run(self._plan.run(self._reset(), duration, seed, packets, progress))

    def _reset(self) -> Any:
        """The scheduler of one's own, if it is under one, for another run."""
        if self._scheduler:
            self._scheduler.reset(self)
        return native(self._scheduler)

    def __repr__(self) -> str:
        return f"<laxity.Plan {self.title or 'without a title'}, {self.scheduler}, {len(self.classes)} classes>"


class Answer:
    """What the command prints: ``data`` as with ``--json``, ``text`` without."""

    def __init__(self, answer: str, text: str) -> None:
        self.json = answer
        self.data: Any = json.loads(answer)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Proof(Answer):
    """What is proved of a plan."""

    @property
    def admitted(self) -> bool | None:
        """Whether everything that is promised holds; ``None`` if nobody knows."""
        return self.data["admitted"]

    @property
    def statement(self) -> str | None:
        """Why, in a sentence."""
        return self.data.get("statement")

    @property
    def binding(self) -> dict[str, Any] | None:
        """The constraint that binds, or is broken."""
        return self.data.get("binding")

    @property
    def classes(self) -> list[dict[str, Any]]:
        """For each class its deadline and bound, in nanoseconds, and what it could change to pass."""
        return self.data.get("classes", [])

    @property
    def mends(self) -> dict[str, dict[str, Any]]:
        """By class, the shortest deadline and the highest rate that the rest leaves it, where they were sought."""
        keys = ("shortest_deadline_ns", "highest_rate_bps")
        sought = (one for one in self.classes if one.get("mends_sought"))
        return {one["name"]: {key: one.get(key) for key in keys} for one in sought}


class Run(Answer):
    """What came of a simulation."""

    def __init__(self, ran: _laxity.Ran) -> None:
        super().__init__(ran.json, ran.text)
        self._ran = ran

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return self._ran.kept

    @property
    def classes(self) -> list[dict[str, Any]]:
        """What each class got, as in ``summary.json``."""
        return self.data["classes"]

    @property
    def packets(self) -> Any:
        """Every packet, as a table of Arrow, which polars, pandas, pyarrow and DuckDB take without a copy:
        ``polars.DataFrame(run.packets)``. ``None`` if they were not asked for."""
        return self._ran.packets

    @property
    def page(self) -> str:
        """The report, a page of HTML with tables and figures."""
        return self._ran.html

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Comparison(Answer):
    """The same packets through several disciplines."""

    def __init__(self, answer: str, text: str, figure: str | None, kept: bool) -> None:
        super().__init__(answer, text)
        self.figure = figure
        """The delays of all in one figure, as SVG; of one link only."""
        self.kept = kept
        """Whether every promise was kept."""

    def _repr_html_(self) -> str:
        return super()._repr_html_() + (self.figure or "")


def compare(
    plan: Plan,
    schedulers: Iterable[str | Scheduler | ByRank],
    *,
    duration: str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """The same packets through several disciplines and schedulers of one's own, side by side."""
    plans = [plan.under(scheduler) for scheduler in schedulers]
    contenders = [(one._plan, one._reset()) for one in plans]
    return Comparison(*_laxity.compare(plan._plan, contenders, duration, seed, progress))
