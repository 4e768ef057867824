"""Schedulers of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from . import _laxity, given
from ._laxity import Packet

if TYPE_CHECKING:
    from .plans import Plan

Number = int | float


class Scheduler(_laxity.Scheduler):
    """The base of schedulers: what is written here is the contract, and it is held to at every call.

    A packet that came in goes out once, or is dropped with ``self.drop(packet)``, and none goes out before it is
    ``eligible``. Whatever breaks that, or is raised, ends the run and reaches who asked for it.

    >>> import laxity as lx
    >>> class Shortest(lx.Scheduler):
    ...     def reset(self, plan):
    ...         self.waiting = []
    ...     def enqueue(self, now, packet):
    ...         self.waiting.append(packet)
    ...     def dequeue(self, now):
    ...         shortest = min(self.waiting, key=lambda packet: packet.length, default=None)
    ...         if shortest:
    ...             self.waiting.remove(shortest)
    ...         return shortest
    """

    @property
    def name(self) -> str:
        """What tables call it: its class."""
        return type(self).__name__

    def __getstate__(self) -> dict[str, Any]:
        """What it knows, for another process or a copy."""
        return dict(self.__dict__)

    def stands_for(self) -> tuple[str, dict[str, str]]:
        """The discipline that a plan is put under meanwhile, which proves no more than holds of this one, and values at
        keys that are set for it: first come, first served proves nothing."""
        return "fifo", {}

    def reset(self, plan: Plan) -> None:
        """A run of this plan begins."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """A packet arrives at a time in nanoseconds."""
        raise NotImplementedError("a scheduler has an `enqueue(self, now, packet)`")

    def dequeue(self, now: int) -> Packet | None:
        """The packet that the link sends now; it is asked whenever the link is free and packets wait.

        Whoever returns none while packets wait says with ``next_ready`` when there is one.
        """
        raise NotImplementedError("a scheduler has a `dequeue(self, now)`")

    def next_ready(self, now: int) -> int | None:
        """After ``dequeue`` returned none while packets wait: when it is asked again, unless one arrives before."""
        return None


class Deadline:
    """When packets are due, as a rank: their arrival and the deadline of their class.

    By ``by_rank`` it makes earliest deadline first, which the admission test proves. Classes that are not named have
    the plan's deadlines; those without any are best effort.

    >>> import laxity as lx
    >>> sooner = lx.by_rank(lx.Deadline({"voice": "3ms"}))
    """

    def __init__(self, deadlines: Mapping[str, str] | None = None) -> None:
        self.deadlines = given.table("deadlines", {} if deadlines is None else deadlines, '{"voice": "3ms"}')

    def __call__(self, packet: Packet) -> Number:
        """When a packet is due in a plan that has these deadlines, in ns; best effort never is."""
        return float("inf") if packet.deadline is None else packet.deadline


class ByRank:
    """A scheduler by rank; ``by_rank`` makes it."""

    def __init__(self, rank: Callable[[Packet], Number], eligible: Callable[[Packet], int] | None, name: str) -> None:
        self.rank = rank
        self.eligible = eligible
        self.name = name

    @property
    def deadlines(self) -> dict[str, str] | None:
        """The deadlines that its rank is, if packets go out by them as soon as they can."""
        return self.rank.deadlines if isinstance(self.rank, Deadline) and self.eligible is None else None

    def stands_for(self) -> tuple[str, dict[str, str]]:
        """The discipline that a plan is put under meanwhile, which proves no more than holds of this one, and values at
        keys that are set for it."""
        if self.deadlines is None:
            return "fifo", {}
        return "edf/background", {f"class.{name}.deadline": deadline for name, deadline in self.deadlines.items()}

    def reset(self, plan: Plan) -> None:
        """Ranks are functions."""

    @property
    def native(self) -> _laxity.Ranks:
        """It as the simulator has it."""
        rank = None if isinstance(self.rank, Deadline) else self.rank
        return _laxity.Ranks(self.name, rank, self.eligible)


def by_rank(
    rank: Callable[[Packet], Number], *, eligible: Callable[[Packet], int] | None = None, name: str | None = None
) -> ByRank:
    """A scheduler that sends the packet of the least rank, of equal ones the first to arrive.

    ``rank`` is asked once for each packet, as it arrives. With ``eligible``, a time in ns that is asked then, too, it
    is not sent before. A rank that is a ``Deadline`` is proved by ``Plan.check``.

    >>> import laxity as lx
    >>> shortest_first = lx.by_rank(lambda packet: packet.length)
    """
    given.function("rank", rank, "a packet, such as `lambda packet: packet.length`")
    if eligible is not None:
        given.function("eligible", eligible, "a packet, such as `lambda packet: packet.arrival + 1_000_000`")
    called = given.word("name", name, "shortest first") if name is not None else getattr(rank, "__name__", type(rank).__name__)
    return ByRank(rank, eligible, "by rank" if called == "<lambda>" else called)


def is_one(scheduler: Any) -> None:
    """Raises ``TypeError`` if it is no scheduler."""
    if isinstance(scheduler, type) and issubclass(scheduler, Scheduler):
        raise TypeError(f"`scheduler` is an object, and {scheduler.__name__} is its class: give `{scheduler.__name__}()`")
    if not isinstance(scheduler, Scheduler | ByRank):
        raise TypeError(
            f"`scheduler` is the name of a discipline such as 'edf', or a scheduler of one's own, not {short(scheduler)}"
        )


def native(scheduler: Scheduler | ByRank | None) -> Any:
    """A scheduler as the simulator has it."""
    return scheduler.native if isinstance(scheduler, ByRank) else scheduler
