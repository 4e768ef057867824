"""Answers: proofs, runs and comparisons."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _laxity, charts, tables
from .figures import Figure

if TYPE_CHECKING:
    import altair
    from typing_extensions import Unpack

    from .plans import Plan
    from .results import (
        Asked,
        ChangedDelays,
        ClassDelays,
        DelayedPacket,
        ExplainedBound,
        Interval,
        MeasuredClass,
        Mend,
        ProvedClass,
        ProvedTin,
        Reason,
        Traffic,
    )

    Again = tuple[Plan, Traffic]


class Answer:
    """What the command prints: ``data`` as with ``--json``, ``text`` without."""

    def __init__(self, answer: str, text: str) -> None:
        self.json = answer
        self.data: Any = json.loads(answer)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    @property
    def _words(self) -> str:
        """The sentences below the tables of the text, for a notebook."""
        return tables.said(self.text.rstrip().split("\n\n")[-1])


class Proof(Answer):
    """What is proved of a plan."""

    def __init__(self, answer: str, text: str, plan: _laxity.Plan | None) -> None:
        super().__init__(answer, text)
        self._plan = plan

    def __getstate__(self) -> dict[str, Any]:
        # The curves are all that is asked of the plan, which may be as Linux carries it out, without a text.
        return {**self.__dict__, "_curves": self._curves, "_plan": None}

    @cached_property
    def _curves(self) -> list[tuple[str, str, str, list[tuple[str, list[tuple[float, float]]]]]]:
        return [] if self._plan is None else self._plan.curves()

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the compared curves, as the report draws them: ``curves`` under EDF and H-FSC, and under EDF
        ``demand``, with the binding interval marked."""
        return {name: Figure(svg) for name, svg, *_ in self._curves}

    @property
    def figure(self) -> Figure | None:
        """The figure ``curves``; ``None`` if the test has none."""
        return self.figures.get("curves")

    def chart(self) -> altair.Chart:
        """The same curves as a chart of Altair.

        Raises ``LaxityError`` if the test has none.
        """
        for name, _, title, drawn in self._curves:
            if name == "curves":
                return charts.curves(title, drawn)
        raise _laxity.LaxityError("no curves were compared: those of EDF and H-FSC on one link are drawn")

    @property
    def admitted(self) -> bool | None:
        """Whether every promise holds; ``None`` if that is not known."""
        return self.data["admitted"]

    @property
    def statement(self) -> str | None:
        """The reason, in a sentence."""
        return self.data.get("statement")

    @property
    def reasons(self) -> list[Reason]:
        """The parts of the statement: each reason has a code and its numbers."""
        return self.data.get("reasons", [])

    @property
    def binding(self) -> Interval | None:
        """The constraint that binds, or that is broken."""
        return self.data.get("binding")

    @property
    def classes(self) -> list[ProvedClass]:
        """For each class its deadline and bound, in nanoseconds, and what it could change to pass."""
        return self.data.get("classes", [])

    @property
    def tins(self) -> list[ProvedTin]:
        """What the tins of CAKE are sure of, the first to send first; empty under other disciplines."""
        return self.data.get("tins", [])

    @property
    def mends(self) -> dict[str, Mend]:
        """By class, the shortest deadline and the highest rate with which the plan passes, where they were sought."""
        sought = (one for one in self.classes if one.get("suggestions_sought"))
        return {
            one["name"]: {
                "shortest_deadline_ns": one.get("shortest_deadline_ns"),
                "highest_rate_bps": one.get("highest_rate_bps"),
            }
            for one in sought
        }

    def _repr_html_(self) -> str:
        # In networks a class may take several paths.
        rows = [
            {"class": one.get("name") or one["class"], "path": " → ".join(one.get("nodes", [])), **one}
            for one in self.data.get("paths") or self.data.get("classes", [])
        ]
        words = {"class": "class", "path": "path"} if any(row["path"] for row in rows) else {"class": "class"}
        return tables.figures(words, rows) + self._words


