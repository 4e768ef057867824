"""Plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from reprlib import repr as short
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import _laxity, given, toml
from .answers import BoundTerms, Comparison, PacketDelays, Proof, Run
from .planning import Fitted, Limits, WorstCases
from .progress import Going, Progress, of_runs, simulated
from .schedulers import ByRank, Scheduler, is_one, native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._tables import Class, Source, Tables


class Plan:
    """A plan: a link, or a network, its classes, its scheduler and its sources. Methods that change it return another plan.

    The keywords are the tables of a plan file (https://github.com/laxity/laxity, docs/plan.md); ``classes`` are its
    ``[class]`` tables by name, and ``sources`` its ``[[source]]`` tables.
    """

    def __init__(
        self,
        *,
        classes: Mapping[str, Class],
        sources: Iterable[Source] = (),
        folder: str | PathLike[str] = ".",
        **tables: Unpack[Tables],
    ) -> None:
        document: dict[str, Any] = {"version": 1, **tables}
        document["class"] = given.table("classes", classes, '{"web": {"weight": 3}}')
        document["source"] = given.tables("sources", sources, '{"class": "web", "model": "poisson"}') or None
        self._plan = _laxity.Plan(toml.document(document), "plan", given.path("folder", folder))
        self._scheduler: Scheduler | ByRank | None = None
        self._at: dict[str, Scheduler | ByRank] = {}

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Plan:
        """The plan of a file.

        Raises ``PlanError``, with ``file``, ``line``, ``column`` and ``help``, if it is not valid; ``FileError`` if it
        cannot be read.
        """
        return cls._of(_laxity.Plan.read(given.path("path", path)))

    @classmethod
    def parse(cls, text: str, name: str = "plan", folder: str | PathLike[str] = ".") -> Plan:
        """The plan of a text, called ``name`` in errors. Paths of its recordings count from ``folder``."""
        return cls._of(_laxity.Plan(given.word("text", text, "version = 1"), given.word("name", name, "plan"), given.path("folder", folder)))

    @classmethod
    def _of(
        cls,
        plan: _laxity.Plan,
        scheduler: Scheduler | ByRank | None = None,
        at: Mapping[str, Scheduler | ByRank] | None = None,
    ) -> Plan:
        made = cls.__new__(cls)
        made._plan = plan
        made._scheduler = scheduler
        made._at = dict(at or {})
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
        """Its discipline, such as ``edf/exact``, or the name of your scheduler."""
        name = self._scheduler.name if self._scheduler else self._plan.scheduler
        return ", ".join([name, *(f"{one.name} at {at}" for at, one in self._at.items())])

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
        values = given.table("values", values, '{"link.rate": "20mbit"}')
        edits = [(given.word("key", key, "link.rate"), toml.value(value)) for key, value in values.items()]
        return Plan._of(self._plan.edited(edits), self._scheduler, self._at)

    def under(self, scheduler: str | Scheduler | ByRank, *, at: str | None = None) -> Plan:
        """The plan under another discipline, such as ``hfsc`` or ``edf/background``, or under your own scheduler.

        In a network your own scheduler is at one output, ``at="a → b"``; each output takes an object of its own. Nothing
        is proved of what waits there.
        """
        output = None if at is None else given.word("at", at, "a → b")
        if isinstance(scheduler, str):
            if output is not None:
                raise TypeError("`at` takes your own scheduler; the discipline of a link is its key `scheduler`")
            return Plan._of(self._plan.under(scheduler), None, self._at)
        is_one(scheduler)
        if output is not None:
            self._plan.custom_at(output)
            return Plan._of(self._plan, self._scheduler, {**self._at, output: scheduler})
        under, edits = scheduler.stands_for()
        return Plan._of(self.edit(edits)._plan.under(under), scheduler, self._at)

    def check(self) -> Proof:
        """Proves the plan. With your own scheduler, only a rank that is a ``Deadline`` has a proof."""
        return Proof(*self._proved().check(), self._plan)

    def explain(
        self, *classes: str, duration: str | None = None, progress: Progress | bool | None = None
    ) -> BoundTerms:
        """What the bounds of ``classes`` are made of, or of all without any: terms that add up to each bound, exact to
        the nanosecond. Where the plan has sources it is simulated, to say how much of each term the slowest packet
        used: the answer of ``laxity check --explain``.
        """
        names = [given.word("classes", name, "audio") for name in classes] or ["all"]
        duration = given.time("duration", duration)
        with simulated(progress, self._plan.lasts(duration, None)) as heard:
            return BoundTerms(*_laxity.explain(self._proved(), names, duration, heard))

    def why(
        self,
        *,
        class_: str | None = None,
        slowest: int = 3,
        slower_than: str | None = None,
        missed: bool = False,
        packet: int | None = None,
        without: Iterable[str] = (),
        with_: Mapping[str, str] = MappingProxyType({}),
        under: Iterable[str] = (),
        duration: str | None = None,
        seed: int | None = None,
        arrivals: str | PathLike[str] | None = None,
        progress: Progress | bool | None = None,
    ) -> PacketDelays:
        """Why packets are delayed, as ``laxity why`` says it: each delay as a sum of causes, exact to the nanosecond.

        The packets are those of ``class_`` that were delayed for longer than ``slower_than``, ``missed`` their
        deadline, or have the number ``packet`` in the order of arrival; the ``slowest`` of them are listed.

        The same arrivals are simulated again ``without`` each of these classes, ``with_`` each of these values at keys
        of the plan, such as ``{"link.rate": "12mbit"}``, and ``under`` each of these disciplines.
        """
        asked: _laxity.Packets = {
            "class_": None if class_ is None else given.word("class_", class_, "audio"),
            "packet": None if packet is None else given.whole("packet", packet),
            "slower_than": given.time("slower_than", slower_than),
            "missed": bool(missed),
            "slowest": given.whole("slowest", slowest, 0, 100_000),
        }
        values = given.table("with_", with_, '{"link.rate": "12mbit"}')
        changes: _laxity.Changes = {
            "without": [given.word("without", one, "upload") for one in given.several("without", without, '["upload"]')],
            "with_": [(given.word("with_", key, "link.rate"), toml.value(value)) for key, value in values.items()],
            "under": [given.word("under", one, "hfsc") for one in given.several("under", under, '["hfsc"]')],
        }
        duration = given.time("duration", duration)
        seed = None if seed is None else given.whole("seed", seed)
        file = None if arrivals is None else given.path("arrivals", arrivals)
        plan = self._searched()
        with simulated(progress, self._plan.lasts(duration, file)) as heard:
            return PacketDelays(*_laxity.why(plan, asked, changes, duration, seed, file, heard))

    def _causes(
        self, *, duration: str | None, seed: int | None, arrivals: PathLike[str] | None
    ) -> _laxity.Table:
        """Every cause of the delay of every packet of a run with this traffic."""
        plan = self._searched()
        with simulated(None, self._plan.lasts(duration, arrivals)) as heard:
            return _laxity.causes(plan, duration, seed, arrivals, heard)

    def limits(self, *, progress: Going | bool | None = None) -> Limits:
        """The slowest rate of each link of a network, the longest burst and the shortest deadline of each class, and the
        largest growth of all traffic, with which every promise holds: the answer of ``laxity check --limits``.

        ``progress`` receives the number of links and classes, and how many of them are done.
        """
        with of_runs(progress) as heard:
            return Limits(*_laxity.limits(self._proved(), heard))

    def worst_case(
        self, *, packets: int = 1_000_000, seed: int = 1, progress: Going | bool | None = None
    ) -> WorstCases:
        """The longest delay of each class, along each of its paths, that a search finds with this number of ``packets``
        that keep to the contracts: the answer of ``laxity check --worst-case``.

        ``progress`` receives the number of classes and paths, and how many of them are done. An exception in it stops
        the search.
        """
        packets, seed = given.whole("packets", packets, 1000), given.whole("seed", seed)
        with of_runs(progress) as heard:
            return WorstCases(*_laxity.worst_case(self._searched() if self._at else self._proved(), packets, seed, heard))

    def fit(
        self, recording: str | PathLike[str] | None = None, *, sort: bool = False, headroom: int = 10
    ) -> Fitted:
        """The arrival curves of a recording: a capture, a CSV of arrivals, or by default the recording that is the plan's
        only source. ``sort`` puts its packets in order. The first rate lies ``headroom`` percent above the mean.
        """
        headroom = given.whole("headroom", headroom, most=10_000)
        file = None if recording is None else given.path("recording", recording)
        answer, text, notes, plan = _laxity.fit(self._plan, file, bool(sort), headroom)
        return Fitted(answer, text, notes, Plan._of(plan, self._scheduler, self._at))

    def check_for_linux(self, *, timer: str | None = None, offload: bool = True) -> Proof:
        """Proves the plan as the disciplines of Linux carry it out. Their timers are late by up to ``timer`` (by default
        ``"1ms"``), and they get frames of several segments, unless ``offload`` is off.

        Raises ``LaxityError`` if Linux has no counterpart.
        """
        return Proof(*self._builtin().check_for_linux(given.time("timer", timer), offload=bool(offload)))

    def export_tc(
        self,
        device: str,
        *,
        format: str = "script",
        timer: str | None = None,
        offload: bool = True,
        filters: str = "flower",
    ) -> str:
        """The set-up of Linux for it on an interface: a ``script`` of tc, a ``batch``, ``json`` or a file of ``networkd``.

        ``filters`` are ``flower`` or ``u32``; ``timer`` and ``offload`` are those of ``check_for_linux``, whose bounds
        are in the comments. Raises ``LaxityError`` if Linux, or the format, has no counterpart.
        """
        return self._builtin().export_tc(
            given.word("device", device, "eth0"),
            format=given.word("format", format, "script"),
            timer=given.time("timer", timer),
            offload=bool(offload),
            filters=given.word("filters", filters, "flower"),
        )

    def run(
        self,
        *,
        duration: str | None = None,
        seed: int | None = None,
        arrivals: str | PathLike[str] | None = None,
        packets: bool = False,
        threads: int | None = None,
        trace: str | PathLike[str] | None = None,
        progress: Progress | bool | None = None,
    ) -> Run:
        """Simulates it, for a time such as ``"10s"``. With ``packets``, every packet is in ``Run.packets``.

        ``arrivals`` is a recording, a capture or a CSV, in place of the plan's sources. Several ``threads`` share a
        network, with the same result. ``trace`` is a file to write for ui.perfetto.dev; one thread writes it.

        Other threads of Python go on meanwhile, and Ctrl-C stops it. ``progress=True`` shows a bar.
        """
        duration = given.time("duration", duration)
        seed = None if seed is None else given.whole("seed", seed)
        file = None if arrivals is None else given.path("arrivals", arrivals)
        threads = None if threads is None else given.whole("threads", threads, 1, 2**32 - 1)
        traced = None if trace is None else given.path("trace", trace)
        if traced is not None and threads is not None and threads > 1:
            raise _laxity.LaxityError("a trace is of one thread: leave one of `trace` and `threads` out")
        if traced is not None and file is not None and traced.exists() and file.exists() and traced.samefile(file):
            raise _laxity.LaxityError(f"`trace` would replace the recording {file}: give another file")
        with simulated(progress, self._plan.lasts(duration, file)) as heard:
            ran = self._native().run(self._reset(), duration, seed, file, bool(packets), threads, traced, heard)
        is_own = self._scheduler is not None or bool(self._at)
        return Run(ran, None if is_own else (self, {"duration": duration, "seed": seed, "arrivals": file}))

    def _native(self) -> _laxity.Plan:
        """The plan, with the outputs that are left to the user's schedulers."""
        plan = self._plan
        for output in self._at:
            plan = plan.custom_at(output)
        return plan

    def _reset(self) -> list[tuple[str | None, Any]]:
        """The user's schedulers, each with its output in a network, reset for another run."""
        schedulers: list[tuple[str | None, Scheduler | ByRank]] = list(self._at.items())
        if self._scheduler:
            schedulers.append((None, self._scheduler))
        for _, scheduler in schedulers:
            scheduler.reset(self)
        return [(output, native(scheduler)) for output, scheduler in schedulers]

    def _proved(self) -> _laxity.Plan:
        """The plan, if its scheduler has a proof."""
        if self._scheduler and not (isinstance(self._scheduler, ByRank) and self._scheduler.deadlines is not None):
            raise _laxity.LaxityError(
                f"nothing is proved of {self.scheduler}: only a rank that is a laxity.Deadline has an admission test"
            )
        return self._native()

    def _builtin(self) -> _laxity.Plan:
        """The plan, if Linux may have its discipline."""
        if self._scheduler or self._at:
            raise _laxity.LaxityError(
                f"Linux has no {self.scheduler}: put the plan under a discipline that it has, such as hfsc"
            )
        return self._plan

    def _searched(self) -> _laxity.Plan:
        """The plan, if a search may run it on all cores."""
        if self._scheduler or self._at:
            raise _laxity.LaxityError(
                "a search runs beside the interpreter, and a scheduler written in Python cannot: put the plan, which is "
                f"under {self.scheduler}, under a discipline, or give it to `laxity.sweep`"
            )
        return self._plan

    def __repr__(self) -> str:
        return f"<laxity.Plan {self.title or 'without a title'}, {self.scheduler}, {len(self.classes)} classes>"


def a_plan(plan: Any) -> Plan:
    """The same plan.

    Raises ``TypeError`` if it is not a plan.
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"`plan` is a laxity.Plan, as `Plan.read(path)` gives it, not {short(plan)}")
    return plan


def compare(
    plan: Plan,
    schedulers: Iterable[str | Scheduler | ByRank],
    *,
    duration: str | None = None,
    seed: int | None = None,
    arrivals: str | PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Sends the same packets through several disciplines, including your own schedulers, side by side.

    ``arrivals`` is a recording in place of the plan's sources. ``progress`` follows one run after another, each from 0
    on; ``True`` shows a bar.
    """
    a_plan(plan)
    duration = given.time("duration", duration)
    seed = None if seed is None else given.whole("seed", seed)
    plans = [plan.under(scheduler) for scheduler in given.several("schedulers", schedulers, '["fifo", "edf"]')]
    contenders = [(one._native(), one._reset()) for one in plans]
    file = None if arrivals is None else given.path("arrivals", arrivals)
    with simulated(progress, plan._plan.lasts(duration, file), len(contenders)) as heard:
        return Comparison(_laxity.compare(plan._plan, contenders, duration, seed, file, heard))