class PacketDelays(Answer):
    """Why packets were delayed: the delay of each as a sum of causes."""

    @property
    def matched(self) -> int:
        """The number of packets that were asked for."""
        return self.data["matched"]

    @property
    def packets(self) -> list[DelayedPacket]:
        """The slowest of them, the slowest one first, with the causes of their delays."""
        return self.data["packets"]

    @property
    def classes(self) -> list[ClassDelays]:
        """The sums over all of them, by class."""
        return self.data["classes"]

    @property
    def changes(self) -> list[ChangedDelays]:
        """What became of the same packets in each of the other runs."""
        return self.data.get("changes", [])


class BoundTerms(Answer):
    """What bounds are made of: each as a sum of terms."""

    @property
    def bounds(self) -> list[ExplainedBound]:
        """Each bound: of a class on one link, or along one of its paths in a network."""
        return self.data


class Run(Answer):
    """The results of a simulation."""

    def __init__(self, ran: _laxity.RunResult, again: Again | None = None) -> None:
        super().__init__(ran["json"], ran["text"])
        self._ran = ran
        self._again = again

    def why(self, **asked: Unpack[Asked]) -> PacketDelays:
        """Why packets of this run were delayed: as ``Plan.why`` with the run's traffic, which is simulated again."""
        if self._again is None:
            raise _laxity.LaxityError("the run does not know its plan: ask `plan.why`")
        plan, traffic = self._again
        return plan.why(**asked, **traffic)

    @cached_property
    def causes(self) -> _laxity.Table:
        """Every cause of the delay of every packet that was sent, as a table of Arrow with a row for each:
        ``polars.DataFrame(run.causes).group_by("class", "cause", "of").agg(polars.sum("time_ns"))``.

        The times of a packet add up to its delay. The run is simulated again, once.
        """
        if self._again is None:
            raise _laxity.LaxityError("the run does not know its plan: ask a run of one of Laxity's disciplines")
        plan, traffic = self._again
        return plan._causes(**traffic)

    def __getstate__(self) -> dict[str, Any]:
        # Another process simulates the run again if it asks.
        return {name: value for name, value in self.__dict__.items() if name != "causes"}

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return self._ran["kept"]

    @property
    def classes(self) -> list[MeasuredClass]:
        """The measurements of each class, as in ``summary.json``."""
        return self.data["classes"]

    @property
    def packets(self) -> _laxity.Table:
        """Every packet, as a table of Arrow, which polars, pandas, pyarrow and DuckDB accept without a copy:
        ``polars.DataFrame(run.packets)``.

        Raises ``LaxityError`` if the run did not keep them.
        """
        packets = self._ran["packets"]
        if packets is None:
            raise _laxity.LaxityError("the run kept no packets: ask for them, with `plan.run(packets=True)`")
        return packets

    @property
    def page(self) -> str:
        """The report, a page of HTML with tables and figures."""
        return self._ran["html"]

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the report, by their names, such as ``delays`` and ``delays-over-time``."""
        return {name: Figure(svg) for name, svg in self._ran["figures"]}

    def chart(self) -> altair.LayerChart:
        """The figure of delays as a chart of Altair: for each class the share of packets that were delayed for longer
        than a given time, with its deadline and bound."""
        return charts.delays(self._ran["delays"], self.classes)

    def _repr_html_(self) -> str:
        return tables.figures({"class": "name"}, self.classes) + self._words + self.figures["delays"]


class Comparison(Answer):
    """The same packets through several disciplines."""

    def __init__(self, compared: _laxity.Comparison) -> None:
        super().__init__(compared["json"], compared["text"])
        self._compared = compared
        self.figure = Figure(compared["figure"])
        """The delays of all in one figure, as SVG; in networks those from end to end."""
        self.kept = compared["kept"]
        """Whether every promise was kept."""

    def chart(self) -> altair.ConcatChart:
        """The same figure as a chart of Altair."""
        return charts.compared(self.data, self._compared["delays"])

    def _repr_html_(self) -> str:
        runs = [{"scheduler": run["scheduler"], **one} for run in self.data for one in run["classes"]]
        places = {one["name"]: at for run in self.data for at, one in enumerate(run["classes"])}
        rows = sorted(runs, key=lambda one: places[one["name"]])
        table = tables.figures({"class": "name", "scheduler": "scheduler"}, rows)
        return table + self._words + self.figure
